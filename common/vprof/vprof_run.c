#include "vprof/vprof_run.h"

#include "base/files.h"
#include "trace/gpu_columns.h"
#include "trace/recorded.h"
#include "vgpu/gpus/gpu_profile.h"
#include "vprof/gpu_trace.h"
#include "vprof/ncu.h"
#include "vprof/wrapper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int vprof_complain(const struct st_error *err)
{
    st_print(stderr, "vprof", err);
    return PROGRAM_NOT_STARTED;
}

enum st_code vprof_scratch_file(char *path, struct st_error *err)
{
    const int fd = mkstemp(path);
    if (fd < 0) {
        st_fail_errno(err, errno, "cannot create a file for the trace");
        return st_detail(err, ST_WHERE, "%s", path);
    }
    close(fd);
    return ST_OK;
}

/* Called when the child's process ID is known, before the child writes output. */
static void started(int pid, void *context)
{
    struct vprof_report *r = context;
    r->pid = pid;
    vprof_note(r, "NVPROF is profiling process %d, command: %s", pid, r->command);
    if (r->replays)
        vprof_note(
            r,
            "Some kernel(s) will be replayed on device 0 in order to collect all events/metrics.");
    fflush(r->out);
    signal(SIGPIPE, r->pipe_handler);
}

/* @return whether ncu must supply a column of the trace. The analysis needs all counters of the
 * virtual GPU, the busy units, and the reasons why warps wait. */
static bool is_wanted(const char *column, void *context)
{
    static const char *const analysed[] = {
#define LAUNCHED(name, ...) #name,
#define PASSED(name, ...)   #name,
#define COUNTER(name, ...)  #name,
#include "vgpu/api/trace_columns.def"
    };
    const struct vprof_options *o = context;

    for (size_t i = 0; o->analysis && i < sizeof analysed / sizeof *analysed; i++)
        if (strcmp(column, analysed[i]) == 0)
            return true;
    if (o->analysis && (strncmp(column, "busy_", 5) == 0 || strncmp(column, "stalled_", 8) == 0))
        return true;
    return metrics_need(&o->metrics, column) || metrics_need(&o->events, column);
}

/* Runs the program directly, or through the wrapper. */
static int run(struct vprof_session *s)
{
    char **const arguments = s->run.arguments;
    size_t n = 0;
    if (!s->options->wrapper)
        return program_run(&s->run, &s->status);
    while (arguments[n])
        n++;
    char **wrapped = calloc(n + 2, sizeof *wrapped);
    if (!wrapped)
        return PROGRAM_NOT_STARTED;
    wrapped[0] = (char *)s->options->wrapper;
    memcpy(wrapped + 1, arguments, n * sizeof *wrapped);
    s->run.arguments = wrapped;
    const int failed = program_run(&s->run, &s->status);
    s->run.arguments = arguments;
    free(wrapped);
    return failed;
}

static int run_on_gpu(struct vprof_session *s, const char *folder)
{
    struct gpu_trace gpu;
    struct st_error err;
    char files[2 * PATH_MAX];
    if (s->options->serial || s->options->concurrent)
        setenv(GPU_ENV_KERNELS, s->options->serial ? "off" : "on", 1);
    if (s->options->range_only)
        setenv(GPU_ENV_FROM_START, "off", 1);
    if (gpu_trace_begin(&gpu, folder, s->trace, &err))
        return vprof_complain(&err);
    snprintf(files, sizeof files, "%s:%.*s", gpu.library,
             (int)(strrchr(gpu.cupti, '/') ? strrchr(gpu.cupti, '/') - gpu.cupti : 0), gpu.cupti);
    setenv(WRAPPER_READS, files, 1);
    snprintf(files, sizeof files, "%s:%s", s->trace, gpu.clients);
    setenv(WRAPPER_WRITES, files, 1);
    s->run.environment = gpu_trace_environment(&gpu);
    const int failed = run(s);
    free(s->run.environment);
    gpu_trace_end(&gpu);
    return failed;
}

/* Names to the wrapper the folders that ncu reads (ncu is a script whose parts are in several
 * folders) and the file that it writes. */
