/* Tests nvprof's tables, byte by byte. */
#include "vprof/tables.h"

#include "trace/figures.h"
#include "vprof/metrics.h"
#include "vprof/tests/seed_tables.h"
#include "vprof/tests/trace_text.h"

#include <criterion/criterion.h>

/* Figures that nvprof printed, in seed_tables.h and in other published output. */
Test(figures, fill_their_columns_as_nvprofs_do)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } times[] = {{0, "0ns"},
                 {1, "1ns"},
                 {755, "755ns"},
                 {999, "999ns"},
                 {1000, "1.0000us"},
                 {1568, "1.5680us"},
                 {62396, "62.396us"},
                 {748760, "748.76us"},
                 {999990, "999.99us"},
                 {999999, "1.0000ms"},
                 {6119700, "6.1197ms"},
                 {9999999, "10.000ms"},
                 {49974000, "49.974ms"},
                 {104078889, "104.08ms"},
                 {999999999, "1.00000s"},
                 {1873420000, "1.87342s"},
                 {63350800000, "63.3508s"},
                 {279125000000, "279.125s"},
                 {1234567890000, "1234.57s"}};
    char to[FIGURE_MAX];
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        figure_time(to, times[i].ns, 8);
        cr_expect_str_eq(to, times[i].text);
    }
    static const struct {
        double bytes;
        const char *text;
    } sizes[] = {{0, "0B"},
                 {4, "4B"},
                 {1023, "1023B"},
                 {1024, "1.0000KB"},
                 {8192, "8.0000KB"},
                 {262144, "256.00KB"},
                 {1048576, "1.0000MB"},
                 {40000000, "38.147MB"},
                 {80000000, "76.294MB"},
                 {512000000, "488.28MB"},
                 {3e9, "2.7940GB"}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        figure_bytes(to, sizes[i].bytes, 8);
        cr_expect_str_eq(to, sizes[i].text);
    }
    figure_rate(to, 1e9 / 1280, 10);
    cr_expect_str_eq(to, "762.94KB/s");
    figure_rate(to, 4e9 / 640, 10);
    cr_expect_str_eq(to, "5.9605MB/s");
    figure_rate(to, 1732.7 * 1073741824.0, 10);
    cr_expect_str_eq(to, "1732.7GB/s");
    figure_rate(to, 0, 10);
    cr_expect_str_eq(to, "0.00000B/s");
    figure_rate(to, 64, 10);
    cr_expect_str_eq(to, "64.0000B/s");
    figure_rate_csv(to, 159.18311 * 1073741824.0);
    cr_expect_str_eq(to, "159.183110GB/s");
}

/* Adds the calls of a line of a summary: the extremes, and the other calls evenly between them. */
static void calls(struct trace_text *t, const char *kind, const char *name, uint64_t n,
                  uint64_t total, uint64_t min, uint64_t max)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t ns = i == 0 ? min : max;
        if (i >= 2) {
            ns = (total - min - max) / (n - 2);
            ns += i == 2 ? (total - min - max) % (n - 2) : 0;
        }
        trace_row(t, kind, name, 1000, 1000 + ns);
    }
}

Test(figures, of_time_are_in_the_unit_that_was_chosen)
{
    static const struct {
        const char *unit, *text, *small;
    } chosen[] = {{"auto", "1.2346ms", "755ns"},      {"col", "1.234567ms", "0.000755ms"},
                  {"ns", "1234567ns", "755ns"},       {"us", "1234.567us", "0.755us"},
                  {"ms", "1.234567ms", "0.000755ms"}, {"s", "0.001234567s", "0.000000755s"}};
    char to[FIGURE_MAX];
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        cr_assert(figure_time_choose(chosen[i].unit));
        const struct figure_unit column = figure_time_unit(1234567);
        figure_time_in(to, 1234567, column);
        cr_expect_str_eq(to, chosen[i].text);
        figure_time_in(to, 755, column);
        cr_expect_str_eq(to, chosen[i].small);
        cr_expect_leq((int)strlen(to), figure_time_width());
    }
    cr_expect_not(figure_time_choose("m"));
    cr_expect_not(figure_time_choose(""));
}

