/* vprof by its transcripts. */
#include "base/tests/run_tool.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int run(char *output, size_t room, const char *arguments)
{
    return tool_run("vprof", output, room, arguments);
}

Test(vprof, says_that_a_program_without_kernels_has_none)
{
    char out[8192];
    cr_assert_eq(run(out, sizeof out, "--device virtual true"), 0);
    cr_expect(strstr(out, "== NVPROF is profiling process "), "%s", out);
    cr_expect(strstr(out, ", command: true\n"), "%s", out);
    cr_expect(strstr(out, "== Profiling application: true\n"), "%s", out);
    cr_expect(strstr(out, "== Times are modelled: those of a virtual NVIDIA H200\n"), "%s", out);
    cr_expect(strstr(out, "== Profiling result:\nNo kernels were profiled.\nNo API activities were "
                          "profiled.\n"),
              "%s", out);
}

Test(vprof, ends_as_the_program_did)
{
    char out[8192];
    cr_expect_eq(run(out, sizeof out, "--device virtual sh -c 'exit 7'"), 7);
    cr_expect(strstr(out, "======== Error: Application returned non-zero code 7\n"), "%s", out);
    cr_expect_eq(run(out, sizeof out, "--device virtual sh -c 'kill -SEGV $$'"), 139);
    cr_expect(strstr(out, "======== Error: Application received signal 139\n"), "%s", out);
}

Test(vprof, says_what_is_wrong)
{
    char out[8192];
    cr_expect_eq(run(out, sizeof out, "./no-such-program"), 2);
    cr_expect_str_eq(out, "vprof: there is no program './no-such-program' that can be run (hint: "
                          "check the path and its permissions)\n");
    cr_expect_eq(run(out, sizeof out, "--metrics gld_eficiency true"), 2);
    cr_expect(
        strstr(out, "vprof: there is no metric 'gld_eficiency' (hint: near it: gld_efficiency"),
        "%s", out);
    cr_expect_eq(run(out, sizeof out, "--device tpu true"), 2);
    cr_expect(strstr(out,
                     "vprof: there is no such device: --device: expected auto, gpu, virtual or "
                     "virtual:GPU, got tpu"),
              "%s", out);
    if (access("/dev/nvidiactl", F_OK) != 0) {
        cr_expect_eq(run(out, sizeof out, "--device gpu true"), 2);
        cr_expect(strstr(out, "there is no NVIDIA GPU in this machine: --device gpu"), "%s", out);
    }
    cr_expect_eq(run(out, sizeof out, "--events inst_exceuted true"), 2);
    cr_expect(strstr(out, "there is no event 'inst_exceuted' (hint: near it: inst_executed"), "%s",
              out);
    cr_expect_eq(run(out, sizeof out, "--track-memory-allocations on true"), 2);
    cr_expect_str_eq(out, "vprof: vprof does not have nvprof's option --track-memory-allocations "
                          "(hint: use --print-api-trace, or compute-sanitizer --leak-check full "
                          "PROGRAM)\n");
    cr_expect_eq(run(out, sizeof out, "--device virtual --unified-memory-profiling off true"), 0);
    cr_expect_eq(run(out, sizeof out, "--unified-memory-profiling per-process-device true"), 2);
    cr_expect(strstr(out, "use nsys profile"), "%s", out);
    cr_expect_eq(run(out, sizeof out, "--profile-from-start maybe true"), 2);
    cr_expect(strstr(out, "--profile-from-start: expected on or off, got maybe"), "%s", out);
    cr_expect_eq(run(out, sizeof out, "-u minutes true"), 2);
    cr_expect(strstr(out, "--normalized-time-unit: expected s, ms, us, ns, col or auto, got "
                          "minutes"),
              "%s", out);
    cr_expect_eq(run(out, sizeof out, "--device virtual:gtx-0 true"), 2);
    cr_expect(strstr(out, "there is no GPU profile 'gtx-0'"), "%s", out);
    cr_expect_eq(run(out, sizeof out, "--import /no-such-trace.tsv"), 2);
    cr_expect(strstr(out, "/no-such-trace.tsv"), "%s", out);
    cr_expect_eq(run(out, sizeof out, "-o /dev/../etc/passwd true"), 2);
    cr_expect(strstr(out, "the file exists already"), "%s", out);
}

