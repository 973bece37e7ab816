/** @file
 * The part of cuDNN 9's interface that we use, as the library defines it: values, one structure and
 * the functions. Descriptors are opaque pointers, enumerations are int.
 */
#pragma once

#include <stddef.h>

enum {
    CUDNN_SUCCESS = 0,      /**< CUDNN_STATUS_SUCCESS */
    CUDNN_FLOAT = 0,        /**< CUDNN_DATA_FLOAT */
    CUDNN_NCHW = 0,         /**< CUDNN_TENSOR_NCHW */
    CUDNN_CORRELATION = 1,  /**< CUDNN_CROSS_CORRELATION */
    CUDNN_MATH_DEFAULT = 0, /**< CUDNN_DEFAULT_MATH: TF32 is allowed */
    CUDNN_MATH_FMA = 3,     /**< CUDNN_FMA_MATH */
    CUDNN_ALGORITHMS = 8    /**< CUDNN_CONVOLUTION_FWD_ALGO_COUNT */
};

/** cudnnConvolutionFwdAlgoPerf_t: an algorithm that the search tested. */
struct cudnn_tried {
    int algorithm, status;
    float time_ms;
    size_t workspace_bytes;
    int determinism, math, reserved[3];
};

/** X(result, name, parameters). */
#define CUDNN_MAP(X)                                                                               \
    X(size_t, cudnnGetVersion, (void))                                                             \
    X(const char *, cudnnGetErrorString, (int status))                                             \
    X(int, cudnnCreate, (void **handle))                                                           \
    X(int, cudnnDestroy, (void *handle))                                                           \
    X(int, cudnnCreateTensorDescriptor, (void **desc))                                             \
    X(int, cudnnSetTensor4dDescriptor,                                                             \
      (void *desc, int format, int type, int n, int c, int h, int w))                              \
    X(int, cudnnDestroyTensorDescriptor, (void *desc))                                             \
    X(int, cudnnCreateFilterDescriptor, (void **desc))                                             \
    X(int, cudnnSetFilter4dDescriptor,                                                             \
      (void *desc, int type, int format, int k, int c, int h, int w))                              \
    X(int, cudnnDestroyFilterDescriptor, (void *desc))                                             \
    X(int, cudnnCreateConvolutionDescriptor, (void **desc))                                        \
    X(int, cudnnSetConvolution2dDescriptor,                                                        \
      (void *desc, int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h,               \
       int dilation_w, int mode, int type))                                                        \
    X(int, cudnnSetConvolutionMathType, (void *desc, int math))                                    \
    X(int, cudnnDestroyConvolutionDescriptor, (void *desc))                                        \
    X(int, cudnnFindConvolutionForwardAlgorithmEx,                                                 \
      (void *handle, void *x_desc, const void *x, void *k_desc, const void *k, void *conv_desc,    \
       void *y_desc, void *y, int asked_for, int *found, struct cudnn_tried *tried,                \
       void *workspace, size_t bytes))                                                             \
    X(int, cudnnConvolutionForward,                                                                \
      (void *handle, const void *alpha, void *x_desc, const void *x, void *k_desc, const void *k,  \
       void *conv_desc, int algorithm, void *workspace, size_t bytes, const void *beta,            \
       void *y_desc, void *y))