Test(summary, is_the_seeds_to_the_letter)
{
    struct trace_text t;
    trace_begin(&t);
#define ROW(share, time, n, mean, lo, hi, name, total, min, max)                                   \
    calls(&t,                                                                                      \
          strcmp(name, "[CUDA memcpy HtoD]") == 0   ? "copy_htod"                                  \
          : strcmp(name, "[CUDA memcpy DtoH]") == 0 ? "copy_dtoh"                                  \
                                                    : "kernel",                                    \
          name, n, total, min, max);
    SEED_GPU(ROW)
#undef ROW
#define ROW(share, time, n, mean, lo, hi, name, total, min, max)                                   \
    calls(&t, "api", name, n, total, min, max);
    SEED_API(ROW)
#undef ROW
    struct tr_trace trace = trace_end(&t);
    char *got, *expected;
    PRINTED(got, tables_summary(out, &trace, TABLES_GPU | TABLES_API, false));
#define ROW(share, time, n, mean, lo, hi, name, total, min, max)                                   \
    fprintf(out, "%16s  %7s  %8s  %8d  %8s  %8s  %8s  %s\n", label, share, time, n, mean, lo, hi,  \
            name);                                                                                 \
    label = "";
    PRINTED(expected, {
        const char *label = "GPU activities:";
        fputs("            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n",
              out);
        SEED_GPU(ROW)
        label = "API calls:";
        SEED_API(ROW)
    });
#undef ROW
    cr_expect_str_eq(got, expected);
    free(got);
    free(expected);
    tr_free(&trace);
}

/* A whole published output, with other figures than seed_tables.h. */
Test(summary, has_the_columns_of_nvprof)
{
    struct trace_text t;
    trace_begin(&t);
    trace_row(&t, "kernel", "_Z12sumMatrixGPUPfS_S_ii", 0, 414970);
    trace_row(&t, "kernel", "_Z12sumMatrixGPUPfS_S_ii", 500000, 500000 + 72422030);
    trace_row(&t, "api", "cudaSetDevice", 0, 191360000);
    struct tr_trace trace = trace_end(&t);
    char *got;
    PRINTED(got, tables_summary(out, &trace, TABLES_GPU | TABLES_API, false));
    cr_expect_str_eq(
        got, "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n"
             " GPU activities:  100.00%  72.837ms         2  36.419ms  414.97us  72.422ms  "
             "_Z12sumMatrixGPUPfS_S_ii\n"
             "      API calls:  100.00%  191.36ms         1  191.36ms  191.36ms  191.36ms  "
             "cudaSetDevice\n");
    free(got);
    PRINTED(got, tables_summary(out, &trace, TABLES_GPU | TABLES_API, true));
    cr_expect_str_eq(got,
                     "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n"
                     ",%,ms,,ms,ms,ms,\n"
                     "\"GPU activities\",100.000000,72.837000,2,36.418500,0.414970,72.422030,"
                     "\"_Z12sumMatrixGPUPfS_S_ii\"\n"
                     "\"API calls\",100.000000,191.360000,1,191.360000,191.360000,191.360000,"
                     "\"cudaSetDevice\"\n");
    free(got);
    tr_free(&trace);
}

Test(summary, reports_that_it_is_empty)
{
    struct trace_text t;
    trace_begin(&t);
    struct tr_trace trace = trace_end(&t);
    char *got;
    PRINTED(got, tables_summary(out, &trace, TABLES_GPU | TABLES_API, false));
    cr_expect_str_eq(got, "No kernels were profiled.\nNo API activities were profiled.\n");
    free(got);
    PRINTED(got, tables_gpu_trace(out, &trace, false));
    cr_expect_str_eq(got, "No kernels were profiled.\n");
    free(got);
    tr_free(&trace);
}

