/* boxed PROGRAM ARGUMENT...: runs a program in the sandbox; a profiler starts boxed instead of the
 * program.
 *
 *     grader -> vprof -> boxed -> (sandbox: box.h) -> runner with a student's library
 *     grader -> vprof -> boxed -> (sandbox: box.h) -> ncu -> runner with a student's library
 *
 * So the profiler stays outside the sandbox and the student's code inside. The recorder, inside or
 * next to the program, writes to a file outside, whose data the profiler does not trust.
 * Environment variables name the files to show, so that the command line is the program's. The
 * grader (profile.c) sets
 *
 *     CONVLAB_BOX_SHOW       files and folders, separated by ':'
 *     CONVLAB_BOX_MEMORY     maximum memory of all processes together, in bytes; 0: no limit
 *     CONVLAB_BOX_GPU        set: the program uses a real GPU
 *
 * and vprof sets the variables in vprof/wrapper.h. The door to a virtual GPU (device_protocol.h) is
 * passed on. Without a sandbox, the program simply replaces this process. The exit status is the
 * program's; a signal that ends the program also ends this process. */
#include "base/checkout.h"
#include "base/files.h"
#include "base/parallel.h"
#include "grader/sandbox/box.h"
#include "grader/sandbox/environment.h"
#include "trace/gpu_columns.h"
#include "trace/recorded.h"
#include "vprof/wrapper.h"
#include "vgpu/device/program_run.h"
#include "vgpu/device/device_protocol.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LOOK_INTERVAL_MS = 100
}; /* interval between checks of the memory of all processes
                                    together */
enum { NOT_STARTED = 2, DOOR = 3, FILE_BYTES_MAX = 64 << 20, TRACE_BYTES_MAX = 256 << 20 };

extern char **environ;

static int complain(const struct st_error *err)
{
    st_print(stderr, "boxed", err);
    return NOT_STARTED;
}

/* Whether a variable is one that the program or its recorder needs from us. */
static bool is_ours(const char *variable)
{
    static const char *const names[] = {"CONVLAB_DATA", GPU_ENV_TRACE,    GPU_ENV_CLIENTS,
                                        GPU_ENV_START,  GPU_ENV_KERNELS,  GPU_ENV_FROM_START,
                                        GPU_ENV_CUPTI,  RECORDED_VARIABLE};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(variable, names[i], length) == 0 && variable[length] == '=')
            return true;
    }
    return false;
}

/* Makes the environment: the variables that the sandbox keeps, and ours. The recorder is also
 * preloaded, because it must see how the program ends. */
static const char **environment_for(void)
{
    static char preload[PATH_MAX + 16];
    const char *recorder = getenv("CUDA_INJECTION64_PATH");
    char **kept = gr_environment(environ, "/usr/bin:/bin");
    size_t n = 0, variables = 0;
    while (kept && kept[n])
        n++;
    while (environ[variables])
        variables++;
    const char **list = kept ? calloc(n + variables + 2, sizeof *list) : NULL;
    if (!list)
        return NULL;
    memcpy(list, kept, n * sizeof *list);
    for (size_t i = 0; i < variables; i++)
        if (is_ours(environ[i]))
            list[n++] = environ[i];
    if (recorder && getenv(GPU_ENV_TRACE)) {
        snprintf(preload, sizeof preload, "LD_PRELOAD=%s", recorder);
        list[n++] = preload;
    }
    return list;
}

/* Splits a variable's paths and keeps those that exist. @param path  they are added from index @p n
 * on.
 * @return their number */
static size_t split(const char *variable, const char **path, size_t n, size_t room)
{
    const char *list = getenv(variable);
    char *copy = list ? strdup(list) : NULL, *rest = NULL;
    for (char *one = copy ? strtok_r(copy, ":", &rest) : NULL; one && n < room;
         one = strtok_r(NULL, ":", &rest))
        if (file_exists(one))
            path[n++] = one;
    return n;
}

/* Changes the owner of the files to the user of the sandboxed programs, who could not write to them
 * otherwise. */
static enum st_code take_files(struct gr_box_options *o, struct st_error *err)
{
    const size_t n = split("CONVLAB_BOX_SHOW", o->shown, 0, GR_BOX_SHOWN);
    split(WRAPPER_READS, o->shown, n, GR_BOX_SHOWN);
    const size_t files = split(WRAPPER_WRITES, o->files, 0, GR_BOX_FILES);
    for (size_t i = 0; i < files && o->sandbox->user; i++)
        if (chown(o->files[i], o->sandbox->user, (gid_t)-1)) {
            st_fail_errno(err, errno, "cannot give the sandbox a file to write");
            return st_detail(err, ST_WHERE, "%s", o->files[i]);
        }
    return ST_OK;
}

/* Allows what CUDA's driver needs in addition, as for the grader's own runs (session.c). */
static void allow_gpu(struct gr_box_options *o)
{
    o->gpu = true;
    o->limits.processes += 512;
    o->limits.files = 4096;
    o->limits.file_bytes = TRACE_BYTES_MAX;
}

/* Waits until the program ends. @return false: all processes together used more memory than
 * @p most. */
static bool wait_within(struct gr_box *box, size_t most)
{
    struct pollfd ended = {.fd = box->pidfd, .events = POLLIN};
    while (poll(&ended, 1, most ? LOOK_INTERVAL_MS : -1) <= 0) {
        size_t processes, bytes = 0;
        if (most)
            gr_box_usage(box, 0, &processes, &bytes);
        if (bytes <= most)
            continue;
        fprintf(stderr, "boxed: the program used %.1f GiB of memory; the limit is %.1f GiB\n",
                (double)bytes / 0x1p30, (double)most / 0x1p30);
        return false;
    }
    return true;
}

static int run_boxed(const struct gr_sandbox *sandbox, char **argv)
{
    const char *memory = getenv("CONVLAB_BOX_MEMORY"), *door = getenv(VP_DOOR_VARIABLE);
    char number[16];
    static struct gr_box_options o; /* its contents must live as long as this process */
    o = (struct gr_box_options){.sandbox = sandbox,
                                .argv = (const char *const *)argv,
                                .folder = "/",
                                .descriptor = {-1, 1, 2},
                                .descriptors = 3,
                                .loopback = getenv(WRAPPER_LOOPBACK) != NULL,
                                .limits = {.file_bytes = FILE_BYTES_MAX,
                                           .files = 256,
                                           .processes = 64 + 4 * (unsigned)parallel_cores()}};
    if (getenv("CONVLAB_BOX_GPU"))
        allow_gpu(&o);
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
    if (take_files(&o, &err) || gr_box_start(&box, &o, &err))
        return complain(&err);
    if (door) /* only the program may hold the door: the device ends when its last holder has
                 ended */
        close(o.descriptor[3]);
    if (!wait_within(&box, memory ? strtoull(memory, NULL, 10) : 0)) {
        gr_box_kill(&box);
        return program_end_as(SIGKILL);
    }
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
