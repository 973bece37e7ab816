/* Tests grouping, judging and ranking, and compares the tables of a small trace with golden
 * files. */
#include "analysis/analysis.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/tests/test_text.h"
#include "vgpu/gpus/gpu_profile.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct tr_trace trace_of(const char *rows)
{
    static const char header[] = "kind\tname\tstart_ns\tend_ns\tgrid\tblock\tregisters\tsymbol\n";
    char *text = malloc(sizeof header + strlen(rows));
    struct tr_trace trace;
    struct st_error err;
    strcat(strcpy(text, header), rows);
    cr_assert_eq(tr_parse(text, strlen(text), "trace", &trace, &err), ST_OK, "%s", err.what);
    return trace;
}

#define GOLDEN "common/analysis/tests/golden/"

static struct vg_profile h200(void)
{
    struct vg_profile gpu;
    struct st_error err;
    cr_assert_eq(vg_profile_read(&gpu, checkout_file("common/vgpu/gpus"), "h200", &err), ST_OK,
                 "%s", err.what);
    return gpu;
}

/* ---- kernels -------------------------------------------------------------------------------- */

Test(kernels, are_summed_up_by_name_or_by_launch)
{
    struct tr_trace t = trace_of("kernel\ta\t0\t10\t2x1x1\t32x1x1\t8\t\n"
                                 "api\tcudaMalloc\t0\t5\t\t\t\t\n"
                                 "kernel\tb\t10\t60\t2x1x1\t32x1x1\t8\t\n"
                                 "memset\t\t60\t61\t\t\t\t\n"
                                 "kernel\ta\t70\t100\t4x1x1\t32x1x1\t8\t\n"
                                 "kernel\ta\t100\t110\t2x1x1\t32x1x1\t8\t\n");
    struct an_kernels k;
    cr_assert_eq(an_kernels_sum(&k, &t, AN_BY_ACTIVITY, NULL), ST_OK);
    cr_assert_eq(k.n, 3);
    cr_expect_eq(k.total_ns, 101);
    cr_expect_str_eq(k.group[0].longest->name, "a"); /* 50 launches, like b, but earlier */
    cr_expect_eq(k.group[0].calls, 3);
    cr_expect_eq(k.group[0].min_ns, 10);
    cr_expect_eq(k.group[0].max_ns, 30);
    cr_expect_eq(k.group[0].longest->grid[0], 4);
    cr_expect_str_eq(k.group[2].longest->name, "[CUDA memset]");
    an_kernels_free(&k);
    cr_assert_eq(an_kernels_sum(&k, &t, AN_BY_LAUNCH, NULL), ST_OK);
    cr_assert_eq(k.n, 3);
    cr_expect_str_eq(k.group[0].longest->name, "b");
    cr_expect_eq(k.group[1].total_ns, 30);
    cr_expect_eq(k.group[2].calls, 2, "two launches of a with the same grid");
    an_kernels_free(&k);
    cr_assert_eq(an_kernels_sum(&k, &t, AN_BY_CALL, NULL), ST_OK);
    cr_assert_eq(k.n, 1);
    an_kernels_free(&k);
    tr_free(&t);
}

/* ---- limiters ------------------------------------------------------------------------------- */

/* A launch that fills a GPU and takes as long as its terms. */
static struct tr_row full_row = {.kind = TR_KERNEL,
                                 .name = "k",
                                 .grid = {13200, 1, 1},
                                 .block = {256, 1, 1},
                                 .registers = 32,
                                 .symbol = ""};

static enum an_limiter judged(struct an_kernel k, const struct vg_profile *gpu, double *saved)
{
    struct an_verdict v;
    if (!k.longest)
        k.longest = &full_row;
    k.calls = 1;
    if (!k.total_ns)
        k.total_ns = 100000;
    an_judge(&v, &k, gpu);
    cr_expect(v.advice[0] && v.advice[strlen(v.advice) - 1] == '.', "%s", v.advice);
    if (saved)
        *saved = v.saved;
    return v.limiter;
}

