/* The library baseline (m0): the course's network with each convolution computed by a vendor's
 * library, oneDNN on the CPU or cuDNN on a GPU. Run alone, it prints the lines that the course's
 * reports quote. Run it under /usr/bin/time or a profiler:
 *
 *     build/library-baseline --on cpu --model two-layer --images 1000
 *
 * Op Time is the time of the library's convolution, after the tensors were copied to their memory
 * (host or device) and the algorithm was chosen; reorders to and from the library's own layouts are
 * included. With --check, every output is compared with the oracle's, within the grader's
 * tolerance. With --results, writes the measurements as a table for the grader.
 *
 * Exit status: 0 done, 1 an output is wrong, 2 could not run, 3 the library or the device is
 * missing. */
#include "base/files.h"
#include "base/clock.h"
#include "base/option_table.h"
#include "nn/oracle.h"
#include "trace/recorded.h"
#include "runner/cuda_api.h"
#include "runner/infer.h"
#include "vendor/cudnn_conv.h"
#include "vendor/onednn_conv.h"

#include <stdlib.h>
#include <string.h>

enum { EXIT_DONE = 0, EXIT_WRONG = 1, EXIT_NOT_RUN = 2, EXIT_NOT_HERE = 3 };

struct options {
    const char *model, *results;
    int gpu; /* 1: GPU, 0: CPU */
    bool check;
    size_t images;
};

static const char *const devices[] = {"cpu", "gpu", NULL};

static const struct option_row rows[] = {
    {"on", 'o', "DEVICE", "cpu: oneDNN (default); gpu: cuDNN",
     OPTION_CHOICE(struct options, gpu, devices)},
    {"model", 'm', "NAME",
     "one-layer-high, one-layer-low, two-layer (default), two-layer-86, or a file",
     OPTION_TEXT(struct options, model)},
    {"images", 'n', "N", "number of test images, 1 to 10000 (default: 100)",
     OPTION_NUMBER(struct options, images, 1, 10000)},
    {"check", 'c', NULL, "compare every output with the oracle's",
     OPTION_FLAG(struct options, check)},
    {"results", 'r', "FILE", "write a table of the measurements",
     OPTION_TEXT(struct options, results)},
    {0}};

/* The libraries and their results. */
struct baseline {
    const struct options *options;
    struct vn_onednn *onednn;
    struct vn_cudnn *cudnn;
    struct cuda_api cuda;
    FILE *results;
    size_t wrong;
    struct st_error *err;
};

/* ---- one convolution ------------------------------------------------------------------------ */

static enum st_code conv_on_cpu(struct baseline *b, const struct conv_shape *shape, const float *x,
                                const float *k, float *y, double *op_time_s, char name[80])
{
    struct vn_onednn_conv *conv;
    enum st_code code = vn_onednn_conv_make(&conv, b->onednn, shape, true, true, x, k, y, b->err);
    if (!code)
        code = vn_onednn_conv_run(conv, op_time_s, NULL, b->err);
    if (!code)
        snprintf(name, 80, "%s", vn_onednn_conv_name(conv));
    vn_onednn_conv_free(conv);
    return code;
}

static enum st_code cuda(struct baseline *b, int error, const char *what)
{
    if (!error)
        return ST_OK;
    st_fail(b->err, ST_CHILD, "%s", what);
    return st_detail(b->err, ST_GOT, "%s", b->cuda.cudaGetErrorName(error));
}

/* Times the convolution between two device-wide synchronisations, as the runner times a lab. */
static enum st_code run_cudnn(struct baseline *b, struct vn_cudnn_conv *conv, void *const device[3],
                              double *op_time_s)
{
    enum st_code code = cuda(b, b->cuda.cudaDeviceSynchronize(), "before the convolution");
    const double begin_s = clock_now_s();
    if (!code)
        code = vn_cudnn_conv_run(conv, device[0], device[1], device[2], b->err);
    if (!code)
        code = cuda(b, b->cuda.cudaDeviceSynchronize(), "in the convolution");
    *op_time_s = clock_now_s() - begin_s;
    return code;
}

/* Times the second of two runs, as the runner does. Under a profiler these are not recorded; a
 * third run is. */
static enum st_code time_cudnn(struct baseline *b, struct vn_cudnn_conv *conv,
                               void *const device[3], double *op_time_s)
{
    double ignored;
    const bool recorded = recorded_now();
    if (recorded) {
        recorded_attach(0);
        b->cuda.cudaProfilerStop();
    }
    enum st_code code = run_cudnn(b, conv, device, &ignored);
    if (!code)
        code = run_cudnn(b, conv, device, op_time_s);
    if (recorded) {
        recorded_attach(1);
        b->cuda.cudaProfilerStart();
        if (!code)
            code = run_cudnn(b, conv, device, &ignored);
    }
    return code;
}

