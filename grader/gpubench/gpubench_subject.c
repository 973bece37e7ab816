/* The subjects of the measurement. All run in this process on the same buffers, so an error that
 * makes the device unusable ends the benchmark. */
#include "base/checkout.h"
#include "grader/gpubench/gpubench.h"
#include "nn/oracle.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- scratch memory of the labs ------------------------------------------------------------- */

static void *workspace;
static size_t workspace_bytes;

/** The labs' scratch memory: kept and reused, as in the runner. */
void *conv_workspace(size_t bytes)
{
    if (bytes > workspace_bytes) {
        cudaFree(workspace);
        workspace = NULL;
        if (cudaMalloc(&workspace, bytes) != cudaSuccess) {
            workspace = NULL;
            cudaGetLastError(); /* the lab gets NULL, and later calls do not return this error */
        }
        workspace_bytes = workspace ? bytes : 0;
    }
    return workspace;
}

/* ---- subjects ------------------------------------------------------------------------------- */

static struct bench_subject *add(struct bench_subjects *all, const char *name, struct st_error *err)
{
    if (all->n == BENCH_MAX_SUBJECTS) {
        st_fail(err, ST_TOO_LARGE, "at most %d subjects can be measured", BENCH_MAX_SUBJECTS);
        return NULL;
    }
    struct bench_subject *s = &all->subject[all->n++];
    memset(s, 0, sizeof *s);
    snprintf(s->name, sizeof s->name, "%s", name);
    return s;
}

/* Reads one line of the rubric, because a machine with a GPU may have no YAML library. */
static double tolerance_of(const char *milestone)
{
    char pattern[PATH_MAX], line[400];
    struct st_error err;
    const char *root = checkout_root(&err);
    double tolerance = 0;
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "%s/labs/%s-*/rubric.yaml", root ? root : ".", milestone);
    FILE *f = glob(pattern, 0, NULL, &found) ? NULL : fopen(found.gl_pathv[0], "r");
    while (f && fgets(line, sizeof line, f) && sscanf(line, "tolerance: %lf", &tolerance) != 1)
        ;
    if (f)
        fclose(f);
    globfree(&found);
    return tolerance;
}

enum st_code bench_subject_add_library(struct bench_subjects *all, const char *name,
                                       const char *path, struct st_error *err)
{
    struct bench_subject *s = add(all, name, err);
    if (!s)
        return err->code;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(s->reason, sizeof s->reason, "cannot be loaded: %s", dlerror());
        return ST_OK;
    }
    s->exercise = exercise_of(name);
    void *found = dlsym(library, s->exercise->entry);
    if (!found)
        snprintf(s->reason, sizeof s->reason, "%s exports no %s", path, s->exercise->entry);
    memcpy(&s->conv, &found, sizeof found);
    s->tolerance = tolerance_of(name);
    return ST_OK;
}

enum st_code bench_subject_add_cudnn(struct bench_subjects *all, bool is_virtual,
                                     struct st_error *err)
{
    static const char *const names[] = {"cudnn", "cudnn-tf32"};
    struct st_error why = {0};
    if (is_virtual)
        st_fail(&why, ST_MISSING_TOOL, "cuDNN does not run on the virtual GPU");
    else if (!vn_cudnn_open(&all->cudnn, &why)) {
        size_t free_bytes = 0, total;
        cudaMemGetInfo(&free_bytes, &total);
        /* Enough for every algorithm that is the fastest for any layer here; the rest of the memory
         * is for the tensors. */
        size_t most = (size_t)8 << 30;
        all->cudnn_workspace_bytes = free_bytes / 8 < most ? free_bytes / 8 : most;
        enum st_code code =
            bench_cuda(cudaMalloc(&all->cudnn_workspace, all->cudnn_workspace_bytes),
                       "cannot allocate cuDNN's workspace", err);
        if (code)
            return code;
    }
    for (int i = 0; i < 2; i++) {
        struct bench_subject *s = add(all, names[i], err);
        if (!s)
            return err->code;
        s->is_cudnn = true;
        s->math = i ? VN_TF32 : VN_FLOAT32;
        if (!all->cudnn)
            snprintf(s->reason, sizeof s->reason, "%s%s%s", why.what, why.got[0] ? ": " : "",
                     why.got);
    }
    return ST_OK;
}

void bench_subjects_prepare(struct bench_subjects *all, const struct conv_shape *shape,
                            const float *x, const float *k, float *y)
{
    for (size_t i = 0; i < all->n; i++) {
        struct bench_subject *s = &all->subject[i];
        struct st_error err = {0};
        if (!s->is_cudnn || !all->cudnn)
            continue;
        s->reason[0] = '\0';
        if (vn_cudnn_conv_make(&s->cudnn, all->cudnn, shape, s->math, x, k, y, all->cudnn_workspace,
                               all->cudnn_workspace_bytes, &err))
            snprintf(s->reason, sizeof s->reason, "%s", err.what);
    }
}

/* Calls a lab with page-locked copies of x, k and y. */
static int run_on_host(const struct bench_subject *s, const struct conv_shape *shape,
                       const float *x, const float *k, float *y)
{
    enum { X, K, Y, TENSORS };
    const float *device[TENSORS] = {x, k, y};
    const size_t bytes[TENSORS] = {4 * nn_conv_x_elems(shape), 4 * nn_conv_k_elems(shape),
                                   4 * nn_conv_y_elems(shape)};
    void *host[TENSORS] = {NULL};
    cudaError_t error = cudaSuccess;
    int returned = 1;
    for (int i = 0; i < TENSORS && !error; i++)
        error = cudaMallocHost(&host[i], bytes[i]);
    for (int i = 0; i < TENSORS && !error; i++)
        error = cudaMemcpy(host[i], device[i], bytes[i], cudaMemcpyDeviceToHost);
    if (!error)
        returned = s->conv(shape, host[X], host[K], host[Y]);
    if (!error && !cudaDeviceSynchronize())
        cudaMemcpy(y, host[Y], bytes[Y], cudaMemcpyHostToDevice);
    for (int i = 0; i < TENSORS; i++)
        cudaFreeHost(host[i]);
    return returned;
}

bool bench_subject_run(struct bench_subject *s, const struct conv_shape *shape, const float *x,
                       const float *k, float *y, char *why, size_t room)
{
    struct st_error err = {0};
    if (s->is_cudnn) {
        if (!vn_cudnn_conv_run(&s->cudnn, x, k, y, &err))
            return true;
        snprintf(why, room, "%s", err.what);
        return false;
    }
    struct conv_shape copy = *shape;
    const bool on_host = s->exercise && s->exercise->host_tensors;
    const int returned = on_host ? run_on_host(s, &copy, x, k, y) : s->conv(&copy, x, k, y);
    const cudaError_t error = cudaGetLastError();
    if (!returned && error == cudaSuccess)
        return true;
    snprintf(why, room, "%s returned %d%s%s", s->exercise->entry, returned,
             error == cudaSuccess ? "" : " and left the error ",
             error == cudaSuccess ? "" : cudaGetErrorName(error));
    return false;
}

void bench_subjects_release(struct bench_subjects *all)
{
    for (size_t i = 0; i < all->n; i++)
        vn_cudnn_conv_free(&all->subject[i].cudnn);
}

void bench_subjects_free(struct bench_subjects *all)
{
    bench_subjects_release(all);
    vn_cudnn_close(all->cudnn);
    cudaFree(all->cudnn_workspace);
    cudaFree(workspace);
    workspace = NULL;
    workspace_bytes = 0;
}
