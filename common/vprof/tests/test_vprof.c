/* Runs vprof and checks what it prints. */
#include "base/tests/run_tool.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int run(char *output, size_t room, const char *arguments)
{
    return tool_run("vprof", output, room, arguments);
}

Test(vprof, says_that_a_program_without_kernels_has_none)
{
    char out[8192];
    cr_assert_eq(run(out, sizeof out, "--device virtual true"), 0);
    HAS(out, "== NVPROF is profiling process ");
    HAS(out, ", command: true\n");
    HAS(out, "== Profiling application: true\n");
    HAS(out, "== Times are modelled, for a virtual NVIDIA H200\n");
    HAS(out, "== Profiling result:\nNo kernels were profiled.\nNo API activities were "
             "profiled.\n");
}

Test(vprof, ends_as_the_program_did)
{
    char out[8192];
    cr_expect_eq(run(out, sizeof out, "--device virtual sh -c 'exit 7'"), 7);
    HAS(out, "======== Error: Application returned non-zero code 7\n");
    cr_expect_eq(run(out, sizeof out, "--device virtual sh -c 'kill -SEGV $$'"), 139);
    HAS(out, "======== Error: Application received signal 139\n");
}

/* vprof must not end early, because its files in /tmp would remain */
Test(vprof, is_not_ended_by_a_reader_that_is_gone)
{
    char out[8192], command[512], file[] = "/tmp/convlab-vprof-XXXXXX";
    close(mkstemp(file));
    signal(SIGPIPE, SIG_DFL); /* the process that runs the tests may ignore SIGPIPE */
    snprintf(command, sizeof command,
             "--version; (%s/vprof --device virtual sh -c 'sleep 0.1; yes | head -c 1 >/dev/null; "
             "exit 3' 2>&1; echo $? >%s) | true; cat %s",
             tool_build(), file, file);
    cr_assert_eq(run(out, sizeof out, command), 0);
    HAS(out, "\n3\n");
    /* the program's own pipes behave as usual */
    snprintf(command, sizeof command,
             "--device virtual --log-file %s bash -c 'yes | true; exit ${PIPESTATUS[0]}'", file);
    cr_expect_eq(run(out, sizeof out, command), 141);
    unlink(file);
}

Test(vprof, names_the_mistake)
{
    char out[8192];
    cr_expect_eq(run(out, sizeof out, "./no-such-program"), 2);
    cr_expect_str_eq(out, "vprof: cannot find an executable program './no-such-program' (hint: "
                          "check the path and its permissions)\n");
    cr_expect_eq(run(out, sizeof out, "--metrics gld_eficiency true"), 2);
    HAS(out, "vprof: no metric is named 'gld_eficiency' (hint: similar names: gld_efficiency");
    cr_expect_eq(run(out, sizeof out, "--device tpu true"), 2);
    HAS(out, "vprof: unknown device: --device: expected auto, gpu, virtual or "
             "virtual:GPU, got tpu");
    if (access("/dev/nvidiactl", F_OK) != 0) {
        cr_expect_eq(run(out, sizeof out, "--device gpu true"), 2);
        HAS(out, "this machine has no NVIDIA GPU: --device gpu");
    }
    cr_expect_eq(run(out, sizeof out, "--events inst_exceuted true"), 2);
    HAS(out, "no event is named 'inst_exceuted' (hint: similar names: inst_executed");
    cr_expect_eq(run(out, sizeof out, "--track-memory-allocations on true"), 2);
    cr_expect_str_eq(out, "vprof: vprof does not have nvprof's option --track-memory-allocations "
                          "(hint: use --print-api-trace, or compute-sanitizer --leak-check full "
                          "PROGRAM)\n");
    cr_expect_eq(run(out, sizeof out, "--device virtual --unified-memory-profiling off true"), 0);
    cr_expect_eq(run(out, sizeof out, "--unified-memory-profiling per-process-device true"), 2);
    HAS(out, "use nsys profile");
    cr_expect_eq(run(out, sizeof out, "--profile-from-start maybe true"), 2);
    HAS(out, "--profile-from-start: expected on or off, got maybe");
    cr_expect_eq(run(out, sizeof out, "-u minutes true"), 2);
    HAS(out, "--normalized-time-unit: expected s, ms, us, ns, col or auto, got "
             "minutes");
    cr_expect_eq(run(out, sizeof out, "--device virtual:gtx-0 true"), 2);
    HAS(out, "no GPU profile is named 'gtx-0'");
    cr_expect_eq(run(out, sizeof out, "--import /no-such-trace.tsv"), 2);
    HAS(out, "/no-such-trace.tsv");
    cr_expect_eq(run(out, sizeof out, "-o /dev/../etc/passwd true"), 2);
    HAS(out, "the file already exists");
}

