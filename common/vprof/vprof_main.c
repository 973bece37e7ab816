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
#include "vprof/chrome.h"
#include "trace/gpu_columns.h"
#include "vprof/gpu_trace.h"
#include "vprof/metrics.h"
#include "vprof/ncu.h"
#include "trace/recorded.h"
#include "vprof/tables.h"
#include "trace/trace.h"
#include "vprof/vprof_files.h"
#include "vprof/vprof_options.h"
#include "vprof/wrapper.h"
#include "vgpu/device/program_run.h"
#include "vgpu/gpus/profile.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/** A session's output. */
struct report {
    FILE *out;
    bool quiet, replays, on_gpu;
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

/* What a closed pipe did when we were started. Us it must not end, since files in /tmp would be
 * left behind; the program's own business it stays. */
static void (*pipe_handler)(int);

/* In the child: its process id is known, and nothing of its output has come yet. */
static void started(int pid, void *context)
{
    struct report *r = context;
    r->pid = pid;
    note(r, "NVPROF is profiling process %d, command: %s", pid, r->command);
    if (r->replays)
        note(r, "Some kernel(s) will be replayed on device 0 in order to collect all "
                "events/metrics.");
    fflush(r->out);
    signal(SIGPIPE, pipe_handler);
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
    if ((code = an_analyse(&analysis, t, profiles, o->counters, NULL, err)))
        return code;
    note(r, "Analysis result:");
    if (o->csv)
        an_print_csv(r->out, &analysis);
    else
        an_print(r->out, &analysis, 0);
    an_free(&analysis);
    return ST_OK;
}

static size_t kernels_of(const struct tr_trace *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += t->rows[i].kind == TR_KERNEL;
    return n;
}

static enum st_code filter(const struct vprof_options *o, const struct report *r,
                           struct tr_trace *t, struct st_error *err)
{
    const size_t before = kernels_of(t);
    enum st_code code = tr_filter(t, o->kernels, err);
    if (!code && before && !kernels_of(t))
        note(r, "Warning: none of the %zu kernel launches is matched by --kernels %s", before,
             o->kernels);
    return code;
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
    /* (ncu has left out itself what was not asked for) */
    enum st_code code = tr_profiled_range(t, !o->range_only || r->replays, err);
    if (!code && o->kernels)
        code = filter(o, r, t, err);
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
    const bool each_launch = o->gpu_trace && (o->metrics.n || o->events.n);
    if (each_launch)
        metrics_print_trace(r->out, t, &o->events, &o->metrics, o->csv);
    else if (o->gpu_trace)
        tables_gpu_trace(r->out, t, o->csv);
    if (o->api_trace)
        tables_api_trace(r->out, t, o->csv);
    if (groups)
        tables_summary(r->out, t, groups, o->csv);
    if (o->events.n && !each_launch) {
        note(r, "Event result:");
        metrics_print(r->out, t, &o->events, o->csv);
    }
    if (o->metrics.n && !each_launch) {
        if (o->events.n && !o->csv)
            fputc('\n', r->out);
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
    for (size_t i = 0; o->mangled && i < t.n; i++)
        if (t.rows[i].kind == TR_KERNEL && *t.rows[i].symbol)
            t.rows[i].name = t.rows[i].symbol;
    if (*r->command) {
        t.command = r->command;
        t.pid = r->pid;
    }
    if (!r->pid && !t.real && t.n)
        note(r, "Times are modelled: those of a virtual %s", *t.device ? t.device : "GPU");
    if (t.truncated[0])
        note(r, "Warning: %s: %s", path, t.truncated);
    if (r->on_gpu && !t.real)
        note(r, "Warning: No CUDA application was profiled: the program did not initialise CUDA");
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

/* What a program is run with, and what became of it. */
struct session {
    const struct vprof_options *options;
    struct report *report;
    struct program_run run;
    char *trace;       /* gets what the program did; "": there is none */
    char product[128]; /* the virtual GPU's name; "" on a real one */
    int status;        /* the program's */
};

/* Whether a column of the trace is to come from ncu. The analysis takes all that the virtual GPU
 * counts, too, and what is busy and why warps wait. */
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

/* Runs the program as it was asked for, or through the wrapper. */
static int run(struct session *s)
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

static int run_on_gpu(struct session *s, const char *folder)
{
    struct gpu_trace gpu;
    struct st_error err;
    char files[2 * PATH_MAX];
    if (s->options->serial || s->options->concurrent)
        setenv(GPU_ENV_KERNELS, s->options->serial ? "off" : "on", 1);
    if (s->options->range_only)
        setenv(GPU_ENV_FROM_START, "off", 1);
    if (gpu_trace_begin(&gpu, folder, s->trace, &err))
        return complain(&err);
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

/* ncu is a script, and its parts lie in folders of its own. */
static void name_ncus_files(const struct ncu_command *command, const char *csv)
{
    char folders[PATH_MAX + 64];
    snprintf(folders, sizeof folders, "/bin:/usr/bin:/opt/nvidia/nsight-compute:%.*s",
             (int)(strrchr(command->path, '/') - command->path), command->path);
    setenv(WRAPPER_READS, folders, 1);
    setenv(WRAPPER_WRITES, csv, 1);
    setenv(WRAPPER_LOOPBACK, "1", 1);
}

static int run_under_ncu(struct session *s, struct ncu_command *command, char *csv)
{
    struct st_error err;
    int error_code;
    name_ncus_files(command, csv);
    if (!s->options->range_only)
        setenv(RECORDED_VARIABLE, "1", 1); /* ncu, too, leaves out what is not to be recorded */
    s->run.arguments = command->arguments;
    s->run.environment = environ;
    s->report->replays = true;
    const int failed = run(s);
    if (failed)
        return failed;
    const enum st_code code = ncu_read(csv, s->trace, &error_code, &err);
    if (code) {
        *s->trace = '\0';
        complain(&err);
    }
    if (error_code)
        s->status = (error_code & 0xff) << 8;
    return code ? PROGRAM_NOT_STARTED : 0;
}

/* Counters come from ncu. An analysis is made without them if it has to. */
static int count_on_gpu(struct session *s, const char *folder)
{
    const struct vprof_options *o = s->options;
    struct ncu_command command;
    struct st_error err;
    char csv[] = "/tmp/vprof-XXXXXX";
    if (scratch_file(csv, &err))
        return complain(&err);
    enum st_code code = ncu_command_make(&command, is_wanted, (void *)o, o->kernels, !o->range_only,
                                         csv, s->run.arguments, &err);
    int failed = 0;
    if (!code) {
        failed = run_under_ncu(s, &command, csv);
        ncu_command_free(&command);
    } else {
        failed = complain(&err);
        if (!o->metrics.n && !o->events.n)
            failed = run_on_gpu(s, folder);
    }
    unlink(csv);
    return failed;
}

static int run_virtual(struct session *s, const char *folder)
{
    const char *profile = s->options->profile ? s->options->profile : VG_PROFILE_DEFAULT;
    char profiles[PATH_MAX];
    struct vg_profile gpu;
    struct st_error err;
    path_format(profiles, sizeof profiles, "%s/vgpu/profiles", folder);
    if (vg_profile_read(&gpu, profiles, profile, &err))
        return complain(&err);
    snprintf(s->product, sizeof s->product, "%s", gpu.product);
    return run(s);
}

/* Runs the program. @return 0, or the exit status of what went wrong, which was said */
static int run_program(struct session *s)
{
    const struct vprof_options *o = s->options;
    const bool counts = o->metrics.n || o->events.n || o->analysis;
    char folder[PATH_MAX];
    struct st_error err;
    s->run = (struct program_run){.tool = "vprof",
                                  .device = {.profile = o->profile,
                                             .trace = s->trace,
                                             .counters = o->counters,
                                             .cores = o->cores,
                                             .output = -1},
                                  .arguments = o->program,
                                  .confined = o->wrapper != NULL,
                                  .started = started,
                                  .context = s->report};
    if (program_folder(folder, &err))
        return complain(&err);
    if (o->timeout_s) /* else one that the caller set stays */
        alarm(o->timeout_s);
    const int failed = o->device == VPROF_VIRTUAL ? run_virtual(s, folder)
                       : counts                   ? count_on_gpu(s, folder)
                                                  : run_on_gpu(s, folder);
    if (o->timeout_s)
        alarm(0);
    s->report->pid = s->run.pid;
    return failed;
}

/* Profiles the program and prints what it did. @param status  set to the program's
 * @return 0, or the exit status of what went wrong, which was said */
static int profile_program(const struct vprof_options *asked, struct report *r, int *status)
{
    char trace[] = "/tmp/vprof-XXXXXX", counters[] = "/tmp/vprof-XXXXXX", path[sizeof trace];
    struct vprof_options o = *asked;
    const bool scratch_counters = o.analysis && !o.counters && o.device == VPROF_VIRTUAL;
    struct session s = {.options = &o, .report = r, .trace = path};
    struct st_error err;
    if (scratch_file(trace, &err) || (scratch_counters && scratch_file(counters, &err)))
        return complain(&err);
    if (scratch_counters)
        o.counters = counters;
    strcpy(path, trace);
    command_text(r, o.program);
    int result = run_program(&s);
    if (r->pid > 0 && *s.trace) {
        note(r, "Profiling application: %s", r->command);
        r->on_gpu = !*s.product && !r->replays;
        if (*s.product)
            note(r, "Times are modelled: those of a virtual %s", s.product);
        if (show(&o, r, trace, *s.product ? s.product : NULL, &err))
            result = complain(&err);
        if (o.time && write_time(o.time, &s.run.cost, &err))
            result = complain(&err);
        note_end(r, s.status);
    }
    unlink(trace);
    if (scratch_counters)
        unlink(counters);
    *status = r->pid > 0 ? s.status : 0;
    return result;
}

/* auto is the GPU if there is one. */
static enum st_code choose_device(struct vprof_options *o, struct st_error *err)
{
    const bool here = gpu_trace_possible();
    if (o->device == VPROF_AUTO)
        o->device = here ? VPROF_GPU : VPROF_VIRTUAL;
    if (o->device == VPROF_VIRTUAL && o->program) {
        enum st_code code = metrics_for_virtual(&o->metrics, err);
        return code ? code : metrics_for_virtual(&o->events, err);
    }
    if (here || !o->program)
        return ST_OK;
    st_fail(err, ST_NOT_FOUND, "there is no NVIDIA GPU in this machine");
    st_detail(err, ST_WHERE, "--device gpu");
    return st_detail(err, ST_HINT, "--device virtual profiles on the virtual GPU");
}

int main(int argc, char **argv)
{
    struct vprof_options o;
    struct st_error err;
    files_open_standard();
    pipe_handler = signal(SIGPIPE, SIG_IGN);
    vprof_options_read(&o, argc, argv);
    struct report r = {.out = stderr, .quiet = o.quiet};
    char kept[PATH_MAX];
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
    if (choose_device(&o, &err) ||
        (o.keep && vprof_file_name(kept, "--export-profile", &o.keep, &err)) ||
        vprof_may_write(o.keep, o.force, &err) || vprof_may_write(o.time, o.force, &err) ||
        (o.program && vprof_may_write(o.counters, o.force, &err)) ||
        vprof_may_write(o.chrome_path, o.force, &err) || vprof_log_open(o.log, &r.out, &err))
        return complain(&err);
    int result = 0, status = 0;
    if (o.program)
        result = profile_program(&o, &r, &status);
    else if (show(&o, &r, o.import, NULL, &err))
        result = complain(&err);
    if (vprof_log_close(o.log, r.out, &err))
        result = complain(&err);
    return status ? program_end_as(status) : result;
}
