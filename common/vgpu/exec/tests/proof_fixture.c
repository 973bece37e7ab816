#include "vgpu/exec/tests/proof_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

struct proved prove(const char *declared, const char *body)
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