/* argp misplaces an option whose text is longer than about 150 letters */
Test(vprof, lists_its_options_in_columns)
{
    static const char *const asked[] = {"-h", "--help"};
    char out[16384];
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(run(out, sizeof out, asked[i]), 0);
        char *line = strstr(out, " Output:"), *end = strstr(out, "Mandatory or optional");
        cr_assert(line && end, "%s", out);
        for (; line < end; line = strchr(line, '\n') + 1) {
            const size_t indent = strspn(line, " ");
            cr_expect((line[indent] == '\n' && indent == 0) || indent == 1 || indent == 29 ||
                          (indent == 2 && line[2] == '-') || (indent == 6 && line[6] == '-'),
                      "%.60s", line);
        }
    }
}

Test(vprof, names_its_files_as_nvprof_does)
{
    char out[8192], command[1024], folder[] = "/tmp/convlab-vprof-XXXXXX";
    cr_assert(mkdtemp(folder));
    cr_expect_eq(run(out, sizeof out, "--device virtual --log-file %1 true | wc -l"), 0);
    cr_expect(atoi(out) >= 5, "%s", out);
    cr_expect_eq(run(out, sizeof out, "--device virtual --log-file %2 true 2>/dev/null | wc -l"),
                 0);
    cr_expect_eq(atoi(out), 0, "%s", out);
    setenv("WHAT", "it", 1);
    snprintf(command, sizeof command,
             "--device virtual --log-file %s/%%q{WHAT}-%%%%.%%p -o %s/%%q{WHAT} true; echo %s/it*",
             folder, folder, folder);
    cr_expect_eq(run(out, sizeof out, command), 0);
    snprintf(command, sizeof command, "%s/it %s/it-%%.", folder, folder);
    cr_expect_eq(strncmp(out, command, strlen(command)), 0, "%s", out);
    cr_expect_eq(run(out, sizeof out, "-o %q{NOT_SET} true"), 2);
    cr_expect_str_eq(out,
                     "vprof: cannot fill in the name of a file: --export-profile: expected %p, "
                     "%h, %%, or %q{NAME} with a variable that is set, got %q{NOT_SET} (hint: see "
                     "--help)\n");
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_expect_eq(system(command), 0);
}

/* The program may run for an hour, so vprof checks first that its files can be written. */
Test(vprof, asks_first_whether_a_file_can_be_written)
{
    char out[8192];
    cr_expect_eq(run(out, sizeof out, "--device virtual -o /no-such-folder/t echo ran"), 2);
    cr_expect(strstr(out, "cannot write") && !strstr(out, "ran"), "%s", out);
    cr_expect_eq(run(out, sizeof out, "--device virtual -f -o /tmp echo ran"), 2);
    cr_expect_str_eq(out, "vprof: cannot write to a folder: /tmp (hint: name a file in it)\n");
    cr_expect_eq(run(out, sizeof out, "--device virtual --export chrome:/no-such/t echo ran"), 2);
    cr_expect(!strstr(out, "ran"), "%s", out);
}

Test(vprof, says_that_its_log_is_not_whole)
{
    char out[8192];
    cr_expect_eq(run(out, sizeof out, "--device virtual --log-file /dev/full true"), 2);
    HAS(out, "vprof: cannot write the log file /dev/full");
    cr_expect_eq(run(out, sizeof out, "--device virtual --log-file /dev/full sh -c 'exit 7'"), 7);
    HAS(out, "vprof: cannot write the log file /dev/full");
}

