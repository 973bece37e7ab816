/* Kernels that only wait, for various times: if two profilers' times differ, the profilers are the
 * cause.
 *
 *   spins [LAUNCHES]        launches of each kernel; default: 20 */
#include <cstdio>
#include <cstdlib>

__global__ void spin(long long cycles)
{
    const long long start = clock64();
    while (clock64() - start < cycles)
        continue;
}

int main(int argc, char **argv)
{
    const int launches = argc > 1 ? atoi(argv[1]) : 20;
    /* the grids identify the kernels */
    static const struct {
        int blocks, threads;
        long long cycles;
    } kinds[] = {{1, 32, 0},        {132, 256, 0},      {2, 32, 2000},     {131, 256, 4000},
                 {133, 256, 10000}, {130, 256, 20000},  {264, 512, 20000}, {129, 256, 40000},
                 {10560, 256, 0},   {128, 256, 100000}, {127, 256, 400000}};
    for (const auto &kind : kinds)
        for (int i = 0; i < launches; i++) {
            spin<<<kind.blocks, kind.threads>>>(kind.cycles);
            if (cudaDeviceSynchronize() != cudaSuccess) {
                fprintf(stderr, "spins: %s\n", cudaGetErrorString(cudaGetLastError()));
                return 2;
            }
        }
    return 0;
}