Test(limiter, is_the_resource_without_waste_and_the_waste_with_much)
{
    const struct vg_profile gpu = h200();
    double saved;
    struct an_kernel k = {.has_terms = true, .counted = true};
    k.term_ns[VG_TERM_SHARED] = 90000;
    k.term_ns[VG_TERM_ISSUE] = 30000;
    k.counters = (struct tr_counters){.warp_instructions = 1000,
                                      .thread_instructions = 32000,
                                      .shared_load_requests = 100,
                                      .shared_load_wavefronts = 100,
                                      .shared_load_bytes = 12800};
    cr_expect_eq(judged(k, &gpu, NULL), AN_SHARED);
    k.counters.shared_load_wavefronts = 105;
    cr_expect_eq(judged(k, &gpu, NULL), AN_SHARED, "a few conflicts");
    k.counters.shared_load_wavefronts = 200;
    cr_expect_eq(judged(k, &gpu, &saved), AN_BANK_CONFLICTS);
    cr_expect(saved > 0.45 && saved < 0.5, "half of the wavefronts: %g", saved);
    k.counters.shared_load_bytes = 25600;
    cr_expect_eq(judged(k, &gpu, NULL), AN_SHARED, "two floats per thread need two wavefronts");
}

Test(limiter, names_idle_lanes_and_empty_sectors)
{
    const struct vg_profile gpu = h200();
    struct an_kernel k = {.has_terms = true, .counted = true};
    k.term_ns[VG_TERM_ISSUE] = 90000;
    k.counters.warp_instructions = 1000;
    k.counters.thread_instructions = 31000;
    cr_expect_eq(judged(k, &gpu, NULL), AN_ISSUE);
    k.counters.thread_instructions = 20000;
    cr_expect_eq(judged(k, &gpu, NULL), AN_DIVERGENCE);
    k.term_ns[VG_TERM_FP32] = 80000;
    k.counters.thread_instructions = 31000;
    cr_expect_eq(judged(k, &gpu, NULL), AN_FP32, "issue slots go to multiply-adds");

    struct an_kernel m = {.has_terms = true, .counted = true};
    m.term_ns[VG_TERM_L2] = 90000;
    m.counters = (struct tr_counters){.warp_instructions = 1,
                                      .thread_instructions = 32,
                                      .global_load_requests = 100,
                                      .global_load_sectors = 400,
                                      .global_load_bytes = 12800};
    cr_expect_eq(judged(m, &gpu, NULL), AN_L2);
    m.dram_bytes = 10000;
    m.l2_read_bytes = 12800;
    cr_expect_eq(judged(m, &gpu, NULL), AN_DRAM, "L2 only passes on the data of DRAM");
    m.dram_bytes = 0;
    m.counters.global_load_sectors = 800;
    cr_expect_eq(judged(m, &gpu, NULL), AN_UNCOALESCED);
}

Test(limiter, names_a_grid_that_is_too_small)
{
    const struct vg_profile gpu = h200();
    struct tr_row row = full_row;
    struct an_kernel k = {.has_terms = true, .longest = &row};
    k.term_ns[VG_TERM_FP32] = 90000;
    row.grid[0] = 132;
    cr_expect_eq(judged(k, &gpu, NULL), AN_FP32);
    row.grid[0] = 133;
    cr_expect_eq(judged(k, &gpu, NULL), AN_FEW_BLOCKS);
    row.grid[0] = 40;
    cr_expect_eq(judged(k, &gpu, NULL), AN_FEW_BLOCKS);
    memset(k.term_ns, 0, sizeof k.term_ns);
    k.term_ns[VG_TERM_LATENCY] = 90000;
    row.grid[0] = 132 * 8; /* all block slots */
    cr_expect_eq(judged(k, &gpu, NULL), AN_LATENCY);
    row.grid[0] = 132 * 3;
    cr_expect_eq(judged(k, &gpu, NULL), AN_FEW_BLOCKS);
}

