/* The files of a grading: the result as JSON, the profile, the report's page. */
#include "grader/stages/grading.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/progress.h"
#include "grader/history/history.h"
#include "grader/profile/profile.h"
#include "grader/record/result_json.h"
#include "grader/report/report.h"
#include "vgpu/fatbin/fatbin.h"

#include <stdlib.h>
#include <string.h>

/* Finds the report's folder, and its parent folder with all reports. */
static enum st_code find_folder(const struct grading *g, char folder[PATH_MAX],
                                char parent[PATH_MAX], struct st_error *err)
{
    const char *build = checkout_build(err);
    if (!build)
        return err->code;
    path_format(parent, PATH_MAX, "%s/report", build);
    if (g->options->report)
        path_format(folder, PATH_MAX, "%s", g->options->report);
    else
        path_format(folder, PATH_MAX, "%s/%s", parent, g->milestone.id);
    return ST_OK;
}

/* Profiles the graded library into a separate folder. Without --profile, removes an existing
 * profile, which belongs to other code. Wrong code is not profiled: its speed means nothing, and it
 * may not even end. */
static enum st_code write_profile(struct grading *g, const char *parent, struct st_error *err)
{
    char profile[PATH_MAX];
    path_format(profile, sizeof profile, "%s/profile", parent);
    const bool wrong = gr_failed(g->result, "builds") || gr_failed(g->result, "unit_shapes");
    if (!g->options->profile || wrong) {
        gr_profile_drop(profile);
        if (g->options->profile)
            fprintf(g->out, "\nNot profiled: the outputs must be right first.\n");
        return ST_OK;
    }
    const char *name = strrchr(g->milestone.lab_source, '/');
    char source[PATH_MAX] = ""; /* stays unknown for a library built elsewhere */
    if (g->options->file)
        path_format(source, sizeof source, "%s%s", g->built.folder, name ? name : "");
    else if (!g->options->lib)
        path_format(source, sizeof source, "%s",
                    g->options->reference ? g->milestone.reference_source
                                          : g->milestone.lab_source);
    const struct gr_profiling profiling = {.build = checkout_build(err),
                                           .library = g->milestone.libraries ? NULL : g->library,
                                           .source_name = name ? name + 1 : "",
                                           .source = source,
                                           .sandboxed = g->host.sandbox.on,
                                           .model = g->options->model,
                                           .exercise = g->milestone.exercise,
                                           .device = g->host.device,
                                           .gpu = g->host.profile,
                                           .engine = g->host.engine,
                                           .images = g->options->images,
                                           .sizes = g->options->sizes,
                                           .image_s = g->image_s,
                                           .folder = profile,
                                           .out = g->out};
    return gr_profile_run(&profiling, err);
}

/* Keeps the kernels' PTX, which `grader similar` compares. A library with unreadable PTX has
 * nothing to compare. */
static enum st_code keep_kernels(const struct grading *g, const char *folder, struct st_error *err)
{
    char path[PATH_MAX], *ptx;
    size_t bytes;
    if (!g->options->report || !g->milestone.cuda || !g->built.built ||
        !path_format(path, sizeof path, "%s/" GR_KERNELS_FILE, folder) ||
        fatbin_library_ptx(g->library, &ptx, &bytes, NULL))
        return ST_OK;
    const enum st_code code = file_write(path, ptx, bytes, err);
    free(ptx);
    return code;
}

static enum st_code write_report(struct grading *g, const char *folder, const char *parent,
                                 struct st_error *err)
{
    progress_begin("writing the report");
    enum st_code code = gr_report_write(g->result, folder, err);
    if (!code && !g->options->report)
        code = gr_index_write(parent, err);
    progress_clear();
    if (code)
        return code;
    char here[PATH_MAX];
    fprintf(g->out, "Report: %s/report.html\n", checkout_from_here(folder, here));
    return ST_OK;
}

/* ---- history ---------------------------------------------------------------------------------- */

/* Whether the history keeps this grading: it uses the usual report folder (not --report, as in a
 * class), and the code builds. */
static bool has_history(const struct grading *g)
{
    return !g->options->report && g->result->source_hash[0] && !gr_failed(g->result, "builds");
}

/* Names the sizes on the page that were taken from earlier gradings. */
static void print_kept(FILE *out, const struct gr_result *r)
{
    const char *before = "Kept from earlier gradings of this version, number of images: ";
    for (size_t i = 0; i < r->inferences; i++)
        if (r->inference[i].graded[0]) {
            fprintf(out, "%s%zu", before, r->inference[i].images);
            before = ", ";
        }
    if (*before == ',')
        fputc('\n', out);
}

/* Adds the version to the history; a failure to do so does not stop the report. */
static enum st_code keep_version(struct grading *g, struct hi_writing *history,
                                 struct st_error *err)
{
    const char *name = strrchr(g->milestone.lab_source, '/') + 1;
    progress_begin("waiting: another grading is writing its report");
    const enum st_code code = hi_commit(history, g->result, g->source, g->source_bytes, name, err);
    progress_clear();
    if (history->note[0])
        fprintf(g->out, "History: %s\n", history->note);
    return code;
}

/* Keeps the first of several errors. */
static void note(enum st_code *first, enum st_code code, struct st_error *err,
                 const struct st_error *failure)
{
    if (!*first && code)
        *err = *failure, *first = code;
}

static enum st_code write_json(const struct grading *g, struct st_error *err)
{
    const char *path = g->options->json;
    if (!path)
        return ST_OK;
    if (strcmp(path, "-") == 0) {
        gr_result_write(stdout, g->result);
        return ST_OK;
    }
    struct file_out file;
    enum st_code code = file_out_open(&file, path, err);
    if (code)
        return code;
    gr_result_write(file.f, g->result);
    return file_out_commit(&file, err);
}

enum st_code gr_outputs_write(struct grading *g, struct st_error *err)
{
    char folder[PATH_MAX], parent[PATH_MAX];
    struct st_error failure;
    struct hi_writing history = {.lock = -1};
    enum st_code first = write_json(g, err);
    const enum st_code found = find_folder(g, folder, parent, &failure);
    note(&first, found, err, &failure);
    if (found)
        return first;
    if (has_history(g))
        note(&first, hi_begin(&history, folder, &failure), err, &failure);
    const bool keeps = history.folder[0] != '\0';
    note(&first, write_profile(g, keeps ? history.folder : folder, &failure), err, &failure);
    if (keeps)
        note(&first, keep_version(g, &history, &failure), err, &failure);
    note(&first, write_report(g, folder, parent, &failure), err, &failure);
    note(&first, keep_kernels(g, folder, &failure), err, &failure);
    if (keeps)
        print_kept(g->out, g->result);
    hi_end(&history);
    return first;
}
