/* Tests of the clock's model, on hand-written PTX kernels that differ in one respect. */
#include "vgpu/exec/tests/gpu.h"

#include <criterion/criterion.h>
#include <string.h>

/* p: 64 KB of floats; n: distance between lanes in words. Executes ACCESS 64 times, each time 32
 * bytes further, in the first 32 KB. */
#define LOOP(name, access)                                                                         \
    ".visible .entry " name "(.param .u64 p, .param .u32 n)\n{\n.reg .pred %p<3>;\n"               \
    ".reg .b32 %r<20>;\n.reg .b64 %q<9>;\n.reg .f32 %f<9>;\n"                                      \
    "ld.param.u64 %q1, [p];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n"                       \
    "mul.lo.s32 %r3, %r2, %r1;\nmov.u32 %r4, 0;\nmov.f32 %f1, 0f00000000;\nAGAIN:\n"               \
    "mad.lo.s32 %r5, %r4, 8, %r3;\nand.b32 %r6, %r5, 8191;\nmul.wide.u32 %q2, %r6, 4;\n"           \
    "add.s64 %q3, %q1, %q2;\n" access "add.s32 %r4, %r4, 1;\nsetp.lt.s32 %p1, %r4, 64;\n"          \
    "@%p1 bra AGAIN;\nst.global.f32 [%q1+40000], %f1;\nret;\n}\n"

#define LOADS    LOOP("loads", "ld.global.f32 %f2, [%q3];\nadd.f32 %f1, %f1, %f2;\n")
#define PAST_L1  LOOP("past_l1", "ld.global.cg.f32 %f2, [%q3];\nadd.f32 %f1, %f1, %f2;\n")
#define FMA(a)   "fma.rn.f32 " a ", " a ", " a ", " a ";\n"
#define FOUR(x)  x x x x
#define CHAINED  LOOP("chained", FOUR(FOUR(FMA("%f1"))))
#define PARALLEL LOOP("parallel", FOUR(FMA("%f1") FMA("%f2") FMA("%f3") FMA("%f4")))
#define ATOMICS                                                                                    \
    LOOP("atomics", "mad.wide.u32 %q4, %r3, 4, %q1;\nred.global.add.f32 [%q4], 0f3f800000;\n")

struct args {
    uint64_t p;
    uint32_t n;
};

static struct vg_launch_report run(const char *ptx, const char *kernel, uint32_t grid, uint32_t n,
                                   int cores)
{
    static const char zero[64 << 10];
    char text[8192];
    snprintf(text, sizeof text, "%s%s", PTX_HEAD, ptx);
    struct vg_device *d = gpu_open(cores);
    struct vg_module *m = gpu_load(d, text);
    struct args a = {gpu_alloc(d, zero, sizeof zero), n};
    struct vg_launch_report r = gpu_run(d, m, kernel, grid, 256, &a);
    vg_device_close(d);
    return r;
}

Test(clock, lines_of_a_request_are_paid_for)
{
    double before = 0;
    for (uint32_t stride = 4; stride <= 32; stride *= 2) {
        struct vg_launch_report r = run(LOADS, "loads", 400, stride, 2);
        cr_assert_gt(r.modelled_ns, 1.5 * before, "stride %u", stride);
        before = r.modelled_ns;
        if (stride == 32)
            cr_assert_str_eq(r.limiter, "l1");
    }
}

Test(clock, what_l1_may_not_answer_comes_from_l2)
{
    struct vg_launch_report near = run(LOADS, "loads", 400, 8, 2);
    struct vg_launch_report far = run(PAST_L1, "past_l1", 400, 8, 2);
    cr_assert_gt(far.modelled_ns, 1.3 * near.modelled_ns);
    cr_assert_str_eq(far.limiter, "l2");
}

/* On an H200, a block of 8 warps takes 1.57 times as long for multiply-adds in one chain as for four
 * chains. */
Test(clock, one_warp_waits_for_its_chain)
{
    struct vg_launch_report chained = run(CHAINED, "chained", 1, 1, 1);
    struct vg_launch_report parallel = run(PARALLEL, "parallel", 1, 1, 1);
    cr_assert_gt(chained.modelled_ns, 1.2 * parallel.modelled_ns);
    cr_assert_gt(chained.term_ns[VG_TERM_LATENCY], 1.5 * parallel.term_ns[VG_TERM_LATENCY]);
    cr_assert_str_eq(chained.limiter, "latency");
}

