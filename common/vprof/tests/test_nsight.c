/* Tests vprof's output in the styles of Nsight Systems and Nsight Compute.
 * tests/golden/nsys-h200.txt is the output of nsys stats 2025.3 for the database that vprof
 * exported from nsys-h200.tsv, nsys-20.csv the output of nsys stats 2023.4 for TRACE. */
#include "base/files.h"
#include "base/tests/run_tool.h"
#include "vgpu/gpus/gpu_profile.h"
#include "vprof/ncu.h"
#include "vprof/ncu_values.h"
#include "vprof/nsight.h"
#include "vprof/nsight_table.h"
#include "vprof/tests/trace_text.h"

#include <math.h>
#include <sqlite3.h>
#include <unistd.h>

#define TRACE  "common/analysis/tests/golden/trace-20.tsv"
#define GOLDEN "common/vprof/tests/golden/"

static void print_and_compare(const char *trace, const char *options, const char *golden)
{
    char command[512], log[] = "/tmp/convlab-nsight-XXXXXX", out[4096], *printed;
    close(mkstemp(log));
    snprintf(command, sizeof command, "-q -i %s --log-file %s %s", trace, log, options);
    cr_expect_eq(tool_run("vprof", out, sizeof out, command), 0, "%s", out);
    printed = text_of_file(log);
    expect_golden(golden, printed);
    free(printed);
    unlink(log);
}

Test(nsight, prints_the_pages_of_nsys_and_ncu)
{
    print_and_compare(GOLDEN "nsys-h200.tsv", "--style nsys", GOLDEN "nsys-h200.txt");
    print_and_compare(TRACE, "--style nsys", GOLDEN "nsys-20.txt");
    print_and_compare(TRACE, "--style nsys --csv", GOLDEN "nsys-20.csv");
    print_and_compare(TRACE, "--style ncu", GOLDEN "ncu-20.txt");
    print_and_compare(TRACE, "--style ncu --page details --csv", GOLDEN "ncu-20.csv");
}

Test(nsight, names_the_mistake)
{
    static const struct {
        const char *arguments, *said;
    } wrong[] = {
        {"--style nsight true", "unknown style: --style: expected nvprof, nsys or ncu, got nsight"},
        {"--style ncu --page raw true", "--page: expected details, got raw"},
        {"--page details true", "--page and --baseline need --style ncu"},
        {"--style nsys --baseline x true", "--page and --baseline need --style ncu"},
        {"--style nsys --print-gpu-trace true", "cannot print the tables of nvprof"},
        {"--style ncu --metrics ipc true", "cannot print the tables of nvprof"},
        {"--style ncu --baseline /no-such-trace.tsv -i " TRACE, "/no-such-trace.tsv"},
        {"--style ncu --baseline common/vprof/nsys.c -i " TRACE, "not a trace"},
        {"--export sqlite: -i " TRACE, "expected chrome, chrome:FILE, sqlite or sqlite:FILE"},
        {"--export json -i " TRACE, "unknown export format: --export"},
        {"--export sqlite:/no-such-folder/x -i " TRACE, "/no-such-folder/x"},
        {"--export sqlite:common/vprof/nsys.c -i " TRACE, "the file already exists"}};
    char out[8192];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_expect_neq(tool_run("vprof", out, sizeof out, wrong[i].arguments), 0, "%s",
                      wrong[i].arguments);
        cr_expect(strstr(out, wrong[i].said), "%s: %s", wrong[i].arguments, out);
    }
}

Test(nsight, names_kernels_as_it_does)
{
    static const struct {
        const char *ours, *name, *base;
    } names[] = {{"f", "f", "f"},
                 {"f(void)", "f(void)", "f"},
                 {"f(float const *, int*, int)", "f(const float *, int *, int)", "f"},
                 {"f(unsigned char const &, float**)", "f(const unsigned char &, float **)", "f"},
                 {"void a::g<int=8, float const *>(float const *, a::b<int, int>)",
                  "void a::g<int=8, float const *>(const float *, a::b<int, int>)", "g"},
                 {"f(float const * const *)", "f(const float * const *)", "f"}};
    char to[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        nsight_name(to, sizeof to, names[i].ours);
        cr_expect_str_eq(to, names[i].name);
        nsight_short_name(to, sizeof to, names[i].ours);
        cr_expect_str_eq(to, names[i].base);
        nsight_name(to, 8, names[i].ours);
        cr_expect_lt(strlen(to), 8, "no more than there is room for");
    }
}

/* ---- the database --------------------------------------------------------------------------- */

static void query(sqlite3 *db, const char *sql, const char *expected)
{
    sqlite3_stmt *statement;
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK, "%s: %s", sql,
                 sqlite3_errmsg(db));
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW, "%s: no row", sql);
    const char *text = (const char *)sqlite3_column_text(statement, 0);
    cr_expect_str_eq(text ? text : "NULL", expected, "%s", sql);
    sqlite3_finalize(statement);
}

