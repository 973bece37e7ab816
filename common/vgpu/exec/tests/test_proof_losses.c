/* Tests of proofs by execution: how much of an output was lost by rounding and otherwise. */
#include "vgpu/exec/tests/proof_fixture.h"

#include <criterion/criterion.h>

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

/* %r4 is the address of the thread's word in shared memory, %r5 that of its row of 16 bytes */
#define ROWS                                                                                       \
    "mov.u32 %r2, s;\nshl.b32 %r3, %r1, 2;\nadd.u32 %r4, %r2, %r3;\n"                              \
    "and.b32 %r5, %r3, 128;\nand.b32 %r6, %r1, 7;\nshl.b32 %r6, %r6, 4;\n"                         \
    "add.u32 %r5, %r5, %r6;\nadd.u32 %r5, %r5, %r2;\n"

/* ldmatrix and stmatrix move rows of halves, but a row may hold floats or TF32 numbers. */
Test(proof, words_that_are_moved_as_rows_of_halves_lose_nothing)
{
    static const char *const bodies[] = {
        ROWS "st.shared.f32 [%r4], %f1;\nbar.sync 0;\n"
             "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r5];\nst.global.b32 [%q8], %r7;",
        ROWS "mov.b32 %r7, %f1;\nstmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {%r7};\n"
             "bar.sync 0;\nld.shared.f32 %f3, [%r4];\n" TO_Y};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct proved p = prove(".shared .align 16 .b8 s[256];", bodies[i]);
        for (size_t word = 0; word < N; word++) {
            struct vg_proof_word is;
            vg_proof_word(p.device, word, &is);
            cr_expect(is.has_element && is.element == p.x[word] && is.lost == 0,
                      "body %zu, word %zu: lost %g", i, word, is.lost);
        }
        vg_device_close(p.device);
    }
}
