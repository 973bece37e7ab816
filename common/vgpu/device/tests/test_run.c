/* Runs vgpu-run and checks its exit status and messages, and that it leaves nothing behind. */
#include "base/tests/run_tool.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int run(char *output, size_t room, const char *arguments)
{
    return tool_run("vgpu-run", output, room, arguments);
}

Test(vgpu_run, ends_as_the_program_did)
{
    char out[4096];
    cr_assert_eq(run(out, sizeof out, "sh -c 'echo out; exit 3'"), 3);
    cr_assert_str_eq(out, "out\n");
    cr_assert_eq(run(out, sizeof out, "true"), 0);
    cr_assert_str_empty(out);
    int status = run(out, sizeof out, "sh -c 'kill -SEGV $$'; echo $?");
    cr_assert_eq(status, 0);
    HAS(out, "139");
}

Test(vgpu_run, passes_arguments_on_as_they_are)
{
    char out[4096];
    cr_assert_eq(run(out, sizeof out, "--profile k80 printf '%s|' --profile '' 'a b' -t"), 0);
    cr_assert_str_eq(out, "--profile||a b|-t|");
}

Test(vgpu_run, reports_mistakes_before_it_starts_the_program)
{
    char out[4096];
    cr_assert_eq(run(out, sizeof out, "--profile gtx-0 echo started"), 2);
    cr_assert_str_eq(
        out,
        "virtual GPU: no GPU profile is named 'gtx-0' (hint: use one of: a10g, a40, h100, h200, "
        "k80, rtx-2080, rtx-3060, rtx-4060-laptop, t4, titan-v, v100; or the path of a .yaml file)\n");
    cr_assert_eq(run(out, sizeof out, "./no-such-program"), 2);
    cr_assert_str_eq(out, "vgpu-run: cannot find an executable program './no-such-program' (hint: "
                          "check the path and its permissions)\n");
    cr_assert_neq(run(out, sizeof out, ""), 0);
}

Test(vgpu_run, writes_its_tables_or_says_why_not)
{
    char out[4096], command[600];
    char path[] = "/tmp/convlab-run-XXXXXX";
    close(mkstemp(path));
    snprintf(command, sizeof command, "--faults %s true; cat %s", path, path);
    cr_assert_eq(run(out, sizeof out, command), 0);
    cr_assert_str_eq(out,
                     "kind\tkernel\tfile\tline\tblock\tthread\taddress\tdetail\tcount\tother_file"
                     "\tother_line\n");
    unlink(path);
    cr_assert_eq(run(out, sizeof out, "--trace /no-such-folder/trace.tsv true"), 2);
    HAS(out, "/no-such-folder/trace.tsv");
}

Test(vgpu_run, pictures_nothing_where_no_kernel_ran)
{
    char out[4096];
    cr_assert_eq(run(out, sizeof out, "--picture /tmp/convlab-none.html true"), 2);
    cr_assert_str_eq(out, "vgpu-run: no block to show: the program launched no kernel "
                          "(hint: does it end before the first launch?)\n");
    cr_assert_neq(access("/tmp/convlab-none.html", F_OK), 0);
    cr_assert_eq(run(out, sizeof out, "--picture /tmp/convlab-none.html sh -c 'exit 3'"), 3);
}

Test(vgpu_run, reports_which_engine_executes_kernels)
{
    char out[4096], command[1200];
    char alone[] = "/tmp/convlab-run-XXXXXX";
    cr_assert_eq(run(out, sizeof out, "--version"), 0);
    cr_assert_eq(strncmp(out, "virtual GPU: ", 13), 0, "%s", out);
    HAS(out, "instruction set ");
    /* a folder without the translator's library */
    cr_assert_not_null(mkdtemp(alone));
    snprintf(
        command, sizeof command,
        "--version >/dev/null; cp %s/vgpu-run %s/vgpu-device %s && %s/vgpu-run --version; rm -r %s",
        tool_build(), tool_build(), alone, alone, alone);
    cr_assert_eq(run(out, sizeof out, command), 0);
    HAS(out, "interpreter only");
    HAS(out, "its library was not built");
    cr_assert_eq(run(out, sizeof out, "--engine steam true"), 2);
    HAS(out, "--engine: expected auto, interpreter or native, got 'steam'");
}

/* Starts vgpu-run with a pipe that all its descendants hold. @return the read end, which reports
 * end of file when the last of them has ended. */
static int start(pid_t *pid, const char *program)
{
    int ends[2];
    char path[512];
    cr_assert_eq(pipe(ends), 0);
    snprintf(path, sizeof path, "%s/vgpu-run", tool_build());
    *pid = fork();
    if (*pid == 0) {
        close(ends[0]);
        execl(path, "vgpu-run", "sh", "-c", program, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    return ends[0];
}

static bool all_gone(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char buffer[64];
    while (poll(&p, 1, 10000) == 1) {
        if (read(fd, buffer, sizeof buffer) <= 0)
            return true;
    }
    return false;
}

Test(vgpu_run, killed_leaves_no_process)
{
    pid_t pid;
    int fd = start(&pid, "exec sleep 1000"), status;
    usleep(300000);
    cr_assert_eq(kill(pid, SIGKILL), 0);
    waitpid(pid, &status, 0);
    cr_assert(all_gone(fd));
    close(fd);
}

Test(vgpu_run, forwards_a_termination_and_cleans_up)
{
    pid_t pid;
    int fd = start(&pid, "exec sleep 1000"), status;
    usleep(300000);
    cr_assert_eq(kill(pid, SIGTERM), 0);
    waitpid(pid, &status, 0);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    cr_assert(all_gone(fd));
    close(fd);
}