Test(limiter, follows_from_times_and_grids_without_a_model)
{
    const struct vg_profile gpu = h200();
    struct tr_row row = full_row;
    struct an_kernel k = {.longest = &row, .dram_bytes = -1};
    cr_expect_eq(judged(k, NULL, NULL), AN_UNKNOWN);
    cr_expect_eq(judged(k, &gpu, NULL), AN_UNKNOWN);
    k.dram_bytes = 0.8 * gpu.dram_bytes_per_s * 1e-4;
    cr_expect_eq(judged(k, &gpu, NULL), AN_DRAM);
    k.dram_bytes = 0.3 * gpu.dram_bytes_per_s * 1e-4;
    cr_expect_eq(judged(k, &gpu, NULL), AN_UNKNOWN);
    k.total_ns = (uint64_t)gpu.kernel_overhead_ns;
    cr_expect_eq(judged(k, &gpu, NULL), AN_LAUNCH);
    k.total_ns = 100000;
    row.grid[0] = 10;
    cr_expect_eq(judged(k, &gpu, NULL), AN_FEW_BLOCKS);
}

/* The verdict for a row of a trace with ncu's figures for a launch on an H200. */
static enum an_limiter measured(struct tr_hardware h, struct tr_counters c, double us,
                                uint32_t blocks)
{
    const struct vg_profile gpu = h200();
    struct tr_row row = full_row;
    row.end_ns = (uint64_t)(us * 1000);
    row.grid[0] = blocks;
    row.hardware = h;
    row.counters = c;
    row.counted = true;
    row.dram_bytes = row.l2_read_bytes = row.l2_write_bytes = row.l1_wavefronts = 0;
    struct tr_trace trace = {.rows = &row, .n = 1};
    struct an_kernels kernels;
    cr_assert_eq(an_kernels_sum(&kernels, &trace, AN_BY_LAUNCH, NULL), ST_OK);
    cr_expect(kernels.group[0].measured);
    struct an_verdict v;
    an_judge(&v, &kernels.group[0], &gpu);
    an_kernels_free(&kernels);
    return v.limiter;
}

Test(limiter, on_a_real_gpu_is_the_busiest_unit_or_the_reason_why_warps_wait)
{
    const struct tr_counters none = {.warp_instructions = 100, .thread_instructions = 3200};
    cr_expect_eq(measured((struct tr_hardware){.busy_issue = 0.83,
                                               .busy_fma = 0.75,
                                               .busy_fma_heavy = 0.7,
                                               .busy_alu = 0.1},
                          none, 11, 264),
                 AN_FP32);
    cr_expect_eq(measured((struct tr_hardware){.busy_issue = 0.38,
                                               .busy_fma = 0.33,
                                               .busy_fma_heavy = 0.66,
                                               .busy_alu = 0.06},
                          none, 6, 528),
                 AN_INT, "the half of the units that multiplies integers");
    cr_expect_eq(
        measured((struct tr_hardware){.busy_issue = 0.78, .busy_fma = 0.24, .busy_alu = 0.26}, none,
                 10, 528),
        AN_ISSUE);
    cr_expect_eq(
        measured((struct tr_hardware){.busy_issue = 0.23, .busy_special = 0.9}, none, 18, 528),
        AN_SPECIAL);
    cr_expect_eq(measured((struct tr_hardware){.busy_issue = 0.04,
                                               .stalled_memory_cycles = 4,
                                               .stalled_execution_cycles = 3},
                          none, 9, 2000),
                 AN_LATENCY);
    cr_expect_eq(
        measured((struct tr_hardware){.busy_issue = 0.04, .stalled_memory_cycles = 4}, none, 9, 10),
        AN_FEW_BLOCKS);
    cr_expect_eq(measured((struct tr_hardware){.busy_issue = 0.13,
                                               .stalled_barrier_cycles = 45,
                                               .stalled_pipe_cycles = 22},
                          none, 6, 2640),
                 AN_BARRIERS);
    cr_expect_eq(measured((struct tr_hardware){.busy_issue = 0.01, .stalled_memory_cycles = 6},
                          none, 21.9, 33792),
                 AN_SMALL_BLOCKS);
    cr_expect_eq(measured((struct tr_hardware){.busy_issue = 0.001, .stalled_fetch_cycles = 30},
                          none, 1.7, 1),
                 AN_LAUNCH);
}

