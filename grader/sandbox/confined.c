#include "grader/sandbox/confined.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child's side. */
static void become(const char *const *argv, const char *folder, const struct gr_limits *l, int out)
{
    const int null = open("/dev/null", O_RDONLY);
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_CPU, &(struct rlimit){l->cpu_s, l->cpu_s});
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){l->file_bytes, l->file_bytes});
    setrlimit(RLIMIT_AS, &(struct rlimit){l->memory_bytes, l->memory_bytes});
    if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 || chdir(folder))
        _exit(127);
    syscall(SYS_close_range, 3, ~0u, 0);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
}

/* Reads until the end or the time is up. @return false: the time is up. */
static bool read_all(int out, double until_s, char *to, size_t room)
{
    char rest[16384];
    size_t used = 0;
    for (;;) {
        const double left_s = until_s - clock_now_s();
        if (left_s <= 0)
            return false;
        struct pollfd on = {.fd = out, .events = POLLIN};
        if (poll(&on, 1, (int)(left_s * 1000) + 1) <= 0)
            continue;
        const size_t left = room - used;
        const ssize_t n = left ? read(out, to + used, left) : read(out, rest, sizeof rest);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return true;
        used += left ? (size_t)n : 0;
    }
}

static bool ends_by(pid_t pid, double until_s)
{
    siginfo_t info;
    struct pollfd on = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    double left_s;
    int ready = 0;
    while (on.fd >= 0 && ready <= 0 && (left_s = until_s - clock_now_s()) > 0)
        ready = poll(&on, 1, (int)(left_s * 1000) + 1);
    if (on.fd >= 0)
        close(on.fd);
    else
        ready = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0;
    return ready > 0;
}

enum st_code gr_confined_run(const char *const *argv, const char *folder,
                             const struct gr_limits *limits, size_t keep_bytes,
                             struct gr_confined_result *result, struct st_error *err)
{
    int out[2];
    *result = (struct gr_confined_result){.output = calloc(1, keep_bytes + 1), .exit_status = -1};
    if (!result->output)
        return st_fail(err, ST_NO_MEMORY, "cannot hold the output of %s", argv[0]);
    if (pipe2(out, O_CLOEXEC))
        return st_fail_errno(err, errno, "cannot make a pipe");
    const double until_s = clock_now_s() + limits->wall_s;
    const pid_t pid = fork();
    if (pid == 0)
        become(argv, folder, limits, out[1]);
    const int why = errno;
    close(out[1]);
    if (pid < 0) {
        close(out[0]);
        return st_fail_errno(err, why, "cannot start %s", argv[0]);
    }
    result->timed_out =
        !read_all(out[0], until_s, result->output, keep_bytes) || !ends_by(pid, until_s);
    kill(-pid, SIGKILL);
    close(out[0]);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    result->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ST_OK;
}
