#include "base/process.h"

#include "base/clock.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Starts the program with its output in @p out. Resets SIGALRM, SIGCHLD and SIGPIPE, which this
 * process may ignore, to their defaults. A program with a limit gets its own process group, so that
 * it can be killed as a whole.
 * @return 0 or an errno */
static int start(pid_t *pid, const struct process_options *o, int out)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (o->stdout_only)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    else
        posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
    if (o->folder)
        posix_spawn_file_actions_addchdir_np(&actions, o->folder);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGALRM);
    sigaddset(&defaults, SIGCHLD);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, (short)(POSIX_SPAWN_SETSIGDEF | (o->limit_s ? POSIX_SPAWN_SETPGROUP : 0)));
    const int failed = posix_spawnp(pid, o->argv[0], &actions, &attributes, (char *const *)o->argv,
                                    o->environment ? o->environment : environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* Reads output and keeps as much as fits. @return whether more may follow */
static bool read_some(int fd, char **to, size_t *room)
{
    char rest[4096];
    const ssize_t n = *room ? read(fd, *to, *room) : read(fd, rest, sizeof rest);
    if (n <= 0)
        return n < 0 && errno == EINTR;
    *to += *room ? n : 0;
    *room -= *room ? (size_t)n : 0;
    return true;
}

/* Reads until the program closes its output or ends: processes that it left running may keep the
 * output open. @return whether the time limit came first */
static bool read_until(int fd, pid_t pid, double until_s, char *to, size_t room)
{
    struct pollfd on[] = {{.fd = fd, .events = POLLIN},
                          {.fd = pidfd_open(pid, 0), .events = POLLIN}};
    double left_s = 1;
    for (bool more = true; more && (!until_s || (left_s = until_s - clock_now_s()) > 0);) {
        if (poll(on, 2, until_s ? (int)(left_s * 1000) + 1 : -1) <= 0)
            continue;
        more = on[0].revents ? read_some(fd, &to, &room) : !on[1].revents;
    }
    if (on[1].fd >= 0)
        close(on[1].fd);
    return left_s <= 0;
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

enum st_code process_run(const struct process_options *o, struct process_end *end,
                         struct st_error *err)
{
    int out[2];
    pid_t pid;
    *end = (struct process_end){.exit_status = -1};
    char *output = calloc(1, o->output_bytes + 1);
    if (!output)
        return st_fail(err, ST_NO_MEMORY, "not enough memory for the output of %s", o->argv[0]);
    if (pipe2(out, O_CLOEXEC)) {
        free(output);
        return st_fail_errno(err, errno, "cannot create a pipe");
    }
    const int failed = start(&pid, o, out[1]);
    close(out[1]);
    if (!failed) {
        const double until_s = o->limit_s ? clock_now_s() + o->limit_s : 0;
        end->late = read_until(out[0], pid, until_s, output, o->output_bytes);
        if (end->late)
            kill(-pid, SIGKILL);
        end->exit_status = wait_for(pid);
        if (o->limit_s)
            kill(-pid, SIGKILL); /* even processes that it left running */
    }
    close(out[0]);
    if (failed || !o->output_bytes) {
        free(output);
        output = NULL;
    }
    end->output = output;
    return failed ? st_fail(err, ST_MISSING_TOOL, "cannot run %s: %s", o->argv[0], strerror(failed))
                  : ST_OK;
}

static bool is_executable(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

bool process_find(const char *folders, const char *name, char to[PATH_MAX])
{
    for (const char *at = folders; at && *at;) {
        const size_t length = strcspn(at, ":");
        if (path_format(to, PATH_MAX, "%.*s%s%s", (int)length, at, length ? "/" : "", name) &&
            is_executable(to))
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}
