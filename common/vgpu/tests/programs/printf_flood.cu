// More output of printf than any buffer holds: the program continues, and the excess is lost.
#include "vgpu/tests/check.cuh"

#include <sys/stat.h>
#include <unistd.h>

const int blocks = 700, threads = 128, width = 999;

__global__ void flood()
{
    printf("%999d\n", (int)(blockIdx.x * blockDim.x + threadIdx.x));
}

int main()
{
    char path[] = "/tmp/printf_flood_XXXXXX";
    int file = mkstemp(path), saved = dup(1);
    unlink(path);
    fflush(stdout);
    dup2(file, 1);
    flood<<<blocks, threads>>>();
    CHECK(cudaDeviceSynchronize());
    fflush(stdout);
    dup2(saved, 1);
    struct stat s;
    fstat(file, &s);
    const long long all = (long long)blocks * threads * (width + 1);
    return verdict("printf_flood", s.st_size > 0 && s.st_size < all);
}