/* Four loads per round: the address of each depends on the one before, or on none. All words are 0. */
#define LOAD(cache, at, to) "ld.global." cache ".u32 " to ", [%q3+" at "];\n"
#define FOLLOW              "mul.wide.u32 %q4, %r7, 4;\nadd.s64 %q3, %q3, %q4;\n"
#define DEPENDENT(cache)                                                                           \
    LOOP("loads", LOAD(cache, "0", "%r7") FOLLOW LOAD(cache, "4096", "%r7")                        \
                      FOLLOW LOAD(cache, "8192", "%r7")                                            \
                          FOLLOW LOAD(cache, "12288", "%r7") "add.u32 %r4, %r4, %r7;\n")
#define INDEPENDENT(cache)                                                                         \
    LOOP("loads", LOAD(cache, "0", "%r7") LOAD(cache, "4096", "%r8") LOAD(cache, "8192", "%r9")    \
                      LOAD(cache, "12288", "%r10") "add.u32 %r7, %r7, %r8;\n"                      \
                                                   "add.u32 %r9, %r9, %r10;\n"                     \
                                                   "add.u32 %r4, %r4, %r7;\n"                      \
                                                   "add.u32 %r4, %r4, %r9;\n")

/* On an H200, a block of 8 warps takes 3.0 times as long for dependent loads if L1 has the data, and
 * 3.8 times if L2 has it (a warp alone: 3.1 and 3.7 times). */
Test(clock, dependent_loads_follow_one_another)
{
    static const struct {
        const char *dependent, *independent;
        double measured;
    } caches[] = {{DEPENDENT("ca"), INDEPENDENT("ca"), 3.0},
                  {DEPENDENT("cg"), INDEPENDENT("cg"), 3.8}};
    for (size_t i = 0; i < 2; i++) {
        const double ratio = run(caches[i].dependent, "loads", 1, 1, 1).term_ns[VG_TERM_LATENCY] /
                             run(caches[i].independent, "loads", 1, 1, 1).term_ns[VG_TERM_LATENCY];
        cr_assert(ratio > caches[i].measured / 1.25 && ratio < caches[i].measured * 1.25,
                  "%.2f instead of %.1f", ratio, caches[i].measured);
    }
}

/* Two loads, between which the first value is stored. */
#define STAGED(name, store)                                                                        \
    ".shared .align 4 .b8 stage[1024];\n" LOOP(                                                    \
        name,                                                                                      \
        "ld.global.cg.f32 %f2, [%q3];\nmov.u32 %r7, stage;\nmad.lo.u32 %r7, %r2, 4, %r7;\n" store  \
        "ld.global.cg.f32 %f3, [%q3+128];\nadd.f32 %f1, %f1, %f3;\n")

Test(clock, loads_overtake_stores_to_shared_memory)
{
    struct vg_launch_report shared =
        run(STAGED("staged", "st.shared.f32 [%r7], %f2;\n"), "staged", 1, 1, 1);
    struct vg_launch_report global =
        run(STAGED("staged", "st.global.f32 [%q3+33000], %f2;\n"), "staged", 1, 1, 1);
    cr_assert_gt(global.term_ns[VG_TERM_LATENCY], 1.5 * shared.term_ns[VG_TERM_LATENCY]);
}

Test(clock, atomics_on_one_address_queue)
{
    struct vg_launch_report own = run(ATOMICS, "atomics", 400, 1, 2);
    struct vg_launch_report same = run(ATOMICS, "atomics", 400, 0, 2);
    cr_assert_gt(same.modelled_ns, 10 * own.modelled_ns);
    cr_assert_str_eq(same.limiter, "atomic");
}

