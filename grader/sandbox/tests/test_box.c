/* Tests what a box does, seen from outside and from inside. If bubblewrap does not work, the tests
 * of the sandbox are skipped. */
#include "base/clock.h"
#include "base/tests/run_tool.h"
#include "grader/sandbox/box.h"
#include "grader/sandbox/environment.h"
#include "grader/sandbox/filter.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gr_sandbox sandbox;
static char said[8192];
static bool with_gpu;

static void open_sandbox(enum gr_sandbox_wish wish)
{
    struct st_error err;
    cr_assert(eq(int, gr_sandbox_open(&sandbox, wish, tool_build(), &err), ST_OK));
    if (!sandbox.on && wish != GR_SANDBOX_NEVER)
        cr_skip("%s", sandbox.reason);
}

static void start_to(struct gr_box *box, const char *shell, int out)
{
    const char *const argv[] = {"/bin/sh", "-c", shell, NULL};
    struct st_error err;
    setenv("SECRET", "the seed", 1);
    char **environment = gr_environment(environ, "/usr/bin:/bin");
    const struct gr_box_options options = {.sandbox = &sandbox,
                                           .argv = argv,
                                           .environment = environment,
                                           .folder = "/",
                                           .descriptor = {-1, out, out},
                                           .descriptors = 3,
                                           .limits = {.processes = 40, .file_bytes = 1 << 20},
                                           .compiles = !with_gpu,
                                           .shown = {with_gpu ? "/bin" : NULL},
                                           .gpu = with_gpu};
    cr_assert(eq(int, gr_box_start(box, &options, &err), ST_OK), "%s", err.what);
    free(environment);
}

static int start(struct gr_box *box, const char *shell)
{
    int out[2];
    cr_assert(pipe2(out, O_CLOEXEC) == 0);
    start_to(box, shell, out[1]);
    close(out[1]);
    return out[0];
}

/* Runs a shell command until it ends. @return its exit status; `said` has its output. */
static int run(const char *shell)
{
    struct gr_box box;
    int status, out = start(&box, shell);
    size_t used = 0;
    cr_assert(poll(&(struct pollfd){.fd = box.pidfd, .events = POLLIN}, 1, 30000) == 1);
    cr_assert(gr_box_wait(&box, &status));
    for (ssize_t n; (n = read(out, said + used, sizeof said - 1 - used)) > 0;)
        used += (size_t)n;
    said[used] = '\0';
    close(out);
    gr_box_kill(&box);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void wait_for_line(int out)
{
    char byte = 0;
    while (byte != '\n')
        cr_assert(read(out, &byte, 1) == 1);
}

/* The processor time of all processes with this word on their command lines; -1: there is none. */
static long ticks_of(const char *word)
{
    long sum = -1;
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; (entry = readdir(processes));) {
        char path[300], text[1024];
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        FILE *f = fopen(path, "re");
        size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
        if (f)
            fclose(f);
        text[n] = '\0';
        if (atoi(entry->d_name) == getpid() || !memmem(text, n, word, strlen(word)))
            continue;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        f = fopen(path, "re");
        n = f ? fread(text, 1, sizeof text - 1, f) : 0;
        if (f)
            fclose(f);
        text[n] = '\0';
        long user = 0, kernel = 0;
        char *end = strrchr(text, ')');
        if (end && sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user,
                          &kernel) == 2)
            sum = (sum < 0 ? 0 : sum) + user + kernel;
    }
    closedir(processes);
    return sum;
}

static void list_one(struct gr_tree *tree, void *pid)
{
    gr_tree_add(tree, *(pid_t *)pid);
}

Test(box, a_process_that_stops_late_does_not_count_as_many)
{
    struct gr_tree *tree = calloc(1, sizeof *tree);
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            continue;
    cr_assert(tree && pid > 0);
    cr_expect(gr_tree_freeze(tree, list_one, &pid, 0), "no new process has started");
    cr_expect_eq(tree->n, 1);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    free(tree);
}

/* Starts a process that leaves its group, session and parent; the box must still freeze and end
 * it. */
