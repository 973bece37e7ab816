/* Tests of proofs by execution: the element of a word after each kind of instruction. A kernel gets
 * x, k and y, 64 words each, and every lane of two warps computes y from x and k by a few lines of
 * PTX, with the expected element beside them. */
#include "vgpu/exec/proof.h"
#include "vgpu/exec/tests/gpu.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N = 64 };

struct proved {
    struct vg_device *device;
    uint64_t address[VG_PROOF_TENSORS], scratch;
    const uint32_t *x, *k;
};

/* y has 2 N words, since a lane may store to two words. */
static struct proved prove(const char *declared, const char *body)
{
    static char ptx[8192];
    float values[2 * N];
    struct proved p = {.device = gpu_open(1)};
    struct st_error err;
    size_t count;
    snprintf(
        ptx, sizeof ptx,
        PTX_HEAD
        "%s\n.visible .entry f(.param .u64 px, .param .u64 pk, .param .u64 py, .param .u64 ps)\n{\n"
        ".reg .pred %%p<9>;\n.reg .b16 %%h<9>;\n.reg .b32 %%r<30>;\n.reg .b64 %%q<20>;\n"
        ".reg .f32 %%f<30>;\n.reg .f64 %%d<9>;\n"
        "ld.param.u64 %%q1, [px];\nld.param.u64 %%q2, [pk];\nld.param.u64 %%q3, [py];\n"
        "ld.param.u64 %%q4, [ps];\nmov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%q5, %%r1, 4;\n"
        "add.s64 %%q6, %%q1, %%q5;\nadd.s64 %%q7, %%q2, %%q5;\nadd.s64 %%q8, %%q3, %%q5;\n"
        "add.s64 %%q9, %%q4, %%q5;\nld.global.f32 %%f1, [%%q6];\nld.global.nc.f32 %%f2, [%%q7];\n"
        "%s\nret;\n}\n",
        declared, body);
    struct vg_module *m = gpu_load(p.device, ptx);
    cr_assert_eq(vg_proof_start(p.device, &err), ST_OK);
    for (int i = 0; i < 2 * N; i++)
        values[i] = 0.5f + (float)(rand() % 100000) / 100000;
    p.scratch = gpu_alloc(p.device, values, sizeof values);
    for (int t = 0; t < VG_PROOF_TENSORS; t++) {
        for (int i = 0; i < 2 * N; i++)
            values[i] = t == VG_PROOF_Y ? 0 : 0.5f + (float)(rand() % 100000) / 100000;
        p.address[t] = gpu_alloc(p.device, values, sizeof values);
        cr_assert(vg_proof_tensor(p.device, (enum vg_proof_tensor)t, p.address[t], sizeof values));
    }
    p.x = vg_proof_elements(p.device, VG_PROOF_X, &count);
    p.k = vg_proof_elements(p.device, VG_PROOF_K, &count);
    const uint64_t arguments[] = {p.address[0], p.address[1], p.address[2], p.scratch};
    cr_assert(!gpu_run(p.device, m, "f", 1, N, arguments).faulted);
    return p;
}

/* ---- the operands of y's computation ----------------------------------------------------- */

enum made { NOTHING, X, PRODUCT, ZERO, TWICE, THIRD, NEXT, SUM_OF_WARP, X_PLUS_1, MINUS_X, HOST };

struct line {
    const char *name, *declared, *body;
    enum made made;
};

/* Multiplies x and k by 2^20 and converts them to integers. */
#define FIXED                                                                                      \
    "mul.f32 %f3, %f1, 0f49800000;\nmul.f32 %f4, %f2, 0f49800000;\n"                               \
    "cvt.rni.s32.f32 %r2, %f3;\ncvt.rni.s32.f32 %r3, %f4;\n"
#define BYTE(n) "ld.global.u8 %h1, [%q6+" n "];\nst.global.u8 [%q8+" n "], %h1;\n"