/* Blocks whose number is a multiple of n execute n * 64 rounds, the others none. */
#define UNEVEN                                                                                      \
    ".visible .entry uneven(.param .u64 p, .param .u32 n)\n{\n.reg .pred %p<3>;\n"                  \
    ".reg .b32 %r<20>;\n.reg .b64 %q<9>;\n.reg .f32 %f<9>;\nld.param.u64 %q1, [p];\n"               \
    "ld.param.u32 %r1, [n];\nmov.u32 %r2, %ctaid.x;\nrem.u32 %r3, %r2, %r1;\n"                      \
    "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra END;\nmul.lo.u32 %r4, %r1, 64;\nmov.f32 %f1, 0f00000000;\n" \
    "AGAIN:\n" FOUR(FMA("%f1") FMA("%f2") FMA("%f3") FMA(                                           \
        "%f4")) "sub.u32 %r4, %r4, 1;\nsetp.ne.u32 %p2, %r4, 0;\n@%p2 bra AGAIN;\n"                 \
                "st.global.f32 [%q1], %f1;\nEND:\nret;\n}\n"

/* Each block takes tickets. QUEUE: it does 64 rounds for each ticket below n, and ends with the first
 * ticket that is not. ONE: it does n * 64 rounds with ticket 0, and ends. */
#define TICKETS(name, rounds, more)                                                                \
    ".global .u32 next_" name ";\n.visible .entry " name "(.param .u64 p, .param .u32 n)\n{\n"     \
    ".reg .pred %p<3>;\n.reg .b32 %r<20>;\n.reg .b64 %q<9>;\n.reg .f32 %f<9>;\n"                   \
    "ld.param.u64 %q1, [p];\nld.param.u32 %r1, [n];\nmov.f32 %f1, 0f00000000;\nTAKE:\n"            \
    "mov.u32 %r2, %tid.x;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra END;\n"                              \
    "atom.global.add.u32 %r3, [next_" name "], 1;\nsetp.ge.u32 %p1, %r3, " rounds                  \
    "@%p1 bra END;\n"                                                                              \
    "AGAIN:\n" FOUR(FMA("%f1") FMA("%f2") FMA("%f3") FMA(                                          \
        "%f4")) "sub.u32 %r4, %r4, 1;\nsetp.ne.u32 %p2, %r4, 0;\n@%p2 bra AGAIN;\n" more           \
                "st.global.f32 [%q1], %f1;\nEND:\nret;\n}\n"
#define QUEUE TICKETS("queue", "%r1;\nmov.u32 %r4, 64;\n", "bra TAKE;\n")
#define ONE   TICKETS("one", "1;\nmul.lo.u32 %r4, %r1, 64;\n", "")

/* A queue spreads its pieces over the blocks, in whatever order the virtual GPU runs these, but no
 * piece over several blocks. */
Test(clock, a_queue_spreads_whole_pieces)
{
    const double spread = run(QUEUE, "queue", 64, 64, 2).modelled_ns;
    const double few = run(QUEUE, "queue", 64, 4, 2).modelled_ns;
    const double one = run(ONE, "one", 64, 64, 2).modelled_ns;
    cr_assert_gt(one, 6 * spread);
    cr_assert_lt(few, spread);
    cr_assert_gt(one, 6 * few);
    cr_assert_float_eq(spread, run(QUEUE, "queue", 64, 64, 1).modelled_ns, 0.02 * spread);
}

/* The same total work is done by all blocks of 8 multiprocessors; by one block; by every eighth
 * block, two of which share a multiprocessor; by every second block, on half of the
 * multiprocessors; and by every third of many blocks, which go to free multiprocessors. */
Test(clock, the_busiest_multiprocessor_decides)
{
    const double even = run(UNEVEN, "uneven", 64, 1, 2).modelled_ns;
    const double one_block = run(UNEVEN, "uneven", 64, 64, 2).modelled_ns;
    const double every_eighth = run(UNEVEN, "uneven", 64, 8, 2).modelled_ns;
    const double every_second = run(UNEVEN, "uneven", 64, 2, 2).modelled_ns;
    cr_assert_gt(one_block, 6 * even);
    cr_assert(every_eighth > 1.5 * even && every_eighth < 4 * even, "%.0f %.0f", every_eighth,
              even);
    cr_assert(every_second > 1.5 * even && every_second < 3 * even, "%.0f %.0f", every_second,
              even);
    const double all = run(UNEVEN, "uneven", 1600, 1, 2).modelled_ns;
    const double every_third = run(UNEVEN, "uneven", 1600, 3, 2).modelled_ns;
    cr_assert(every_third > 0.9 * all && every_third < 1.3 * all, "%.0f %.0f", every_third, all);
}

/* One of n blocks does all the work. Its loop has an atomic instruction whose result is used in the
 * given way. */