static void a_stray_is_frozen_and_ended(const char *word)
{
    struct gr_box box;
    char shell[256];
    snprintf(shell, sizeof shell,
             "setsid sh -c 'while :; do :; done; : %s' & sleep 0.2; echo; sleep 100; : %s", word,
             word);
    int out = start(&box, shell);
    wait_for_line(out);
    cr_assert(gr_box_freeze(&box));
    const long before = ticks_of(word);
    usleep(120000);
    cr_expect(before >= 0 && ticks_of(word) == before, "it ran on: %ld ticks", before);
    gr_box_thaw(&box);
    for (double until_s = clock_now_s() + 20; ticks_of(word) <= before && clock_now_s() < until_s;)
        usleep(20000);
    cr_expect(ticks_of(word) > before, "it did not resume");
    gr_box_kill(&box);
    close(out);
    cr_expect(ticks_of(word) == -1, "it is still there");
}

Test(box, a_stray_is_frozen_and_ended_in_the_sandbox)
{
    open_sandbox(GR_SANDBOX_IF_POSSIBLE);
    a_stray_is_frozen_and_ended("stray-of-test-box-1");
}

Test(box, a_stray_is_frozen_and_ended_without_a_sandbox)
{
    open_sandbox(GR_SANDBOX_NEVER);
    a_stray_is_frozen_and_ended("stray-of-test-box-2");
}

Test(box, the_end_of_the_program_is_reported_exactly)
{
    for (int wish = GR_SANDBOX_IF_POSSIBLE; wish <= GR_SANDBOX_NEVER; wish++) {
        struct st_error err;
        gr_sandbox_open(&sandbox, (enum gr_sandbox_wish)wish, tool_build(), &err);
        cr_expect(eq(int, run("exit 7"), 7));
        cr_expect(eq(int, run("kill -SEGV $$"), 128 + SIGSEGV));
        cr_expect(eq(int, run("sleep 50 & exit 3"), 3)); /* does not wait for sleep */
    }
}

Test(box, files_of_others_do_not_exist_in_it)
{
    static const char *const hidden[] = {"echo $SECRET | grep seed",
                                         "ls /root /home /work /var /srv /opt /mnt /media",
                                         "cat /etc/passwd",
                                         "cat /proc/1/environ",
                                         "ls reference common/conv.h",
                                         "touch /usr/x",
                                         "touch /x",
                                         "touch /dev/x",
                                         "touch /etc/x",
                                         "kill -KILL 1 && sleep 0.1 && kill -0 1 && false",
                                         "echo 1 >/proc/sys/kernel/panic",
                                         "ls /dev/sda /dev/vda /dev/mem /dev/kmsg",
                                         "ls /run/* /sys/kernel",
                                         "grep -v -e lo: -e face -e Inter /proc/net/dev"};
    open_sandbox(GR_SANDBOX_IF_POSSIBLE);
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        cr_expect(ne(int, run(hidden[i]), 0), "%s: %s", hidden[i], said);
    char shell[300];
    snprintf(shell, sizeof shell, "ls %s/reference", sandbox.checkout);
    cr_expect(ne(int, run(shell), 0), "%s", said);
    cr_expect(eq(int, run("cat /proc/1/cmdline"), 0));
    cr_expect(eq(str, said, "/confine"), "the words that start the program");
    cr_expect(eq(int, run("test $(ls /proc | grep -c '^[0-9]') -le 8"), 0), "others' processes");
    cr_expect(eq(int, run("grep -q 'CapEff:.*[1-9a-f]' /proc/self/status"), 1), "capabilities");
    cr_expect(eq(int, run("grep -q 'NoNewPrivs:.*1' /proc/self/status"), 0));
    cr_expect(eq(int, run("echo x >/tmp/x && cat /tmp/x"), 0), "its own folder: %s", said);
}

/* with_gpu also shows the folders and links of a CUDA Toolkit, and the GPU's files, if they exist. */
Test(box, libraries_that_do_the_work_do_not_exist_in_it)
{
    open_sandbox(GR_SANDBOX_IF_POSSIBLE);
    with_gpu = true;
    cr_expect(
        eq(int,
           run("for f in /usr/lib/*/libdnnl.so* /usr/lib/*/libblas.so* "
               "/usr/local/cuda*/lib64/libcublas* "
               "/usr/local/cuda*/lib64/libcudnn*; do test ! -s $f || { echo $f; exit 1; }; done"),
           0),
        "%s", said);
    cr_expect(eq(int,
                 run("test -e /usr/local/lib && test ! -e /usr/include && ! test -e /etc/passwd"),
                 0),
              "%s", said);
}

