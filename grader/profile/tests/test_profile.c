/* Tests of profiling with fake programs, and of the sandbox around the profiled program. */
#include "base/checkout.h"
#include "base/files.h"
#include "base/tests/test_text.h"
#include "base/tsv.h"
#include "grader/profile/profile.h"
#include "grader/sandbox/sandbox.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static char scratch[64], golden[PATH_MAX], profile[128];

static void command(const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cr_assert_eq(system(text), 0, "%s", text);
}

/* Makes a folder of programs: a vprof that writes the golden files, and a runner that prints. */
static void setup(void)
{
    struct st_error err;
    snprintf(scratch, sizeof scratch, "/tmp/convlab-profile-XXXXXX");
    cr_assert(mkdtemp(scratch) != NULL);
    snprintf(profile, sizeof profile, "%s/out/profile", scratch);
    path_format(golden, sizeof golden, "%s/common/analysis/tests/golden", checkout_root(&err));
    command("mkdir -p %s/vgpu && cp -r %s/common/vgpu/gpus %s/vgpu/profiles", scratch,
            checkout_root(&err), scratch);
    command(
        "cat >%s/vprof <<'END'\n"
        "#!/bin/sh\n"
        "while [ $# -gt 0 ]; do case $1 in\n"
        "  -o) trace=$2 ;; --log-file) log=$2 ;; --counters) counters=$2 ;; --time) time=$2 ;;\n"
        "  --images) n=$2 ;; */broken.so) broken=yes ;;\n"
        "  */killed.so) kill -SEGV $$ ;;\n"
        "esac; shift; done\n"
        "[ \"$broken\" ] && { echo 'runner: it broke (hint: fix it)' >&2; exit 2; }\n"
        "cp %s/trace-$n.tsv $trace; cp %s/summary-$n.txt $log\n"
        "cp %s/counters-$n.tsv $counters; cp %s/time-$n.txt $time\n"
        "echo 'Op Time: 0.5 (modelled)'; echo 'Op Time: 0.25 (modelled)'\n"
        "echo 'Correctness: 0.75 Model: x'\n"
        "END\n"
        "cat >%s/runner <<'END'\n"
        "#!/bin/sh\n"
        "echo 'Op Time: 0.125'\n"
        "END\n"
        "chmod +x %s/vprof %s/runner",
        scratch, golden, golden, golden, golden, scratch, scratch, scratch);
}

static void teardown(void)
{
    command("rm -rf %s", scratch);
}

TestSuite(profile, .init = setup, .fini = teardown);

static struct gr_profiling profiling(enum runner_device device, const char *library, FILE *out)
{
    static const size_t images[] = {2, 20};
    return (struct gr_profiling){.build = scratch,
                                 .library = library,
                                 .model = "two-layer",
                                 .device = device,
                                 .gpu = "h200",
                                 .images = images,
                                 .sizes = 2,
                                 .folder = profile,
                                 .out = out};
}

static void run(struct gr_profiling p)
{
    struct st_error err = {0};
    cr_assert_eq(gr_profile_run(&p, &err), ST_OK, "%s %s", err.what, err.where);
}

static struct tsv table(const char *name)
{
    char path[PATH_MAX];
    struct tsv t = {0};
    struct st_error err;
    path_format(path, sizeof path, "%s/%s", profile, name);
    cr_assert_eq(tsv_read(path, &t, &err), ST_OK, "%s: %s", path, err.what);
    return t;
}

static bool is_there(const char *name)
{
    char path[PATH_MAX];
    return path_format(path, sizeof path, "%s/%s", profile, name) && file_exists(path);
}

