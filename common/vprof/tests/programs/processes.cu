// expect: kernel=6 cudaMalloc=2 status=0
/* Runs itself as another program before it uses the GPU, and has a child that does not use it.
 */
#include "sample.cuh"

#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const int kernels = argc > 1 ? 2 : 4;
    if (argc == 1 && fork() == 0) {
        execl(argv[0], argv[0], "child", (char *)NULL);
        _exit(9);
    }
    if (argc == 1)
        wait(NULL);
    float *x;
    CHECK(cudaMalloc(&x, 4096));
    CHECK(cudaMemset(x, 0, 4096));
    for (int i = 0; i < kernels; i++)
        scale<<<4, 256>>>(x, 1024, 2);
    if (argc == 1 && fork() == 0)
        exit(0);
    CHECK(cudaDeviceSynchronize());
    if (argc == 1)
        wait(NULL);
    return 0;
}
