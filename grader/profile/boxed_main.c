/* boxed PROGRAM ARGUMENT...: runs a program in the sandbox, for a profiler that starts it.
 *
 *     grader -> vprof -> boxed -> (sandbox: box.h) -> runner with a student's library
 *
 * So the profiler stays outside and the student's code inside. What to show to the program comes in
 * the environment (profile.c sets it), so that the command line is the program's:
 *
 *     CONVLAB_BOX_SHOW       files and folders, separated by ':'
 *     CONVLAB_BOX_HEAP       most bytes of heap of each process; 0: no limit
 *
 * The door to a virtual GPU is passed on. Without a sandbox the program simply takes this one's
 * place. The exit status is the program's; a signal ends this one, too. */
#include "base/checkout.h"
#include "base/files.h"
#include "base/parallel.h"
#include "grader/sandbox/box.h"
#include "grader/sandbox/environment.h"
#include "vgpu/device/program_run.h"
#include "vgpu/device/protocol.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_STARTED = 2, DOOR = 3 };

extern char **environ;

static int complain(const struct st_error *err)
{
    st_print(stderr, "boxed", err);
    return NOT_STARTED;
}

/* What the sandbox keeps of the environment, and where the data set is. Never freed. */
static const char **environment_for(void)
{
    char **kept = gr_environment(environ, "/usr/bin:/bin");
    size_t n = 0;
    while (kept && kept[n])
        n++;
    const char **list = kept ? calloc(n + 2, sizeof *list) : NULL;
    for (size_t i = 0; list && i < n; i++)
        list[i] = kept[i]; /* what they point to lives as long as this process */
    for (char **variable = environ; list && *variable; variable++)
        if (strncmp(*variable, "CONVLAB_DATA=", sizeof "CONVLAB_DATA=" - 1) == 0)
            list[n] = *variable;
    return list;
}

/* Splits CONVLAB_BOX_SHOW. */
static void take_shown(struct gr_box_options *o)
{
    const char *list = getenv("CONVLAB_BOX_SHOW");
    char *copy = list ? strdup(list) : NULL, *rest = NULL;
    size_t n = 0;
    for (char *path = copy ? strtok_r(copy, ":", &rest) : NULL; path && n < GR_BOX_SHOWN;
         path = strtok_r(NULL, ":", &rest))
        if (file_exists(path))
            o->shown[n++] = path;
}

static int run_boxed(const struct gr_sandbox *sandbox, char **argv)
{
    const char *heap = getenv("CONVLAB_BOX_HEAP"), *door = getenv(VP_DOOR_VARIABLE);
    char number[16];
    struct gr_box_options o = {.sandbox = sandbox,
                               .argv = (const char *const *)argv,
                               .folder = "/",
                               .descriptor = {-1, 1, 2},
                               .descriptors = 3,
                               .limits = {.heap_bytes = heap ? strtoull(heap, NULL, 10) : 0,
                                          .file_bytes = 64 << 20,
                                          .files = 256,
                                          .processes = 64 + 4 * (unsigned)parallel_cores()}};
    take_shown(&o);
    if (door) {
        o.descriptor[o.descriptors++] = atoi(door);
        snprintf(number, sizeof number, "%d", DOOR);
        setenv(VP_DOOR_VARIABLE, number, 1);
    }
    struct gr_box box;
    struct st_error err;
    int status;
    o.environment = (char *const *)environment_for();
    if (!o.environment)
        return NOT_STARTED;
    if (gr_box_start(&box, &o, &err))
        return complain(&err);
    if (door) /* the program's alone: the device ends when the last holder has */
        close(o.descriptor[3]);
    struct pollfd ended = {.fd = box.pidfd, .events = POLLIN};
    while (poll(&ended, 1, -1) < 0)
        continue;
    const bool started = gr_box_wait(&box, &status);
    gr_box_kill(&box);
    if (!started)
        fprintf(stderr, "boxed: the sandbox could not start %s\n", argv[0]);
    return started ? program_end_as(status) : NOT_STARTED;
}

int main(int argc, char **argv)
{
    struct gr_sandbox sandbox;
    struct st_error err;
    if (argc < 2) {
        fprintf(stderr, "boxed: usage: boxed PROGRAM [ARGUMENT...]\n");
        return NOT_STARTED;
    }
    const char *build = checkout_build(&err);
    if (!build || gr_sandbox_open(&sandbox, GR_SANDBOX_IF_POSSIBLE, build, &err))
        return complain(&err);
    if (sandbox.on)
        return run_boxed(&sandbox, argv + 1);
    execv(argv[1], argv + 1);
    st_fail_errno(&err, 2, "cannot run the program");
    st_detail(&err, ST_WHERE, "%s", argv[1]);
    return complain(&err);
}
