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

// As an H200 prints them: "%zu" and "%.*f" unchanged.
__global__ void rare()
{
    printf("a%zu|\n", (size_t)5);
    printf("b%.*f|\n", 2, 1.5);
    printf("c%*d|%d\n", 5, 3, 8);
    printf("d%hd|%hx|%hu\n", 70000, 70000, 70001);
    printf("e%p|%20p|%-8p|\n", (void *)0x1234, (void *)0x1234, (void *)0);
    printf("f%5%|%d\n", 6);
    printf("g%+d|% d|%05d|%-5d|%.3d|%#o\n", 5, 5, 5, 5, 5, 8);
    printf("h%e|%g|%a|%F|%lf\n", 1.5, 1.5, 1.5, 1.5, 1.5);
    printf("i%5s|%-5s|%.2s|%5c|%s\n", "abc", "abc", "abc", 'y', (char *)0);
    printf("j%ld|%lu|%llx|%010lld|%u\n", -5L, 5UL, 255LL, -5LL, -1);
    printf("k%d%zu|%jd\n", 2, (size_t)5, 5LL);
    printf("l%y|%d\n", 5);
    printf("m%d\n", printf("%-*d\n", 5, 3));
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
    rare<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    fflush(stdout);
    dup2(saved, 1);
    std::string text(4096, '\0');
    text.resize((size_t)pread(file, &text[0], text.size(), 0));
    unlink(path);
    std::string want = "[0/0]  0.00 text -5000000000 ff%\n[1/0]  0.50 text -5000000000 ff%\n"
                       "host\none\ntwo x 4 5\nthree 30\n"
                       "a%zu|\nb%.*f|\nc    3|8\nd4464|1170|4465\n"
                       "e0x1234|              0x1234|(nil)   |\nf%|6\ng+5| 5|00005|5    |005|010\n"
                       "h1.500000e+00|1.5|0x1.8p+0|1.500000|1.500000\n"
                       "i  abc|abc  |ab|    y|(null)\n"
                       "j-5|5|ff|-000000005|4294967295\nk2%zu|%jd\nl%y|5\n3    \nm2\n";
    if (text != want)
        printf("got:\n%s", text.c_str());
    return verdict("device_printf", text == want);
}