static enum st_code conv_on_gpu(struct baseline *b, const struct conv_shape *shape, const float *x,
                                const float *k, float *y, double *op_time_s, char name[80])
{
    enum { WORKSPACE = 3, BUFFERS };
    const void *host[3] = {x, k, y};
    const size_t bytes[BUFFERS] = {nn_conv_x_elems(shape) * sizeof(float),
                                   nn_conv_k_elems(shape) * sizeof(float),
                                   nn_conv_y_elems(shape) * sizeof(float), (size_t)1 << 30};
    void *device[BUFFERS] = {0};
    struct vn_cudnn_conv conv = {0};
    enum st_code code = ST_OK;
    for (int i = 0; i < BUFFERS && !code; i++)
        code = cuda(b, b->cuda.cudaMalloc(&device[i], bytes[i]), "cannot allocate the tensors");
    for (int i = 0; i < 2 && !code; i++)
        code = cuda(b, b->cuda.cudaMemcpy(device[i], host[i], bytes[i], CUDA_HOST_TO_DEVICE),
                    "cannot copy the tensors");
    if (!code)
        code = vn_cudnn_conv_make(&conv, b->cudnn, shape, VN_FLOAT32, device[0], device[1],
                                  device[2], device[WORKSPACE], bytes[WORKSPACE], b->err);
    if (!code)
        code = time_cudnn(b, &conv, device, op_time_s);
    if (!code)
        code = cuda(b, b->cuda.cudaMemcpy(y, device[2], bytes[2], CUDA_DEVICE_TO_HOST),
                    "cannot copy the result");
    snprintf(name, 80, "%s", conv.name);
    vn_cudnn_conv_free(&conv);
    for (int i = 0; i < BUFFERS; i++)
        if (device[i])
            b->cuda.cudaFree(device[i]);
    return code;
}

static int conv_and_print(void *context, int layer, const struct conv_shape *shape, const float *x,
                          const float *k, float *y)
{
    struct baseline *b = context;
    char name[80] = "";
    double op_time_s = 0, largest = 0;
    size_t wrong = 0;
    /* Poisons y, so that an output that the library does not write is wrong. */
    memset(y, 0xff, nn_conv_y_elems(shape) * sizeof *y);
    enum st_code code =
        (b->options->gpu ? conv_on_gpu : conv_on_cpu)(b, shape, x, k, y, &op_time_s, name);
    if (!code) {
        printf("Op Time: %.6f\n", op_time_s);
        fflush(stdout);
        if (b->options->check)
            code = nn_conv_compare(shape, x, k, y, &wrong, &largest, b->err);
    }
    b->wrong += wrong;
    if (!code && b->results)
        fprintf(b->results, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.9f\t%zu\t%.9g\t%s\n", layer + 1,
                shape->B, shape->M, shape->C, shape->H, shape->W, shape->K, op_time_s, wrong,
                largest, name);
    return code != ST_OK;
}

/* ---- the program ---------------------------------------------------------------------------- */

/* Opens the requested library. */
static enum st_code open_library(struct baseline *b)
{
    enum st_code code;
    if (!b->options->gpu)
        return vn_onednn_open(&b->onednn, b->err);
    int count = 0;
    if ((code = cuda_api_load(&b->cuda, NULL, b->err)))
        return code;
    const int error = b->cuda.cudaGetDeviceCount(&count);
    if (error || !count) {
        st_fail(b->err, ST_MISSING_TOOL, "no GPU is available");
        if (error)
            st_detail(b->err, ST_GOT, "%s", b->cuda.cudaGetErrorName(error));
        return st_detail(b->err, ST_HINT,
                         "cuDNN needs an NVIDIA GPU; the virtual GPU is not enough");
    }
    return vn_cudnn_open(&b->cudnn, b->err);
}

static int run(const struct options *o, struct st_error *err)
{
    struct baseline b = {.options = o, .err = err};
    struct file_out file;
    int status = EXIT_NOT_RUN;
    enum st_code code = open_library(&b);
    if (code) {
        status = code == ST_MISSING_TOOL ? EXIT_NOT_HERE : EXIT_NOT_RUN;
        goto cleanup;
    }
    if (o->results && (code = file_out_open(&file, o->results, err)))
        goto cleanup;
    b.results = o->results ? file.f : NULL;
    if (b.results)
        fprintf(b.results, "layer\tB\tM\tC\tH\tW\tK\top_time_s\twrong\tlargest_error\t%s %s\n",
                o->gpu ? "cuDNN" : "oneDNN",
                o->gpu ? vn_cudnn_version(b.cudnn) : vn_onednn_version(b.onednn));
    struct st_error conv_err = {0};
    b.err = &conv_err; /* nn_network_run() reports only that a convolution failed */
    code = infer_and_print(o->model, o->images, conv_and_print, &b, err);
    if (conv_err.code)
        *err = conv_err;
    if (b.results && !code)
        code = file_out_commit(&file, err);
    else if (b.results)
        file_out_abort(&file);
    if (!code)
        status = b.wrong ? EXIT_WRONG : EXIT_DONE;
    if (!code && b.wrong)
        fprintf(stderr, "library-baseline: %zu outputs are wrong\n", b.wrong);
cleanup:
    vn_onednn_close(b.onednn);
    vn_cudnn_close(b.cudnn);
    return status;
}

int main(int argc, char **argv)
{
    struct options o = {.model = "two-layer", .images = 100};
    static const struct option_table table = {
        .rows = rows,
        .about =
            "Run one inference with a vendor's library: oneDNN on the CPU, cuDNN on a GPU.\v"
            "Exit status: 0 done, 1 an output is wrong, 2 could not run, 3 the library or the device is missing."};
    options_parse(&table, argc, argv, &o);
    struct st_error err = {0};
    const int status = run(&o, &err);
    if (status >= EXIT_NOT_RUN) {
        fflush(stdout);
        st_print(stderr, "library-baseline", &err);
    }
    return status;
}