#define ASKING(use) ASKING_START use("%q2") ASKING_LOOP use("%q2") ASKING_END
#define ASKING_START                                                                               \
    ".visible .entry asking(.param .u64 p, .param .u32 n)\n{\n.reg .pred %p<4>;\n"                 \
    ".reg .b32 %r<20>;\n.reg .b64 %q<9>;\n.reg .f32 %f<9>;\nld.param.u64 %q1, [p];\n"              \
    "ld.param.u32 %r1, [n];\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r5, %tid.x;\n"                       \
    "mad.lo.u32 %r5, %r2, 256, %r5;\nmul.wide.u32 %q2, %r5, 4;\nadd.s64 %q2, %q1, %q2;\n"          \
    "mov.f32 %f1, 0f00000000;\n"
#define ASKING_LOOP                                                                                \
    "rem.u32 %r3, %r2, %r1;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra END;\nmul.lo.u32 %r4, %r1, 64;\n"  \
    "AGAIN:\n" FOUR(FMA("%f1") FMA("%f2") FMA("%f3") FMA("%f4"))
#define ASKING_END                                                                                 \
    "sub.u32 %r4, %r4, 1;\nsetp.ne.u32 %p2, %r4, 0;\n@%p2 bra AGAIN;\nEND:\nret;\n}\n"
#define ATOM(at)     "atom.global.add.u32 %r7, [" at "], 0;\n"
#define UNREAD(at)   ATOM(at)
#define COMPUTED(at) ATOM(at) "add.u32 %r8, %r7, 1;\nselp.u32 %r9, %r8, 2, %p1;\n"
#define BRANCHES(at) ATOM(at) "add.u32 %r8, %r7, 1;\nsetp.eq.u32 %p3, %r8, 9;\n@%p3 bra END;\n"
#define ADDRESSES(at)                                                                              \
    ATOM(at) "mul.wide.u32 %q3, %r7, 4;\nadd.s64 %q4, %q3, %q1;\nld.global.u32 %r8, [%q4];\n"
#define STORES(at) ATOM(at) "st.global.u32 [%q1+4096], %r7;\n"

/* All blocks execute the atomic instruction once, the first block 4096 times. */
Test(clock, only_results_that_decide_make_blocks_equal)
{
    const struct {
        const char *ptx;
        bool equal;
    } of[] = {{ASKING(UNREAD), false},
              {ASKING(COMPUTED), false},
              {ASKING(BRANCHES), true},
              {ASKING(ADDRESSES), true},
              {ASKING(STORES), true}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const double all = run(of[i].ptx, "asking", 64, 1, 2).balance;
        const double one = run(of[i].ptx, "asking", 64, 64, 2).balance;
        cr_assert_float_eq(all, 1, 1e-9, "%zu: %g", i, all);
        cr_assert(of[i].equal ? one > 0.99 : one < 0.2, "%zu: %g", i, one);
    }
}

#define RED(at) "red.global.add.u32 [" at "], 0;\n"

Test(clock, nobody_waits_for_an_unread_result)
{
    const double red = run(ASKING(RED), "asking", 1, 1, 1).modelled_ns;
    const double unread = run(ASKING(UNREAD), "asking", 1, 1, 1).modelled_ns;
    const double read = run(ASKING(BRANCHES), "asking", 1, 1, 1).modelled_ns;
    cr_assert_eq(memcmp(&red, &unread, sizeof red), 0, "%f %f", red, unread);
    cr_assert_gt(read, 1.5 * red, "%f %f", read, red);
}

Test(clock, is_the_same_for_any_number_of_cores)
{
    const char *const kernels[][2] = {{LOADS, "loads"},
                                      {PAST_L1, "past_l1"},
                                      {ATOMICS, "atomics"},
                                      {UNEVEN, "uneven"},
                                      {ASKING(BRANCHES), "asking"}};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct vg_launch_report one = run(kernels[i][0], kernels[i][1], 333, 3, 1);
        struct vg_launch_report many = run(kernels[i][0], kernels[i][1], 333, 3, 3);
        cr_assert_eq(memcmp(&one.modelled_ns, &many.modelled_ns, sizeof one.modelled_ns), 0);
        cr_assert_str_eq(one.limiter, many.limiter);
    }
}
