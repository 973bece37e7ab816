// Dense and sparse switches, with fall-through; each thread takes a different case.
#include "vgpu/tests/check.cuh"

__host__ __device__ int dense(int v)
{
    switch (v) {
    case 0:
        return 17;
    case 1:
        return v * 3;
    case 2:
        v += 5; // falls through
    case 3:
        v ^= 0x55; // falls through
    case 4:
        return v - 1;
    case 5:
        return -v;
    case 6:
        return v << 4;
    case 7:
        return v * v * v;
    case 8:
        return 99;
    case 9:
        return v % 4;
    case 10:
        return 1000 / v;
    case 11:
        return v | 64;
    default:
        return 12345;
    }
}

__host__ __device__ int sparse(int v)
{
    switch (v * 1000) {
    case 1000:
        return 1;
    case 5000:
        return 25;
    case 9000:
        return 81;
    case -3000:
        return 9;
    default:
        return v + 1;
    }
}

__global__ void work(int *out)
{
    int v = (int)threadIdx.x % 16 - 3, sum = 0;
    for (int i = 0; i < 4; i++)
        sum = sum * 7 + dense((v + i) % 13) + sparse(v + i);
    out[threadIdx.x] = sum;
}

int main()
{
    Device<int> dout(96);
    work<<<1, 96>>>(dout);
    LAUNCHED();
    std::vector<int> out = dout.host();
    bool ok = true;
    for (int t = 0; t < 96; t++) {
        int v = t % 16 - 3, sum = 0;
        for (int i = 0; i < 4; i++)
            sum = sum * 7 + dense((v + i) % 13) + sparse(v + i);
        ok &= out[t] == sum;
    }
    return verdict("switch_tables", ok, out);
}