static const struct line lines[] = {
    {"copy", "", "st.global.f32 [%q8], %f1;", X},
    {"product", "", "mul.f32 %f3, %f1, %f2;\nst.global.f32 [%q8], %f3;", PRODUCT},
    {"fma", "", "fma.rn.f32 %f3, %f1, %f2, 0f00000000;\nst.global.f32 [%q8], %f3;", PRODUCT},
    {"fma_ftz_mode", "", "fma.rz.ftz.f32 %f3, %f1, %f2, 0f00000000;\nst.global.f32 [%q8], %f3;",
     PRODUCT},
    {"plus_number", "", "add.f32 %f3, %f1, 0f3f800000;\nst.global.f32 [%q8], %f3;", X_PLUS_1},
    {"times_zero", "", "mul.f32 %f3, %f1, 0f00000000;\nst.global.f32 [%q8], %f3;", NOTHING},
    {"times_two", "", "mul.f32 %f3, %f1, 0f40000000;\nst.global.f32 [%q8], %f3;", TWICE},
    {"added_to_itself", "", "add.f32 %f3, %f1, %f1;\nst.global.f32 [%q8], %f3;", TWICE},
    {"third_by_constant", "", "mul.f32 %f3, %f1, 0f3eaaaaab;\nst.global.f32 [%q8], %f3;", THIRD},
    {"third_by_division", "", "div.rn.f32 %f3, %f1, 0f40400000;\nst.global.f32 [%q8], %f3;", THIRD},
    {"negated", "", "neg.f32 %f3, %f1;\nst.global.f32 [%q8], %f3;", MINUS_X},
    {"negated_by_bits", "",
     "mov.b32 %r2, %f1;\nxor.b32 %r2, %r2, 0x80000000;\nst.global.b32 [%q8], %r2;", MINUS_X},
    {"subtracted_from_number", "",
     "mov.f32 %f4, 0f3f800000;\nsub.f32 %f3, %f4, %f1;\nsub.f32 %f3, %f4, %f3;\nst.global.f32 [%q8], %f3;",
     X},
    {"absolute_of_negative", "", "neg.f32 %f3, %f1;\nabs.f32 %f3, %f3;\nst.global.f32 [%q8], %f3;",
     X},
    {"larger", "", "max.f32 %f3, %f1, 0fc0000000;\nst.global.f32 [%q8], %f3;", X},
    {"smaller_is_number", "", "min.f32 %f3, %f1, 0fc0000000;\nst.global.f32 [%q8], %f3;", NOTHING},
    {"made_an_integer", "", "cvt.rni.s32.f32 %r2, %f1;\nst.global.b32 [%q8], %r2;", X},
    {"integer_sum", "",
     FIXED "add.s32 %r2, %r2, %r2;\ncvt.rn.f32.s32 %f3, %r2;\nmul.f32 %f3, %f3, 0f35800000;\n"
           "st.global.f32 [%q8], %f3;",
     TWICE},
    {"integer_minus_itself", "",
     FIXED "sub.s32 %r2, %r2, %r2;\ncvt.rn.f32.s32 %f3, %r2;\nst.global.f32 [%q8], %f3;", ZERO},
    {"product_of_integers", "",
     FIXED
     "mul.wide.s32 %q10, %r2, %r3;\ncvt.rn.f32.s64 %f4, %q10;\nmul.f32 %f4, %f4, 0f2b800000;\n"
     "st.global.f32 [%q8], %f4;",
     PRODUCT},
    {"upper_half_of_a_product", "",
     FIXED "mul.hi.s32 %r4, %r2, %r3;\ncvt.rn.f32.s32 %f4, %r4;\nmul.f32 %f4, %f4, 0f3b800000;\n"
           "st.global.f32 [%q8], %f4;",
     PRODUCT},
    {"sum_of_64_bits", "",
     FIXED "mov.u64 %q10, 0;\nmad.wide.s32 %q10, %r2, %r3, %q10;\nshr.s64 %q10, %q10, 20;\n"
           "cvt.u32.u64 %r4, %q10;\ncvt.rn.f32.s32 %f4, %r4;\nmul.f32 %f4, %f4, 0f35800000;\n"
           "st.global.f32 [%q8], %f4;",
     PRODUCT},
    {"integer_shifted", "",
     FIXED "shl.b32 %r2, %r2, 4;\nshr.s32 %r2, %r2, 4;\ncvt.rn.f32.s32 %f3, %r2;\n"
           "mul.f32 %f3, %f3, 0f35800000;\nst.global.f32 [%q8], %f3;",
     X},
    {"integer_added_by_atomic", "",
     "cvt.rni.s32.f32 %r2, %f1;\nred.global.add.u32 [%q8], %r2;\nred.global.add.u32 [%q8], %r2;",
     TWICE},
    {"bytes", "", BYTE("0") BYTE("1") BYTE("2") BYTE("3"), X},
    {"bytes_in_another_order", "", BYTE("0") BYTE("2") BYTE("1") BYTE("3"), NOTHING},
    {"three_bytes", "", BYTE("0") BYTE("1") BYTE("2"), NOTHING},
    {"one_byte_four_times", "",
     "ld.global.u8 %h1, [%q6];\nst.global.u8 [%q8], %h1;\nst.global.u8 [%q8+1], %h1;\n"
     "st.global.u8 [%q8+2], %h1;\nst.global.u8 [%q8+3], %h1;\n",
     NOTHING},
    {"a_byte_of_the_host", "",
     BYTE("0") BYTE("1") BYTE("2")
         BYTE("3") "ld.global.u8 %h1, [%q9+3];\nst.global.u8 [%q8+3], %h1;\n",
     NOTHING},
    {"from_host", "", "ld.global.f32 %f3, [%q9];\nst.global.f32 [%q8], %f3;", NOTHING},
    {"minus_itself_plus_host", "",
     "ld.global.f32 %f3, [%q9];\nsub.f32 %f4, %f1, %f1;\nadd.f32 %f3, %f3, %f4;\nst.global.f32 [%q8], %f3;",
     HOST},
    {"never_taken", "",
     "ld.global.f32 %f3, [%q9];\nsetp.eq.f32 %p1, %f1, %f3;\nselp.f32 %f3, %f1, %f3, %p1;\nst.global.f32 [%q8], %f3;",
     NOTHING},
    {"taken", "",
     "ld.global.f32 %f3, [%q9];\nsetp.gt.f32 %p1, %f1, 0f00000000;\nselp.f32 %f3, %f1, %f3, %p1;\nst.global.f32 [%q8], %f3;",
     X},
    {"guarded", "",
     "ld.global.f32 %f3, [%q9];\nsetp.gt.f32 %p1, %f1, 0f00000000;\n@%p1 mov.f32 %f3, %f1;\n@!%p1 mov.f32 %f3, 0f00000000;\nst.global.f32 [%q8], %f3;",
     X},
    {"shared", ".shared .align 4 .b8 s[256];",
     "mov.u32 %r2, s;\nshl.b32 %r3, %r1, 2;\nadd.u32 %r2, %r2, %r3;\nst.shared.f32 [%r2], %f1;\nbar.sync 0;\nld.shared.f32 %f3, [%r2];\nst.global.f32 [%q8], %f3;",
     X},
    {"shared_generic", ".shared .align 4 .b8 s[256];",
     "mov.u64 %q10, s;\ncvta.shared.u64 %q10, %q10;\nadd.s64 %q10, %q10, %q5;\nst.f32 [%q10], %f1;\nbar.sync 0;\nld.f32 %f3, [%q10];\nst.global.f32 [%q8], %f3;",
     X},
    {"asynchronous_copy", ".shared .align 16 .b8 s[256];",
     "mov.u32 %r2, s;\nshl.b32 %r3, %r1, 2;\nadd.u32 %r2, %r2, %r3;\ncp.async.ca.shared.global [%r2], [%q6], 4;\ncp.async.wait_all;\nld.shared.f32 %f3, [%r2];\nst.global.f32 [%q8], %f3;",
     X},
    {"local", "",
     ".local .align 8 .b8 l[16];\nst.local.f32 [l+4], %f1;\nld.local.f32 %f3, [l+4];\nst.global.f32 [%q8], %f3;",
     X},
    {"scratch", "",
     "st.global.f32 [%q9], %f1;\nld.global.f32 %f3, [%q9];\nst.global.f32 [%q8], %f3;", X},
    {"overwritten_scratch", "",
     "st.global.f32 [%q9], %f1;\nmov.u32 %r2, 7;\nst.global.u32 [%q9], %r2;\nld.global.f32 %f3, [%q9];\nst.global.f32 [%q8], %f3;",
     NOTHING},
    {"vector", "",
     "mul.wide.u32 %q10, %r1, 8;\nadd.s64 %q10, %q4, %q10;\nst.global.v2.f32 [%q10], {%f2, %f1};\nld.global.v2.f32 {%f3, %f4}, [%q10];\nst.global.f32 [%q8], %f4;",
     X},
    {"in_double", "",
     "cvt.f64.f32 %d1, %f1;\ncvt.f64.f32 %d2, %f2;\nmul.f64 %d3, %d1, %d2;\ncvt.rn.f32.f64 %f3, %d3;\nst.global.f32 [%q8], %f3;",
     PRODUCT},
    {"packed_in_64_bits", "",
     "mov.b64 %q10, {%f2, %f1};\nmov.b64 {%f3, %f4}, %q10;\nst.global.f32 [%q8], %f4;", X},
    {"next_lane", "",
     "mov.b32 %r2, %f1;\nshfl.sync.idx.b32 %r3, %r2, 1, 31, 0xffffffff;\nst.global.b32 [%q8], %r3;",
     NEXT},
    {"sum_of_warp", "",
     "mov.b32 %r2, %f1;\nshfl.sync.bfly.b32 %r3, %r2, 16, 31, -1;\nmov.b32 %f3, %r3;\nadd.f32 %f1, %f1, %f3;\n"
     "mov.b32 %r2, %f1;\nshfl.sync.bfly.b32 %r3, %r2, 8, 31, -1;\nmov.b32 %f3, %r3;\nadd.f32 %f1, %f1, %f3;\n"
     "mov.b32 %r2, %f1;\nshfl.sync.bfly.b32 %r3, %r2, 4, 31, -1;\nmov.b32 %f3, %r3;\nadd.f32 %f1, %f1, %f3;\n"
     "mov.b32 %r2, %f1;\nshfl.sync.bfly.b32 %r3, %r2, 2, 31, -1;\nmov.b32 %f3, %r3;\nadd.f32 %f1, %f1, %f3;\n"
     "mov.b32 %r2, %f1;\nshfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;\nmov.b32 %f3, %r3;\nadd.f32 %f1, %f1, %f3;\n"
     "st.global.f32 [%q8], %f1;",
     SUM_OF_WARP},
    {"atomic_addition", "", "red.global.add.f32 [%q8], %f1;", X},
    {"two_additions", "", "red.global.add.f32 [%q8], %f1;\natom.global.add.f32 %f3, [%q8], %f1;",
     TWICE},
    {"old_value", "",
     "red.global.add.f32 [%q8], %f1;\natom.global.add.f32 %f3, [%q8], %f1;\nst.global.f32 [%q8], %f3;",
     X},
    {"exchange", "",
     "mov.b32 %r2, %f1;\natom.global.exch.b32 %r3, [%q8], %r2;\natom.global.exch.b32 %r3, [%q8], %r2;\nst.global.b32 [%q8], %r3;",
     X},
    {"swap", "", "mov.b32 %r2, %f1;\natom.global.cas.b32 %r3, [%q8], 0, %r2;", X},
    {"swap_that_fails", "", "mov.b32 %r2, %f1;\natom.global.cas.b32 %r3, [%q8], 1, %r2;", NOTHING},
    {"integer_atomic", "", "st.global.f32 [%q8], %f1;\nred.global.or.b32 [%q8], 1;", NOTHING},
    {"tf32_in_parts", "",
     "cvt.rna.tf32.f32 %r2, %f1;\nmov.b32 %f3, %r2;\nsub.f32 %f4, %f1, %f3;\ncvt.rna.tf32.f32 %r3, %f4;\nmov.b32 %f4, %r3;\nadd.f32 %f3, %f3, %f4;\nst.global.f32 [%q8], %f3;",
     X},
    {"rest_of_a_part", "",
     "cvt.rna.tf32.f32 %r2, %f1;\nmov.b32 %f3, %r2;\nsub.f32 %f4, %f1, %f3;\nst.global.f32 [%q8], %f4;",
     ZERO},
    {"cut_off_by_a_mask", "",
     "mov.b32 %r2, %f1;\nand.b32 %r2, %r2, 0xffffe000;\nst.global.b32 [%q8], %r2;", X},
    {"exponent_only", "",
     "mov.b32 %r2, %f1;\nand.b32 %r2, %r2, 0x7f800000;\nst.global.b32 [%q8], %r2;", NOTHING},
    {"pair_of_bfloat16", "",
     "cvt.rn.bf16x2.f32 %r2, %f2, %f1;\nmov.b32 {%h1, %h2}, %r2;\nmov.b32 %r3, {%h2, %h1};\nand.b32 %r3, %r3, 0xffff0000;\nst.global.b32 [%q8], %r3;\nld.global.f32 %f3, [%q8];\nadd.f32 %f3, %f3, 0f00000000;\nst.global.f32 [%q8], %f3;",
     X},
    {"halves_by_permutation", "",
     "cvt.rn.f16x2.f32 %r2, %f2, %f1;\nprmt.b32 %r3, %r2, %r2, 0x1032;\nshr.u32 %r3, %r3, 16;\ncvt.u16.u32 %h1, %r3;\nmov.b32 %r4, {%h1, %h1};\nmov.b32 {%h2, %h3}, %r4;\nshl.b32 %r3, %r3, 0;\nst.global.f32 [%q8], %f1;",
     X},
    {"called",
     ".func (.param .b32 r) g(.param .b32 a, .param .b32 b)\n{\n.reg .f32 %f<4>;\nld.param.f32 %f1, [a];\n"
     "ld.param.f32 %f2, [b];\nmul.f32 %f3, %f1, %f2;\nst.param.f32 [r], %f3;\nret;\n}\n",
     "{\n.param .b32 a;\n.param .b32 b;\n.param .b32 r;\nst.param.f32 [a], %f1;\nst.param.f32 [b], %f2;\n"
     "call.uni (r), g, (a, b);\nld.param.f32 %f3, [r];\n}\nst.global.f32 [%q8], %f3;",
     PRODUCT},
};

