/* PoCL's speed on the kernel of m2, to be read beside vgpu_speed_bench: part of `make bench`.
 *
 * PoCL (portablecl.org) translates OpenCL C for the CPU and checks no access. The kernel is m2's,
 * one work item per output element in groups of 16 x 16. libOpenCL is loaded when it is there;
 * without it, or without a CPU device, one line says what was skipped. PoCL takes as many threads
 * as there are cores; the figure by CPU time is that of one of them.
 */
#include "base/clock.h"
#include "base/rng.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#if !__has_include(<CL/cl.h>)

int main(void)
{
    printf("\nPoCL: skip: compiled without CL/cl.h (hint: package opencl-c-headers)\n");
    return 0;
}

#else

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

enum { TILE = 16, REPEATS = 5 };

static const char kernel_source[] =
    "kernel void conv(int B, int M, int C, int H, int W, int K, global const float *x,\n"
    "                 global const float *k, global float *y)\n"
    "{\n"
    "    const int H_out = H - K + 1, W_out = W - K + 1;\n"
    "    const int w = get_global_id(0), h = get_global_id(1);\n"
    "    const int m = get_global_id(2) % M, b = get_global_id(2) / M;\n"
    "    if (h >= H_out || w >= W_out)\n"
    "        return;\n"
    "    global const float *weight = k + m * C * K * K;\n"
    "    float sum = 0;\n"
    "    for (int c = 0; c < C; c++)\n"
    "        for (int p = 0; p < K; p++) {\n"
    "            global const float *row = x + ((b * C + c) * H + h + p) * W + w;\n"
    "            for (int q = 0; q < K; q++)\n"
    "                sum += row[q] * *weight++;\n"
    "        }\n"
    "    y[((b * M + m) * H_out + h) * W_out + w] = sum;\n"
    "}\n";

static const struct layer {
    const char *name;
    struct conv_shape shape;
} layers[] = {
    {"conv1", {64, 12, 1, 70, 70, 5}},
    {"conv2", {16, 24, 12, 33, 33, 5}},
};
enum { LAYERS = sizeof layers / sizeof *layers };

/** The calls of OpenCL that are made here, found when the program runs. */
#define OPENCL_CALLS(X)                                                                            \
    X(clGetPlatformIDs)                                                                            \
    X(clGetPlatformInfo)                                                                           \
    X(clGetDeviceIDs)                                                                              \
    X(clCreateContext)                                                                             \
    X(clCreateCommandQueue)                                                                        \
    X(clCreateProgramWithSource)                                                                   \
    X(clBuildProgram)                                                                              \
    X(clCreateKernel)                                                                              \
    X(clReleaseMemObject)                                                                          \
    X(clCreateBuffer)                                                                              \
    X(clSetKernelArg)                                                                              \
    X(clEnqueueNDRangeKernel)                                                                      \
    X(clEnqueueReadBuffer)                                                                         \
    X(clFinish)
static struct {
#define FIELD(name) __typeof__(&name) name;
    OPENCL_CALLS(FIELD)
#undef FIELD
} cl;

/* Prints why nothing is measured, and ends: that PoCL is missing is no error. */
static _Noreturn void skip(const char *why)
{
    printf("PoCL: skip: %s\n", why);
    exit(0);
}

static void check(cl_int error, const char *call)
{
    if (error == CL_SUCCESS)
        return;
    fprintf(stderr, "vgpu_pocl_bench: %s: OpenCL error %d\n", call, error);
    exit(1);
}

static void load(void)
{
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (library == NULL)
        skip("no libOpenCL.so.1 (hint: package pocl-opencl-icd)");
#define FIND(name)                                                                                 \
    *(void **)&cl.name = dlsym(library, #name);                                                    \
    if (cl.name == NULL)                                                                           \
        skip("libOpenCL.so.1 lacks " #name);
    OPENCL_CALLS(FIND)
#undef FIND
}

static cl_device_id device_find(void)
{
    cl_platform_id platforms[16];
    cl_uint n = 0;
    cl_device_id device;
    if (cl.clGetPlatformIDs(16, platforms, &n) != CL_SUCCESS || n == 0)
        skip("no OpenCL platform (hint: package pocl-opencl-icd)");
    for (cl_uint i = 0; i < n && i < 16; i++) {
        char name[128] = "";
        cl.clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
        if (strstr(name, "Portable Computing Language") != NULL &&
            cl.clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, NULL) == CL_SUCCESS)
            return device;
    }
    skip("no PoCL among the OpenCL platforms (hint: package pocl-opencl-icd)");
}

static float *floats(size_t n)
{
    float *p = malloc(n * sizeof *p);
    if (p == NULL) {
        fprintf(stderr, "vgpu_pocl_bench: not enough memory\n");
        exit(1);
    }
    memset(p, 0xff, n * sizeof *p); /* NaN */
    return p;
}

static double cpu_now_s(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void compare(const struct conv_shape *s, const float *x, const float *k, const float *y)
{
    const size_t n = nn_conv_y_elems(s), map = n / (size_t)s->B / (size_t)s->M;
    float *expected = floats(n), *atol = floats((size_t)s->M);
    nn_oracle_conv(s, x, k, expected);
    nn_conv_tolerance(s, 1, k, atol);
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(y[i] - expected[i]) <=
              atol[i / map % (size_t)s->M] + NN_RTOL * fabsf(expected[i]))) {
            fprintf(stderr, "vgpu_pocl_bench: an output is wrong\n");
            exit(1);
        }
    free(expected), free(atol);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static cl_mem buffer_make(cl_context context, float *from, size_t n)
{
    cl_int error;
    cl_mem buffer = cl.clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                      n * sizeof(float), from, &error);
    check(error, "clCreateBuffer");
    return buffer;
}