Test(nsys_export, has_the_tables_of_nsys)
{
    char path[] = "/tmp/convlab-nsys-XXXXXX";
    struct tr_trace t;
    struct st_error err;
    sqlite3 *db;
    close(mkstemp(path));
    cr_assert_eq(tr_read(TRACE, &t, &err), ST_OK, "%s", err.what);
    cr_assert_eq(nsys_export(&t, NULL, path, &err), ST_OK, "%s", err.what);
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    query(db, "PRAGMA integrity_check", "ok");
    query(db, "SELECT sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL", "30053");
    query(db, "SELECT value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName",
          "conv_fused_gemm(conv_shape, const float *, const float *, float *)");
    query(db, "SELECT value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = shortName",
          "conv_fused_gemm");
    query(db,
          "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY m JOIN ENUM_CUDA_MEMCPY_OPER o "
          "ON m.copyKind = o.id WHERE label = 'Device-to-Host'",
          "6");
    query(db,
          "SELECT min(label) || max(label) FROM CUPTI_ACTIVITY_KIND_MEMCPY JOIN "
          "ENUM_CUDA_MEM_KIND k ON k.id = srcKind WHERE copyKind = 1",
          "PageablePageable");
    query(db,
          "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME "
          "r ON k.correlationId = r.correlationId JOIN StringIds s ON s.id = r.nameId "
          "WHERE value = 'cudaLaunchKernel'",
          "2");
    query(db,
          "SELECT count(DISTINCT globalTid >> 24) || '-' || min((globalTid >> 24) & 0xffffff) "
          "FROM CUPTI_ACTIVITY_KIND_RUNTIME",
          "1-31301");
    query(db, "SELECT count(*) FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_MEMSET'", "0");
    query(db, "SELECT count(*) FROM sqlite_master WHERE type = 'index'", "0");
    query(db, "SELECT name || smCount IS NULL FROM TARGET_INFO_GPU",
          "1"); /* no profile was given */
    sqlite3_close(db);
    unlink(path);
    tr_free(&t);
}

/* ---- ncu's metrics -------------------------------------------------------------------------- */

static const struct ncu_value *value(const struct ncu_value *v, size_t n, const char *label)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(v[i].label, label) == 0)
            return &v[i];
    cr_assert_fail("no metric %s", label);
    return NULL;
}

static struct tr_trace launch(const char *columns, const char *cells)
{
    char *text = NULL;
    cr_assert_gt(asprintf(&text,
                          "kind\tname\tstart_ns\tend_ns\tgrid\tblock\tregisters\t%s\n"
                          "kernel\tf\t0\t2000\t264x1x1\t256x1x1\t32\t%s\n",
                          columns, cells),
                 0);
    return trace_of(text);
}

static void read_h200(struct vg_profile *gpu)
{
    struct st_error err;
    cr_assert_eq(vg_profile_read(gpu, "common/vgpu/gpus", "h200", &err), ST_OK, "%s", err.what);
}

Test(ncu_values, are_the_models_of_a_virtual_gpu)
{
    struct ncu_value v[NCU_VALUES_MAX];
    struct vg_profile gpu;
    read_h200(&gpu);
    struct tr_trace t =
        launch("ns_issue\tns_fp32\tns_shared\tns_l2\tdram_bytes\toccupancy\t"
               "warp_instructions\tthread_instructions\tbranches\tdivergent_branches",
               "1000\t500\t400\t200\t4814304\t0.5\t100\t3150\t20\t5");
    const size_t n = ncu_values_of(&t, t.rows, &gpu, v);
    static const struct {
        const char *label, *unit, *text;
    } expected[] = {{"Duration", "us", "2"},
                    {"Elapsed Cycles", "cycle", "3,960"},
                    {"SM Frequency", "Ghz", "1.98"},
                    {"Compute (SM) Throughput", "%", "50"},
                    {"L1/TEX Cache Throughput", "%", "20"},
                    {"L2 Cache Throughput", "%", "10"},
                    {"DRAM Throughput", "%", "50"},
                    {"One or More Eligible", "%", "50"},
                    {"No Eligible", "%", "50"},
                    {"Active Warps Per Scheduler", "warp", "8"},
                    {"Warp Cycles Per Issued Instruction", "cycle", "16"},
                    {"Avg. Active Threads Per Warp", "", "31.50"},
                    {"Eligible Warps Per Scheduler", "warp", "n/a"},
                    {"Waves Per SM", "", "0.25"},
                    {"Threads", "thread", "67,584"},
                    {"Block Limit Registers", "block", "8"},
                    {"Block Limit Warps", "block", "8"},
                    {"Theoretical Occupancy", "%", "100"},
                    {"Achieved Occupancy", "%", "50"},
                    {"Branch Instructions Ratio", "%", "0.20"},
                    {"Branch Efficiency", "%", "75"}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct ncu_value *found = value(v, n, expected[i].label);
        cr_expect_str_eq(found->text, expected[i].text, "%s: %s", found->label, found->text);
        cr_expect_str_eq(found->unit, expected[i].unit, "%s: %s", found->label, found->unit);
    }
    tr_free(&t);
}

