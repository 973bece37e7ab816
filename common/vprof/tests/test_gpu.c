/* Tests traces of a real GPU with a fake CUPTI and a fake program: how libconvlab-cupti.so handles
 * records, and which records remain if a program crashes or is killed. */
#include "base/tests/run_tool.h"
#include "vprof/gpu_trace.h"
#include "trace/trace.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Runs vprof on the fake program. Skips the test if the library could not be built. */
static int profile(char *output, size_t room, const char *options, const char *steps)
{
    char fake[512], absolute[PATH_MAX], arguments[2048];
    struct stat info;
    snprintf(fake, sizeof fake, "%s/profiler/tests/libcupti-fake.so", tool_build());
    if (stat(fake, &info))
        cr_skip_test("skip: no headers of CUPTI: libconvlab-cupti.so is not built");
    setenv("CONVLAB_CUPTI", realpath(fake, absolute), 1);
    snprintf(arguments, sizeof arguments, "--device gpu %s %s/profiler/tests/fake_program %s",
             options, tool_build(), steps);
    return tool_run("vprof", output, room, arguments);
}

/* The lines before the tables contain process numbers. */
static const char *table(const char *output)
{
    const char *at = strstr(output, "Profiling result:\n");
    cr_assert(at, "%s", output);
    return strchr(at, '\n') + 1;
}

Test(gpu, has_nvprofs_summary)
{
    char out[16384];
    cr_assert_eq(profile(out, sizeof out, "", "launch:3 copy:1 copy:2 odd"), 0, "%s", out);
    cr_expect_str_eq(
        table(out),
        "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n"
        " GPU activities:   40.82%  2.0000us         1  2.0000us  2.0000us  2.0000us  [CUDA "
        "memset]\n"
        "                   20.41%  1.0000us         1  1.0000us  1.0000us  1.0000us  [CUDA memcpy "
        "HtoD]\n"
        "                   20.41%  1.0000us         1  1.0000us  1.0000us  1.0000us  [CUDA memcpy "
        "DtoH]\n"
        "                   18.37%     900ns         3     300ns     300ns     300ns  add(float "
        "const *, float const *, float*, int)\n"
        "      API calls:   76.19%  2.4000us         2  1.2000us  1.2000us  1.2000us  cudaMemcpy\n"
        "                   19.05%     600ns         3     200ns     200ns     200ns  "
        "cudaLaunchKernel\n"
        "                    4.76%     150ns         3      50ns      50ns      50ns  "
        "cuLaunchKernel\n");
    HAS(out, "Warning: 1 activities that had not ended are missing\n");
    HAS(out, "Warning: 1 records of an unknown kind are missing\n");
    cr_expect_null(strstr(out, "modelled"), "%s", out);
}

Test(gpu, has_the_trace_that_cupti_recorded)
{
    char out[16384], path[] = "/tmp/convlab-gpu-XXXXXX", options[64];
    struct tr_trace t;
    struct st_error err;
    close(mkstemp(path));
    snprintf(options, sizeof options, "-f -o %s", path);
    cr_assert_eq(profile(out, sizeof out, options, "launch:2 copy:8"), 0, "%s", out);
    cr_assert_eq(tr_read(path, &t, &err), ST_OK, "%s", err.what);
    unlink(path);
    cr_assert_eq(t.n, 8);
    cr_expect(t.real);
    cr_expect_str_eq(t.device, "NVIDIA Fake");
    cr_expect_eq(tr_limit(&t, "multiprocessors"), 132);
    cr_expect(t.theoretical_occupancy);
    const struct tr_row *kernel = NULL, *driver = NULL, *runtime = NULL, *copy = NULL;
    for (size_t i = 0; i < t.n; i++) {
        const struct tr_row *r = &t.rows[i];
        kernel = r->kind == TR_KERNEL && r->correlation == 2 ? r : kernel;
        driver = strcmp(r->name, "cuLaunchKernel") == 0 && r->correlation == 2 ? r : driver;
        runtime = strcmp(r->name, "cudaLaunchKernel") == 0 && r->correlation == 2 ? r : runtime;
        copy = r->kind == TR_COPY_DTOD ? r : copy;
    }
    cr_assert(kernel && driver && runtime && copy);
    cr_expect_eq(kernel->registers, 16);
    cr_expect_eq(kernel->static_shared_bytes, 1024);
    cr_expect_eq(kernel->dynamic_shared_bytes, 512);
    cr_expect_eq(kernel->grid[0], 8);
    cr_expect_eq(kernel->block[0], 256);
    cr_expect_eq(kernel->end_ns - kernel->start_ns, 300);
    cr_expect_eq(kernel->start_ns - runtime->start_ns, 500);
    cr_expect_eq(kernel->stream_number, 7);
    /* registers suffice for 128 warps, shared memory for 25 blocks, so the 64 warps of a
     * multiprocessor are the limit */
    cr_expect_float_eq(kernel->occupancy, 1.0, 1e-9);
    cr_expect_str_eq(kernel->symbol, "_Z3addPKfS0_Pfi");
    cr_expect(driver->nested);
    cr_expect_not(runtime->nested);
    cr_expect_eq(runtime->thread, 77);
    cr_expect_eq(copy->bytes, 4096);
    tr_free(&t);
}