static void bench(cl_context context, cl_command_queue queue, cl_kernel kernel,
                  const struct layer *l)
{
    const struct conv_shape *s = &l->shape;
    const int sizes[6] = {s->B, s->M, s->C, s->H, s->W, s->K};
    const size_t n[3] = {nn_conv_x_elems(s), nn_conv_k_elems(s), nn_conv_y_elems(s)};
    const size_t out = (size_t)(s->H - s->K + TILE) / TILE * TILE;
    const size_t global[3] = {out, out, (size_t)(s->B * s->M)}, local[3] = {TILE, TILE, 1};
    float *host[3] = {floats(n[0]), floats(n[1]), floats(n[2])};
    cl_mem buffers[3];
    double wall[REPEATS], cpu[REPEATS];
    struct rng r = rng_make(1, 0);
    rng_fill(&r, host[0], n[0], -1, 1);
    rng_fill(&r, host[1], n[1], -1, 1);
    for (cl_uint i = 0; i < 6; i++)
        check(cl.clSetKernelArg(kernel, i, sizeof(int), &sizes[i]), "clSetKernelArg");
    for (cl_uint i = 0; i < 3; i++) {
        buffers[i] = buffer_make(context, host[i], n[i]);
        check(cl.clSetKernelArg(kernel, 6 + i, sizeof buffers[i], &buffers[i]), "clSetKernelArg");
    }
    for (int run = -1; run < REPEATS; run++) { /* the first one compiles */
        const double begin_s = clock_now_s(), cpu_s = cpu_now_s();
        check(cl.clEnqueueNDRangeKernel(queue, kernel, 3, NULL, global, local, 0, NULL, NULL),
              "clEnqueueNDRangeKernel");
        check(cl.clFinish(queue), "clFinish");
        if (run >= 0) {
            wall[run] = clock_now_s() - begin_s;
            cpu[run] = cpu_now_s() - cpu_s;
        }
    }
    check(cl.clEnqueueReadBuffer(queue, buffers[2], CL_TRUE, 0, n[2] * sizeof(float), host[2], 0,
                                 NULL, NULL),
          "clEnqueueReadBuffer");
    compare(s, host[0], host[1], host[2]);
    qsort(wall, REPEATS, sizeof *wall, by_value);
    qsort(cpu, REPEATS, sizeof *cpu, by_value);
    const double gmac = 1e-9 * nn_conv_macs(s);
    printf("%-10s %-6s %9.2f %10.2f\n", "PoCL", l->name, gmac / cpu[REPEATS / 2],
           gmac / wall[REPEATS / 2]);
    for (int i = 0; i < 3; i++) {
        cl.clReleaseMemObject(buffers[i]);
        free(host[i]);
    }
}

int main(void)
{
    cl_int error;
    printf("\n");
    load();
    cl_device_id device = device_find();
    printf("PoCL with the kernel of m2, which checks nothing; median of %d\n\n", REPEATS);
    printf("%-10s %-6s %9s %10s\n", "", "", "GMAC/s by", "by wall,");
    printf("%-10s %-6s %9s %10s\n", "", "layer", "CPU time", "all cores");
    cl_context context = cl.clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    cl_command_queue queue = cl.clCreateCommandQueue(context, device, 0, &error);
    check(error, "clCreateCommandQueue");
    const char *source = kernel_source;
    cl_program program = cl.clCreateProgramWithSource(context, 1, &source, NULL, &error);
    check(error, "clCreateProgramWithSource");
    check(cl.clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = cl.clCreateKernel(program, "conv", &error);
    check(error, "clCreateKernel");
    for (int l = 0; l < LAYERS; l++)
        bench(context, queue, kernel, &layers[l]);
    return 0;
}

#endif