Test(limiter, on_a_real_gpu_is_a_waste_that_its_counters_show)
{
    struct tr_counters c = {.warp_instructions = 100,
                            .thread_instructions = 3200,
                            .global_load_requests = 10,
                            .global_load_sectors = 40,
                            .global_load_bytes = 1280};
    const struct tr_hardware l2 = {.busy_issue = 0.02, .busy_load_store = 0.6, .busy_l2 = 0.78};
    cr_expect_eq(measured(l2, c, 21, 512), AN_L2);
    c.global_load_sectors = 320;
    cr_expect_eq(measured(l2, c, 21, 512), AN_UNCOALESCED);
    const struct tr_hardware shared = {.busy_issue = 0.12, .busy_load_store = 0.68};
    c = (struct tr_counters){.warp_instructions = 100,
                             .thread_instructions = 3200,
                             .shared_load_requests = 10,
                             .shared_load_wavefronts = 11,
                             .shared_load_bytes = 1280};
    cr_expect_eq(measured(shared, c, 6.4, 528), AN_SHARED);
    c.shared_load_wavefronts = 320;
    cr_expect_eq(measured(shared, c, 6.4, 528), AN_BANK_CONFLICTS);
    const struct tr_hardware issue = {.busy_issue = 0.54, .busy_fma = 0.3};
    c.thread_instructions = 1800;
    cr_expect_eq(measured(issue, c, 20, 528), AN_DIVERGENCE);
}

Test(limiter, of_an_empty_kernel_does_not_divide_by_zero)
{
    struct an_verdict v;
    struct tr_row row = {.kind = TR_KERNEL, .name = "k", .symbol = ""};
    struct an_kernel k = {.longest = &row, .has_terms = true, .counted = true};
    const struct vg_profile gpu = h200();
    an_judge(&v, &k, &gpu);
    for (size_t i = 0; i < v.figures; i++)
        cr_expect(!strstr(v.figure[i].value, "nan") && !strstr(v.figure[i].value, "inf"), "%s %s",
                  v.figure[i].name, v.figure[i].value);
}

/* ---- lines ---------------------------------------------------------------------------------- */

Test(lines, bring_their_text_and_a_table_of_another_kind_is_refused)
{
    char source[] = "/tmp/convlab-analysis-XXXXXX", *text, *at;
    struct st_error err;
    struct tr_trace t;
    struct tsv counters;
    struct an_lines lines;
    close(mkstemp(source));
    char *code = calloc(300, 48);
    for (int i = 1; i < 300; i++) /* contains terminal control characters and invalid UTF-8 */
        sprintf(code + strlen(code), "\tline(%d);\t\xc2\x9b\x1b\xe2\x80\xae\xff\n", i);
    cr_assert_eq(file_write(source, code, strlen(code), &err), ST_OK);
    free(code);
    text = text_of_file(checkout_file(GOLDEN "counters-2.tsv"));
    char *moved = calloc(2, strlen(text)), *to = moved;
    for (char *rest = text; (at = strstr(rest, "nowhere/m6-fused/conv.cu"));
         rest = at + strlen("nowhere/m6-fused/conv.cu"))
        to += sprintf(to, "%.*s%s", (int)(at - rest), rest, source);
    *to = '\0';
    char *last = strrchr(moved, '\n'); /* cut off the last row */
    last[1] = '\0';
    free(text);
    cr_assert_eq(tsv_parse(moved, strlen(moved), "counters", &counters, &err), ST_OK, "%s %s",
                 err.what, err.where);
    cr_assert_eq(tr_read(checkout_file(GOLDEN "trace-2.tsv"), &t, &err), ST_OK);
    cr_assert_eq(an_lines_rank(&lines, &t, &counters, NULL, &err), ST_OK, "%s", err.what);
    cr_assert(lines.n > 10);
    double sum = 0;
    for (size_t i = 0; i < lines.n; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, "line(%d); \\xc2\\x9b\\x1b\\xe2\\x80\\xae\\xff",
                 lines.line[i].line);
        cr_expect_str_eq(lines.line[i].source, expected);
        cr_expect(i == 0 || lines.line[i].share <= lines.line[i - 1].share);
        sum += lines.line[i].share;
    }
    cr_expect(sum > 0.8 && sum <= 1, "%g", sum);
    cr_expect_null(an_line_of(&lines, lines.line[0].kernel, AN_LAUNCH), "no line's fault");
    cr_expect_eq(an_line_of(&lines, lines.line[0].kernel, AN_ISSUE), &lines.line[0]);
    cr_expect_null(an_line_of(&lines, "another kernel", AN_ISSUE));
    an_lines_free(&lines);
    /* A grader shows the graded file, even if the program names another file. */
    const char *slash = strrchr(source, '/');
    const struct an_source other_name = {"conv.cu", source}, same_name = {slash + 1, "/dev/null"},
                           graded = {slash + 1, source}, none = {slash + 1, ""};
    const struct an_source *const sources[] = {&other_name, &same_name, &none, &graded};
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(an_lines_rank(&lines, &t, &counters, sources[i], &err), ST_OK);
        cr_expect_eq(lines.line[0].source[0] != '\0', i == 3, "%d", i);
        an_lines_free(&lines);
    }
    tsv_free(&counters);
    static const char other[] = "kernel\tfile\nk\tf\n";
    cr_assert_eq(tsv_parse(strdup(other), strlen(other), "x", &counters, &err), ST_OK);
    cr_expect_eq(an_lines_rank(&lines, &t, &counters, NULL, &err), ST_BAD_FORMAT);
    tsv_free(&counters);
    tr_free(&t);
    unlink(source);
}