Test(box, settings_of_the_system_cannot_be_changed_with_a_gpu_either)
{
    open_sandbox(GR_SANDBOX_IF_POSSIBLE);
    with_gpu = true;
    cr_expect(ne(
        int, run("cat /proc/sys/kernel/panic >/tmp/x && cat /tmp/x >/proc/sys/kernel/panic"), 0));
    cr_expect(ne(int, run("echo x >/sys/kernel/profiling"), 0));
}

Test(box, it_cannot_take_more_than_its_share)
{
    open_sandbox(GR_SANDBOX_IF_POSSIBLE);
    run("ulimit -f; head -c 3000000 /dev/zero >/tmp/x; stat -c %s /tmp/x");
    cr_expect(strstr(said, "1048576") != NULL, "%s", said);
    run("for i in $(seq 400); do head -c 1000000 /dev/zero >/tmp/$i || exit; done");
    cr_expect(strstr(said, "No space left") != NULL, "%s", said);
    if (sandbox.own_users && geteuid() == 0)
        return; /* the limit does not count root's processes */
    struct gr_box box;
    const double begin_s = clock_now_s();
    int out = start(&box, "bomb() { bomb | bomb & }; echo; bomb; sleep 100");
    size_t processes, bytes;
    wait_for_line(out);
    usleep(300000);
    gr_box_usage(&box, 0, &processes, &bytes);
    cr_expect(processes <= 40, "%zu processes", processes);
    gr_box_kill(&box);
    close(out);
    cr_expect(clock_now_s() - begin_s < 20);
}

/* Some machines set limits for every process, and these must stay. */
Test(box, it_keeps_narrower_limits)
{
    open_sandbox(GR_SANDBOX_IF_POSSIBLE);
    cr_assert(eq(int, setrlimit(RLIMIT_FSIZE, &(struct rlimit){512 * 300, 512 * 300}), 0));
    cr_expect(eq(int, run("ulimit -f"), 0), "%s", said);
    cr_expect(eq(str, said, "300\n"));
}

Test(box, memory_of_all_processes_is_seen)
{
    struct gr_box box;
    size_t processes, bytes;
    open_sandbox(GR_SANDBOX_IF_POSSIBLE);
    int out =
        start(&box, "x=$(head -c 20000000 /dev/zero | tr '\\0' x); (sleep 100) & echo; sleep 100");
    wait_for_line(out);
    gr_box_usage(&box, 0, &processes, &bytes);
    cr_expect(processes >= 2 && bytes > 20000000, "%zu bytes in %zu processes", bytes, processes);
    gr_box_kill(&box);
    close(out);
}

Test(box, it_ends_with_the_grader)
{
    open_sandbox(GR_SANDBOX_IF_POSSIBLE);
    const pid_t grader = fork();
    if (grader == 0) {
        struct gr_box box;
        int out = start(&box, "echo; sleep 101; : ends-with-the-grader");
        wait_for_line(out);
        raise(SIGKILL);
    }
    waitpid(grader, NULL, 0);
    for (double until_s = clock_now_s() + 20;
         ticks_of("ends-with-the-grader") >= 0 && clock_now_s() < until_s;)
        usleep(10000);
    cr_expect(ticks_of("ends-with-the-grader") == -1);
}

#define AT_ANY_TIME "ends-with-the-grader-at-any-time"

/* Kills a grader some time after it began to start a box, whose processes have the descriptor
 * @p out. */
static void kill_a_grader(unsigned after_us, int out)
{
    int begun[2];
    char byte;
    cr_assert(pipe(begun) == 0);
    const pid_t grader = fork();
    if (grader == 0) {
        struct gr_box box;
        cr_assert(write(begun[1], "", 1) == 1);
        start_to(&box, "sleep 102; : " AT_ANY_TIME, out);
        pause();
    }
    cr_assert(read(begun[0], &byte, 1) == 1);
    usleep(after_us);
    kill(grader, SIGKILL);
    waitpid(grader, NULL, 0);
    close(begun[0]);
    close(begun[1]);
}