/* Prints a committed trace in several ways. */
Test(vprof, prints_a_trace_in_the_requested_unit_and_form)
{
#define GOLDEN "common/analysis/tests/golden/"
#define TRACE  "-i " GOLDEN "trace-20.tsv "
    static const char *const forms[][2] = {
        {"-u us", "       862.642us         6       143.773us         3.140us"},
        {"-u ms --csv", "\n,%,ms,,ms,ms,ms,\n\"GPU activities\",49."},
        {"-u s --csv", ",0.000862642,6,0.000143773,0.000003140,"},
        {"--kernels no_such", "Warning: none of the "}};
    char out[65536], command[512];
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        snprintf(command, sizeof command, TRACE "%s", forms[i][0]);
        cr_assert_eq(run(out, sizeof out, command), 0, "%s", out);
        HAS(out, forms[i][1]);
    }
    cr_assert_eq(
        run(out, sizeof out, TRACE "--counters " GOLDEN "counters-20.tsv --analysis --csv"), 0);
    HAS(out, "\n%,us,,,,,,,%,,,,\n1.301289,22.842000,1,\"too few blocks\",");
    HAS(out, "\",\"66x1x1\",\"128x1x1\",\"longest chain 79%, ");
    HAS(out, "\n\n\"Kernel\",\"File\",\"Line\",\"Time(%)\",");
    HAS(out, "conv.cu\",160,15.7242,5.255,,1.000,,");
    /* counters of a program compiled without line information */
    char counters[] = "/tmp/convlab-vprof-XXXXXX";
    close(mkstemp(counters));
    snprintf(command, sizeof command,
             "awk 'BEGIN {FS = OFS = \"\\t\"} NR > 1 {$3 = \"\"; $4 = 0} 1' " GOLDEN
             "counters-20.tsv >%s",
             counters);
    cr_assert_eq(system(command), 0);
    snprintf(command, sizeof command, TRACE "--analysis --counters %s", counters);
    cr_assert_eq(run(out, sizeof out, command), 0, "%s", out);
    HAS(out, "\n\nNo source lines are known: compile with nvcc -lineinfo.\n");
    unlink(counters);
}

/* Profiles a CUDA program, if the tests could compile one, up to the timeline. */
Test(vprof, profiles_a_program_and_reads_its_trace)
{
    char program[512], out[65536], command[1024], folder[] = "/tmp/convlab-vprof-XXXXXX";
    struct stat info;
    snprintf(program, sizeof program, "%s/vgpu/tests/programs/dynamic_shared", tool_build());
    if (stat(program, &info))
        cr_skip_test("skip: no compiled CUDA program (make vgpu-programs)");
    cr_assert(mkdtemp(folder));
    snprintf(command, sizeof command, "-o %s/trace --device virtual:k80 %s", folder, program);
    cr_assert_eq(run(out, sizeof out, command), 0, "%s", out);
    HAS(out, "== Generated result file: ");
    snprintf(command, sizeof command, "-i %s/trace", folder);
    cr_assert_eq(run(out, sizeof out, command), 0, "%s", out);
    cr_expect_eq(strstr(out, "======== Times are modelled, for a virtual Tesla K80\n"
                             "======== Profiling result:\n            Type  Time(%)"),
                 out, "%s", out);
    HAS(out, "\n GPU activities:  ");
    HAS(out, "\n      API calls:  ");
    HAS(out, "  cudaLaunchKernel\n");
    snprintf(
        command, sizeof command,
        "-i %s/trace --print-gpu-trace -e branch -m inst_executed --log-file %s/log; cat %s/log",
        folder, folder, folder);
    cr_assert_eq(run(out, sizeof out, command), 0, "%s", out);
    HAS(out, "Profiling result:\n         Device          Context           Stream  ");
    HAS(out, "Kernel      branch  inst_executed\n  Tesla K80 (0)                1      "
             "          7  ");
    cr_expect(!strstr(out, "Invocations"), "%s", out);
    snprintf(command, sizeof command,
             "-i %s/trace --metrics inst_executed --log-file %s/log; cat %s/log; rm -r %s", folder,
             folder, folder, folder);
    cr_assert_eq(run(out, sizeof out, command), 0, "%s", out);
    HAS(out, "\"Tesla K80 (0)\"");
    HAS(out, "inst_executed                     Instructions Executed");
}