static void name_ncus_files(const struct ncu_command *command, const char *csv)
{
    char folders[PATH_MAX + 64];
    snprintf(folders, sizeof folders, "/bin:/usr/bin:/opt/nvidia/nsight-compute:%.*s",
             (int)(strrchr(command->path, '/') - command->path), command->path);
    setenv(WRAPPER_READS, folders, 1);
    setenv(WRAPPER_WRITES, csv, 1);
    setenv(WRAPPER_LOOPBACK, "1", 1);
}

static int run_under_ncu(struct vprof_session *s, struct ncu_command *command, char *csv)
{
    struct st_error err;
    int error_code;
    name_ncus_files(command, csv);
    if (!s->options->range_only)
        setenv(RECORDED_VARIABLE, "1", 1); /* ncu also omits launches that are not recorded */
    s->run.arguments = command->arguments;
    s->run.environment = environ;
    s->report->replays = true;
    const int failed = run(s);
    if (failed)
        return failed;
    const enum st_code code = ncu_read(csv, s->trace, &error_code, &err);
    if (code) {
        *s->trace = '\0';
        vprof_complain(&err);
    }
    if (error_code)
        s->status = (error_code & 0xff) << 8;
    return code ? PROGRAM_NOT_STARTED : 0;
}

/* Runs ncu for counters. If it fails, the analysis is made without counters. */
static int count_on_gpu(struct vprof_session *s, const char *folder)
{
    const struct vprof_options *o = s->options;
    struct ncu_command command;
    struct st_error err;
    char csv[] = "/tmp/vprof-XXXXXX";
    if (vprof_scratch_file(csv, &err))
        return vprof_complain(&err);
    enum st_code code =
        ncu_command_make(&command, is_wanted, (void *)o, o->kernels, o->style == STYLE_NCU,
                         !o->range_only, csv, s->run.arguments, &err);
    int failed = 0;
    if (!code) {
        failed = run_under_ncu(s, &command, csv);
        ncu_command_free(&command);
    } else {
        failed = vprof_complain(&err);
        if (!o->metrics.n && !o->events.n)
            failed = run_on_gpu(s, folder);
    }
    unlink(csv);
    return failed;
}

static int run_virtual(struct vprof_session *s, const char *folder)
{
    const char *profile = s->options->profile ? s->options->profile : VG_PROFILE_DEFAULT;
    char profiles[PATH_MAX];
    struct vg_profile gpu;
    struct st_error err;
    path_format(profiles, sizeof profiles, "%s/vgpu/profiles", folder);
    if (vg_profile_read(&gpu, profiles, profile, &err))
        return vprof_complain(&err);
    snprintf(s->product, sizeof s->product, "%s", gpu.product);
    return run(s);
}

int vprof_run(struct vprof_session *s)
{
    const struct vprof_options *o = s->options;
    const bool counts = o->metrics.n || o->events.n || o->analysis || o->style == STYLE_NCU;
    char folder[PATH_MAX];
    struct st_error err;
    s->run = (struct program_run){.tool = "vprof",
                                  .device = {.profile = o->profile,
                                             .trace = s->trace,
                                             .counters = o->counters,
                                             .recordings = o->recordings,
                                             .progress = o->progress,
                                             .cores = o->cores,
                                             .engine = o->engine,
                                             .output = -1},
                                  .arguments = o->program,
                                  .confined = o->wrapper != NULL,
                                  .started = started,
                                  .context = s->report};
    if (program_folder(folder, &err))
        return vprof_complain(&err);
    if (o->progress) /* the program must not inherit it */
        fcntl(o->progress, F_SETFD, FD_CLOEXEC);
    if (o->timeout_s) /* else the caller's value is kept */
        alarm(o->timeout_s);
    const int failed = o->device == VPROF_VIRTUAL ? run_virtual(s, folder)
                       : counts                   ? count_on_gpu(s, folder)
                                                  : run_on_gpu(s, folder);
    if (o->timeout_s)
        alarm(0);
    s->report->pid = s->run.pid;
    return failed;
}
