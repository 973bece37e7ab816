// printf in kernels: formats, the order within a thread, the output's appearance on
// synchronisation, and the result, which is the number of arguments.
#include "vgpu/tests/check.cuh"

#include <string>
#include <unistd.h>

__global__ void say(int n)
{
    if (threadIdx.x < (unsigned)n)
        printf("[%d/%u] %5.2f %s %lld %x%%\n", (int)threadIdx.x, blockIdx.x, threadIdx.x * 0.5,
               "text", -5000000000LL, 255);
}

__global__ void steps()
{
    int arguments = printf("one\n");
    arguments += 10 * printf("two %c %d %d\n", 'x', 4, 5);
    printf("three %d\n", arguments);
}

int main()
{
    // Kernels print to stdout: redirect it to a file for a while.
    char path[] = "/tmp/device_printf_XXXXXX";
    int file = mkstemp(path), saved = dup(1);
    fflush(stdout);
    dup2(file, 1);
    say<<<1, 32>>>(2);
    CHECK(cudaDeviceSynchronize());
    printf("host\n");
    steps<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    fflush(stdout);
    dup2(saved, 1);
    std::string text(4096, '\0');
    text.resize((size_t)pread(file, &text[0], text.size(), 0));
    unlink(path);
    std::string want = "[0/0]  0.00 text -5000000000 ff%\n[1/0]  0.50 text -5000000000 ff%\n"
                       "host\none\ntwo x 4 5\nthree 30\n";
    if (text != want)
        printf("got:\n%s", text.c_str());
    return verdict("device_printf", text == want);
}
