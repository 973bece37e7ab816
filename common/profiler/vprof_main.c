/* vprof: profiles a CUDA program, and prints what nvprof printed.
 *
 *     vprof [OPTION...] PROGRAM [ARGUMENT...]
 *     vprof [OPTION...] --import-profile FILE
 *
 *     run it on the virtual GPU, which writes a trace ──▶ trace.h ──▶ tables.h, metrics.h, chrome.h
 *
 * Results go to stderr, as nvprof's do, or to --log-file. The exit status is the program's; if a
 * signal ended it, what was seen until then is printed and vprof ends by the same signal. */
#include "analysis/analysis.h"
#include "base/cost.h"
#include "base/files.h"
#include "profiler/chrome.h"
#include "profiler/metrics.h"
#include "profiler/tables.h"
#include "profiler/trace.h"
#include "vgpu/device/program_run.h"
#include "vgpu/profiles/profile.h"

#include <argp.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct options {
    bool gpu_trace, api_trace, gpu_summary, api_summary, csv, force, query, chrome, analysis;
    const char *log, *kernels, *keep, *import, *chrome_path, *profile, *cores, *counters, *time;
    struct metrics metrics;
    char **program;
    struct st_error err; /* of an option */
};

/** A session's output. */
struct report {
    FILE *out;
    int pid; /* 0: imported */
    char command[4096];
};

enum {
    GPU_TRACE = 256,
    API_TRACE,
    GPU_SUMMARY,
    API_SUMMARY,
    CSV,
    LOG,
    QUERY,
    KERNELS,
    CHROME,
    DEVICE,
    CORES,
    ANALYSIS,
    COUNTERS,
    TIME
};

static const struct argp_option options[] = {
    {"print-gpu-trace", GPU_TRACE, NULL, 0, "print each kernel, copy and fill", 0},
    {"print-api-trace", API_TRACE, NULL, 0, "print each call of the CUDA runtime", 0},
    {"print-gpu-summary", GPU_SUMMARY, NULL, 0, "print the summary of the GPU's activities", 0},
    {"print-api-summary", API_SUMMARY, NULL, 0, "print the summary of the API calls", 0},
    {"print-summary", 's', NULL, 0, "print both summaries (default)", 0},
    {"csv", CSV, NULL, 0, "print comma-separated values", 0},
    {"log-file", LOG, "FILE", 0, "print to a file; %p in its name is the process id", 0},
    {"metrics", 'm', "NAME,...", 0, "print metrics of the kernels; all: every one", 0},
    {"query-metrics", QUERY, NULL, 0, "list the metrics", 0},
    {"analysis", ANALYSIS, NULL, 0,
     "print what limits each kernel, and the source lines that cost most", 0},
    {"analysis-metrics", ANALYSIS, NULL, OPTION_ALIAS, NULL, 0},
    {"counters", COUNTERS, "FILE", 0,
     "keep the counters of each source line; with --import-profile: read them", 0},
    {"time", TIME, "FILE", 0, "write what the program cost, as /usr/bin/time does", 0},
    {"kernels", KERNELS, "REGEX", 0, "leave out kernels whose name does not match", 0},
    {"export-profile", 'o', "FILE", 0, "keep the trace in a file instead of printing a summary", 0},
    {"output-profile", 'o', NULL, OPTION_ALIAS, NULL, 0},
    {"force-overwrite", 'f', NULL, 0, "overwrite files", 0},
    {"import-profile", 'i', "FILE", 0, "print what a kept trace has", 0},
    {"import", 'i', NULL, OPTION_ALIAS, NULL, 0},
    {"export", CHROME, "chrome[:FILE]", 0,
     "write a timeline for Perfetto (default: vprof-trace.json)", 0},
    {"device", DEVICE, "virtual[:GPU]", 0,
     "the GPU to be: h200 (default), titan-v, k80, rtx-4060-laptop, or a file", 0},
    {"cores", CORES, "N", 0, "threads that the virtual GPU uses (default: all cores)", 0},
    {0}};

