/** @file
 * The part of oneDNN's C interface that we use, as versions 2 and 3 of the library define it:
 * values, one structure and the functions. Handles are opaque pointers, enumerations are int.
 *
 * The two versions differ in the description of a tensor or a convolution. Version 2 fills a
 * structure of its caller, version 3 allocates one and returns its address. In both versions,
 * functions that read a description get its address.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    ONEDNN_SUCCESS = 0,      /**< dnnl_success */
    ONEDNN_CPU = 1,          /**< dnnl_cpu */
    ONEDNN_STREAM = 1,       /**< dnnl_stream_default_flags */
    ONEDNN_INFERENCE = 96,   /**< dnnl_forward_inference */
    ONEDNN_DIRECT = 1,       /**< dnnl_convolution_direct */
    ONEDNN_FLOAT32 = 3,      /**< dnnl_f32 */
    ONEDNN_ANY = 1,          /**< dnnl_format_tag_any: the best layout for a primitive */
    ONEDNN_ROW_MAJOR = 5,    /**< dnnl_nchw and dnnl_oihw, both dnnl_abcd */
    ONEDNN_QUERY_NAME = 8,   /**< dnnl_query_impl_info_str */
    ONEDNN_QUERY_X = 129,    /**< dnnl_query_src_md */
    ONEDNN_QUERY_K = 131,    /**< dnnl_query_weights_md */
    ONEDNN_QUERY_Y = 133,    /**< dnnl_query_dst_md */
    ONEDNN_ARG_FROM = 1,     /**< DNNL_ARG_FROM, DNNL_ARG_SRC */
    ONEDNN_ARG_TO = 17,      /**< DNNL_ARG_TO, DNNL_ARG_DST */
    ONEDNN_ARG_WEIGHTS = 33, /**< DNNL_ARG_WEIGHTS */
    ONEDNN_MOST_DIMS = 12    /**< DNNL_MAX_NDIMS */
};

/** DNNL_MEMORY_ALLOCATE: the library allocates a tensor itself. */
#define ONEDNN_ALLOCATE ((void *)(uintptr_t)-1)

/** dnnl_dims_t. */
typedef int64_t onednn_dims[ONEDNN_MOST_DIMS];

/** dnnl_exec_arg_t. */
struct onednn_arg {
    int arg;
    void *memory;
};

/** Space for version 2's dnnl_memory_desc_t (696 bytes) and dnnl_convolution_desc_t (5976). */
struct onednn2_tensor {
    int64_t room[128];
};
struct onednn2_convolution {
    int64_t room[1024];
};

/** The first fields of dnnl_version_t. */
struct onednn_version {
    int major, minor, patch;
};

/** In both versions: X(result, name, parameters). */
#define ONEDNN_MAP(X)                                                                              \
    X(const struct onednn_version *, dnnl_version, (void))                                         \
    X(int, dnnl_engine_create, (void **engine, int kind, size_t index))                            \
    X(int, dnnl_engine_destroy, (void *engine))                                                    \
    X(int, dnnl_stream_create, (void **stream, void *engine, unsigned flags))                      \
    X(int, dnnl_stream_destroy, (void *stream))                                                    \
    X(int, dnnl_stream_wait, (void *stream))                                                       \
    X(int, dnnl_memory_desc_equal, (const void *a, const void *b))                                 \
    X(int, dnnl_memory_get_memory_desc, (const void *memory, const void **tensor))                 \
    X(int, dnnl_memory_create, (void **memory, const void *tensor, void *engine, void *data))      \
    X(int, dnnl_memory_destroy, (void *memory))                                                    \
    X(int, dnnl_reorder_primitive_desc_create,                                                     \
      (void **desc, const void *from, void *from_engine, const void *to, void *to_engine,          \
       const void *attributes))                                                                    \
    X(int, dnnl_primitive_desc_query, (const void *desc, int query, int index, void *result))      \
    X(const void *, dnnl_primitive_desc_query_md, (const void *desc, int query, int index))        \
    X(int, dnnl_primitive_desc_destroy, (void *desc))                                              \
    X(int, dnnl_primitive_create, (void **primitive, const void *desc))                            \
    X(int, dnnl_primitive_destroy, (void *primitive))                                              \
    X(int, dnnl_primitive_execute,                                                                 \
      (const void *primitive, void *stream, int n_args, const struct onednn_arg *args))

/** Only in version 2. */
#define ONEDNN_2_MAP(X)                                                                            \
    X(int, dnnl_memory_desc_init_by_tag,                                                           \
      (void *tensor, int n_dims, const onednn_dims dims, int type, int layout))                    \
    X(int, dnnl_convolution_forward_desc_init,                                                     \
      (void *convolution, int propagation, int algorithm, const void *x, const void *k,            \
       const void *bias, const void *y, const onednn_dims stride, const onednn_dims before,        \
       const onednn_dims after))                                                                   \
    X(int, dnnl_primitive_desc_create,                                                             \
      (void **desc, const void *convolution, const void *attributes, void *engine,                 \
       const void *hint))

/** Only in version 3. */
#define ONEDNN_3_MAP(X)                                                                            \
    X(int, dnnl_memory_desc_create_with_tag,                                                       \
      (void **tensor, int n_dims, const onednn_dims dims, int type, int layout))                   \
    X(int, dnnl_memory_desc_destroy, (void *tensor))                                               \
    X(int, dnnl_convolution_forward_primitive_desc_create,                                         \
      (void **desc, void *engine, int propagation, int algorithm, const void *x, const void *k,    \
       const void *bias, const void *y, const onednn_dims stride, const onednn_dims dilation,      \
       const onednn_dims before, const onednn_dims after, const void *attributes))
