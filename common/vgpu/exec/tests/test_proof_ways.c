/* Tests of proofs by execution: the ways by which products came about, and the counts of a
 * kernel. */
#include "vgpu/exec/tests/proof_fixture.h"

#include <criterion/criterion.h>

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
    cr_assert_eq(word.read_only, 2, "k was loaded by ld.global.nc");
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

Test(proof, an_element_that_an_atomic_operation_returns_was_loaded)
{
    struct proved p = prove(
        ".shared .align 4 .b8 s[256];",
        "mov.u32 %r2, s;\nshl.b32 %r3, %r1, 2;\nadd.u32 %r2, %r2, %r3;\nst.shared.f32 [%r2], %f2;\n"
        "bar.sync 0;\natom.shared.or.b32 %r4, [%r2], 0;\natom.shared.cas.b32 %r5, [%r2], 1, 1;\n"
        "mov.b32 %f3, %r4;\nmov.b32 %f4, %r5;\nmul.f32 %f5, %f1, %f3;\n"
        "fma.rn.f32 %f5, %f1, %f4, %f5;\nst.global.f32 [%q8], %f5;");
    struct vg_proof_word word;
    vg_proof_word(p.device, 5, &word);
    cr_assert_eq(word.products, 2);
    cr_assert_eq(word.k_shared, 2);
    cr_assert_eq(vg_proof_kernel(p.device, 0)->shared_loads, 2 * N);
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
    cr_assert_eq(k->loop_branches, 3 * N, "the last branch is not taken, but ends a round, too");
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
    cr_assert_eq(word.joins, 2 * N,
                 "each thread adds twice, with other threads' additions in between");
    cr_assert_eq(word.products, 2 * N);
    cr_assert_eq(word.by_atomics, 2 * N);
    vg_proof_word(p.device, 1, &word);
    cr_assert_eq(word.joins, 0);
    vg_device_close(p.device);
}

Test(proof, an_output_counts_even_if_all_its_products_are_0)
{
    struct proved p = prove("", "mul.f32 %f3, %f1, %f2;\nsub.f32 %f4, %f1, %f1;\n"
                                "setp.lt.u32 %p1, %r1, 9;\n@%p1 mul.f32 %f3, %f4, %f2;\n"
                                "st.global.f32 [%q8], %f3;\nst.global.f32 [%q8], %f3;\n"
                                "setp.gt.u32 %p1, %r1, 59;\n@%p1 st.global.f32 [%q8], 0f00000000;");
    const struct vg_proof_kernel *k = vg_proof_kernel(p.device, 0);
    cr_assert_eq(k->stored_outputs, N - 4, "only the outputs that a 0 has replaced do not count");
    vg_device_close(p.device);
}