enum { LINES = sizeof lines / sizeof *lines };
static int numbers[LINES];

ParameterizedTestParameters(proof, a_word_has_the_element_of_what_it_was_made_of)
{
    for (int i = 0; i < LINES; i++)
        numbers[i] = i;
    return cr_make_param_array(int, numbers, LINES);
}

static uint32_t expected(const struct proved *p, enum made made, int i)
{
    uint32_t sum = 0;
    float host[2 * N];
    switch (made) {
    case X:
        return p->x[i];
    case PRODUCT:
        return field_multiply(p->x[i], p->k[i]);
    case TWICE:
        return field_add(p->x[i], p->x[i]);
    case THIRD:
        return field_multiply(p->x[i], field_inverse(field_of_integer(3)));
    case NEXT:
        return p->x[i / 32 * 32 + 1];
    case X_PLUS_1:
        return field_add(p->x[i], proof_field.one);
    case MINUS_X:
        return field_negative(p->x[i]);
    case HOST:
        gpu_read(p->device, host, p->scratch, sizeof host);
        return field_of_number((double)host[i], true);
    case SUM_OF_WARP:
        for (int lane = 0; lane < 32; lane++)
            sum = field_add(sum, p->x[i / 32 * 32 + lane]);
        return sum;
    default:
        return 0;
    }
}