/* bubblewrap's own processes also have this word on their command lines, but only after they have
 * become bubblewrap. So first all processes that may become bubblewrap must end, which the pipe
 * shows. */
Test(box, it_ends_with_the_grader_whenever_that_is)
{
    int out[2];
    char byte;
    open_sandbox(GR_SANDBOX_IF_POSSIBLE);
    cr_assert(pipe2(out, O_CLOEXEC) == 0);
    for (unsigned i = 0; i < 60; i++)
        kill_a_grader(i * 200, out[1]);
    close(out[1]);
    cr_assert(poll(&(struct pollfd){.fd = out[0], .events = POLLIN}, 1, 20000) == 1,
              "something is left");
    cr_expect(read(out[0], &byte, 1) == 0, "something is printed");
    close(out[0]);
    for (double until_s = clock_now_s() + 20;
         ticks_of(AT_ANY_TIME) >= 0 && clock_now_s() < until_s;)
        usleep(10000);
    cr_expect(ticks_of(AT_ANY_TIME) == -1, "something is left");
}

/* The box is ended before it has fully started. */
Test(box, it_can_be_ended_at_any_moment)
{
    static const char word[] = "ended-at-any-moment";
    open_sandbox(GR_SANDBOX_IF_POSSIBLE);
    for (unsigned i = 0; i < 40; i++) {
        struct gr_box box;
        const int out = start(&box, "sleep 103; : ended-at-any-moment");
        usleep(i * 200);
        gr_box_kill(&box);
        close(out);
        cr_expect(ticks_of(word) == -1, "something is left after %u us", i * 200);
    }
}

/* In the sandbox, programs of root run as another user. */
Test(box, what_its_user_cannot_read_is_said)
{
    char path[] = "/tmp/test-box-XXXXXX";
    struct gr_box box;
    struct st_error err;
    open_sandbox(GR_SANDBOX_IF_POSSIBLE);
    close(mkstemp(path)); /* its permissions are 600 */
    const char *const argv[] = {"/bin/sh", "-c", "cat \"$0\"", path, NULL};
    const struct gr_box_options options = {.sandbox = &sandbox,
                                           .argv = argv,
                                           .environment = environ,
                                           .folder = "/",
                                           .descriptor = {-1, 1, 2},
                                           .descriptors = 3,
                                           .compiles = true,
                                           .shown = {path}};
    const enum st_code code = gr_box_start(&box, &options, &err);
    if (sandbox.user) {
        cr_expect(eq(int, code, ST_IO));
        cr_expect(eq(str, err.where, path));
        cr_expect(eq(str, err.got, "permissions 600"));
        cr_expect(eq(int, chmod(path, 0644), 0));
        cr_expect(eq(int, gr_box_start(&box, &options, &err), ST_OK));
    } else {
        cr_expect(eq(int, code, ST_OK));
    }
    int status = -1;
    cr_assert(poll(&(struct pollfd){.fd = box.pidfd, .events = POLLIN}, 1, 30000) == 1);
    cr_expect(gr_box_wait(&box, &status) && status == 0);
    gr_box_kill(&box);
    unlink(path);
}

Test(box, a_required_sandbox_that_is_missing_is_reported)
{
    struct st_error err;
    setenv("PATH", "/nowhere", 1);
    cr_assert(
        eq(int, gr_sandbox_open(&sandbox, GR_SANDBOX_IF_POSSIBLE, tool_build(), &err), ST_OK));
    cr_assert(not(sandbox.on));
    cr_expect(eq(str, sandbox.reason, "bubblewrap is not installed"));
    cr_assert(eq(int, gr_sandbox_open(&sandbox, GR_SANDBOX_REQUIRED, tool_build(), &err),
                 ST_MISSING_TOOL));
    cr_expect(eq(str, err.got, "bubblewrap is not installed"));
}

Test(box, a_refused_call_has_a_name)
{
    char name[96];
    cr_expect(eq(str, gr_filter_name(name, sizeof name, SYS_ptrace),
                 "ptrace, to read or change another process"));
    cr_expect(eq(str, gr_filter_name(name, sizeof name, 100000), "an unknown call"));
}
