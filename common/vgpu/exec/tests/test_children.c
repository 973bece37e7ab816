/* Tests of launches by kernels: the requests that the device gets, their order, and their
 * errors. */
#include "vgpu/exec/tests/gpu.h"

#include <criterion/criterion.h>

enum { BLOCKS = 700 };                     /* enough for every worker to run some */
enum { PENDING = 4, PENDING_MOST = 2048 }; /* cudaLimitDevRuntimePendingLaunchCount, its default */

/* launch(out, threads, stream): each block launches child(out, its number) twice, in a stream and
 * at the tail, and stores the error that it reads afterwards. */
static const char *const text = PTX_HEAD
    ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 a, "
    ".param .align 4 .b8 b[12], .param .align 4 .b8 c[12], .param .b32 d);\n"
    ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 a, .param .b64 b);\n"
    ".extern .func (.param .b32 r) cudaGetLastError();\n"
    ".visible .entry child(.param .u64 p, .param .u32 n)\n{\nret;\n}\n"
    ".func once(.param .u32 threads, .param .u64 stream, .param .u64 out)\n{\n"
    ".reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<8>;\n"
    "ld.param.u32 %r1, [threads];\nld.param.u64 %rd1, [stream];\nld.param.u64 %rd2, [out];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u64 %rd3, child;\n"
    "{ .param .b64 a; st.param.b64 [a], %rd3;\n"
    ".param .align 4 .b8 b[12]; st.param.b32 [b], 3; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;\n"
    ".param .align 4 .b8 c[12]; st.param.b32 [c], %r1; st.param.b32 [c+4], 1; st.param.b32 [c+8], 1;\n"
    ".param .b32 d; st.param.b32 [d], 64;\n.param .b64 r;\n"
    "call.uni (r), __cudaCDP2GetParameterBufferV2, (a, b, c, d);\nld.param.b64 %rd4, [r]; }\n"
    "setp.eq.s64 %p1, %rd4, 0;\n@%p1 bra DONE;\n"
    "st.u64 [%rd4], %rd2;\nst.u32 [%rd4+8], %r2;\n"
    "{ .param .b64 a; st.param.b64 [a], %rd4;\n.param .b64 b; st.param.b64 [b], %rd1;\n"
    ".param .b32 r;\ncall.uni (r), __cudaCDP2LaunchDeviceV2, (a, b);\nld.param.b32 %r3, [r]; }\n"
    "DONE:\nret;\n}\n"
    ".visible .entry launch(.param .u64 p, .param .u32 threads, .param .u64 stream)\n{\n"
    ".reg .b32 %r<6>; .reg .b64 %rd<8>;\n"
    "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [threads];\nld.param.u64 %rd2, [stream];\n"
    "{ .param .b32 a; st.param.b32 [a], %r1;\n.param .b64 b; st.param.b64 [b], %rd2;\n"
    ".param .b64 c; st.param.b64 [c], %rd1;\ncall.uni once, (a, b, c); }\n"
    "{ .param .b32 a; st.param.b32 [a], 32;\n.param .b64 b; st.param.b64 [b], 3;\n"
    ".param .b64 c; st.param.b64 [c], %rd1;\ncall.uni once, (a, b, c); }\n"
    "{ .param .b32 r;\ncall.uni (r), cudaGetLastError, ();\nld.param.b32 %r2, [r]; }\n"
    "mov.u32 %r3, %ctaid.x;\nmul.wide.u32 %rd3, %r3, 4;\nadd.s64 %rd4, %rd1, %rd3;\n"
    "st.global.u32 [%rd4], %r2;\nret;\n}\n";

struct parameters {
    uint64_t out;
    uint32_t threads;
    uint64_t stream;
};

/* Runs the kernel and takes its launches from the device. @param errors  one from each block */
static struct vg_child *launch(struct vg_device *d, uint32_t threads, uint64_t stream,
                               uint32_t errors[BLOCKS], uint64_t *out, size_t *count)
{
    struct vg_module *m = gpu_load(d, text);
    const struct parameters p = {gpu_alloc(d, NULL, 4 * BLOCKS), threads, stream};
    gpu_run(d, m, "launch", BLOCKS, 1, &p);
    gpu_read(d, errors, p.out, 4 * BLOCKS);
    *out = p.out;
    return vg_children_take(d, count);
}