ParameterizedTest(int *number, proof, a_word_has_the_element_of_what_it_was_made_of)
{
    const struct line *line = &lines[*number];
    struct proved p = prove(line->declared, line->body);
    for (int i = 0; i < N; i++) {
        struct vg_proof_word word;
        vg_proof_word(p.device, (size_t)i, &word);
        cr_assert_eq(word.has_element, line->made != NOTHING, "%s, lane %d", line->name, i);
        cr_assert_eq(word.element, expected(&p, line->made, i), "%s, lane %d", line->name, i);
    }
    vg_device_close(p.device);
}

/* ---- losses ----------------------------------------------------------------------------- */

#define TO_Y "st.global.f32 [%q8], %f3;"
/* adds 2^100 to x, which absorbs it, and subtracts 2^100 again */
#define ABSORBED "add.f32 %f3, %f1, 0f71800000;\nadd.f32 %f3, %f3, 0ff1800000;\n"

static const struct {
    const char *name, *body;
    double least, most; /* x is from 0.5 to 1.5 */
} losses[] = {
    {"a copy", "mov.f32 %f3, %f1;\n" TO_Y, 0, 0},
    {"a product", "mul.f32 %f3, %f1, %f2;\n" TO_Y, 0, 1e-6},
    {"absorbed", ABSORBED TO_Y, 0.5, 1.51},
    {"absorbed in a double",
     "cvt.f64.f32 %d1, %f1;\nadd.f64 %d1, %d1, 0d4630000000000000;\n"
     "add.f64 %d1, %d1, 0dc630000000000000;\ncvt.rn.f32.f64 %f3, %d1;\n" TO_Y,
     0.5, 1.51},
    {"absorbed, times nothing", ABSORBED "mul.f32 %f3, %f3, %f3;\n" TO_Y, 0.25, 2.3},
    {"a small number is absorbed",
     "mul.f32 %f4, %f1, 0f2b800000;\nadd.f32 %f3, %f4, 0f40000000;\nadd.f32 %f3, %f3, 0fc0000000;\n" TO_Y,
     0, 1e-11},
    {"saturated", "add.f32 %f3, %f1, 0f40a00000;\ncvt.sat.f32.f32 %f3, %f3;\n" TO_Y, 4.5, 5.51},
    {"cut off", "mov.b32 %r2, %f1;\nand.b32 %r2, %r2, 0xffff0000;\nst.global.b32 [%q8], %r2;", 0,
     0.01},
    {"bits of an integer", "mov.b32 %r2, %f1;\ncvt.rn.f32.s32 %f3, %r2;\n" TO_Y, 1e9, 2e9},
    {"another upper half",
     "cvt.f64.f32 %d1, %f1;\nmov.b64 {%r2, %r3}, %d1;\nmov.u32 %r3, 0x40590000;\n"
     "mov.b64 %d1, {%r2, %r3};\ncvt.rn.f32.f64 %f3, %d1;\n" TO_Y,
     98, 100},
    {"both halves",
     "cvt.f64.f32 %d1, %f1;\nmov.b64 {%r2, %r3}, %d1;\nmov.b64 %d1, {%r2, %r3};\n"
     "cvt.rn.f32.f64 %f3, %d1;\n" TO_Y,
     0, 1e-6},
    {"two halves of 16 bits",
     "cvt.rn.f16.f32 %h1, %f1;\ncvt.f32.f16 %f4, %h1;\nsub.f32 %f4, %f1, %f4;\nmul.f32 %f4, %f4, 0f45000000;\n"
     "cvt.rn.f16.f32 %h2, %f4;\nmov.b32 %r2, {%h1, %h2};\nmov.b32 {%h3, %h4}, %r2;\ncvt.f32.f16 %f3, %h3;\n" TO_Y,
     0, 0.02},
};