/* Three lines that nvprof printed for a vector addition, and call 112 of that program. */
Test(gpu_trace, is_nvprofs_to_the_letter)
{
    struct trace_text t;
    trace_begin(&t);
    fprintf(t.out, "device\tGeForce GT 650M");
    for (int i = 2; i < 21; i++)
        fputc('\t', t.out);
    fputc('\n', t.out);
    for (int i = 0; i < 110; i++)
        trace_row(&t, "api", "cuDeviceGetAttribute", 0, 100);
    trace_row(&t, "copy_htod", "", 182960000, 182960000 + 6404900);
    trace_row(&t, "api", "cudaMemcpy", 182960000, 189370000);
    trace_row(&t, "kernel", "vectorAdd", 195890000, 195890000 + 3407200);
    trace_row(&t, "api", "__cudaLaunchKernel_ptsz", 195800000, 195820000);
    trace_row(&t, "copy_dtoh", "", 199300000, 199300000 + 14872000);
    struct tr_trace trace = trace_end(&t);
    char *got;
    PRINTED(got, tables_gpu_trace(out, &trace, false));
    char *legend = strstr(got, "\n\nRegs: Number of registers used per CUDA thread. ");
    cr_assert(legend);
    cr_expect(strstr(legend, "\nDstMemType: The type of destination memory accessed by memory "
                             "operation/copy\n"));
    legend[1] = '\0';
    cr_expect_str_eq(
        got,
        "   Start  Duration            Grid Size      Block Size     Regs*    SSMem*    DSMem*     "
        " "
        "Size  Throughput  SrcMemType  DstMemType           Device   Context    Stream  Name\n"
        "182.96ms  6.4049ms                    -               -         -         -         -  "
        "38.147MB  5.8163GB/s    Pageable      Device  GeForce GT 650M         1         7  "
        "[CUDA memcpy HtoD]\n"
        "195.89ms  3.4072ms          (39063 1 1)       (256 1 1)         8        0B        0B     "
        "    -           -           -           -  GeForce GT 650M         1         7  vectorAdd "
        "[112]\n"
        "199.30ms  14.872ms                    -               -         -         -         -  "
        "38.147MB  2.5049GB/s      Device    Pageable  GeForce GT 650M         1         7  "
        "[CUDA memcpy DtoH]\n");
    free(got);
    PRINTED(got, tables_gpu_trace(out, &trace, true));
    cr_expect(strstr(got, "\"Throughput\",\"SrcMemType\",\"DstMemType\",\"Device\",\"Context\","
                          "\"Stream\",\"Name\",\"Correlation_ID\"\n"
                          "ms,ms,,,,,,,,B,B,MB,GB/s,,,,,,,\n"
                          "182.960000,6.404900,,,,,,,,,,38.146973,"));
    free(got);
    PRINTED(got, tables_api_trace(out, &trace, false));
    cr_expect(strstr(got, "   Start  Duration  Name\n     0ns     100ns  cuDeviceGetAttribute\n"));
    cr_expect(strstr(got, "\n195.80ms  20.000us  cudaLaunchKernel (vectorAdd [112])\n"), "%s", got);
    free(got);
    tr_free(&trace);
}

Test(metrics, have_nvprofs_layout_and_values)
{
    struct trace_text t;
    trace_begin(&t);
    trace_row(&t, "kernel", "warmup", 0, 1000);
    struct tr_trace trace = trace_end(&t);
    trace.device = "Tesla V100-SXM2-16GB";
    struct metrics m = {.n = 0};
    struct st_error err;
    char *got;
    cr_assert_eq(
        metrics_choose(&m, "gld_efficiency,achieved_occupancy,branch_efficiency", false, &err),
        ST_OK);
    PRINTED(got, metrics_print(out, &trace, &m, false));
    cr_expect_str_eq(
        got,
        "Invocations                               Metric Name                        Metric "
        "Description         Min         Max         Avg\n"
        "Device \"Tesla V100-SXM2-16GB (0)\"\n"
        "    Kernel: warmup\n"
        "          1                            gld_efficiency             Global Memory Load "
        "Efficiency      50.00%      50.00%      50.00%\n"
        "          1                        achieved_occupancy                        Achieved "
        "Occupancy    0.910400    0.910400    0.910400\n"
        "          1                         branch_efficiency                         Branch "
        "Efficiency      90.00%      90.00%      90.00%\n");
    free(got);
    PRINTED(got, metrics_print(out, &trace, &m, true));
    cr_expect(strstr(got, "\n\"Tesla V100-SXM2-16GB (0)\",\"warmup\",1,\"gld_efficiency\",\"Global "
                          "Memory Load Efficiency\",50.000000%,50.000000%,50.000000%\n"));
    free(got);
    tr_free(&trace);
}

/* As nvprof printed it on a Quadro GP100, a Tesla V100 and a GTX 1070: a column is one wider than a
 * long description, and a count of more than ten digits has an exponent. */
