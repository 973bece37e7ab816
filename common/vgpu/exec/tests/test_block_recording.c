/* Tests of recordings of blocks: the recording of a small kernel is exact and the same for any
 * number of cores and for both engines, and recording changes nothing else. */
#include "vgpu/exec/tests/gpu.h"

#include "base/tests/test_text.h"
#include "vgpu/probe/picture.h"

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* turn: each of 48 threads stores its number (threads below 8: plus 100) to shared memory in
 * reverse order; after a barrier, it loads the word of its own index. */
static const char kernels[] = PTX_HEAD
    ".shared .align 4 .b8 s[256];\n"
    ".visible .entry turn(.param .u64 p, .param .u32 n)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<20>;\n"
    ".reg .b64 %q<9>;\nld.param.u64 %q1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
    "mov.u32 %r3, s;\nmov.u32 %r4, 188;\nshl.b32 %r5, %r1, 2;\nsub.s32 %r4, %r4, %r5;\n"
    "add.s32 %r4, %r4, %r3;\nmov.u32 %r6, %r1;\nsetp.ge.u32 %p1, %r1, 8;\n@%p1 bra SKIP;\n"
    "add.s32 %r6, %r6, 100;\nSKIP: st.shared.u32 [%r4], %r6;\nbar.sync 0;\n"
    "add.s32 %r3, %r3, %r5;\nld.shared.u32 %r7, [%r3];\nmad.lo.s32 %r8, %r2, 48, %r1;\n"
    "mul.wide.u32 %q2, %r8, 4;\nadd.s64 %q2, %q1, %q2;\nst.global.u32 [%q2], %r7;\nret;\n}\n"
    ".visible .entry rounds(.param .u64 p, .param .u32 n)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<20>;\n"
    ".reg .b64 %q<9>;\nld.param.u64 %q1, [p];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n"
    "mul.wide.u32 %q2, %r2, 4;\nadd.s64 %q2, %q1, %q2;\nLOOP: st.global.u32 [%q2], %r1;\n"
    "and.b32 %r3, %r1, 31;\nsetp.lt.u32 %p2, %r2, %r3;\n@%p2 bra ON;\nst.global.u32 [%q2], %r3;\n"
    "ON: sub.s32 %r1, %r1, 1;\nsetp.ge.s32 %p1, %r1, 0;\n@%p1 bra LOOP;\nret;\n}\n"
    ".const .align 4 .b8 w[64];\n"
    ".visible .entry look(.param .u64 p, .param .u32 n)\n{\n.reg .b32 %r<9>;\n.reg .b64 %q<9>;\n"
    "ld.param.u64 %q1, [p];\nld.const.u32 %r1, [w+4];\nst.global.u32 [%q1], %r1;\nret;\n}\n";

struct args {
    uint64_t p;
    uint32_t n;
};

static cJSON *member(const cJSON *of, const char *name)
{
    cJSON *found = cJSON_GetObjectItem(of, name);
    cr_assert_not_null(found, "%s", name);
    return found;
}

static int at(const cJSON *array, int i)
{
    return cJSON_GetArrayItem(array, i)->valueint;
}

static char *recordings(const struct vg_device *d)
{
    char *text;
    PRINTED(text, vg_recordings_write(d, out));
    return text;
}

/* Launches grids of 2, 9 and 3 blocks. @param report  of the second launch */
static char *run_turns(int cores, bool records, uint32_t out[9 * 48],
                       struct vg_launch_report *report)
{
    static const uint32_t grids[] = {2, 9, 3};
    struct vg_device *d = gpu_open(cores);
    if (records)
        vg_blocks_record(d);
    struct vg_module *m = gpu_load(d, kernels);
    struct args a = {gpu_alloc(d, NULL, 9 * 48 * 4), 0};
    for (int i = 0; i < 3; i++) {
        const struct vg_launch_report r = gpu_run(d, m, "turn", grids[i], 48, &a);
        cr_assert(!r.faulted);
        if (i == 1)
            *report = r;
    }
    gpu_read(d, out, a.p, 9 * 48 * 4);
    char *text = recordings(d);
    vg_device_close(d);
    return text;
}

Test(recorded, results_counters_and_times_are_those_without)
{
    uint32_t plain[9 * 48], recorded[9 * 48];
    struct vg_launch_report a, b;
    char *none = run_turns(1, false, plain, &a);
    cr_expect_str_empty(none);
    free(none);
    for (int cores = 1; cores <= 3; cores += 2) {
        free(run_turns(cores, true, recorded, &b));
        cr_expect_arr_eq(plain, recorded, sizeof plain);
        cr_expect_eq(memcmp(&a.counters, &b.counters, sizeof a.counters), 0);
        cr_expect_eq(a.modelled_ns, b.modelled_ns);
        cr_expect_eq(memcmp(a.term_ns, b.term_ns, sizeof a.term_ns), 0);
    }
}

Test(recorded, are_the_same_for_any_number_of_cores)
{
    uint32_t out[9 * 48];
    struct vg_launch_report r;
    char *one = run_turns(1, true, out, &r), *three = run_turns(3, true, out, &r);
    cr_expect_str_eq(one, three);
    cr_expect_neq(one[0], '\0');
    free(one);
    free(three);
}

static void expect_pattern(const cJSON *r, const char *pattern, bool has)
{
    const cJSON *one;
    bool found = false;
    cJSON_ArrayForEach(one, member(r, "patterns")) found |= strcmp(one->valuestring, pattern) == 0;
    cr_expect_eq(found, has, "%s", pattern);
}