/* Uses a CUPTI trace of a GPU without a profile: it has launches, but no modelled values. */
Test(ncu_values, that_are_not_known_are_not_invented)
{
    static const char *const known[] = {"Duration",
                                        "Block Size",
                                        "Grid Size",
                                        "Threads",
                                        "Registers Per Thread",
                                        "Dynamic Shared Memory Per Block",
                                        "Static Shared Memory Per Block"};
    struct ncu_value v[NCU_VALUES_MAX];
    struct tr_trace t = launch("correlation", "1");
    const size_t n = ncu_values_of(&t, t.rows, NULL, v);
    size_t printed = 0;
    for (size_t i = 0; i < n; i++)
        printed += strcmp(v[i].text, "n/a") != 0;
    cr_expect_eq(printed, sizeof known / sizeof *known);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        cr_expect_str_neq(value(v, n, known[i])->text, "n/a", "%s", known[i]);
    tr_free(&t);
}

Test(ncu_values, of_a_gpu_are_those_that_ncu_measured)
{
    struct ncu_value v[NCU_VALUES_MAX];
    struct vg_profile gpu;
    read_h200(&gpu);
    struct tr_trace t = launch("sm__throughput.avg.pct_of_peak_sustained_elapsed\t"
                               "dram__bytes.sum.per_second\tlaunch__func_cache_config\t"
                               "l1tex__t_sector_hit_rate.pct\tns_issue",
                               "12.345\t3910000000000\tCachePreferNone\t\t1000");
    const size_t n = ncu_values_of(&t, t.rows, &gpu, v);
    cr_expect_str_eq(value(v, n, "Compute (SM) Throughput")->text, "12.35", "not the model's 50");
    cr_expect_str_eq(value(v, n, "Function Cache Configuration")->text, "CachePreferNone");
    cr_expect(isnan(value(v, n, "Function Cache Configuration")->number));
    cr_expect_str_eq(value(v, n, "L1/TEX Hit Rate")->text, "n/a");
    for (size_t i = 0; i < n; i++)
        if (v[i].section == NCU_SECTION_MemoryWorkloadAnalysis &&
            strcmp(v[i].label, "Memory Throughput") == 0) {
            cr_expect_str_eq(v[i].text, "3.91");
            cr_expect_str_eq(v[i].unit, "Tbyte/s");
        }
    tr_free(&t);
}

/* golden/ncu-h200.txt is the output of ncu 2025.3 for two launches of m3's reference on an H200,
 * without its rules; ncu-h200-raw.csv has its measurements. */
Test(ncu_page, of_an_h200_is_ncus)
{
    char trace[] = "/tmp/convlab-nsight-XXXXXX", *text, *expected;
    struct vg_profile gpu;
    struct tr_trace t;
    struct st_error err;
    int error_code;
    close(mkstemp(trace));
    read_h200(&gpu);
    cr_assert_eq(ncu_read(GOLDEN "ncu-h200-raw.csv", trace, &error_code, &err), ST_OK, "%s",
                 err.what);
    cr_assert_eq(tr_read(trace, &t, &err), ST_OK, "%s", err.what);
    const struct ncu_run with_profile = {&t, &gpu}, without = {&t, NULL};
    expected = text_of_file(GOLDEN "ncu-h200.txt");
    for (int i = 0; i < 2; i++) {
        PRINTED(text,
                cr_assert_eq(ncu_print(out, i ? &without : &with_profile, NULL, NCU_TEXT, &err),
                             ST_OK));
        cr_expect_str_eq(strchr(text, '\n') + 1, expected, "after the line of the process");
        free(text);
    }
    free(expected);
    /* compares the columns of the CSV after ID, Process ID and Process Name */
    expected = text_of_file(GOLDEN "ncu-h200.csv");
    PRINTED(text, cr_assert_eq(ncu_print(out, &without, NULL, NCU_CSV_SCALED, &err), ST_OK));
    char *at = expected, *line = text;
    for (; *at && *line; at += strcspn(at, "\n") + 1, line += strcspn(line, "\n") + 1) {
        for (int column = 0; column < 3; column++)
            line += strcspn(line, ",\n") + 1;
        cr_assert_eq(strncmp(line, at, strcspn(at, "\n") + 1), 0, "%.*s: expected %.*s",
                     (int)strcspn(line, "\n"), line, (int)strcspn(at, "\n"), at);
    }
    cr_expect(!*at && !*line, "as many lines");
    free(text);
    free(expected);
    /* ncu's values in base units, as it prints them after profiling a program */
    static const char *const base[] = {
        "\"DRAM Frequency\",\"hz\",\"3,", "\"Duration\",\"ns\",\"109,504\",\n",
        "\"Duration\",\"ns\",\"34,624\",\n",
        "\"Driver Shared Memory Per Block\",\"byte/block\",\"1,024\",\n",
        "\"Grid Size\",\"\",\"2,500\",\n"};
    PRINTED(text, cr_assert_eq(ncu_print(out, &without, NULL, NCU_CSV_BASE, &err), ST_OK));
    for (size_t i = 0; i < sizeof base / sizeof *base; i++)
        cr_expect(strstr(text, base[i]), "%s", base[i]);
    free(text);
    unlink(trace);
    tr_free(&t);
}

