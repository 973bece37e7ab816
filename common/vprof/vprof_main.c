/* vprof: profiles a CUDA program, and prints the output of nvprof.
 *
 *     vprof [OPTION...] PROGRAM [ARGUMENT...]
 *     vprof [OPTION...] --import-profile FILE
 *
 *     run it on the virtual GPU ─┐
 *     run it on the GPU (CUPTI) ─┼─▶ a trace ──▶ trace.h ──▶ tables.h, metrics.h, chrome.h
 *     run it under ncu (metrics)─┘
 *
 * Results go to stderr, as nvprof's do, or to --log-file. The exit status is the program's; if a
 * signal ended it, vprof prints the results up to that time and ends by the same signal. */
#include "base/files.h"
#include "vprof/gpu_trace.h"
#include "vprof/vprof_files.h"
#include "vprof/vprof_run.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static void command_text(struct vprof_report *r, char **arguments)
{
    size_t n = 0;
    for (; *arguments && n < sizeof r->command; arguments++)
        n += (size_t)snprintf(r->command + n, sizeof r->command - n, "%s%s", n ? " " : "",
                              *arguments);
}

/* Profiles the program and prints the result. @param status  becomes the program's
 * @return 0, or the exit status of a reported error */
static int profile_program(const struct vprof_options *asked, struct vprof_report *r, int *status)
{
    char trace[] = "/tmp/vprof-XXXXXX", counters[] = "/tmp/vprof-XXXXXX", path[sizeof trace];
    struct vprof_options o = *asked;
    const bool scratch_counters = o.analysis && !o.counters && o.device == VPROF_VIRTUAL;
    struct vprof_session s = {.options = &o, .report = r, .trace = path};
    struct st_error err;
    if (vprof_scratch_file(trace, &err) || (scratch_counters && vprof_scratch_file(counters, &err)))
        return vprof_complain(&err);
    if (scratch_counters)
        o.counters = counters;
    strcpy(path, trace);
    command_text(r, o.program);
    int result = vprof_run(&s);
    if (r->pid > 0 && *s.trace) {
        vprof_note(r, "Profiling application: %s", r->command);
        r->on_gpu = !*s.product && !r->replays;
        if (*s.product)
            vprof_note(r, "Times are modelled, for a virtual %s", s.product);
        if (vprof_show(&o, r, trace, *s.product ? s.product : NULL, &err))
            result = vprof_complain(&err);
        if (o.time && cost_write(o.time, &s.run.cost, &err))
            result = vprof_complain(&err);
        vprof_note_end(r, s.status);
    }
    unlink(trace);
    if (scratch_counters)
        unlink(counters);
    *status = r->pid > 0 ? s.status : 0;
    return result;
}

/* auto means the GPU, if the machine has one. */
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
    st_fail(err, ST_NOT_FOUND, "this machine has no NVIDIA GPU");
    st_detail(err, ST_WHERE, "--device gpu");
    return st_detail(err, ST_HINT, "use --device virtual to profile on the virtual GPU");
}

int main(int argc, char **argv)
{
    struct vprof_options o;
    struct st_error err;
    files_open_standard();
    /* A closed pipe must not end vprof, since files in /tmp would be left behind. */
    struct vprof_report r = {.out = stderr, .pipe_handler = signal(SIGPIPE, SIG_IGN)};
    vprof_options_read(&o, argc, argv);
    r.quiet = o.quiet;
    char kept[PATH_MAX];
    if (o.err.code)
        return vprof_complain(&o.err);
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
        vprof_may_write(o.chrome_path, o.force, &err) ||
        vprof_may_write(o.sqlite_path, o.force, &err) || vprof_log_open(o.log, &r.out, &err))
        return vprof_complain(&err);
    int result = 0, status = 0;
    if (o.program)
        result = profile_program(&o, &r, &status);
    else if (vprof_show(&o, &r, o.import, NULL, &err))
        result = vprof_complain(&err);
    if (vprof_log_close(o.log, r.out, &err))
        result = vprof_complain(&err);
    return status ? program_end_as(status) : result;
}
