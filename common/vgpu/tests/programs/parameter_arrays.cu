// Arrays in a structure that is passed by value, with the same index in all threads and with different
// ones: elements of several sizes, and vectors.
#include "vgpu/tests/check.cuh"

const int THREADS = 40, N = 6;

struct Table {
    signed char sign[N];
    short weight[N];
    float scale[N];
    double offset[N];
    float4 point[N];
};

__global__ void look_up(Table table, int n, double *out)
{
    const int own = (threadIdx.x * 5 + 1) % N;
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum +=
            table.sign[i] * table.weight[i] * table.scale[i] + table.offset[i] + table.point[i].z;
    if (threadIdx.x % 3 == 0)
        sum += table.sign[own] * table.weight[own] * table.scale[own] + table.offset[own];
    else
        sum += table.point[own].x * table.point[own].y - table.point[own].w;
    out[threadIdx.x] = sum;
}

int main()
{
    Table table;
    double all = 0;
    for (int i = 0; i < N; i++) {
        table.sign[i] = i % 2 ? -1 : 1, table.weight[i] = (short)(100 * i - 250);
        table.scale[i] = 0.5f * i, table.offset[i] = 0.125 * i;
        table.point[i] = make_float4(i, 2, 3 * i, -i);
        all += table.sign[i] * table.weight[i] * table.scale[i] + table.offset[i] + 3 * i;
    }
    Device<double> out(THREADS);
    look_up<<<1, THREADS>>>(table, N, out);
    LAUNCHED();
    const std::vector<double> got = out.host();
    bool ok = true;
    for (int t = 0; t < THREADS; t++) {
        const int own = (t * 5 + 1) % N;
        ok &= got[t] == all + (t % 3 == 0 ? table.sign[own] * table.weight[own] * table.scale[own] +
                                                table.offset[own]
                                          : 3.0 * own);
    }
    return verdict("parameter_arrays", ok, got);
}