/* The kernels are a, b, a, in the baseline a, c, b, a: both launches of a are paired in order, b is
 * paired, c is not. */
Test(ncu_page, pairs_launches_by_kernel_and_turn)
{
    static const char head[] = "kind\tname\tstart_ns\tend_ns\tgrid\tblock\n";
    char *now_text = NULL, *then_text = NULL, *text;
    struct tr_trace now, then;
    struct st_error err;
    const int n = asprintf(&now_text,
                           "%skernel\ta\t0\t10\t1x1x1\t1x1x1\nkernel\tb\t10\t20\t2x1x1\t1x1x1\n"
                           "kernel\ta\t20\t30\t3x1x1\t1x1x1\nkernel\td\t30\t40\t4x1x1\t1x1x1\n"
                           "kernel\ta\t40\t50\t5x1x1\t1x1x1\n",
                           head),
              m = asprintf(&then_text,
                           "%skernel\ta\t0\t10\t10x1x1\t1x1x1\nkernel\tc\t10\t20\t20x1x1\t1x1x1\n"
                           "kernel\tb\t20\t30\t30x1x1\t1x1x1\nkernel\ta\t30\t40\t40x1x1\t1x1x1\n",
                           head);
    cr_assert_eq(tr_parse(now_text, (size_t)n, "now", &now, NULL), ST_OK);
    cr_assert_eq(tr_parse(then_text, (size_t)m, "then", &then, NULL), ST_OK);
    const struct ncu_run run = {&now, NULL}, baseline = {&then, NULL};
    PRINTED(text, cr_assert_eq(ncu_print(out, &run, &baseline, NCU_TEXT, &err), ST_OK));
    static const char *const titles[] = {
        "  a (1, ", "  Baseline: a (10, ", "  b (2, ", "  Baseline: b (30, ",
        "  a (3, ", "  Baseline: a (40, ", "  d (4, ", "  Baseline: a (40, ",
        "  a (5, "};
    const char *at = text;
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        at = strstr(at, titles[i]);
        cr_assert(at, "%s: %s", titles[i], text);
        at++;
    }
    cr_expect_not(strstr(at, "Baseline"), "the third a has no partner: %s", at);
    free(text);
    tr_free(&now);
    tr_free(&then);
}

Test(ncu_page, is_compared_with_a_baseline)
{
    struct tr_trace now = launch("ns_issue", "500"), then = launch("ns_issue", "1000");
    struct vg_profile gpu;
    struct st_error err;
    char *text;
    read_h200(&gpu);
    const struct ncu_run run = {&now, &gpu}, baseline = {&then, &gpu};
    PRINTED(text, cr_assert_eq(ncu_print(out, &run, &baseline, NCU_TEXT, &err), ST_OK));
    HAS(text, "  Baseline: f (264, 1, 1)x(256, 1, 1), Context 1, ");
    HAS(text, "25 (-50.00%)\n");
    HAS(text, " 2 (+0.00%)\n");
    free(text);
    PRINTED(text, cr_assert_eq(ncu_print(out, &run, &baseline, NCU_CSV_SCALED, &err), ST_OK));
    HAS(text, ",\"Baseline Value\",\"Baseline Change\"\n");
    HAS(text, "\"Issued Warp Per Scheduler\",\"\",\"0.25\","
              "\"0.50\",\"-50.00%\"\n");
    HAS(text, "\"Mem Busy\",\"%\",\"n/a\",\"n/a\",\"\"\n");
    free(text);
    PRINTED(text, cr_assert_eq(ncu_print(out, &run, NULL, NCU_TEXT, &err), ST_OK));
    cr_expect_not(strstr(text, "Baseline"), "%s", text);
    free(text);
    tr_free(&now);
    tr_free(&then);
}