Test(metrics, have_nvprofs_layout_if_they_are_long)
{
    static const char text[] =
        "kind\tname\tclient\tstart_ns\tend_ns\tgrid\tblock\tfp32_fma\tfp32_add_mul\t"
        "local_load_requests\tglobal_load_sectors\n"
        "device\tQuadro GP100\t0\t\t\t\t\t\t\t\t\n"
        "kernel\twarmup\t1\t0\t1000\t1x1x1\t32x1x1\t12427500000\t0\t8313747974\t0\n";
    struct metrics m = {.n = 0};
    struct st_error err;
    char *got;
    struct tr_trace trace = trace_of(strdup(text));
    cr_assert_eq(
        metrics_choose(&m, "flop_count_sp,inst_executed_local_loads,gld_throughput", false, &err),
        ST_OK);
    PRINTED(got, metrics_print(out, &trace, &m, false));
    cr_expect_str_eq(
        got,
        "Invocations                               Metric Name                            Metric "
        "Description         Min         Max         Avg\n"
        "Device \"Quadro GP100 (0)\"\n"
        "    Kernel: warmup\n"
        "          1                             flop_count_sp   Floating Point Operations(Single "
        "Precision)  2.4855e+10  2.4855e+10  2.4855e+10\n"
        "          1                 inst_executed_local_loads       Warp level instructions for "
        "local loads  8313747974  8313747974  8313747974\n"
        "          1                            gld_throughput                        Global Load "
        "Throughput  0.00000B/s  0.00000B/s  0.00000B/s\n");
    free(got);
    PRINTED(got, metrics_print(out, &trace, &m, true));
    cr_expect(strstr(got, "\"Floating Point Operations(Single Precision)\",24855000000,"), "%s",
              got);
    cr_expect(strstr(got, "\"Global Load Throughput\",0.000000B/s,0.000000B/s,0.000000B/s\n"));
    free(got);
    tr_free(&trace);
}

/* Launches appear in the order of their start times, whatever their order in the file. */
Test(metrics, of_each_launch_are_a_trace)
{
    static const char text[] = "kind\tname\tclient\tstart_ns\tend_ns\tgrid\tblock\tcorrelation\t"
                               "warp_instructions\tbranches\tdivergent_branches\n"
                               "device\tTesla K80\t0\t\t\t\t\t\t\t\t\n"
                               "kernel\tb\t1\t5000\t6000\t1x1x1\t64x1x1\t9\t34\t8\t4\n"
                               "kernel\ta\t1\t0\t1000\t1x1x1\t32x1x1\t7\t12\t8\t2\n"
                               "kernel\tb\t1\t3000\t4000\t1x1x1\t64x1x1\t8\t36\t8\t0\n";
    struct metrics m = {.n = 0}, events = {.n = 0};
    struct st_error err;
    char *got;
    struct tr_trace trace = trace_of(strdup(text));
    cr_assert_eq(metrics_choose(&m, "branch_efficiency,ipc,inst_per_warp", false, &err), ST_OK);
    cr_assert_eq(metrics_choose(&events, "inst_executed", true, &err), ST_OK);
    PRINTED(got, metrics_print_trace(out, &trace, &events, &m, false));
    cr_expect_str_eq(
        got,
        "======== Warning: ipc is not in this trace\n"
        "         Device          Context           Stream                Kernel  inst_executed  "
        "branch_efficiency  inst_per_warp\n"
        "  Tesla K80 (0)                1                7                     a             12  "
        "           75.00%      12.000000\n"
        "  Tesla K80 (0)                1                7                     b             36  "
        "          100.00%      18.000000\n"
        "  Tesla K80 (0)                1                7                     b             34  "
        "           50.00%      17.000000\n");
    free(got);
    PRINTED(got, metrics_print_trace(out, &trace, &events, &m, true));
    cr_expect(strstr(got, "\"Device\",\"Context\",\"Stream\",\"Kernel\",\"Correlation_ID\","
                          "\"inst_executed\",\"branch_efficiency\",\"inst_per_warp\"\n"
                          "\"Tesla K80 (0)\",\"1\",\"7\",\"a\",7,12,75.000000%,12.000000\n"),
              "%s", got);
    free(got);
    tr_free(&trace);
}

Test(metrics, names_the_near_ones_for_an_unknown_one)
{
    struct metrics m = {.n = 0};
    struct st_error err;
    cr_expect_eq(metrics_choose(&m, "gld_eficiency", false, &err), ST_USAGE);
    cr_expect(strstr(err.hint, "similar names: gld_efficiency, "), "%s", err.hint);
    cr_expect_eq(metrics_choose(&m, "occupancy", false, &err), ST_USAGE);
    cr_expect(strstr(err.hint, "similar names: achieved_occupancy, "), "%s", err.hint);
    cr_expect_eq(metrics_choose(&m, "", false, &err), ST_USAGE);
    cr_expect_eq(metrics_choose(&m, "all,all", false, &err), ST_OK);
    cr_expect_leq(m.n, METRICS_MAX);
}
