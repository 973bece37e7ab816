/* cuDNN through its older interface: descriptors, a search for the algorithm, one call to run it.
 * This interface is deprecated in favour of operation graphs, but only its search is complete and
 * fully specified. */
#include "vendor/cudnn_conv.h"

/* cudnn_abi.h declares the part of the interface that we use, so that cuDNN's headers are not
 * needed; if they exist, the test compares the declarations. */
#include "vendor/cudnn_abi.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct vn_cudnn {
    void *library;
    void *handle;
    char version[32];
#define CUDNN_FIELD(result, name, parameters) result(*name) parameters;
    CUDNN_MAP(CUDNN_FIELD)
#undef CUDNN_FIELD
};

static enum st_code failed(const struct vn_cudnn *c, int status, const char *call,
                           struct st_error *err)
{
    return st_fail(err, ST_CHILD, "%s: %s", call, c->cudnnGetErrorString(status));
}

enum st_code vn_cudnn_open(struct vn_cudnn **cudnn, struct st_error *err)
{
    *cudnn = NULL;
    struct vn_cudnn *c = calloc(1, sizeof *c);
    if (!c)
        return st_fail(err, ST_NO_MEMORY, "not enough memory for cuDNN's functions");
    c->library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
    if (!c->library) {
        st_fail(err, ST_MISSING_TOOL, "cuDNN 9 cannot be loaded");
        st_detail(err, ST_GOT, "%s", dlerror());
        st_detail(err, ST_HINT, "install cuDNN 9, or put its folder into LD_LIBRARY_PATH");
        free(c);
        return ST_MISSING_TOOL;
    }
#define CUDNN_FIND(result, name, parameters)                                                       \
    {                                                                                              \
        void *found = dlsym(c->library, #name);                                                    \
        if (!found) {                                                                              \
            vn_cudnn_close(c);                                                                     \
            return st_fail(err, ST_MISSING_TOOL, "this cuDNN has no " #name);                      \
        }                                                                                          \
        memcpy(&c->name, &found, sizeof found);                                                    \
    }
    CUDNN_MAP(CUDNN_FIND)
#undef CUDNN_FIND
    const size_t v = c->cudnnGetVersion(); /* 91900 is 9.19.0 */
    snprintf(c->version, sizeof c->version, "%zu.%zu.%zu", v / 10000, v / 100 % 100, v % 100);
    const int status = c->cudnnCreate(&c->handle);
    if (status != CUDNN_SUCCESS) {
        st_fail(err, ST_MISSING_TOOL, "cuDNN cannot use this device");
        st_detail(err, ST_GOT, "%s", c->cudnnGetErrorString(status));
        st_detail(err, ST_HINT, "cuDNN needs an NVIDIA GPU and its driver");
        c->handle = NULL;
        vn_cudnn_close(c);
        return ST_MISSING_TOOL;
    }
    *cudnn = c;
    return ST_OK;
}

void vn_cudnn_close(struct vn_cudnn *c)
{
    if (!c)
        return;
    if (c->handle)
        c->cudnnDestroy(c->handle);
    /* The library is not unloaded, because its threads and exit handlers may still run. */
    free(c);
}

const char *vn_cudnn_version(const struct vn_cudnn *cudnn)
{
    return cudnn->version;
}

/** Makes the tensors' descriptors. @return CUDNN_SUCCESS, or the first failure with *call set. */
static int describe(struct vn_cudnn_conv *v, const struct conv_shape *s, const char **call)
{
    struct vn_cudnn *c = v->cudnn;
    int status;
#define TRY(function, ...)                                                                         \
    *call = #function;                                                                             \
    if ((status = c->function(__VA_ARGS__)) != CUDNN_SUCCESS)                                      \
    return status
    TRY(cudnnCreateTensorDescriptor, &v->x_desc);
    TRY(cudnnCreateTensorDescriptor, &v->y_desc);
    TRY(cudnnCreateFilterDescriptor, &v->k_desc);
    TRY(cudnnCreateConvolutionDescriptor, &v->conv_desc);
    TRY(cudnnSetTensor4dDescriptor, v->x_desc, CUDNN_NCHW, CUDNN_FLOAT, s->B, s->C, s->H, s->W);
    TRY(cudnnSetTensor4dDescriptor, v->y_desc, CUDNN_NCHW, CUDNN_FLOAT, s->B, s->M, s->H - s->K + 1,
        s->W - s->K + 1);
    TRY(cudnnSetFilter4dDescriptor, v->k_desc, CUDNN_FLOAT, CUDNN_NCHW, s->M, s->C, s->K, s->K);
    /* No padding, stride 1, no dilation; the filter is not flipped. */
    TRY(cudnnSetConvolution2dDescriptor, v->conv_desc, 0, 0, 1, 1, 1, 1, CUDNN_CORRELATION,
        CUDNN_FLOAT);
#undef TRY
    return CUDNN_SUCCESS;
}

static const char *algorithm_name(int algorithm)
{
    static const char *const names[] = {
        "implicit GEMM", "implicit precomputed GEMM", "GEMM", "direct", "FFT", "FFT with tiles",
        "Winograd",      "Winograd, not fused"};
    const size_t n = (size_t)algorithm;
    return n < sizeof names / sizeof *names ? names[n] : "unknown";
}

/** Whether an algorithm that cuDNN tested uses only the requested arithmetic. */
static int is_allowed(const struct cudnn_tried *tried, enum vn_math math)
{
    if (tried->status != CUDNN_SUCCESS)
        return 0;
    return math == VN_TF32 || tried->math == CUDNN_MATH_FMA;
}

enum st_code vn_cudnn_conv_make(struct vn_cudnn_conv *v, struct vn_cudnn *c,
                                const struct conv_shape *s, enum vn_math math, const float *x,
                                const float *k, float *y, void *workspace, size_t bytes,
                                struct st_error *err)
{
    *v = (struct vn_cudnn_conv){
        .cudnn = c, .workspace = workspace, .workspace_bytes = bytes, .algorithm = -1};
    const char *call;
    enum st_code code = ST_OK;
    int status = describe(v, s, &call);
    struct cudnn_tried tried[2 * CUDNN_ALGORITHMS];
    int n = 0;
    if (status == CUDNN_SUCCESS) {
        call = "cudnnSetConvolutionMathType";
        status = c->cudnnSetConvolutionMathType(
            v->conv_desc, math == VN_FLOAT32 ? CUDNN_MATH_FMA : CUDNN_MATH_DEFAULT);
    }
    if (status == CUDNN_SUCCESS) {
        call = "cudnnFindConvolutionForwardAlgorithmEx";
        status = c->cudnnFindConvolutionForwardAlgorithmEx(
            c->handle, v->x_desc, x, v->k_desc, k, v->conv_desc, v->y_desc, y,
            (int)(sizeof tried / sizeof *tried), &n, tried, workspace, bytes);
    }
    if (status != CUDNN_SUCCESS) {
        code = failed(c, status, call, err);
        vn_cudnn_conv_free(v);
        return code;
    }
    for (int i = 0; i < n && v->algorithm < 0; i++) { /* sorted, the fastest first */
        if (!is_allowed(&tried[i], math))
            continue;
        v->algorithm = tried[i].algorithm;
        v->math = tried[i].math;
        snprintf(v->name, sizeof v->name, "%s%s", algorithm_name(tried[i].algorithm),
                 tried[i].math == CUDNN_MATH_FMA ? "" : ", tensor cores allowed");
    }
    if (v->algorithm < 0) {
        vn_cudnn_conv_free(v);
        return st_fail(err, ST_CHILD, "none of cuDNN's %d algorithms can compute this shape", n);
    }
    status = c->cudnnSetConvolutionMathType(v->conv_desc, v->math);
    return status == CUDNN_SUCCESS ? ST_OK : failed(c, status, "cudnnSetConvolutionMathType", err);
}

enum st_code vn_cudnn_conv_run(const struct vn_cudnn_conv *v, const float *x, const float *k,
                               float *y, struct st_error *err)
{
    const float one = 1, zero = 0;
    struct vn_cudnn *c = v->cudnn;
    const int status = c->cudnnConvolutionForward(c->handle, &one, v->x_desc, x, v->k_desc, k,
                                                  v->conv_desc, v->algorithm, v->workspace,
                                                  v->workspace_bytes, &zero, v->y_desc, y);
    return status == CUDNN_SUCCESS ? ST_OK : failed(c, status, "cudnnConvolutionForward", err);
}

void vn_cudnn_conv_free(struct vn_cudnn_conv *v)
{
    struct vn_cudnn *c = v->cudnn;
    if (!c)
        return;
    if (v->x_desc)
        c->cudnnDestroyTensorDescriptor(v->x_desc);
    if (v->y_desc)
        c->cudnnDestroyTensorDescriptor(v->y_desc);
    if (v->k_desc)
        c->cudnnDestroyFilterDescriptor(v->k_desc);
    if (v->conv_desc)
        c->cudnnDestroyConvolutionDescriptor(v->conv_desc);
    memset(v, 0, sizeof *v);
}