Test(proof, an_output_has_what_was_lost_of_it)
{
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        struct proved p = prove("", losses[i].body);
        struct vg_proof_word word;
        vg_proof_word(p.device, 7, &word);
        cr_expect(word.lost >= losses[i].least && word.lost <= losses[i].most, "%s: lost %g",
                  losses[i].name, word.lost);
        vg_device_close(p.device);
    }
}

Test(proof, a_result_of_zero_lost_no_more_than_it_is_nor_than_its_operands)
{
    cr_expect_float_eq(proof_value_of(0, 0, 1e-7, 1.0).lost, 1e-7f, 1e-9, "Kahan's rest");
    cr_expect_float_eq(proof_value_of(0, 0, 1.0, 1e-7).lost, 1e-7f, 1e-9, "zero by chance");
    cr_expect_float_eq(proof_value_of(5, 0, 1e-7, 1.0).lost, 1.0f, 1e-9);
}

/* ---- ways ----------------------------------------------------------------------------------- */

Test(proof, a_product_has_the_ways_of_its_factors)
{
    struct proved p = prove(
        ".shared .align 4 .b8 s[256];",
        "mov.u32 %r2, s;\nshl.b32 %r3, %r1, 2;\nadd.u32 %r2, %r2, %r3;\nst.shared.f32 [%r2], %f1;\n"
        "bar.sync 0;\nld.shared.f32 %f3, [%r2];\nmul.f32 %f4, %f3, %f2;\nfma.rn.f32 %f4, %f1, %f2, %f4;\n"
        "st.global.f32 [%q8], %f4;");
    struct vg_proof_word word;
    vg_proof_word(p.device, 5, &word);
    cr_assert_eq(word.element, field_multiply(field_of_integer(2), field_multiply(p.x[5], p.k[5])));
    cr_assert_eq(word.products, 2);
    cr_assert_eq(word.x_shared, 1);
    cr_assert_eq(word.k_shared, 0);
    cr_assert_eq(word.read_only, 2, "k came by ld.global.nc");
    const struct vg_proof_kernel *k = vg_proof_kernel(p.device, 0);
    cr_assert_eq(vg_proof_kernels(p.device), 1);
    cr_assert_eq(k->products, 2 * N);
    cr_assert_eq(k->product_sites, 2);
    cr_assert_eq(k->x_loads, N);
    cr_assert_eq(k->k_loads, N);
    cr_assert_eq(k->matrix_products, 0);
    cr_assert_eq(k->staged, N);
    cr_assert_eq(k->shared_loads, N);
    cr_assert_eq(k->shared_words, N);
    cr_assert_eq(k->barriers, N);
    cr_assert_eq(k->multiplying_threads, N);
    vg_device_close(p.device);
}

