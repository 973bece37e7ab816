#include "grader/sandbox/confined.h"

#include "base/clock.h"
#include "base/files.h"
#include "grader/sandbox/box.h"
#include "grader/sandbox/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char system_path[] = "/usr/local/bin:/usr/bin:/bin";

/* The path of one of the system's programs. */
static void locate(const char *name, char to[PATH_MAX])
{
    path_format(to, PATH_MAX, "%s", name);
    for (const char *at = system_path; !strchr(name, '/') && *at;) {
        const size_t length = strcspn(at, ":");
        if (path_format(to, PATH_MAX, "%.*s/%s", (int)length, at, name) && access(to, X_OK) == 0)
            return;
        at += length + (at[length] == ':');
    }
}

/* The folder above the one with the program: a toolkit's, if it is none of the system's. */
static const char *toolkit(const char *program, char to[PATH_MAX])
{
    path_format(to, PATH_MAX, "%s", program);
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(to, '/');
        if (!slash)
            return NULL;
        *slash = '\0';
    }
    return to[0] && strncmp(to, "/usr", 4) != 0 ? to : NULL;
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

static bool ends_by(int pidfd, double until_s)
{
    struct pollfd on = {.fd = pidfd, .events = POLLIN};
    double left_s;
    int ready = 0;
    while (ready <= 0 && (left_s = until_s - clock_now_s()) > 0)
        ready = poll(&on, 1, (int)(left_s * 1000) + 1);
    return ready > 0;
}

/* Starts it with its output in a pipe. */
static enum st_code start(struct gr_box *box, const struct gr_sandbox *sandbox,
                          const char *const *argv, const char *folder, const char *shown,
                          const struct gr_limits *limits, int out, struct st_error *err)
{
    char program[PATH_MAX], home[PATH_MAX], path[2 * PATH_MAX];
    const char *words[128] = {program};
    locate(argv[0], program);
    for (size_t i = 1; i < sizeof words / sizeof *words - 1 && argv[i]; i++)
        words[i] = argv[i];
    const char *slash = strrchr(program, '/');
    snprintf(path, sizeof path, "%.*s:%s", slash ? (int)(slash - program) : 0, program,
             system_path);
    char **list = sandbox->on ? gr_environment(environ, path) : NULL;
    const struct gr_box_options options = {.sandbox = sandbox,
                                           .argv = words,
                                           .name = argv[0],
                                           .environment = list ? list : environ,
                                           .folder = folder ? folder : "/",
                                           .descriptor = {-1, out, out},
                                           .descriptors = 3,
                                           .limits = *limits,
                                           .shown = {shown ? shown : toolkit(program, home)},
                                           .writable = folder,
                                           .compiles = true};
    const enum st_code code = gr_box_start(box, &options, err);
    free(list);
    return code;
}

enum st_code gr_confined_run(const struct gr_sandbox *sandbox, const char *const *argv,
                             const char *folder, const char *shown, const struct gr_limits *limits,
                             size_t keep_bytes, struct gr_confined_result *result,
                             struct st_error *err)
{
    int out[2], status = 0;
    struct gr_box box;
    *result = (struct gr_confined_result){.output = calloc(1, keep_bytes + 1), .exit_status = -1};
    if (!result->output)
        return st_fail(err, ST_NO_MEMORY, "cannot hold the output of %s", argv[0]);
    if (pipe2(out, O_CLOEXEC))
        return st_fail_errno(err, errno, "cannot make a pipe");
    const double until_s = clock_now_s() + limits->wall_s;
    enum st_code code = start(&box, sandbox, argv, folder, shown, limits, out[1], err);
    close(out[1]);
    if (!code) {
        result->timed_out =
            !read_all(out[0], until_s, result->output, keep_bytes) || !ends_by(box.pidfd, until_s);
        if (!result->timed_out && !gr_box_wait(&box, &status))
            code = st_fail(err, ST_CHILD, "the sandbox does not start: %.200s", result->output);
        result->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        gr_box_kill(&box);
    }
    close(out[0]);
    return code;
}