Test(profile, of_two_sizes_has_all_files_and_tables)
{
    char *text;
    PRINTED(text, run(profiling(RUNNER_ON_VIRTUAL_GPU, "/lab/libconv.so", out)));
    cr_expect(strstr(text, "Profile of 20 images (times are modelled)"), "%s", text);
    cr_expect(!strstr(text, "Profile of 2 images"), "the largest size only");
    free(text);
    static const char *const files[] = {"trace-2.tsv",    "counters-2.tsv", "summary-2.txt",
                                        "time-2.txt",     "trace-20.tsv",   "counters-20.tsv",
                                        "summary-20.txt", "time-20.txt"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        cr_expect(is_there(files[i]), "%s", files[i]);
    struct tsv kernels = table("kernels.tsv"), layers = table("layers.tsv"),
               parts = table("parts.tsv"), lines = table("lines.tsv");
    cr_expect_eq(kernels.rows, 6, "two copies and a kernel of each size");
    cr_expect_eq(layers.rows, 4);
    cr_expect_str_eq(tsv_cell(&layers, 1, tsv_column(&layers, "op_time_s")), "0.250000000");
    cr_expect_eq(parts.rows, 6);
    cr_expect(lines.rows > 20);
    tsv_free(&kernels);
    tsv_free(&layers);
    tsv_free(&parts);
    tsv_free(&lines);
}

Test(profile, on_the_cpu_is_times_and_reasons_and_replaces_an_earlier_one)
{
    FILE *out = fopen("/dev/null", "w");
    run(profiling(RUNNER_ON_VIRTUAL_GPU, "/lab/libconv.so", out));
    run(profiling(RUNNER_ON_CPU, "/lab/libconv.so", out));
    cr_expect(is_there("time-2.txt") && is_there("time-20.txt"));
    cr_expect(!is_there("trace-2.tsv") && !is_there("summary-20.txt"), "those of the GPU went");
    struct tsv kernels = table("kernels.tsv"), parts = table("parts.tsv");
    cr_expect_eq(kernels.rows, 0);
    cr_expect_str_eq(tsv_cell(&parts, 1, tsv_column(&parts, "state")), "absent");
    cr_expect(strstr(tsv_cell(&parts, 1, tsv_column(&parts, "reason")), "on the CPU"));
    tsv_free(&kernels);
    tsv_free(&parts);
    gr_profile_drop(profile);
    cr_expect(!file_exists(profile), "nothing is left of a dropped profile");
    fclose(out);
}

Test(profile, on_a_gpu_takes_the_time_without_and_the_counters_with_ncu)
{
    FILE *out = fopen("/dev/null", "w");
    run(profiling(RUNNER_ON_GPU, "/lab/libconv.so", out));
    cr_expect(is_there("time-2.txt") && is_there("trace-2.tsv") && is_there("ncu-2.tsv"));
    cr_expect(!is_there("counters-2.tsv"), "lines are the virtual GPU's");
    struct tsv parts = table("parts.tsv"), layers = table("layers.tsv");
    cr_expect_eq(layers.rows, 2, "what the profiled run says of times is not kept");
    cr_expect_str_eq(tsv_cell(&layers, 1, tsv_column(&layers, "op_time_s")), "0.125000000");
    tsv_free(&layers);
    cr_expect_eq(parts.rows, 8);
    cr_expect_str_eq(tsv_cell(&parts, 3, tsv_column(&parts, "part")), "counters");
    cr_expect_str_eq(tsv_cell(&parts, 3, tsv_column(&parts, "state")), "here");
    tsv_free(&parts);
    fclose(out);
}

Test(profile, of_a_program_that_fails_shows_its_output)
{
    FILE *out = fopen("/dev/null", "w");
    run(profiling(RUNNER_ON_VIRTUAL_GPU, "/lab/broken.so", out));
    struct tsv parts = table("parts.tsv");
    cr_expect_eq(parts.rows, 6);
    for (size_t i = 0; i < parts.rows; i++) {
        cr_expect_str_eq(tsv_cell(&parts, i, tsv_column(&parts, "state")), "absent");
        cr_expect_str_eq(tsv_cell(&parts, i, tsv_column(&parts, "reason")),
                         "it broke (hint: fix it) (exit status 2)");
    }
    tsv_free(&parts);
    fclose(out);
}

Test(profile, of_a_program_that_crashes_names_the_signal)
{
    FILE *out = fopen("/dev/null", "w");
    run(profiling(RUNNER_ON_VIRTUAL_GPU, "/lab/killed.so", out));
    struct tsv parts = table("parts.tsv");
    cr_expect_str_eq(tsv_cell(&parts, 0, tsv_column(&parts, "reason")),
                     "the program was ended by signal 11 (Segmentation fault)");
    tsv_free(&parts);
    fclose(out);
}

/* ---- the sandbox between profiler and runner ------------------------------------------------ */

/* Skips a test if no sandbox works here. @param programs  set to the folder of the programs, which
 * is the parent of the tests' folder */
static void need_sandbox(char programs[PATH_MAX])
{
    struct gr_sandbox sandbox;
    struct st_error err;
    cr_assert(realpath(checkout_build(&err), programs));
    *strrchr(programs, '/') = '\0';
    cr_assert_eq(gr_sandbox_open(&sandbox, GR_SANDBOX_IF_POSSIBLE, programs, &err), ST_OK);
    if (!sandbox.on)
        cr_skip_test("not here: %s", sandbox.reason);
}

static int boxed(const char *programs, const char *shown, const char *path)
{
    char text[3 * PATH_MAX];
    path_format(text, sizeof text,
                "CONVLAB_BOX_SHOW='%s' '%s/boxed' /usr/bin/cat '%s' >/dev/null 2>&1", shown,
                programs, path);
    const int status = system(text);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(boxed, a_program_sees_only_the_files_shown_to_it)
{
    char own[PATH_MAX], shown[2 * PATH_MAX], programs[PATH_MAX];
    struct st_error err;
    need_sandbox(programs);
    path_format(own, sizeof own, "%s/common/conv.h", checkout_root(&err));
    path_format(shown, sizeof shown, "/usr/bin/cat:%s", own);
    cr_expect_eq(boxed(programs, shown, own), 0);
    cr_expect_eq(boxed(programs, "/usr/bin/cat", own), 1,
                 "cat's own status: the file is not there");
}

Test(boxed, a_program_that_takes_all_memory_is_ended)
{
    char text[3 * PATH_MAX], programs[PATH_MAX];
    need_sandbox(programs);
    path_format(text, sizeof text,
                "CONVLAB_BOX_MEMORY=100000000 CONVLAB_BOX_SHOW=/usr/bin/dd '%s/boxed' /usr/bin/dd "
                "if=/dev/full of=/dev/null bs=200M count=400 iflag=fullblock 2>&1 | grep -q 'GiB "
                "of memory; the limit is'",
                programs);
    cr_expect_eq(system(text), 0, "%s", text);
}

/* On a real GPU, the recorder also runs in the sandbox: this test uses a fake CUPTI and a fake
 * program. */
Test(boxed, a_program_is_recorded_inside)
{
    char text[4 * PATH_MAX], programs[PATH_MAX], fake[PATH_MAX],
        folder[] = "/tmp/convlab-boxed-XXXXXX";
    need_sandbox(programs);
    path_format(fake, sizeof fake, "%s/profiler/tests/fake_program", programs);
    if (!file_exists(fake))
        cr_skip_test("skip: no headers of CUPTI: what records is not built");
    cr_assert(mkdtemp(folder));
    path_format(text, sizeof text,
                "cd %s && CONVLAB_BOX_GPU=1 CONVLAB_BOX_SHOW=%s "
                "CONVLAB_CUPTI=%s/profiler/tests/libcupti-fake.so %s/vprof --device gpu --wrapper "
                "%s/boxed -f -s -o trace --log-file log %s launch:3 segv 2>/dev/null; "
                "test $? = 139 && grep -q '1.2000us\\|900ns' log && "
                "test $(grep -c ^kernel trace) = 3 && ! grep -q boxed log trace",
                folder, fake, programs, programs, programs, fake);
    cr_expect_eq(system(text), 0, "%s", text);
    command("rm -r %s", folder);
}

/* The reader must not trust text that a program in the sandbox writes into the trace. */
Test(boxed, nonsense_in_the_trace_is_said_to_be_none)
{
    char text[4 * PATH_MAX], programs[PATH_MAX], fake[PATH_MAX];
    need_sandbox(programs);
    path_format(fake, sizeof fake, "%s/profiler/tests/libcupti-fake.so", programs);
    if (!file_exists(fake))
        cr_skip_test("skip: no headers of CUPTI: what records is not built");
    path_format(text, sizeof text,
                "CONVLAB_BOX_GPU=1 CONVLAB_BOX_SHOW=/bin:/usr/bin CONVLAB_CUPTI=%s %s/vprof "
                "--device gpu --wrapper %s/boxed /bin/sh -c 'echo nonsense >$CONVLAB_GPU_TRACE; "
                "echo into >/etc/x || echo ended' 2>&1 | grep -c 'not a trace\\|^ended'",
                fake, programs, programs);
    FILE *out = popen(text, "r");
    int lines = 0;
    cr_assert(out && fscanf(out, "%d", &lines) == 1);
    pclose(out);
    cr_expect_eq(lines, 2, "%s", text);
}