Test(recorded, show_the_middle_block_of_the_largest_grid)
{
    uint32_t out[9 * 48];
    struct vg_launch_report report;
    char *text = run_turns(2, true, out, &report);
    cJSON *r = cJSON_Parse(text);
    cr_assert_not_null(r, "%s", text);
    cr_expect_str_eq(member(r, "kernel")->valuestring, "turn");
    cr_expect_eq(at(member(r, "grid"), 0), 9);
    cr_expect_eq(at(member(r, "place"), 0), 4);
    cr_expect_eq(member(r, "shared")->valueint, 256);
    cr_expect_eq(at(cJSON_GetArrayItem(member(r, "memory"), 0), 1), 9 * 48 * 4);
    cr_expect_eq(at(cJSON_GetArrayItem(member(r, "memory"), 0), 2), 1, "its first argument");
    cr_expect_eq(member(r, "instructions")->valueint * 9, (int)report.counters.warp_instructions);
    cr_expect_eq(member(r, "instructions")->valueint, member(r, "recorded")->valueint);
    /* 48 threads, a warp and a half: backwards from word 47, then forwards */
    expect_pattern(
        r,
        "s4s0,-4,-8,-12,-16,-20,-24,-28,-32,-36,-40,-44,-48,-52,-56,-60,-64,-68,-72,-76,-80,-84,-88,-92,-96,-100,-104,-108,-112,-116,-120,-124",
        true);
    expect_pattern(r, "l4s0,4,8,12,16,20,24,28,32,36,40,44,48,52,56,60,,,,,,,,,,,,,,,,", true);
    expect_pattern(r, "b0s", true);
    expect_pattern(r, "a4g0", false);
    /* lane 0 of warp 0 stored 100, lane 8 stored its number 8 */
    const char *values = cJSON_GetArrayItem(member(r, "values"), 0)->valuestring;
    cr_expect_eq(strlen(values), 32 * 8);
    cr_expect_eq(strncmp(values, "00000064", 8), 0, "%s", values);
    cr_expect_eq(strncmp(values + 8 * 8, "00000008", 8), 0, "%s", values);
    /* first the lanes below 8, then all */
    const cJSON *place;
    bool apart = false, together = false;
    cJSON_ArrayForEach(place, member(r, "places"))
    {
        apart |= cJSON_GetArrayItem(place, 2)->valuedouble == 255;
        together |= cJSON_GetArrayItem(place, 2)->valuedouble == 0xffffffffu;
    }
    cr_expect(apart && together);
    cJSON_Delete(r);
    free(text);
}

Test(recorded, are_cut_where_they_would_be_too_large)
{
    struct vg_device *d = gpu_open(1);
    vg_blocks_record(d);
    struct vg_module *m = gpu_load(d, kernels);
    struct args a = {gpu_alloc(d, NULL, 32 * 4), 30000};
    cr_assert(!gpu_run(d, m, "rounds", 1, 32, &a).faulted);
    char *text = recordings(d);
    cJSON *r = cJSON_Parse(text);
    cr_assert_not_null(r);
    cr_expect_gt(member(r, "instructions")->valueint, member(r, "recorded")->valueint);
    cr_expect_gt(member(r, "recorded")->valueint, 10000);
    cr_expect_lt(strlen(text), (size_t)PICTURE_BYTES + 65536);
    const cJSON *step; /* even without source lines, steps' texts are short enough to display */
    cJSON_ArrayForEach(step, member(r, "steps"))
        cr_assert_leq(cJSON_GetArraySize(step), 3 + 2 * PICTURE_STEP_ACCESSES);
    cJSON_Delete(r);
    free(text);
    vg_device_close(d);
}

/* @return the "memory" of a kernel that reads a variable. @param copied  words of an allocation
 * that are first copied to the variable */
static char *look(const uint32_t *from, size_t copied)
{
    struct vg_device *d = gpu_open(1);
    vg_blocks_record(d);
    struct vg_module *m = gpu_load(d, kernels);
    uint64_t w;
    size_t bytes;
    struct args a = {gpu_alloc(d, NULL, 32 * 4), 0};
    const uint64_t k = gpu_alloc(d, from, 8 * 4);
    cr_assert(vg_module_variable(m, "w", &w, &bytes));
    cr_assert_eq(vg_memory_copy(d, w, k, copied * 4, NULL), ST_OK);
    cr_assert(!gpu_run(d, m, "look", 1, 1, &a).faulted);
    char *text = recordings(d);
    cJSON *r = cJSON_Parse(text);
    expect_pattern(r, "l4c0,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,", true);
    char *memory = cJSON_PrintUnformatted(member(r, "memory"));
    cJSON_Delete(r);
    free(text);
    vg_device_close(d);
    return memory;
}

Test(recorded, name_the_allocation_that_a_variable_is_a_copy_of)
{
    static const uint32_t values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, zeros[8];
    static const struct {
        const uint32_t *from;
        size_t copied;
        const char *memory;
    } cases[] = {{values, 8, "[[\"w\",64,0,2,32],[\"cudaMalloc #1\",128,1,1,0]]"},
                 {values, 7, "[[\"w\",64,0,0,0],[\"cudaMalloc #1\",128,1,1,0]]"},
                 {zeros, 8, "[[\"w\",64,0,0,0],[\"cudaMalloc #1\",128,1,1,0]]"}}; /* zeros */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *memory = look(cases[i].from, cases[i].copied);
        cr_expect_str_eq(memory, cases[i].memory, "%zu: %s", i, memory);
        free(memory);
    }
}