Test(proof, a_round_of_a_loop_ends_at_its_branch_back_and_not_at_one_forward)
{
    struct proved p =
        prove("", "mov.u32 %r2, 0;\nAGAIN:\nmul.f32 %f3, %f1, %f2;\n"
                  "setp.eq.u32 %p1, %r2, 9;\n@%p1 bra PAST;\nmul.f32 %f3, %f1, %f2;\nPAST:\n"
                  "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 3;\n@%p1 bra AGAIN;\n"
                  "st.global.f32 [%q8], %f3;");
    const struct vg_proof_kernel *k = vg_proof_kernel(p.device, 0);
    cr_assert_eq(k->products, 3 * 2 * N);
    cr_assert_eq(k->loop_branches, 3 * N, "the last is not taken, and ends a round too");
    vg_device_close(p.device);
}

Test(proof, additions_of_nothing_join_nothing)
{
    struct proved p =
        prove("", "mul.f32 %f3, %f1, %f2;\nmov.f32 %f4, %f3;\nsub.f32 %f5, %f4, %f3;\n"
                  "red.global.add.f32 [%q3], %f3;\nred.global.add.f32 [%q3], %f3;\n"
                  "red.global.add.f32 [%q3+4], %f5;\n");
    struct vg_proof_word word;
    vg_proof_word(p.device, 0, &word);
    cr_assert_eq(word.joins, 2 * N, "each thread twice, and others between");
    cr_assert_eq(word.products, 2 * N);
    cr_assert_eq(word.by_atomics, 2 * N);
    vg_proof_word(p.device, 1, &word);
    cr_assert_eq(word.joins, 0);
    vg_device_close(p.device);
}

