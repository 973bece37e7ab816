#include "vprof/vprof_show.h"

#include "analysis/analysis.h"
#include "base/files.h"
#include "vgpu/device/program_run.h"
#include "vgpu/gpus/gpu_profile.h"
#include "vprof/chrome.h"
#include "vprof/nsight.h"
#include "vprof/tables.h"

#include <stdarg.h>
#include <sys/wait.h>

void vprof_note(const struct vprof_report *r, const char *text, ...)
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

void vprof_note_end(const struct vprof_report *r, int status)
{
    if (r->quiet)
        return;
    if (WIFSIGNALED(status))
        fprintf(r->out, "======== Error: Application received signal %d\n", 128 + WTERMSIG(status));
    else if (WEXITSTATUS(status))
        fprintf(r->out, "======== Error: Application returned non-zero code %d\n",
                WEXITSTATUS(status));
}

static enum st_code print_analysis(const struct vprof_options *o, const struct vprof_report *r,
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
    vprof_note(r, "Analysis result:");
    if (o->csv)
        an_print_csv(r->out, &analysis);
    else
        an_print(r->out, &analysis, 0);
    an_free(&analysis);
    return ST_OK;
}

/* @return the profile of the trace's GPU, or NULL */
static const struct vg_profile *gpu_of(const struct tr_trace *t, struct vg_profile *room)
{
    char folder[PATH_MAX], profiles[PATH_MAX];
    return !program_folder(folder, NULL) &&
                   path_format(profiles, sizeof profiles, "%s/vgpu/profiles", folder) &&
                   vg_profile_find(room, profiles, t->device)
               ? room
               : NULL;
}

static enum st_code export_sqlite(const struct vprof_options *o, const struct vprof_report *r,
                                  const struct tr_trace *t, struct st_error *err)
{
    struct vg_profile gpu;
    enum st_code code = nsys_export(t, gpu_of(t, &gpu), o->sqlite_path, err);
    if (!code)
        vprof_note(r, "Generated database: %s (its tables are those of nsys export --type sqlite)",
                   o->sqlite_path);
    return code;
}

static enum st_code print_ncu(const struct vprof_options *o, const struct vprof_report *r,
                              const struct tr_trace *t, struct st_error *err)
{
    struct tr_trace baseline = {0};
    struct vg_profile gpu[2];
    struct ncu_run run = {t, gpu_of(t, &gpu[0])}, before = {&baseline, NULL};
    enum st_code code = o->baseline ? tr_read(o->baseline, &baseline, err) : ST_OK;
    if (!code && o->baseline)
        before.gpu = gpu_of(&baseline, &gpu[1]);
    if (!code)
        code = ncu_print(r->out, &run, o->baseline ? &before : NULL,
                         !o->csv     ? NCU_TEXT
                         : o->import ? NCU_CSV_SCALED
                                     : NCU_CSV_BASE,
                         err);
    tr_free(&baseline);
    return code;
}

static size_t kernels_of(const struct tr_trace *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += t->rows[i].kind == TR_KERNEL;
    return n;
}

static enum st_code filter(const struct vprof_options *o, const struct vprof_report *r,
                           struct tr_trace *t, struct st_error *err)
{
    const size_t before = kernels_of(t);
    enum st_code code = tr_filter(t, o->kernels, err);
    if (!code && before && !kernels_of(t))
        vprof_note(r, "Warning: none of the %zu kernel launches matches --kernels %s", before,
                   o->kernels);
    return code;
}

static enum st_code print(const struct vprof_options *o, struct vprof_report *r, struct tr_trace *t,
                          struct st_error *err)
{
    if (o->keep) {
        enum st_code code = tr_write(t, o->keep, err);
        if (code)
            return code;
        vprof_note(r, "Generated result file: %s", o->keep);
    }
    /* ncu has already omitted the launches outside the range */
    enum st_code code = tr_profiled_range(t, !o->range_only || r->replays, err);
    if (!code && o->kernels)
        code = filter(o, r, t, err);
    if (!code && o->chrome) {
        code = chrome_write(t, o->chrome_path, err);
        if (!code)
            vprof_note(r, "Generated timeline: %s (open it with ui.perfetto.dev)", o->chrome_path);
    }
    if (!code && o->sqlite_path)
        code = export_sqlite(o, r, t, err);
    if (code || o->style != STYLE_NVPROF) {
        if (code)
            return code;
        vprof_note(r, "Profiling result:");
        return o->style == STYLE_NSYS ? nsys_print(r->out, t, o->csv, err)
                                      : print_ncu(o, r, t, err);
    }
    const bool asked = o->gpu_trace || o->api_trace || o->gpu_summary || o->api_summary;
    unsigned groups = (o->gpu_summary ? TABLES_GPU : 0) | (o->api_summary ? TABLES_API : 0);
    if (!asked && !o->metrics.n && !o->events.n && !o->keep && !o->chrome && !o->sqlite_path &&
        !o->analysis)
        groups = TABLES_GPU | TABLES_API;
    if (!code && o->analysis)
        code = print_analysis(o, r, t, err);
    if (code || (!asked && !groups && !o->metrics.n && !o->events.n))
        return code;
    vprof_note(r, "Profiling result:");
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
        vprof_note(r, "Event result:");
        metrics_print(r->out, t, &o->events, o->csv);
    }
    if (o->metrics.n && !each_launch) {
        if (o->events.n && !o->csv)
            fputc('\n', r->out);
        vprof_note(r, "Metric result:");
        metrics_print(r->out, t, &o->metrics, o->csv);
    }
    return ST_OK;
}

enum st_code vprof_show(const struct vprof_options *o, struct vprof_report *r, const char *path,
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
        vprof_note(r, "Times are modelled, for a virtual %s", *t.device ? t.device : "GPU");
    if (t.truncated[0])
        vprof_note(r, "Warning: %s: %s", path, t.truncated);
    if (r->on_gpu && !t.real)
        vprof_note(
            r, "Warning: No CUDA application was profiled: the program did not initialise CUDA");
    for (size_t i = 0; i < t.note_count; i++)
        vprof_note(r, "Warning: %s", t.notes[i]);
    code = print(o, r, &t, err);
    tr_free(&t);
    return code;
}
