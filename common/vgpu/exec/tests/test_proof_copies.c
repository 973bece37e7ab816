/* Tests of proofs by execution: elements in memory that the host writes or shares, and in
 * copies. */
#include "vgpu/exec/tests/proof_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* The host may convert weights to float64: the first word of each has the element. */
Test(proof, weights_that_the_host_widens_keep_their_elements)
{
    struct proved p = prove("", "st.global.f32 [%q8], %f1;");
    float k[N];
    double wide[4];
    struct vg_proof_word word;
    gpu_read(p.device, k, p.address[VG_PROOF_K], sizeof k);
    for (int i = 0; i < 4; i++)
        wide[i] = (double)k[i + 5];
    wide[2] += 0x1p-40; /* no element of k */
    cr_assert_eq(vg_memory_write(p.device, p.address[VG_PROOF_Y], wide, sizeof wide, NULL), ST_OK);
    for (size_t i = 0; i < 8; i++) {
        vg_proof_word(p.device, i, &word);
        const bool is_element = i % 2 == 0 && i != 4;
        cr_expect_eq(word.has_element, is_element, "word %zu", i);
        cr_expect(!is_element || word.element == p.k[i / 2 + 5], "word %zu", i);
    }
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
