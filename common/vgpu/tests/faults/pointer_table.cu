// A pointer table in device memory that still contains a host pointer.
#include "vgpu/tests/faults.cuh"

struct Matrix {
    int n;
    float *data;
};

__global__ void clear(const Matrix *m)
{
    if ((int)threadIdx.x < m->n)
        m->data[threadIdx.x] = 0; // expect: invalid_address
}

int main()
{
    std::vector<float> data(16);
    Device<Matrix> m(std::vector<Matrix>{{16, data.data()}});
    clear<<<1, 32>>>(m);
    return done(cudaErrorIllegalAddress);
}
