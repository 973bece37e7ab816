/* Tests metrics of a real GPU with a fake ncu: a script that writes ncu's output. */
#include "base/tests/run_tool.h"
#include "vprof/ncu.h"
#include "trace/trace.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Kernel scale runs twice, fill once; one value is unknown on this GPU, and the last line is cut
 * off.
 */
static const char csv[] =
    "==PROF== Connected to process 4711 (/tmp/program)\n"
    "==PROF== Disconnected from process 4711\n"
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel "
    "Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid "
    "Size\",\"device__attribute_display_name\",\"device__attribute_multiprocessor_count\",\"gpu__"
    "time_duration.sum\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\",\"smsp__sass_data_"
    "bytes_mem_global_op_ld.sum\",\"smsp__inst_executed.sum\",\"sm__warps_active.avg.pct_of_peak_"
    "sustained_active\"\n"
    "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"ns\",\"sector\",\"byte\",\"inst\","
    "\"%\"\n"
    "\"0\",\"4711\",\"program\",\"host\",\"_Z5scalePfif\",\"1\",\"7\",\"(128, 1, 1)\",\"(32, 1, "
    "1)\",\"NVIDIA H200\",\"132\",\"2,000\",\"1,024\",\"16,384\",\"4,096\",\"25.50\"\n"
    "\"1\",\"4711\",\"program\",\"host\",\"_Z5scalePfif\",\"1\",\"13\",\"(128, 1, 1)\",\"(32, 1, "
    "1)\",\"NVIDIA H200\",\"132\",\"1,000\",\"1,024\",\"32,768\",\"4,096\",\"24.50\"\n"
    "\"2\",\"4711\",\"program\",\"host\",\"_Z4fillPf\",\"1\",\"7\",\"(64, 2, 1)\",\"(3, 1, "
    "1)\",\"NVIDIA H200\",\"132\",\"500\",\"0\",\"(!) n/a\",\"77\",\"3.00\"\n"
    "\"3\",\"4711\",\"progr";

/* Makes a folder with a file in it, for the test. */
static const char *file_with(const char *name, const char *text, char to[256])
{
    char folder[] = "/tmp/convlab-ncu-XXXXXX";
    cr_assert(mkdtemp(folder));
    snprintf(to, 256, "%s/%s", folder, name);
    FILE *f = fopen(to, "w");
    cr_assert(f);
    fputs(text, f);
    fclose(f);
    return to;
}

static void remove_with_folder(char *path)
{
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
}

Test(ncu, becomes_a_trace)
{
    char path[256], trace[280];
    int error_code;
    struct tr_trace t;
    struct st_error err;
    file_with("csv", csv, path);
    snprintf(trace, sizeof trace, "%s.trace", path);
    cr_assert_eq(ncu_read(path, trace, &error_code, &err), ST_OK, "%s", err.what);
    cr_expect_eq(error_code, 0);
    cr_assert_eq(tr_read(trace, &t, &err), ST_OK, "%s", err.what);
    unlink(trace);
    remove_with_folder(path);
    cr_assert_eq(t.n, 3, "the row that was cut off is left out");
    cr_expect(t.real);
    cr_expect_str_eq(t.device, "NVIDIA H200");
    cr_expect_eq(tr_limit(&t, "multiprocessors"), 132);
    cr_expect_str_eq(t.rows[0].name, "scale(float*, int, float)");
    cr_expect_eq(t.rows[1].start_ns, 2000, "kernels follow one another");
    cr_expect_eq(t.rows[1].end_ns, 3000);
    cr_expect_eq(t.rows[1].stream_number, 13);
    cr_expect_eq(t.rows[2].block[1], 2);
    cr_expect_eq(t.rows[0].counters.global_load_bytes, 16384);
    cr_expect_float_eq(t.rows[0].occupancy, 0.255, 1e-9);
    cr_expect_not(t.theoretical_occupancy);
    cr_expect(tr_has(&t, "global_load_bytes"));
    cr_expect_not(tr_has(&t, "dram_bytes"), "ncu did not measure it");
    tr_free(&t);
}

/* If ncu is killed, its output may end anywhere. */
Test(ncu, is_read_up_to_where_it_was_cut_off)
{
    char path[256], trace[280], text[sizeof csv];
    for (size_t bytes = 0; bytes < sizeof csv; bytes += 11) {
        int error_code;
        struct tr_trace t;
        struct st_error err;
        snprintf(text, sizeof text, "%.*s", (int)bytes, csv);
        file_with("csv", text, path);
        snprintf(trace, sizeof trace, "%s.trace", path);
        cr_assert_eq(ncu_read(path, trace, &error_code, &err), ST_OK, "%zu bytes", bytes);
        cr_assert_eq(tr_read(trace, &t, &err), ST_OK, "%zu bytes", bytes);
        cr_assert_leq(t.n, 3);
        tr_free(&t);
        unlink(trace);
        remove_with_folder(path);
    }
}

Test(ncu, reports_why_counters_are_missing)
{
    static const struct {
        const char *text, *what;
        int error_code;
    } cases[] = {{"==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA "
                  "GPU Performance Counters on the target device 0.\n",
                  "does not permit", 0},
                 {"==ERROR== Unknown option --nonsense\n", "ncu: Unknown option --nonsense", 0},
                 {"==ERROR== The application returned an error code (11).\n", NULL, 11}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[256], trace[280];
        int error_code;
        struct st_error err = {.code = ST_OK};
        file_with("csv", cases[i].text, path);
        snprintf(trace, sizeof trace, "%s.trace", path);
        const enum st_code code = ncu_read(path, trace, &error_code, &err);
        cr_expect_eq(code, cases[i].what ? ST_CHILD : ST_OK, "%s", cases[i].text);
        cr_expect(!cases[i].what || strstr(err.what, cases[i].what), "%s", err.what);
        cr_expect_eq(error_code, cases[i].error_code);
        unlink(trace);
        remove_with_folder(path);
    }
}

