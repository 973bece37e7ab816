/* Tests of proofs by execution: the element of a word after each kind of instruction, with the
 * expected element beside the lines of PTX. */
#include "vgpu/exec/tests/proof_fixture.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

enum made {
    NOTHING,
    X,
    PRODUCT,
    ZERO,
    TWICE,
    THIRD,
    NEXT,
    SUM_OF_WARP,
    SUM_OF_BLOCK,
    X_PLUS_1,
    MINUS_X,
    HOST
};

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
    {"bytes_in_another_order", "", BYTE("3") BYTE("2") BYTE("0") BYTE("1"), X},
    {"bytes_as_vectors", "",
     "ld.global.v4.u8 {%h1, %h2, %h3, %h4}, [%q6];\nst.global.v4.u8 [%q8], {%h1, %h2, %h3, %h4};",
     X},
    {"bytes_exchanged", "",
     "ld.global.v4.u8 {%h1, %h2, %h3, %h4}, [%q6];\nst.global.v4.u8 [%q8], {%h1, %h3, %h2, %h4};",
     NOTHING},
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
    {"swaps_of_pairs", "",
     "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\nsub.u32 %r2, %r1, %r2;\n"
     "mul.wide.u32 %q10, %r2, 4;\nadd.s64 %q10, %q3, %q10;\nld.global.b64 %q11, [%q10];\nAGAIN:\n"
     "mov.b64 {%r2, %r3}, %q11;\nmov.b32 %r4, %f1;\nselp.b32 %r2, %r4, %r2, %p1;\n"
     "selp.b32 %r3, %r3, %r4, %p1;\nmov.b64 %q12, {%r2, %r3};\n"
     "atom.global.cas.b64 %q13, [%q10], %q11, %q12;\nsetp.ne.s64 %p2, %q13, %q11;\n"
     "mov.u64 %q11, %q13;\n@%p2 bra AGAIN;",
     X},
    /* all lanes read the same number, to which they then add numbers that do not change it */
    {"swaps_after_unseen_additions", ".shared .align 4 .b32 s;",
     "setp.eq.u32 %p1, %r1, 0;\nmov.f32 %f3, 0f4e000000;\nadd.f32 %f3, %f3, %f1;\nsub.f32 %f3, %f3, %f1;\n"
     "@%p1 st.shared.f32 [s], %f3;\nbar.sync 0;\nld.shared.b32 %r2, [s];\nAGAIN:\nmov.b32 %f4, %r2;\n"
     "add.f32 %f4, %f4, %f1;\nmov.b32 %r3, %f4;\natom.shared.cas.b32 %r4, [s], %r2, %r3;\n"
     "setp.ne.u32 %p2, %r4, %r2;\nmov.u32 %r2, %r4;\n@%p2 bra AGAIN;\nbar.sync 0;\n"
     "ld.shared.f32 %f4, [s];\nmov.f32 %f3, 0f4e000000;\nsub.f32 %f4, %f4, %f3;\nst.global.f32 [%q8], %f4;",
     SUM_OF_BLOCK},
    {"lower_of_two", "",
     "mov.b32 %r2, %f1;\nmov.b32 %r3, %f2;\nmov.b64 %q10, {%r2, %r3};\ncvt.u32.u64 %r4, %q10;\n"
     "st.global.b32 [%q8], %r4;",
     X},
    {"upper_of_two", "",
     "mov.b32 %r2, %f1;\nmov.b32 %r3, %f2;\nmov.b64 %q10, {%r3, %r2};\nshr.u64 %q10, %q10, 32;\n"
     "cvt.u32.u64 %r4, %q10;\nst.global.b32 [%q8], %r4;",
     X},
    {"upper_of_two_signed", "",
     "mov.b32 %r2, %f1;\nmov.b32 %r3, %f2;\nmov.b64 %q10, {%r3, %r2};\nshr.s64 %q10, %q10, 32;\n"
     "cvt.u32.u64 %r4, %q10;\nst.global.b32 [%q8], %r4;",
     X},
    {"two_joined_by_or", "",
     "mov.b32 %r2, %f1;\nmov.b32 %r3, %f2;\ncvt.u64.u32 %q10, %r2;\ncvt.u64.u32 %q11, %r3;\n"
     "shl.b64 %q10, %q10, 32;\nor.b64 %q10, %q10, %q11;\nmov.b64 {%r4, %r5}, %q10;\n"
     "st.global.b32 [%q8], %r5;",
     X},
    {"two_joined_by_insertion", "",
     "mov.b32 %r2, %f1;\nmov.b32 %r3, %f2;\ncvt.u64.u32 %q10, %r2;\ncvt.u64.u32 %q11, %r3;\n"
     "bfi.b64 %q10, %q10, %q11, 32, 32;\nmov.b64 {%r4, %r5}, %q10;\nst.global.b32 [%q8], %r5;",
     X},
    {"lower_half_of_a_word", "",
     "cvt.rn.f16x2.f32 %r2, %f2, %f1;\ncvt.u16.u32 %h1, %r2;\ncvt.f32.f16 %f3, %h1;\n"
     "st.global.f32 [%q8], %f3;",
     X},
    {"half_as_a_word", "",
     "cvt.rn.f16.f32 %h1, %f1;\ncvt.u32.u16 %r2, %h1;\nmov.b32 {%h2, %h3}, %r2;\n"
     "cvt.f32.f16 %f3, %h2;\nst.global.f32 [%q8], %f3;",
     X},
    {"one_of_two_masked", "",
     "mov.b32 %r2, %f1;\nmov.b32 %r3, %f2;\nmov.b64 %q10, {%r2, %r3};\n"
     "and.b64 %q10, %q10, 0xffffffff;\nmov.b64 {%r4, %r5}, %q10;\nst.global.b32 [%q8], %r4;",
     X},
    {"one_of_two_masked_away", "",
     "mov.b32 %r2, %f1;\nmov.b32 %r3, %f2;\nmov.b64 %q10, {%r3, %r2};\n"
     "and.b64 %q10, %q10, 0xffffffff;\nmov.b64 {%r4, %r5}, %q10;\nst.global.b32 [%q8], %r5;",
     NOTHING},
    {"swap_that_fails", "", "mov.b32 %r2, %f1;\natom.global.cas.b32 %r3, [%q8], 1, %r2;", NOTHING},
    {"atomic_that_only_reads", "",
     "st.global.f32 [%q9], %f1;\natom.global.or.b32 %r2, [%q9], 0;\nst.global.b32 [%q8], %r2;", X},
    {"atomics_that_change_nothing", "",
     "st.global.f32 [%q8], %f1;\nred.global.add.u32 [%q8], 0;\nred.global.and.b32 [%q8], -1;\n"
     "red.global.add.f32 [%q8], 0f00000000;",
     X},
    {"rest_of_a_zero_first", "",
     "mul.f32 %f3, %f1, 0fA4000000;\nfma.rn.f32 %f3, %f1, 0f40000000, %f3;\nst.global.f32 [%q8], %f3;",
     TWICE},
    {"rest_of_a_zero_last", "",
     "mul.f32 %f3, %f1, 0f40000000;\nfma.rn.f32 %f3, %f1, 0fA4000000, %f3;\nst.global.f32 [%q8], %f3;",
     TWICE},
    {"all_scaled_by_a_small_power", "",
     "mul.f32 %f3, %f1, 0f24000000;\nadd.f32 %f3, %f3, %f3;\nmul.f32 %f3, %f3, 0f5B000000;\n"
     "st.global.f32 [%q8], %f3;",
     TWICE},
    {"integer_atomic", "", "st.global.f32 [%q8], %f1;\nred.global.xor.b32 [%q8], 1;", NOTHING},
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
    {"halves_by_funnel_shift", "",
     "cvt.rn.f16x2.f32 %r2, %f2, %f1;\nshf.r.wrap.b32 %r3, %r2, %r2, 16;\nshf.l.clamp.b32 %r3, %r3, %r2, 0;\ncvt.u16.u32 %h1, %r3;\ncvt.f32.f16 %f3, %h1;\nst.global.f32 [%q8], %f3;",
     X},
    {"halves_by_bit_fields", "",
     "cvt.rn.f16x2.f32 %r2, %f1, %f2;\nbfe.u32 %r3, %r2, 16, 16;\nbfi.b32 %r4, %r3, %r2, 16, 16;\nbfi.b32 %r4, %r3, %r4, 0, 16;\ncvt.u16.u32 %h1, %r4;\ncvt.f32.f16 %f3, %h1;\nst.global.f32 [%q8], %f3;",
     X},
    {"halves_in_64_bits", "",
     "cvt.rn.f16x2.f32 %r2, %f1, %f2;\nshr.u32 %r3, %r2, 16;\ncvt.u64.u32 %q10, %r3;\nbfi.b64 %q10, %q10, %q8, 16, 16;\nshl.b64 %q10, %q10, 32;\nshr.u64 %q10, %q10, 32;\nand.b64 %q10, %q10, 0xffff0000;\nshr.u64 %q10, %q10, 16;\ncvt.u16.u64 %h1, %q10;\ncvt.f32.f16 %f3, %h1;\nst.global.f32 [%q8], %f3;",
     X},
    {"added_as_halves", "",
     "mov.b32 %r2, 0;\nst.global.b32 [%q8], %r2;\ncvt.rn.f16x2.f32 %r3, %f1, %f2;\nred.global.add.noftz.f16x2 [%q8], %r3;\nred.global.add.noftz.f16x2 [%q8], %r3;\nld.global.b32 %r2, [%q8];\nshr.u32 %r2, %r2, 16;\ncvt.u16.u32 %h1, %r2;\ncvt.f32.f16 %f3, %h1;\nst.global.f32 [%q8], %f3;",
     TWICE},
    {"half_without_element", "",
     "mov.b32 %f3, 0f00000000;\ncvt.rn.bf16x2.f32 %r2, %f3, %f1;\nand.b32 %r2, %r2, 0xffff0000;\nst.global.b32 [%q8], %r2;",
     NOTHING},
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
    case SUM_OF_BLOCK:
        for (int thread = 0; thread < N; thread++)
            sum = field_add(sum, p->x[thread]);
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
