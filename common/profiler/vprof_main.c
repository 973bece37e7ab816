/* vprof: profiles a CUDA program, and prints what nvprof printed.
 *
 *     vprof [OPTION...] PROGRAM [ARGUMENT...]
 *     vprof [OPTION...] --import-profile FILE
 *
 *     run it on the virtual GPU ─┐
 *     run it on the GPU (CUPTI) ─┼─▶ a trace ──▶ trace.h ──▶ tables.h, metrics.h, chrome.h
 *     run it under ncu (metrics)─┘
 *
 * Results go to stderr, as nvprof's do, or to --log-file. The exit status is the program's; if a
 * signal ended it, what was seen until then is printed and vprof ends by the same signal. */
#include "analysis/analysis.h"
#include "base/cost.h"
#include "base/files.h"
#include "profiler/chrome.h"
#include "profiler/gpu_trace.h"
#include "profiler/metrics.h"
#include "profiler/tables.h"
#include "profiler/trace.h"
#include "profiler/vprof_options.h"
#include "vgpu/device/program_run.h"
#include "vgpu/profiles/profile.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/** A session's output. */
struct report {
    FILE *out;
    bool quiet;
    int pid; /* 0: imported */
    char command[4096];
};

static int complain(const struct st_error *err)
{
    st_print(stderr, "vprof", err);
    return PROGRAM_NOT_STARTED;
}

/* "==PID== text", as nvprof marks its own lines; without a process "======== text". */
static void __attribute__((format(printf, 2, 3)))
note(const struct report *r, const char *text, ...)
{
    va_list args;
    if (r->quiet)
        return;
    if (r->pid)
        fprintf(r->out, "==%d== ", r->pid);
    else
        fprintf(r->out, "======== ");
    va_start(args, text);
    vfprintf(r->out, text, args);
    va_end(args);
    fputc('\n', r->out);
}

/* In the child: its process id is known, and nothing of its output has come yet. */
static void started(int pid, void *context)
{
    struct report *r = context;
    r->pid = pid;
    note(r, "NVPROF is profiling process %d, command: %s", pid, r->command);
    fflush(r->out);
}

/* Opens --log-file; %p in its name is our process id, since the program's is not known yet. */
static enum st_code log_open(const struct vprof_options *o, struct report *r, struct st_error *err)
{
    r->out = stderr;
    if (!o->log)
        return ST_OK;
    char path[PATH_MAX];
    const char *mark = strstr(o->log, "%p");
    bool fits = mark ? path_format(path, sizeof path, "%.*s%d%s", (int)(mark - o->log), o->log,
                                   (int)getpid(), mark + 2)
                     : path_format(path, sizeof path, "%s", o->log);
    FILE *f = fits ? fopen(path, "we") : NULL;
    if (!f)
        return st_fail_errno(err, errno, "cannot write the log file %s", o->log);
    r->out = f;
    return ST_OK;
}

static enum st_code may_write(const struct vprof_options *o, const char *path, struct st_error *err)
{
    if (!path || o->force || !file_exists(path))
        return ST_OK;
    st_fail(err, ST_USAGE, "the file exists already");
    st_detail(err, ST_WHERE, "%s", path);
    return st_detail(err, ST_HINT, "-f overwrites it");
}

static enum st_code print_analysis(const struct vprof_options *o, const struct report *r,
                                   const struct tr_trace *t, struct st_error *err)
{
    char folder[PATH_MAX], profiles[PATH_MAX];
    struct an_analysis analysis;
    enum st_code code = program_folder(folder, err);
    if (code)
        return code;
    path_format(profiles, sizeof profiles, "%s/vgpu/profiles", folder);
    if ((code = an_analyse(&analysis, t, profiles, o->counters, err)))
        return code;
    note(r, "Analysis result:");
    an_print(r->out, &analysis);
    an_free(&analysis);
    return ST_OK;
}