Test(children, come_in_the_order_of_the_blocks_with_their_parameters)
{
    for (int cores = 1; cores <= 3; cores++) {
        struct vg_device *d = gpu_open(cores);
        uint32_t errors[BLOCKS];
        uint64_t out;
        size_t n;
        struct vg_child *list = launch(d, 96, 0, errors, &out, &n);
        cr_assert_eq(n, 2 * BLOCKS);
        for (size_t i = 0; i < n; i++) {
            const struct vg_child *c = &list[i];
            const bool is_tail = i % 2;
            struct {
                uint64_t p;
                uint32_t number;
            } *const got = c->parameters;
            cr_assert_eq(c->kind, VG_CHILD_KERNEL);
            cr_assert_eq(c->block_number, i / 2);
            cr_assert_eq(c->is_tail, is_tail);
            cr_assert_eq(c->grid.x, 3);
            cr_assert_eq(c->block.x, is_tail ? 32 : 96);
            cr_assert_eq(c->dynamic_shared_bytes, 64);
            cr_assert_str_eq(vg_kernel_symbol(c->kernel), "child");
            cr_assert_eq(got->p, out);
            cr_assert_eq(got->number, i / 2);
            /* The first launch of a block's default stream has no predecessor; the tail stream
             * belongs to the grid. */
            cr_assert_eq(c->after[0], is_tail && i > 1 ? i - 2 : VG_NO_CHILD);
            cr_assert_eq(c->thread_number, is_tail);
            cr_assert_eq(errors[i / 2], 0);
        }
        vg_children_free(list, n);
        vg_device_close(d);
    }
}

Test(children, with_impossible_sizes_or_too_deep_are_refused)
{
    struct vg_device *d = gpu_open(2);
    uint32_t errors[BLOCKS];
    uint64_t out;
    size_t n;
    struct vg_child *list = launch(d, 1025, 0, errors, &out, &n);
    cr_assert_eq(n, BLOCKS);
    for (size_t i = 0; i < n; i++) {
        cr_assert(list[i].is_tail);
        cr_assert_eq(errors[i], 9); /* cudaErrorInvalidConfiguration */
    }
    vg_children_free(list, n);

    vg_nesting_set(d, PENDING_MOST, NULL);
    list = launch(d, 32, 0, errors, &out, &n);
    cr_assert_eq(n, BLOCKS);
    cr_assert(list[0].is_tail, "a tail launch has room: it takes its launcher's place");
    cr_assert_eq(errors[0], 69); /* cudaErrorLaunchPendingCountExceeded */
    vg_children_free(list, n);

    vg_nesting_set(d, PENDING_MOST - 1, NULL);
    list = launch(d, 32, 0, errors, &out, &n);
    cr_assert_eq(n, 2 * BLOCKS);
    vg_children_free(list, n);

    vg_limit_set(d, PENDING, 0);
    list = launch(d, 32, 0, errors, &out, &n);
    cr_assert_eq(n, 0, "neither kind of launch has room");
    cr_assert_eq(errors[0], 69); /* cudaErrorLaunchPendingCountExceeded */
    vg_children_free(list, n);
    vg_device_close(d);
}

Test(children, of_one_stream_follow_each_other)
{
    struct vg_device *d = gpu_open(3);
    uint32_t errors[BLOCKS];
    uint64_t out;
    size_t n;
    struct vg_child *list =
        launch(d, 32, 0x1000000010, errors, &out, &n); /* a stream of the grid */
    cr_assert_eq(n, 2 * BLOCKS);
    for (size_t i = 0; i < n; i++)
        cr_assert_eq(list[i].after[0], i > 1 ? i - 2 : VG_NO_CHILD);
    vg_children_free(list, n);
    list = launch(d, 32, 4, errors, &out, &n); /* cudaStreamFireAndForget */
    for (size_t i = 0; i < n; i += 2)
        cr_assert_eq(list[i].after[0], VG_NO_CHILD);
    vg_children_free(list, n);
    vg_device_close(d);
}
