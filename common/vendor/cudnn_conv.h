/** @file
 * cuDNN's convolution, for comparison with ours.
 *
 * The library is loaded on demand (dlopen), so programs can be built and started without cuDNN;
 * then vn_cudnn_open() fails.
 */
#pragma once

#include "base/status.h"
#include "conv.h"

/** The arithmetic that cuDNN may use for float32 tensors. */
enum vn_math {
    VN_FLOAT32, /**< float32 multiply-adds only (CUDNN_FMA_MATH) */
    VN_TF32     /**< also tensor cores, with 10 bits of mantissa (CUDNN_DEFAULT_MATH) */
};

/** An open cuDNN. */
struct vn_cudnn;

/** Loads cuDNN 9 and makes a handle on the current device.
 * @param cudnn  set; free with vn_cudnn_close()
 * @return ST_OK, or ST_MISSING_TOOL with the reason (no library, no driver). */
enum st_code vn_cudnn_open(struct vn_cudnn **cudnn, struct st_error *err);

/** Closes cuDNN; harmless on NULL. */
void vn_cudnn_close(struct vn_cudnn *cudnn);

/** @return the library's version, for example "9.19.0". */
const char *vn_cudnn_version(const struct vn_cudnn *cudnn);

/** A prepared convolution. */
struct vn_cudnn_conv {
    struct vn_cudnn *cudnn;
    void *x_desc, *k_desc, *y_desc, *conv_desc;
    int algorithm, math;
    char name[80];   /**< the algorithm's name, and "tensor cores" if it may use them */
    void *workspace; /**< not owned */
    size_t workspace_bytes;
};

/** Lets cuDNN test its algorithms on these tensors (cudnnFindConvolutionForwardAlgorithmEx) and
 * keeps the fastest algorithm that the mode allows.
 * @param x, k, y    device pointers, as in conv.h; y is overwritten
 * @param workspace  device memory that the algorithms may use, of @p bytes
 * @return ST_OK; free with vn_cudnn_conv_free(). After an error, nothing must be freed. */
enum st_code vn_cudnn_conv_make(struct vn_cudnn_conv *conv, struct vn_cudnn *cudnn,
                                const struct conv_shape *shape, enum vn_math math, const float *x,
                                const float *k, float *y, void *workspace, size_t bytes,
                                struct st_error *err);

/** Starts the convolution on the default stream. */
enum st_code vn_cudnn_conv_run(const struct vn_cudnn_conv *conv, const float *x, const float *k,
                               float *y, struct st_error *err);

/** Releases the descriptors; harmless on a zeroed struct. */
void vn_cudnn_conv_free(struct vn_cudnn_conv *conv);
