/* Runs a helper program (a compiler, objdump) in the sandbox until it ends. */
#include "grader/sandbox/confined.h"

#include "base/files.h"
#include "base/patience.h"
#include "base/process.h"
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

/* Finds the path of a program. The system's folders come first, because their programs work in the
 * sandbox. */
static void locate(const char *name, char to[PATH_MAX])
{
    if (strchr(name, '/') || !(process_find(system_path, name, to) ||
                               (process_find(getenv("PATH"), name, to) && to[0] == '/')))
        path_format(to, PATH_MAX, "%s", name);
}

/* The parent of the program's folder, which is a toolkit's folder unless it is the system's. A
 * program in a home folder is shown alone. */
static const char *toolkit(const char *program, char to[PATH_MAX])
{
    const char *home = getenv("HOME");
    path_format(to, PATH_MAX, "%s", program);
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(to, '/');
        if (!slash)
            return NULL;
        *slash = '\0';
    }
    if (!to[0] || strncmp(to, "/usr", 4) == 0)
        return NULL;
    return home && strncmp(home, to, strlen(to)) == 0 ? program : to;
}

/* Waits until the descriptor is readable. @return false: time is up, or the program must stop. */
static bool readable_by(int fd, int stop, struct patience *left)
{
    enum { LOOK_INTERVAL_MS = 100 };
    struct pollfd on[] = {{.fd = fd, .events = POLLIN},
                          {.fd = stop > 0 ? stop : -1, .events = POLLIN}};
    do {
        if (poll(on, 2, LOOK_INTERVAL_MS) > 0)
            return !on[1].revents;
    } while (patience_lasts(left));
    return false;
}

/* Reads until the end. @return false: time is up, or the program must stop. */
static bool read_all(int out, int stop, struct patience *left, char *to, size_t room)
{
    char rest[16384];
    size_t used = 0;
    while (readable_by(out, stop, left)) {
        const size_t space = room - used;
        const ssize_t n = space ? read(out, to + used, space) : read(out, rest, sizeof rest);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return true;
        used += space ? (size_t)n : 0;
        if (!patience_lasts(left))
            return false;
    }
    return false;
}

/* Starts the program with its output going to a pipe. */
static enum st_code start(struct gr_box *box, const struct gr_sandbox *sandbox,
                          const struct gr_confined_options *o, int out, struct st_error *err)
{
    char program[PATH_MAX], home[PATH_MAX], path[2 * PATH_MAX];
    const char *words[128] = {program};
    const char *place = !o->folder ? "/" : o->place && sandbox->on ? o->place : o->folder;
    locate(o->argv[0], program);
    for (size_t i = 1; i < sizeof words / sizeof *words - 1 && o->argv[i]; i++)
        words[i] = o->argv[i];
    const char *slash = strrchr(program, '/');
    snprintf(path, sizeof path, "%.*s:%s", slash ? (int)(slash - program) : 0, program,
             system_path);
    char **list = sandbox->on ? gr_environment(environ, path) : NULL;
    const struct gr_box_options options = {.sandbox = sandbox,
                                           .argv = words,
                                           .name = o->argv[0],
                                           .environment = list ? list : environ,
                                           .folder = place,
                                           .descriptor = {-1, out, out},
                                           .descriptors = 3,
                                           .limits = o->limits,
                                           .shown = {o->shown ? o->shown : toolkit(program, home)},
                                           .writable = o->folder,
                                           .writable_at = place,
                                           .compiles = true};
    const enum st_code code = gr_box_start(box, &options, err);
    free(list);
    return code;
}

enum st_code gr_confined_run(const struct gr_sandbox *sandbox, const struct gr_confined_options *o,
                             struct gr_confined_result *result, struct st_error *err)
{
    int out[2], status = 0;
    struct gr_box box;
    *result =
        (struct gr_confined_result){.output = calloc(1, o->keep_bytes + 1), .exit_status = -1};
    if (!result->output)
        return st_fail(err, ST_NO_MEMORY, "not enough memory for the output of %s", o->argv[0]);
    if (pipe2(out, O_CLOEXEC))
        return st_fail_errno(err, errno, "cannot create a pipe");
    struct patience left = patience_begin(o->limits.wall_s);
    enum st_code code = start(&box, sandbox, o, out[1], err);
    close(out[1]);
    if (!code) {
        result->timed_out = !read_all(out[0], o->stop, &left, result->output, o->keep_bytes) ||
                            !readable_by(box.pidfd, o->stop, &left);
        if (!result->timed_out && !gr_box_wait(&box, &status))
            code = st_fail(err, ST_CHILD, "the sandbox does not start: %.200s", result->output);
        result->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        gr_box_kill(&box);
    }
    close(out[0]);
    return code;
}