/* A trace that is kept in the tree, printed in other ways. */
Test(vprof, prints_a_trace_in_the_unit_and_form_that_were_asked_for)
{
    static const char golden[] = "common/analysis/tests/golden";
    char out[65536], command[512];
    snprintf(command, sizeof command, "-i %s/trace-20.tsv -u us", golden);
    cr_assert_eq(run(out, sizeof out, command), 0, "%s", out);
    cr_expect(strstr(out, "       862.642us         6       143.773us         3.140us"), "%s", out);
    snprintf(command, sizeof command, "-i %s/trace-20.tsv -u ms --csv", golden);
    cr_assert_eq(run(out, sizeof out, command), 0, "%s", out);
    cr_expect(strstr(out, "\n,%,ms,,ms,ms,ms,\n\"GPU activities\",49."), "%s", out);
    snprintf(command, sizeof command,
             "-i %s/trace-20.tsv --counters %s/counters-20.tsv --analysis --csv", golden, golden);
    cr_assert_eq(run(out, sizeof out, command), 0, "%s", out);
    cr_expect(strstr(out, "\n%,us,,,,,,,%,,,,\n1.301289,22.842000,1,\"too few blocks\","), "%s",
              out);
    cr_expect(strstr(out, "\",\"66x1x1\",\"128x1x1\",\"longest chain 79%, "), "%s", out);
    cr_expect(strstr(out, "\n\n\"Kernel\",\"File\",\"Line\",\"Time(%)\","), "%s", out);
    cr_expect(strstr(out, "conv.cu\",160,30.2035,5.255,,1.000,,"), "%s", out);
}

/* A CUDA program from its start to the timeline, where there is one compiled for the tests. */
Test(vprof, profiles_a_program_and_reads_what_it_kept)
{
    char program[512], out[65536], command[1024], folder[] = "/tmp/convlab-vprof-XXXXXX";
    struct stat info;
    snprintf(program, sizeof program, "%s/vgpu/tests/programs/dynamic_shared", tool_build());
    if (stat(program, &info))
        cr_skip_test("skip: no compiled CUDA program (make vgpu-programs)");
    cr_assert(mkdtemp(folder));
    snprintf(command, sizeof command, "-o %s/trace --device virtual:k80 %s", folder, program);
    cr_assert_eq(run(out, sizeof out, command), 0, "%s", out);
    cr_expect(strstr(out, "== Generated result file: "), "%s", out);
    snprintf(command, sizeof command, "-i %s/trace", folder);
    cr_assert_eq(run(out, sizeof out, command), 0, "%s", out);
    cr_expect_eq(strstr(out, "======== Times are modelled: those of a virtual Tesla K80\n"
                             "======== Profiling result:\n            Type  Time(%)"),
                 out, "%s", out);
    cr_expect(strstr(out, "\n GPU activities:  "), "%s", out);
    cr_expect(strstr(out, "\n      API calls:  "), "%s", out);
    cr_expect(strstr(out, "  cudaLaunchKernel\n"), "%s", out);
    snprintf(command, sizeof command,
             "-i %s/trace --print-gpu-trace --metrics inst_executed --log-file %s/log; cat %s/log; "
             "rm -r %s",
             folder, folder, folder, folder);
    cr_assert_eq(run(out, sizeof out, command), 0, "%s", out);
    cr_expect(strstr(out, "  Tesla K80"), "%s", out);
    cr_expect(strstr(out, "inst_executed                     Instructions Executed"), "%s", out);
}