static enum st_code print(const struct vprof_options *o, struct report *r, struct tr_trace *t,
                          struct st_error *err)
{
    if (o->keep) {
        enum st_code code = tr_write(t, o->keep, err);
        if (code)
            return code;
        note(r, "Generated result file: %s", o->keep);
    }
    enum st_code code = o->range_only ? tr_profiled_range(t, err) : ST_OK;
    if (!code && o->kernels)
        code = tr_filter(t, o->kernels, err);
    if (!code && o->chrome) {
        code = chrome_write(t, o->chrome_path, err);
        if (!code)
            note(r, "Generated timeline: %s (open it with ui.perfetto.dev)", o->chrome_path);
    }
    const bool asked = o->gpu_trace || o->api_trace || o->gpu_summary || o->api_summary;
    unsigned groups = (o->gpu_summary ? TABLES_GPU : 0) | (o->api_summary ? TABLES_API : 0);
    if (!asked && !o->metrics.n && !o->events.n && !o->keep && !o->chrome && !o->analysis)
        groups = TABLES_GPU | TABLES_API;
    if (!code && o->analysis)
        code = print_analysis(o, r, t, err);
    if (code || (!asked && !groups && !o->metrics.n && !o->events.n))
        return code;
    note(r, "Profiling result:");
    if (o->gpu_trace)
        tables_gpu_trace(r->out, t, o->csv);
    if (o->api_trace)
        tables_api_trace(r->out, t, o->csv);
    if (groups)
        tables_summary(r->out, t, groups, o->csv);
    if (o->events.n) {
        note(r, "Event result:");
        metrics_print(r->out, t, &o->events, o->csv);
    }
    if (o->metrics.n) {
        note(r, "Metric result:");
        metrics_print(r->out, t, &o->metrics, o->csv);
    }
    return ST_OK;
}

/* Reads a trace, and prints what was asked for. @param product  the GPU; NULL: the trace says it */
static enum st_code show(const struct vprof_options *o, struct report *r, const char *path,
                         const char *product, struct st_error *err)
{
    struct tr_trace t;
    enum st_code code = tr_read(path, &t, err);
    if (code)
        return code;
    if (product)
        t.device = product;
    if (*r->command) {
        t.command = r->command;
        t.pid = r->pid;
    }
    if (t.truncated[0])
        note(r, "Warning: %s: %s", path, t.truncated);
    for (size_t i = 0; i < t.note_count; i++)
        note(r, "Warning: %s", t.notes[i]);
    code = print(o, r, &t, err);
    tr_free(&t);
    return code;
}

static void command_text(struct report *r, char **arguments)
{
    size_t n = 0;
    for (; *arguments && n < sizeof r->command; arguments++)
        n += (size_t)snprintf(r->command + n, sizeof r->command - n, "%s%s", n ? " " : "",
                              *arguments);
}

/* What became of the program, in nvprof's words: signals are counted as the shell does. */
static void note_end(const struct report *r, int status)
{
    if (r->quiet)
        return;
    if (WIFSIGNALED(status))
        fprintf(r->out, "======== Error: Application received signal %d\n", 128 + WTERMSIG(status));
    else if (WEXITSTATUS(status))
        fprintf(r->out, "======== Error: Application returned non-zero code %d\n",
                WEXITSTATUS(status));
}

/* An empty file of our own. */
static enum st_code scratch_file(char *path, struct st_error *err)
{
    const int fd = mkstemp(path);
    if (fd < 0) {
        st_fail_errno(err, errno, "cannot make a file for the trace");
        return st_detail(err, ST_WHERE, "%s", path);
    }
    close(fd);
    return ST_OK;
}

static enum st_code write_time(const char *path, const struct cost *cost, struct st_error *err)
{
    char text[256];
    struct file_out out;
    enum st_code code = file_out_open(&out, path, err);
    if (code)
        return code;
    fprintf(out.f, "%s\n", cost_text(text, cost));
    return file_out_commit(&out, err);
}

/* Runs the program. @param trace  gets what it did @param product  gets the virtual GPU's name, ""
 * for a real one. @return 0, or the exit status of what went wrong, which was said */