/* ---- golden files: CONVLAB_ACCEPT=1 rewrites them ------------------------------------------- */

static const struct {
    const char *name;
    void (*header)(FILE *out);
    void (*rows)(FILE *out, const struct an_analysis *a, size_t images);
} tables[] = {{"kernels.tsv", an_kernels_tsv_header, an_kernels_tsv},
              {"calls.tsv", an_calls_tsv_header, an_calls_tsv},
              {"analysis.tsv", an_analysis_tsv_header, an_analysis_tsv},
              {"resources.tsv", an_resources_tsv_header, an_resources_tsv},
              {"lines.tsv", an_lines_tsv_header, an_lines_tsv}};

static void compare(const char *name, char *text)
{
    char path[PATH_MAX];
    path_format(path, sizeof path, GOLDEN "%s", name);
    expect_golden(checkout_file(path), text);
    free(text);
}

Test(golden, tables_and_text_of_a_small_trace)
{
    static const size_t sizes[] = {2, 20};
    const char *folder = checkout_file(GOLDEN);
    char profiles[PATH_MAX], path[PATH_MAX], counters[PATH_MAX], *text;
    struct an_analysis a[2];
    struct tr_trace t[2];
    struct st_error err;
    strcpy(profiles, checkout_file("common/vgpu/gpus"));
    for (int i = 0; i < 2; i++) {
        path_format(path, sizeof path, "%strace-%zu.tsv", folder, sizes[i]);
        path_format(counters, sizeof counters, "%scounters-%zu.tsv", folder, sizes[i]);
        cr_assert_eq(tr_read(path, &t[i], &err), ST_OK, "%s", err.what);
        cr_assert_eq(an_analyse(&a[i], &t[i], profiles, counters, NULL, &err), ST_OK, "%s",
                     err.what);
        cr_expect(a[i].has_gpu, "the trace names its GPU");
    }
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
        PRINTED(text, {
            tables[k].header(out);
            for (int i = 0; i < 2; i++)
                tables[k].rows(out, &a[i], sizes[i]);
        });
        compare(tables[k].name, text);
    }
    PRINTED(text, an_print(out, &a[1], 1); an_print(out, &a[1], 0));
    compare("analysis.txt", text);
    for (int i = 0; i < 2; i++) {
        an_free(&a[i]);
        tr_free(&t[i]);
    }
}

