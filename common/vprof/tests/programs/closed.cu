// expect: kernel=3 cudaMalloc=1 cudaMemcpy=1 status=0
// device: virtual
/* Starts itself with only the three standard descriptors, as Python's subprocess does, and then
 * with stdout closed. It still prints to stdout: the text must not reach the runtime's connection
 * to the GPU. */
#include "sample.cuh"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 3) {
        int status = 0;
        if (fork() == 0) {
            for (int fd = argc == 1 ? 3 : 1; fd < 256; fd += fd == 1 ? 2 : 1)
                close(fd);
            execl(argv[0], argv[0], "child", argc == 1 ? (char *)NULL : "again", (char *)NULL);
            _exit(9);
        }
        wait(&status);
        return WEXITSTATUS(status);
    }
    float *x, y = 1;
    CHECK(cudaMalloc(&x, 4096));
    printf("nobody reads this\n");
    fflush(stdout);
    CHECK(cudaMemset(x, 0, 4096));
    for (int i = 0; i < 3; i++)
        scale<<<4, 256>>>(x, 1024, 2);
    CHECK(cudaMemcpy(&y, x, sizeof y, cudaMemcpyDeviceToHost));
    return isnan(y);
}