/* Runs vprof with a script in PATH instead of ncu, which saves its arguments and writes the table
 * above. */
static int run(char *output, size_t room, const char *arguments)
{
    char ncu[256], script[8192], all[1024], path[4096];
    snprintf(script, sizeof script,
             "#!/bin/sh\n"
             "while [ \"$1\" ]; do\n"
             "    case $1 in --log-file) cat >\"$2\" <<'END'\n%s\nEND\n;;\n"
             "    --metrics) echo \"metrics: $2\";; --kernel-name) echo \"kernels: $2\";;\n"
             "    --section) echo \"section: $2\";; esac\n"
             "    shift\n"
             "done\n"
             "echo program ran\n",
             csv);
    file_with("ncu", script, ncu);
    chmod(ncu, 0755);
    setenv("CONVLAB_CUPTI", "none", 1); /* as if the machine had a GPU */
    snprintf(path, sizeof path, "%.*s:%s", (int)(strrchr(ncu, '/') - ncu), ncu, getenv("PATH"));
    setenv("PATH", path, 1);
    snprintf(all, sizeof all, "--device gpu %s", arguments);
    const int status = tool_run("vprof", output, room, all);
    remove_with_folder(ncu);
    return status;
}

Test(vprof_metrics, come_from_ncu_on_a_gpu)
{
    char out[16384];
    cr_assert_eq(run(out, sizeof out, "--metrics gld_efficiency,achieved_occupancy true"), 0);
    HAS(out, "\nmetrics: gpu__time_duration.sum,");
    HAS(out, ",l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,");
    HAS(out, ",sm__warps_active.avg.pct_of_peak_sustained_active,");
    HAS(out, ",smsp__sass_data_bytes_mem_global_op_ld.sum\n");
    cr_expect_null(strstr(out, "dram"), "only what is needed: %s", out);
    HAS(out, "== Some kernel(s) will be replayed on device 0 in order to collect all "
             "events/metrics.\n");
    HAS(out, "Invocations                               Metric Name                        "
             "Metric Description         Min         Max         Avg\n"
             "Device \"NVIDIA H200 (0)\"\n"
             "    Kernel: fill(float*)\n"
             "          1                            gld_efficiency             Global Memory "
             "Load Efficiency       0.00%       0.00%       0.00%\n"
             "          1                        achieved_occupancy                        "
             "Achieved Occupancy    0.030000    0.030000    0.030000\n"
             "    Kernel: scale(float*, int, float)\n"
             "          2                            gld_efficiency             Global Memory "
             "Load Efficiency      50.00%     100.00%      75.00%\n"
             "          2                        achieved_occupancy                        "
             "Achieved Occupancy    0.245000    0.255000    0.250000\n");
}

/* The sections' metrics are requested from ncu; figures that ncu did not print are unknown. */
Test(vprof_sections, come_from_ncu_on_a_gpu)
{
    char out[32768];
    cr_assert_eq(run(out, sizeof out, "--style ncu true"), 0);
    HAS(out, "\nsection: SpeedOfLight\nsection: MemoryWorkloadAnalysis\n"
             "section: SchedulerStats\nsection: WarpStateStats\n"
             "section: LaunchStats\nsection: Occupancy\nsection: SourceCounters\n");
    cr_expect_null(strstr(out, "dram__bytes_write"), "only what is needed: %s", out);
    HAS(out, "] true@127.0.0.1\n  scale(float *, int, float) (32, 1, 1)x(128, 1, 1), "
             "Context 1, Stream 7, Device 0, CC 9.0\n");
    HAS(out, "    Duration                         us            2\n");
    HAS(out, "    Compute (SM) Throughput           %          n/a\n");
    HAS(out, "    Branch Instructions              inst          n/a\n");
    HAS(out, "    Achieved Occupancy                        %        25.50\n");
}

Test(vprof_events, have_a_total)
{
    char out[16384];
    cr_assert_eq(run(out, sizeof out, "--events inst_executed,warps_launched --kernels scale true"),
                 0);
    HAS(out, "kernels: regex:scale\n");
    HAS(out, "== Event result:\n"
             "Invocations                                Event Name         Min       "
             "  Max         Avg       Total\n"
             "Device \"NVIDIA H200 (0)\"\n"
             "    Kernel: scale(float*, int, float)\n"
             "          2                             inst_executed        4096       "
             " 4096        4096        8192\n"
             "          2                            warps_launched         128       "
             "  128         128         256\n");
}

Test(vprof_metrics, that_only_a_gpu_has_are_named_with_near_ones)
{
    char out[16384];
    cr_expect_eq(tool_run("vprof", out, sizeof out, "--device virtual --metrics ipc true"), 2);
    HAS(out, "vprof: the virtual GPU does not have the metric 'ipc' (hint: similar "
             "names: ");
    cr_expect_null(strstr(out, "issued_ipc"), "it does not have that either: %s", out);
    cr_expect_eq(tool_run("vprof", out, sizeof out, "--device virtual --metrics all true"), 0);
}