Test(counters, of_another_run_are_taken_for_the_same_kernels)
{
    struct tr_trace t = trace_of("kernel\ta\t0\t10000\t200x1x1\t32x1x1\t8\t\n"
                                 "kernel\tb\t10000\t30000\t200x1x1\t32x1x1\t8\t\n"),
                    u = trace_of("kernel\ta\t0\t40000\t200x1x1\t32x1x1\t8\t\n"
                                 "kernel\tb\t40000\t50000\t300x1x1\t32x1x1\t8\t\n");
    struct an_analysis a, counted;
    struct st_error err;
    cr_assert_eq(an_analyse(&a, &t, NULL, NULL, NULL, &err), ST_OK);
    u.rows[0].hardware = (struct tr_hardware){.busy_issue = 0.9};
    u.rows[0].counted = true;
    u.rows[0].counters.fp32_fma = 640;
    cr_assert_eq(an_analyse(&counted, &u, NULL, NULL, NULL, &err), ST_OK);
    cr_assert_eq(an_add_counters(&a, &counted, &err), ST_OK);
    cr_expect_str_eq(a.launches.group[1].longest->name, "a");
    cr_expect_eq(a.launches.group[1].counters.fp32_fma, 640);
    cr_expect_eq(a.launches.group[1].total_ns, 10000, "the time stays");
    cr_expect_float_eq(a.launches.group[1].term_ns[VG_TERM_ISSUE], 9000, 1,
                       "as a share of the launch's own time");
    cr_expect_eq(a.verdict[1].limiter, AN_ISSUE);
    cr_expect(!a.launches.group[0].has_terms, "another grid");
    cr_expect_eq(a.verdict[0].limiter, AN_UNKNOWN);
    an_free(&a);
    an_free(&counted);
    tr_free(&t);
    tr_free(&u);
}

/* Measurements of limiters.cu on an H200 (docs/results/h200). There three kernels have another
 * limiter, which the page explains. */
Test(golden, kernels_that_ncu_measured_have_the_limiters_in_their_names)
{
    static const char *const others[][2] = {
        {"is_shared", "bank_conflicts"}, {"is_l1", "uncoalesced"}, {"is_l2", "latency"}};
    char path[PATH_MAX], profiles[PATH_MAX];
    struct tr_trace t;
    struct an_analysis a;
    struct st_error err;
    size_t kernels = 0;
    path_format(path, sizeof path, "%s/docs/results/h200/ncu-limiters.tsv", checkout_root(&err));
    path_format(profiles, sizeof profiles, "%s/common/vgpu/gpus", checkout_root(&err));
    cr_assert_eq(tr_read(path, &t, &err), ST_OK, "%s", err.what);
    cr_assert_eq(an_analyse(&a, &t, profiles, NULL, NULL, &err), ST_OK, "%s", err.what);
    cr_assert(a.has_gpu);
    for (size_t i = 0; i < a.launches.n; i++) {
        const char *name = a.launches.group[i].longest->name, *found, *rest = strchr(name, '_') + 1;
        char expected[64];
        snprintf(expected, sizeof expected, "%.*s", (int)strcspn(rest, "("), rest);
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            if (strncmp(name, others[k][0], strlen(others[k][0])) == 0 &&
                name[strlen(others[k][0])] == '(')
                snprintf(expected, sizeof expected, "%s", others[k][1]);
        found = an_limiter_text(a.verdict[i].limiter);
        if (strncmp(name, "is_", 3) == 0)
            cr_expect_str_eq(found, expected, "%s: %s", name, found);
        else
            cr_expect_str_neq(found, expected, "%s: %s", name, found);
        kernels++;
    }
    cr_expect_geq(kernels, 30);
    an_free(&a);
    tr_free(&t);
}

Test(golden, a_trace_that_was_cut_off_is_analysed_up_to_there)
{
    char *text = text_of_file(checkout_file(GOLDEN "trace-2.tsv"));
    const size_t half = strlen(text) / 2;
    struct tr_trace t;
    struct an_analysis a;
    struct st_error err;
    text[half] = '\0';
    cr_assert_eq(tr_parse(text, half, "trace", &t, &err), ST_OK);
    cr_expect(t.truncated[0]);
    cr_assert_eq(an_analyse(&a, &t, NULL, NULL, NULL, &err), ST_OK);
    cr_expect(a.launches.n >= 1);
    cr_expect(!a.has_gpu);
    an_free(&a);
    tr_free(&t);
}

Test(golden, a_missing_table_of_counters_is_named)
{
    struct tr_trace t = trace_of("kernel\ta\t0\t10\t2x1x1\t32x1x1\t8\t\n");
    struct an_analysis a;
    struct st_error err;
    cr_expect_eq(an_analyse(&a, &t, NULL, "/nonexistent/counters.tsv", NULL, &err), ST_NOT_FOUND);
    cr_expect(strstr(err.where, "/nonexistent/counters.tsv"), "%s", err.where);
    tr_free(&t);
}