static void take_device(struct options *o, const char *arg)
{
    if (strncmp(arg, "virtual", 7) == 0 && (arg[7] == '\0' || (arg[7] == ':' && arg[8]))) {
        o->profile = arg[7] ? arg + 8 : NULL;
        return;
    }
    st_fail(&o->err, ST_USAGE, "vprof profiles on the virtual GPU only");
    st_detail(&o->err, ST_WHERE, "--device");
    st_detail(&o->err, ST_EXPECTED, "virtual or virtual:GPU");
    st_detail(&o->err, ST_GOT, "%s", arg);
    st_detail(&o->err, ST_HINT, "on a real GPU use nsys or ncu");
}

static void take_export(struct options *o, const char *arg)
{
    o->chrome = true;
    if (strncmp(arg, "chrome", 6) == 0 && (arg[6] == '\0' || (arg[6] == ':' && arg[7]))) {
        o->chrome_path = arg[6] ? arg + 7 : "vprof-trace.json";
        return;
    }
    st_fail(&o->err, ST_USAGE, "unknown format of a timeline");
    st_detail(&o->err, ST_WHERE, "--export");
    st_detail(&o->err, ST_EXPECTED, "chrome or chrome:FILE");
    st_detail(&o->err, ST_GOT, "%s", arg);
}

