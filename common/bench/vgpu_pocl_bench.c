/* Measures PoCL's speed on the kernels of m2 and m3: part of `make bench`, and run by
 * vgpu_speed_bench.
 *
 *     vgpu_pocl_bench               a table
 *     vgpu_pocl_bench --figures     a line "m2 conv1 GMAC/s" per kernel and layer, by wall time;
 *                                   nothing without PoCL
 *
 * PoCL (portablecl.org) translates OpenCL C for the CPU and checks no access. The kernels are in
 * conv_kernels.cl. Without libOpenCL or a CPU device, the program only prints what it skips. PoCL
 * uses one thread per core; the figure by CPU time is per thread.
 */
#include "base/clock.h"
#include "base/median.h"
#include "base/rng.h"
#include "bench/bench_tensors.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#if !__has_include(<CL/cl.h>)

int main(int argc, char **argv)
{
    (void)argv;
    if (argc == 1)
        printf("\nPoCL: skip: compiled without CL/cl.h (hint: package opencl-c-headers)\n");
    return 0;
}

#else

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

enum { REPEATS = 5 };

extern const char conv_kernels_cl[];

/** A milestone's kernel: the size of its work-groups, and a group's outputs along each axis. */
static const struct rung {
    const char *name, *kernel;
    size_t group[2], tile[2];
    int maps;
} rungs[] = {
    {"m2", "conv_m2", {16, 16}, {16, 16}, 1},
    {"m3", "conv_m3", {16, 8}, {16, 16}, 12},
};
enum { RUNGS = sizeof rungs / sizeof *rungs };

static const struct layer {
    const char *name;
    struct conv_shape shape;
} layers[] = {
    {"conv1", {64, 12, 1, 70, 70, 5}},
    {"conv2", {16, 24, 12, 33, 33, 5}},
};
enum { LAYERS = sizeof layers / sizeof *layers };

/** The calls of OpenCL used here, looked up at run time. */
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

static bool figures_only;

/* Prints why nothing is measured, and exits with 0: a missing PoCL is not an error. */
static _Noreturn void skip(const char *why)
{
    if (!figures_only)
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

static double cpu_now_s(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static cl_mem buffer_make(cl_context context, float *from, size_t n)
{
    cl_int error;
    cl_mem buffer = cl.clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                      n * sizeof(float), from, &error);
    check(error, "clCreateBuffer");
    return buffer;
}

static void print_figure(const struct rung *rung, const struct layer *l, double wall_s,
                         double cpu_s)
{
    const double gmac = 1e-9 * nn_conv_macs(&l->shape);
    if (figures_only)
        printf("%s %s %.4f\n", rung->name, l->name, gmac / wall_s);
    else
        printf("PoCL %-5s %-6s %9.2f %10.2f\n", rung->name, l->name, gmac / cpu_s, gmac / wall_s);
}

static void bench(cl_context context, cl_command_queue queue, cl_kernel kernel,
                  const struct rung *rung, const struct layer *l)
{
    const struct conv_shape *s = &l->shape;
    const int sizes[6] = {s->B, s->M, s->C, s->H, s->W, s->K};
    const size_t n[3] = {nn_conv_x_elems(s), nn_conv_k_elems(s), nn_conv_y_elems(s)};
    const size_t across = ((size_t)(s->W - s->K) / rung->tile[0] + 1) * rung->group[0],
                 down = ((size_t)(s->H - s->K) / rung->tile[1] + 1) * rung->group[1];
    const size_t global[3] = {across, down, (size_t)(s->B * ((s->M - 1) / rung->maps + 1))},
                 local[3] = {rung->group[0], rung->group[1], 1};
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
    for (int run = -1; run < REPEATS; run++) { /* the first run compiles */
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
    print_figure(rung, l, median_of(wall, REPEATS).median, median_of(cpu, REPEATS).median);
    for (int i = 0; i < 3; i++) {
        cl.clReleaseMemObject(buffers[i]);
        free(host[i]);
    }
}

int main(int argc, char **argv)
{
    cl_int error;
    figures_only = argc == 2 && strcmp(argv[1], "--figures") == 0;
    if (!figures_only)
        printf("\n");
    load();
    cl_device_id device = device_find();
    if (!figures_only) {
        printf("PoCL, which checks nothing, with the kernels of m2 and m3; median of %d\n\n",
               REPEATS);
        printf("%-10s %-6s %9s %10s\n", "", "", "GMAC/s by", "by wall,");
        printf("%-10s %-6s %9s %10s\n", "", "layer", "CPU time", "all cores");
    }
    cl_context context = cl.clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    cl_command_queue queue = cl.clCreateCommandQueue(context, device, 0, &error);
    check(error, "clCreateCommandQueue");
    const char *source = conv_kernels_cl;
    cl_program program = cl.clCreateProgramWithSource(context, 1, &source, NULL, &error);
    check(error, "clCreateProgramWithSource");
    check(cl.clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    for (int r = 0; r < RUNGS; r++) {
        cl_kernel kernel = cl.clCreateKernel(program, rungs[r].kernel, &error);
        check(error, "clCreateKernel");
        for (int l = 0; l < LAYERS; l++)
            bench(context, queue, kernel, &rungs[r], &layers[l]);
    }
    return 0;
}

#endif
