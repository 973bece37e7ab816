// expect: kernel=3 cudaMalloc=1 cudaMemcpy=1 status=0
/* Starts itself again without any descriptor but the three standard ones, as Python's subprocess
 * starts programs, and with its lowest ones in use. */
#include "sample.cuh"

#include <fcntl.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc == 1) {
        int status = 0;
        if (fork() == 0) {
            for (int fd = 3; fd < 256; fd++)
                close(fd);
            execl(argv[0], argv[0], "child", (char *)NULL);
            _exit(9);
        }
        wait(&status);
        return WEXITSTATUS(status);
    }
    open("/dev/null", O_RDONLY);
    float *x, y = 1;
    CHECK(cudaMalloc(&x, 4096));
    CHECK(cudaMemset(x, 0, 4096));
    for (int i = 0; i < 3; i++)
        scale<<<4, 256>>>(x, 1024, 2);
    CHECK(cudaMemcpy(&y, x, sizeof y, cudaMemcpyDeviceToHost));
    return isnan(y);
}