static error_t option_take(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case GPU_TRACE:
        o->gpu_trace = true;
        break;
    case API_TRACE:
        o->api_trace = true;
        break;
    case GPU_SUMMARY:
        o->gpu_summary = true;
        break;
    case API_SUMMARY:
        o->api_summary = true;
        break;
    case 's':
        o->gpu_summary = o->api_summary = true;
        break;
    case CSV:
        o->csv = true;
        break;
    case LOG:
        o->log = arg;
        break;
    case 'm':
        if (!o->err.code)
            metrics_choose(&o->metrics, arg, &o->err);
        break;
    case QUERY:
        o->query = true;
        break;
    case KERNELS:
        o->kernels = arg;
        break;
    case 'o':
        o->keep = arg;
        break;
    case 'f':
        o->force = true;
        break;
    case 'i':
        o->import = arg;
        break;
    case CHROME:
        take_export(o, arg);
        break;
    case DEVICE:
        take_device(o, arg);
        break;
    case CORES:
        o->cores = arg;
        break;
    case ANALYSIS:
        o->analysis = true;
        break;
    case COUNTERS:
        o->counters = arg;
        break;
    case TIME:
        o->time = arg;
        break;
    case ARGP_KEY_ARG:
        o->program = state->argv + state->next - 1;
        state->next = state->argc;
        break;
    case ARGP_KEY_END:
        if (!o->program && !o->import && !o->query)
            argp_error(state, "no program was given");
        if (o->program && o->import)
            argp_error(state, "a program and --import-profile exclude each other");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

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
static enum st_code log_open(const struct options *o, struct report *r, struct st_error *err)
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

static enum st_code may_write(const struct options *o, const char *path, struct st_error *err)
{
    if (!path || o->force || !file_exists(path))
        return ST_OK;
    st_fail(err, ST_USAGE, "the file exists already");
    st_detail(err, ST_WHERE, "%s", path);
    return st_detail(err, ST_HINT, "-f overwrites it");
}

static enum st_code print_analysis(const struct options *o, const struct report *r,
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

static enum st_code print(const struct options *o, struct report *r, struct tr_trace *t,
                          struct st_error *err)
{
    if (o->keep) {
        enum st_code code = tr_write(t, o->keep, err);
        if (code)
            return code;
        note(r, "Generated result file: %s", o->keep);
    }
    enum st_code code = o->kernels ? tr_filter(t, o->kernels, err) : ST_OK;
    if (!code && o->chrome) {
        code = chrome_write(t, o->chrome_path, err);
        if (!code)
            note(r, "Generated timeline: %s (open it with ui.perfetto.dev)", o->chrome_path);
    }
    const bool asked = o->gpu_trace || o->api_trace || o->gpu_summary || o->api_summary;
    unsigned groups = (o->gpu_summary ? TABLES_GPU : 0) | (o->api_summary ? TABLES_API : 0);
    if (!asked && !o->metrics.n && !o->keep && !o->chrome && !o->analysis)
        groups = TABLES_GPU | TABLES_API;
    if (!code && o->analysis)
        code = print_analysis(o, r, t, err);
    if (code || (!asked && !groups && !o->metrics.n))
        return code;
    note(r, "Profiling result:");
    if (o->gpu_trace)
        tables_gpu_trace(r->out, t, o->csv);
    if (o->api_trace)
        tables_api_trace(r->out, t, o->csv);
    if (groups)
        tables_summary(r->out, t, groups, o->csv);
    if (o->metrics.n) {
        note(r, "Metric result:");
        metrics_print(r->out, t, &o->metrics, o->csv);
    }
    return ST_OK;
}

/* Reads a trace, and prints what was asked for. */
static enum st_code show(const struct options *o, struct report *r, const char *path,
                         const char *product, struct st_error *err)
{
    struct tr_trace t;
    enum st_code code = tr_read(path, &t, err);
    if (code)
        return code;
    if (product) {
        t.device = product;
        t.command = r->command;
        t.pid = r->pid;
    }
    if (t.truncated[0])
        note(r, "Warning: %s: %s", path, t.truncated);
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

static int profile_program(const struct options *asked, struct report *r)
{
    char folder[PATH_MAX], profiles[PATH_MAX], trace[] = "/tmp/vprof-XXXXXX",
                                               counters[] = "/tmp/vprof-XXXXXX";
    struct options with_counters = *asked;
    const struct options *o = &with_counters;
    struct vg_profile gpu;
    struct st_error err;
    if (program_folder(folder, &err))
        return complain(&err);
    path_format(profiles, sizeof profiles, "%s/vgpu/profiles", folder);
    if (vg_profile_read(&gpu, profiles, o->profile ? o->profile : VG_PROFILE_DEFAULT, &err))
        return complain(&err);
    const bool scratch_counters = o->analysis && !o->counters;
    if (scratch_file(trace, &err) || (scratch_counters && scratch_file(counters, &err)))
        return complain(&err);
    if (scratch_counters)
        with_counters.counters = counters;
    command_text(r, o->program);
    struct program_run run = {.tool = "vprof",
                              .device = {.profile = o->profile,
                                         .trace = trace,
                                         .counters = o->counters,
                                         .cores = o->cores,
                                         .output = -1},
                              .arguments = o->program,
                              .started = started,
                              .context = r};
    int status, failed = program_run(&run, &status);
    r->pid = run.pid;
    int result = failed;
    if (run.pid > 0) {
        note(r, "Profiling application: %s", r->command);
        note(r, "Times are modelled: those of a virtual %s", gpu.product);
        if (show(o, r, trace, gpu.product, &err))
            result = complain(&err);
        if (o->time && write_time(o->time, &run.cost, &err))
            result = complain(&err);
        note_end(r, status);
    }
    unlink(trace);
    if (scratch_counters)
        unlink(counters);
    fflush(r->out);
    return WIFSIGNALED(status) || status ? program_end_as(status) : result;
}

int main(int argc, char **argv)
{
    struct options o = {.program = NULL};
    const struct argp parser = {
        options,
        option_take,
        "PROGRAM [ARGUMENT...]",
        "Profiles a CUDA program, compiled with nvcc -cudart shared, on the "
        "virtual GPU, and prints what nvprof printed.",
        NULL,
        NULL,
        NULL};
    argp_err_exit_status = PROGRAM_NOT_STARTED;
    argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &o);
    struct report r = {.out = stderr};
    struct st_error err;
    if (o.err.code)
        return complain(&o.err);
    if (o.query) {
        metrics_query(stdout);
        return 0;
    }
    if (may_write(&o, o.keep, &err) || may_write(&o, o.time, &err) ||
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
