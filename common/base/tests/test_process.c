/* Tests of helper programs: how they are found, which output is kept, and how they end. */
#include "base/process.h"

#include "base/clock.h"
#include "base/files.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct process_end run(const char *script, size_t output_bytes, unsigned limit_s)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    const struct process_options options = {
        .argv = argv, .folder = "/", .output_bytes = output_bytes, .limit_s = limit_s};
    struct process_end end;
    struct st_error err;
    cr_assert_eq(process_run(&options, &end, &err), ST_OK, "%s", err.what);
    return end;
}

Test(process, output_and_errors_are_kept_up_to_the_limit)
{
    struct process_end end = run("pwd; echo error >&2; cat; exit 3", 100, 0);
    cr_assert_str_eq(end.output, "/\nerror\n");
    cr_assert_eq(end.exit_status, 3);
    free(end.output);
    end = run("yes | head -c 100000", 10, 0);
    cr_assert_str_eq(end.output, "y\ny\ny\ny\ny\n");
    cr_assert_eq(end.exit_status, 0);
    free(end.output);
    cr_assert_null(run("echo nothing is kept", 0, 0).output);
}

Test(process, a_signal_differs_from_an_exit_status)
{
    struct process_end end = run("kill -TERM $$", 0, 0);
    cr_assert_eq(end.exit_status, 128 + SIGTERM);
    cr_assert_not(end.late);
}

/* The second shell outlives its parent and keeps the output open. */
Test(process, ends_in_time_with_everything_that_it_started)
{
    const double begin_s = clock_now_s();
    struct process_end end = run("sh -c 'echo $$; exec sleep 100' & sleep 100", 100, 1);
    cr_assert(end.late);
    cr_assert_eq(end.exit_status, 128 + SIGKILL);
    cr_assert_lt(clock_now_s() - begin_s, 50);
    const pid_t left = atoi(end.output);
    cr_assert_gt(left, 0);
    for (int i = 0; i < 1000 && kill(left, 0) == 0; i++)
        usleep(10000);
    cr_assert(kill(left, 0) && errno == ESRCH);
    free(end.output);
}

Test(process, does_not_wait_for_children_that_still_run)
{
    const double begin_s = clock_now_s();
    struct process_end end = run("sleep 100 & echo $!", 100, 90);
    cr_assert_not(end.late);
    cr_assert_eq(end.exit_status, 0);
    cr_assert_lt(clock_now_s() - begin_s, 50);
    free(end.output);
}

Test(process, ignored_signals_are_not_inherited)
{
    signal(SIGPIPE, SIG_IGN);
    struct process_end end = run("yes 2>&1 | head -n 1; kill -PIPE $$", 100, 0);
    cr_assert_eq(end.exit_status, 128 + SIGPIPE);
    cr_assert_str_eq(end.output, "y\n");
    free(end.output);
}

Test(process, missing_program_is_an_error)
{
    const char *const argv[] = {"no-such-program-anywhere", NULL};
    const struct process_options options = {.argv = argv, .output_bytes = 10};
    struct process_end end;
    struct st_error err;
    cr_assert_eq(process_run(&options, &end, &err), ST_MISSING_TOOL);
    cr_assert_null(end.output);
}

Test(process, finds_executable_files_only)
{
    char folder[] = "/tmp/convlab-process-XXXXXX", path[PATH_MAX], found[PATH_MAX];
    cr_assert(mkdtemp(folder));
    path_format(path, sizeof path, "%s/tool", folder);
    cr_assert_not(process_find(folder, "tool", found), "there is none");
    fclose(fopen(path, "w"));
    chmod(path, 0600);
    cr_assert_not(process_find(folder, "tool", found), "it cannot be executed");
    chmod(path, 0700);
    char folders[3 * PATH_MAX];
    snprintf(folders, sizeof folders, "/nowhere:%s:/", folder);
    cr_assert(process_find(folders, "tool", found));
    cr_assert_str_eq(found, path);
    cr_assert_not(process_find("/", "tmp", found), "a folder is not a program");
    cr_assert_not(process_find("", "tool", found));
    cr_assert_not(process_find(NULL, "tool", found));
    tree_remove(folder);
    cr_assert_not(file_exists(path));
}