static int run_program(const struct vprof_options *o, struct report *r, char *trace, char *product,
                       struct cost *cost, int *status)
{
    char folder[PATH_MAX], profiles[PATH_MAX];
    struct st_error err;
    struct program_run run = {.tool = "vprof",
                              .device = {.profile = o->profile,
                                         .trace = trace,
                                         .counters = o->counters,
                                         .cores = o->cores,
                                         .output = -1},
                              .arguments = o->program,
                              .started = started,
                              .context = r};
    struct gpu_trace gpu = {0};
    struct vg_profile profile;
    *product = '\0';
    if (program_folder(folder, &err))
        return complain(&err);
    if (o->device != VPROF_VIRTUAL) {
        if (gpu_trace_begin(&gpu, folder, trace, &err))
            return complain(&err);
        run.environment = gpu_trace_environment(&gpu);
    } else {
        path_format(profiles, sizeof profiles, "%s/vgpu/profiles", folder);
        if (vg_profile_read(&profile, profiles, o->profile ? o->profile : VG_PROFILE_DEFAULT, &err))
            return complain(&err);
        snprintf(product, 128, "%s", profile.product);
    }
    alarm(o->timeout_s);
    const int failed = program_run(&run, status);
    alarm(0);
    r->pid = run.pid;
    *cost = run.cost;
    free(run.environment);
    gpu_trace_end(&gpu);
    return failed;
}

static int profile_program(const struct vprof_options *asked, struct report *r)
{
    char trace[] = "/tmp/vprof-XXXXXX", counters[] = "/tmp/vprof-XXXXXX", product[128];
    struct vprof_options with_counters = *asked;
    const struct vprof_options *o = &with_counters;
    const bool scratch_counters = o->analysis && !o->counters && o->device == VPROF_VIRTUAL;
    struct cost cost;
    struct st_error err;
    int status;
    if (scratch_file(trace, &err) || (scratch_counters && scratch_file(counters, &err)))
        return complain(&err);
    if (scratch_counters)
        with_counters.counters = counters;
    command_text(r, o->program);
    int result = run_program(o, r, trace, product, &cost, &status);
    if (r->pid > 0) {
        note(r, "Profiling application: %s", r->command);
        if (*product)
            note(r, "Times are modelled: those of a virtual %s", product);
        if (show(o, r, trace, *product ? product : NULL, &err))
            result = complain(&err);
        if (o->time && write_time(o->time, &cost, &err))
            result = complain(&err);
        note_end(r, status);
    }
    unlink(trace);
    if (scratch_counters)
        unlink(counters);
    fflush(r->out);
    return r->pid > 0 && (WIFSIGNALED(status) || status) ? program_end_as(status) : result;
}

/* auto is the GPU if there is one. */
static enum st_code choose_device(struct vprof_options *o, struct st_error *err)
{
    const bool here = gpu_trace_possible();
    if (o->device == VPROF_AUTO)
        o->device = here ? VPROF_GPU : VPROF_VIRTUAL;
    if (o->device == VPROF_VIRTUAL || here)
        return ST_OK;
    st_fail(err, ST_NOT_FOUND, "there is no NVIDIA GPU in this machine");
    st_detail(err, ST_WHERE, "--device gpu");
    return st_detail(err, ST_HINT, "--device virtual profiles on the virtual GPU");
}

int main(int argc, char **argv)
{
    struct vprof_options o;
    struct st_error err;
    vprof_options_read(&o, argc, argv);
    struct report r = {.out = stderr, .quiet = o.quiet};
    if (o.err.code)
        return complain(&o.err);
    if (o.version)
        printf("vprof: ConvLab\n");
    if (o.query_metrics)
        metrics_query(stdout, false);
    if (o.query_events)
        metrics_query(stdout, true);
    if (o.version || o.query_metrics || o.query_events)
        return 0;
    if (choose_device(&o, &err) || may_write(&o, o.keep, &err) || may_write(&o, o.time, &err) ||
        (o.program && may_write(&o, o.counters, &err)) || may_write(&o, o.chrome_path, &err) ||
        log_open(&o, &r, &err))
        return complain(&err);
    int result = 0;
    if (o.program)
        result = profile_program(&o, &r);
    else if (show(&o, &r, o.import, NULL, &err))
        result = complain(&err);
    if (r.out != stderr && fclose(r.out)) {
        st_fail_errno(&err, errno, "cannot write the log file %s", o.log);
        return complain(&err);
    }
    return result;
}
