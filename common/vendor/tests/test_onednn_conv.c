#include "base/rng.h"
#include "nn/oracle.h"
#include "vendor/onednn_abi.h"
#include "vendor/onednn_conv.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#if defined(__has_include) && __has_include(<dnnl.h>)
#include <dnnl.h>

Test(onednn_conv, our_declarations_are_those_of_the_headers)
{
#define EXPECT(ours, theirs) cr_expect_eq((long long)(ours), (long long)(theirs))
    EXPECT(ONEDNN_SUCCESS, dnnl_success);
    EXPECT(ONEDNN_CPU, dnnl_cpu);
    EXPECT(ONEDNN_STREAM, dnnl_stream_default_flags);
    EXPECT(ONEDNN_INFERENCE, dnnl_forward_inference);
    EXPECT(ONEDNN_DIRECT, dnnl_convolution_direct);
    EXPECT(ONEDNN_FLOAT32, dnnl_f32);
    EXPECT(ONEDNN_ANY, dnnl_format_tag_any);
    EXPECT(ONEDNN_ROW_MAJOR, dnnl_nchw);
    EXPECT(ONEDNN_ROW_MAJOR, dnnl_oihw);
    EXPECT(ONEDNN_QUERY_NAME, dnnl_query_impl_info_str);
    EXPECT(ONEDNN_QUERY_X, dnnl_query_src_md);
    EXPECT(ONEDNN_QUERY_K, dnnl_query_weights_md);
    EXPECT(ONEDNN_QUERY_Y, dnnl_query_dst_md);
    EXPECT(ONEDNN_ARG_FROM, DNNL_ARG_FROM);
    EXPECT(ONEDNN_ARG_FROM, DNNL_ARG_SRC);
    EXPECT(ONEDNN_ARG_TO, DNNL_ARG_TO);
    EXPECT(ONEDNN_ARG_TO, DNNL_ARG_DST);
    EXPECT(ONEDNN_ARG_WEIGHTS, DNNL_ARG_WEIGHTS);
    EXPECT((intptr_t)ONEDNN_ALLOCATE, (intptr_t)DNNL_MEMORY_ALLOCATE);
    EXPECT(sizeof(onednn_dims), sizeof(dnnl_dims_t));
    EXPECT(sizeof(struct onednn_arg), sizeof(dnnl_exec_arg_t));
    EXPECT(offsetof(struct onednn_arg, memory), offsetof(dnnl_exec_arg_t, memory));
    EXPECT(offsetof(struct onednn_version, patch), offsetof(dnnl_version_t, patch));
#if DNNL_VERSION_MAJOR == 2
    cr_expect_leq(sizeof(dnnl_memory_desc_t), sizeof(struct onednn2_tensor));
    cr_expect_leq(sizeof(dnnl_convolution_desc_t), sizeof(struct onednn2_convolution));
#else
    EXPECT(sizeof(dnnl_memory_desc_t), sizeof(void *));
#endif
}
#endif

/** Poisons y and computes it, for every way to request the convolution. */
static void computes(struct vn_onednn *onednn, const struct conv_shape *s, const float *x,
                     const float *k, float *y)
{
    for (int way = 0; way < 4; way++) {
        struct st_error err = {0};
        struct vn_onednn_conv *conv;
        double total_s, reorders_s, largest;
        size_t wrong = 1;
        memset(y, 0xff, nn_conv_y_elems(s) * sizeof *y);
        cr_assert_eq(vn_onednn_conv_make(&conv, onednn, s, way & 1, way & 2, x, k, y, &err), ST_OK,
                     "%s", err.what);
        cr_assert_eq(vn_onednn_conv_run(conv, &total_s, &reorders_s, &err), ST_OK, "%s", err.what);
        cr_assert_eq(nn_conv_compare(s, x, k, y, &wrong, &largest, &err), ST_OK);
        cr_expect_eq(wrong, 0, "way %d, B=%d M=%d C=%d H=%d W=%d K=%d: %zu wrong", way, s->B, s->M,
                     s->C, s->H, s->W, s->K, wrong);
        cr_expect(reorders_s >= 0 && reorders_s <= total_s);
        cr_expect_neq(vn_onednn_conv_name(conv)[0], '?');
        vn_onednn_conv_free(conv);
        y[0] += 1;
        cr_assert_eq(nn_conv_compare(s, x, k, y, &wrong, &largest, &err), ST_OK);
        cr_expect_eq(wrong, 1, "an output that is wrong by 1 is not found");
    }
}

Test(onednn_conv, agrees_with_the_oracle)
{
    static const struct conv_shape shapes[] = {{1, 1, 1, 1, 1, 1},    {2, 3, 1, 7, 7, 7},
                                               {3, 16, 8, 17, 16, 3}, {2, 17, 13, 11, 19, 5},
                                               {5, 12, 1, 70, 70, 5}, {2, 24, 12, 33, 33, 5}};
    struct st_error err = {0};
    struct vn_onednn *onednn;
    if (vn_onednn_open(&onednn, &err)) {
        cr_expect(err.what[0] && err.hint[0], "what '%s', hint '%s'", err.what, err.hint);
        cr_skip_test("%s", err.what);
    }
    const uint64_t seed = rng_fresh_seed();
    cr_log_info("seed %llu, oneDNN %s", (unsigned long long)seed, vn_onednn_version(onednn));
    struct rng r = rng_make(seed, 0);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct conv_shape *s = &shapes[i];
        float *x = malloc(nn_conv_x_elems(s) * sizeof *x),
              *k = malloc(nn_conv_k_elems(s) * sizeof *k),
              *y = malloc(nn_conv_y_elems(s) * sizeof *y);
        rng_fill(&r, x, nn_conv_x_elems(s), -1, 1);
        rng_fill(&r, k, nn_conv_k_elems(s), -1, 1);
        computes(onednn, s, x, k, y);
        free(x);
        free(k);
        free(y);
    }
    vn_onednn_close(onednn);
}