Test(gpu, shows_the_kernel_of_a_launch_and_the_memory_of_a_copy)
{
    char out[16384];
    cr_assert_eq(
        profile(out, sizeof out, "--print-api-trace --print-gpu-trace", "launch:1 copy:1 copy:1"),
        0, "%s", out);
    HAS(out, "  cudaLaunchKernel (add(float const *, float const *, float*, int) [1])");
    HAS(out, "  4.0000KB  3.8147GB/s      Pinned      Device  NVIDIA Fake (0)");
    HAS(out, "  4.0000KB  3.8147GB/s    Pageable      Device  NVIDIA Fake (0)");
    HAS(out, "        16  1.0000KB      512B ");
}

Test(gpu, shows_the_record_of_a_program_that_crashed)
{
    static const struct {
        const char *steps;
        int status;
    } ends[] = {
        {"launch:4 segv", 139},  {"launch:4 abort", 134},         {"launch:4 term", 143},
        {"launch:4 _exit:3", 3}, {"launch:4 sleep kill", 137},    {"launch:4 exit:5", 5},
        {"launch:4 fork", 0},    {"launch:2 stream launch:2", 0}, {"launch:4 reset kill", 137}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char out[16384];
        cr_expect_eq(profile(out, sizeof out, "", ends[i].steps), ends[i].status, "%s: %s",
                     ends[i].steps, out);
        cr_expect(strstr(out, " GPU activities:  100.00%  1.2000us         4     300ns"), "%s: %s",
                  ends[i].steps, out);
    }
}

Test(gpu, records_nothing_while_it_is_switched_off)
{
    static const struct {
        const char *options, *steps, *time;
        int launches;
    } cases[] = {
        {"", "launch:3 switch:0 launch:9 switch:1 launch:1", "1.2000us", 4},
        {"", "switch:0 launch:9 stream switch:1 launch:2", " 600ns", 2},
        {"", "switch:0 launch:9 switch:0 sleep switch:1 switch:1 launch:2", " 600ns", 2},
        {"--profile-from-start off", "launch:9 switch:1 launch:3 switch:0 launch:9", " 900ns", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[16384], expected[128];
        cr_assert_eq(profile(out, sizeof out, cases[i].options, cases[i].steps), 0);
        snprintf(expected, sizeof expected, " GPU activities:  100.00%%  %8s         %d     300ns ",
                 cases[i].time, cases[i].launches);
        cr_expect(strstr(out, expected), "%s %s: %s", cases[i].options, cases[i].steps, out);
        cr_expect_null(strstr(out, "cudaProfiler"),
                       "calls that switch the profiler are not listed: %s", out);
    }
}

Test(gpu, is_gone_while_a_program_of_ours_asks_for_that)
{
    static const char *const steps[] = {
        "launch:3 attach:0 switch:0 launch:9 sleep attach:1 switch:1 launch:1",
        "launch:3 attach:0 switch:0 attach:1 switch:1 attach:0 switch:0 attach:1 switch:1 launch:1",
        "launch:3 attach:0 attach:1 launch:1", "launch:4 attach:0 switch:0 launch:9",
        "launch:4 attach:0 switch:0 launch:9 segv",
        /* the trial is dropped, because the program does not end during it */
        "launch:3 attach:0 launch:7 switch:0 launch:9 attach:1 switch:1 launch:1",
        "launch:3 attach:0 launch:1 segv", "launch:1 attach:0 launch:3"};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        char out[16384];
        cr_assert_eq(profile(out, sizeof out, "", steps[i]), strstr(steps[i], "segv") ? 139 : 0);
        cr_expect(strstr(out, " GPU activities:  100.00%  1.2000us         4     300ns"), "%s: %s",
                  steps[i], out);
        cr_expect_null(strstr(out, "Warning"), "%s: %s", steps[i], out);
    }
    /* CUPTI restarts its numbering of calls when attached again; the trace has one numbering. */
    char out[16384];
    cr_assert_eq(profile(out, sizeof out, "--print-gpu-trace",
                         "launch:2 attach:0 switch:0 attach:1 switch:1 launch:2"),
                 0);
    cr_expect(strstr(out, "int) [2]\n") && strstr(out, "int) [6]\n"), "%s", out);
}