/* ---- memory written by the host -------------------------------------------------------------- */

Test(proof, only_weights_keep_their_elements_by_way_of_the_host)
{
    struct proved p = prove("", "st.global.f32 [%q8], %f1;");
    float x[N], k[N];
    struct vg_proof_word word;
    gpu_read(p.device, x, p.address[VG_PROOF_X], sizeof x);
    gpu_read(p.device, k, p.address[VG_PROOF_K], sizeof k);
    k[3] += 1;
    cr_assert_eq(vg_memory_write(p.device, p.address[VG_PROOF_Y], k, sizeof k, NULL), ST_OK);
    vg_proof_word(p.device, 2, &word);
    cr_assert(word.has_element && word.element == p.k[2]);
    vg_proof_word(p.device, 3, &word);
    cr_assert(!word.has_element, "a value that no element of k has");
    cr_assert_eq(vg_memory_write(p.device, p.address[VG_PROOF_Y], x, sizeof x, NULL), ST_OK);
    vg_proof_word(p.device, 2, &word);
    cr_assert(!word.has_element);
    cr_assert_eq(
        vg_memory_copy(p.device, p.address[VG_PROOF_Y] + 4, p.address[VG_PROOF_X], 8, NULL), ST_OK);
    vg_proof_word(p.device, 2, &word);
    cr_assert(word.has_element && word.element == p.x[1]);
    cr_assert_eq(vg_memory_set(p.device, p.address[VG_PROOF_Y], 0, 4 * N, NULL), ST_OK);
    vg_proof_word(p.device, 2, &word);
    cr_assert(!word.has_element);
    vg_device_close(p.device);
}

/* Allocates memory shared with the host. @return its address on the device; *to becomes the host's
 * address */
static uint64_t alloc_shared(struct vg_device *d, float **to)
{
    uint64_t address;
    const int fd = memfd_create("shared", MFD_CLOEXEC);
    cr_assert(fd >= 0 && ftruncate(fd, 4096) == 0);
    cr_assert_eq(vg_memory_alloc_shared(d, fd, 4 * N, &address, NULL), ST_OK);
    *to = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    cr_assert_neq(*to, MAP_FAILED);
    close(fd);
    return address;
}