Test(gpu, lets_our_programs_know_that_they_are_recorded)
{
    char out[16384];
    profile(out, sizeof out, "", "");
    cr_expect_eq(tool_run("vprof", out, sizeof out, "--device gpu sh -c 'exit $CONVLAB_RECORDED'"),
                 1);
    cr_expect_eq(tool_run("vprof", out, sizeof out,
                          "--device gpu --profile-from-start off sh -c 'exit $CONVLAB_RECORDED'"),
                 0, "then the program itself selects what is recorded");
}

Test(gpu, loses_no_launch_and_reports_the_records_that_cupti_lost)
{
    char out[16384];
    cr_assert_eq(profile(out, sizeof out, "", "launch:20000"), 0);
    HAS(out, " GPU activities:  100.00%  6.0000ms     20000     300ns     300ns");
    HAS(out, "     20000     200ns     200ns     200ns  cudaLaunchKernel\n");
    cr_expect_null(strstr(out, "Warning"), "%s", out);
    cr_assert_eq(profile(out, sizeof out, "", "launch:1 drop:7 launch:1"), 0);
    HAS(out, "Warning: 7 records that CUPTI dropped are missing\n");
}

Test(gpu, says_that_cupti_is_missing)
{
    char out[16384];
    profile(out, sizeof out, "", "");
    setenv("CONVLAB_CUPTI", "/no/libcupti.so", 1);
    char arguments[1024];
    snprintf(arguments, sizeof arguments, "--device gpu %s/profiler/tests/fake_program",
             tool_build());
    cr_expect_eq(tool_run("vprof", out, sizeof out, arguments), 98);
    HAS(out, "Warning: CUPTI cannot be loaded: /no/libcupti.so: ");
    HAS(out, "No kernels were profiled.\n");
}

Test(gpu, says_that_a_program_did_not_use_it)
{
    char out[16384];
    profile(out, sizeof out, "", "");
    cr_expect_eq(tool_run("vprof", out, sizeof out, "--device gpu true"), 0);
    HAS(out, "== Warning: No CUDA application was profiled: the program did not "
             "initialise CUDA\n");
}

Test(gpu, counts_processes)
{
    char out[16384], arguments[1024];
    profile(out, sizeof out, "", "");
    snprintf(arguments, sizeof arguments,
             "--device gpu --print-gpu-trace sh -c '%s/profiler/tests/fake_program launch:1; "
             "%s/profiler/tests/fake_program launch:1'",
             tool_build(), tool_build());
    cr_expect_eq(tool_run("vprof", out, sizeof out, arguments), 0);
    HAS(out, "  NVIDIA Fake (0)         1         7  add(");
    HAS(out, "  NVIDIA Fake (0)         2         7  add(");
}

/* Uses a wrapper that prints its environment and then starts the program unchanged. */
Test(gpu, starts_a_program_through_another)
{
    char out[16384], wrapper[] = "/tmp/convlab-wrapper-XXXXXX", options[128];
    const int fd = mkstemp(wrapper);
    static const char text[] = "#!/bin/sh\n"
                               "for f in $(echo $CONVLAB_WRAPPER_READS:$CONVLAB_WRAPPER_WRITES | "
                               "tr : ' '); do\n"
                               "    [ -e $f ] || echo \"missing: $f\"\n"
                               "done\n"
                               "echo \"wrapped: ${1##*/}\"\n"
                               "exec \"$@\"\n";
    cr_assert_eq(write(fd, text, sizeof text - 1), (ssize_t)sizeof text - 1);
    cr_assert_eq(fchmod(fd, 0700), 0);
    close(fd);
    snprintf(options, sizeof options, "--wrapper %s", wrapper);
    cr_expect_eq(profile(out, sizeof out, options, "launch:2 exit:4"), 4, "%s", out);
    unlink(wrapper);
    HAS(out, "wrapped: fake_program\n");
    cr_expect_null(strstr(out, "missing: "), "%s", out);
    HAS(out, " GPU activities:  100.00%     600ns         2     300ns");
    cr_expect_null(strstr(out, "command: /tmp/convlab-wrapper"),
                   "the program is the one requested: %s", out);
}