Test(proof, copies_carry_elements_from_and_to_memory_that_the_host_shares)
{
    struct proved p = prove("", "st.global.f32 [%q8], %f1;");
    float *host[VG_PROOF_TENSORS];
    uint64_t shared[VG_PROOF_TENSORS];
    struct vg_proof_word word;
    size_t count;
    for (int t = 0; t < VG_PROOF_TENSORS; t++) {
        shared[t] = alloc_shared(p.device, &host[t]);
        for (int i = 0; i < N; i++)
            host[t][i] = t == VG_PROOF_Y ? 0 : 0.5f + (float)(rand() % 100000) / 100000;
        cr_assert(vg_proof_tensor(p.device, (enum vg_proof_tensor)t, shared[t], 4 * N));
    }
    const uint32_t *x = vg_proof_elements(p.device, VG_PROOF_X, &count);
    cr_assert_eq(count, N);

    /* copies x to the device and, moved by two words, to y */
    cr_assert_eq(vg_memory_copy(p.device, p.scratch, shared[VG_PROOF_X], 4 * N, NULL), ST_OK);
    cr_assert_eq(vg_memory_copy(p.device, shared[VG_PROOF_Y], p.scratch + 8, 4 * N - 8, NULL),
                 ST_OK);
    vg_proof_word(p.device, 5, &word);
    cr_expect(word.has_element && word.element == x[7]);

    /* a word that the host has written afterwards is not part of x, whatever its value */
    host[VG_PROOF_X][7] += 1;
    cr_assert_eq(vg_memory_copy(p.device, p.scratch, shared[VG_PROOF_X], 4 * N, NULL), ST_OK);
    cr_assert_eq(vg_memory_copy(p.device, shared[VG_PROOF_Y], p.scratch, 4 * N, NULL), ST_OK);
    vg_proof_word(p.device, 7, &word);
    cr_expect(!word.has_element);
    vg_proof_word(p.device, 8, &word);
    cr_expect(word.has_element && word.element == x[8]);
    for (int t = 0; t < VG_PROOF_TENSORS; t++)
        munmap(host[t], 4096);
    vg_device_close(p.device);
}

static void note_step(void *context, const struct vg_proof_step *s)
{
    if (s->writes_output && s->kind == VG_PROOF_STORE)
        *(long *)context = (long)s->thread.x;
}

/* Another thread may have changed the value at the kernel's address before the copy. */
Test(proof, an_output_is_followed_through_a_copy)
{
    struct proved p = prove("", "ret;");
    struct st_error err;
    long thread = -1;
    cr_assert_eq(vg_proof_follow(p.device, 3, &err), ST_OK);
    struct vg_module *m = gpu_load(
        p.device, PTX_HEAD ".visible .entry f(.param .u64 px, .param .u64 ps)\n{\n"
                           ".reg .b32 %r<2>;\n.reg .b64 %q<9>;\n.reg .f32 %f<2>;\n"
                           "ld.param.u64 %q1, [px];\nld.param.u64 %q2, [ps];\n"
                           "mov.u32 %r1, %tid.x;\nmul.wide.u32 %q3, %r1, 4;\n"
                           "add.s64 %q4, %q1, %q3;\nadd.s64 %q5, %q2, %q3;\n"
                           "ld.global.f32 %f1, [%q4];\nst.global.f32 [%q5], %f1;\nret;\n}\n");
    const uint64_t arguments[] = {p.address[VG_PROOF_X], p.scratch};
    cr_assert(!gpu_run(p.device, m, "f", 1, N, arguments).faulted);
    cr_assert(vg_proof_steps(p.device, note_step, &thread));
    cr_expect_eq(thread, -1, "not copied yet");
    cr_assert_eq(vg_memory_copy(p.device, p.address[VG_PROOF_Y], p.scratch + 4 * 40, 4 * 8, NULL),
                 ST_OK);
    cr_assert(vg_proof_steps(p.device, note_step, &thread));
    cr_expect_eq(thread, 43, "got %ld", thread);
    vg_device_close(p.device);
}

/* ---- the field ------------------------------------------------------------------------------- */

Test(proof_field, fractions_of_small_numbers_are_exact)
{
    cr_assert(field_make());
    static const int q[] = {3, 5, 6, 12, 15, 24, 45, 90, 120};
    for (size_t i = 0; i < sizeof q / sizeof *q; i++)
        for (int p = 1; p < 30; p++) {
            const uint32_t is = field_of_number((double)((float)p / (float)q[i]), true);
            cr_assert_eq(field_multiply(is, field_of_integer((uint64_t)q[i])),
                         field_of_integer((uint64_t)p), "%d/%d", p, q[i]);
            cr_assert_eq(field_of_number(-(double)p / q[i], false), field_negative(is));
        }
}

Test(proof_field, other_numbers_are_sums_of_powers_of_two)
{
    cr_assert(field_make());
    for (int i = 0; i < 1000; i++) {
        const float a = (float)(rand() % 8192) / 64, b = (float)(rand() % 8192) * 4;
        cr_assert_eq(field_of_number((double)a + (double)b, false),
                     field_add(field_of_number((double)a, true), field_of_number((double)b, true)));
    }
    cr_assert_eq(field_of_number(0, true), 0);
    const uint32_t a = field_of_integer(12345);
    cr_assert_eq(field_multiply(field_inverse(a), a), proof_field.one);
}
