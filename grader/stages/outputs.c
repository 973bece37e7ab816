/* What a grading leaves behind: the result as JSON, the profile, the report's page. */
#include "grader/stages/grading.h"

#include "base/checkout.h"
#include "base/files.h"
#include "grader/profile/profile.h"
#include "grader/record/result_json.h"
#include "grader/report/report.h"

#include <string.h>

/* The report's folder, and the one that it and its kin lie in. */
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

/* Profiles what was graded; without --profile, an earlier profile goes: it is of other code. Code
 * that is wrong already has no speed, and may not even end. */
static enum st_code write_profile(struct grading *g, struct st_error *err)
{
    char folder[PATH_MAX], parent[PATH_MAX], profile[PATH_MAX];
    enum st_code code = find_folder(g, folder, parent, err);
    if (code)
        return code;
    path_format(profile, sizeof profile, "%s/profile", folder);
    const bool wrong = gr_failed(g->result, "builds") || gr_failed(g->result, "unit_shapes");
    if (!g->options->profile || wrong) {
        gr_profile_drop(profile);
        if (g->options->profile)
            fprintf(g->out, "\nNot profiled: make it right first.\n");
        return ST_OK;
    }
    const char *name = strrchr(g->milestone.lab_source, '/');
    char source[PATH_MAX] = ""; /* of a library that was built elsewhere: not known */
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
                                           .device = g->host.device,
                                           .gpu = g->host.profile,
                                           .engine = g->host.engine,
                                           .images = g->options->images,
                                           .sizes = g->options->sizes,
                                           .folder = profile,
                                           .out = g->out};
    return gr_profile_run(&profiling, err);
}

static enum st_code write_report(struct grading *g, struct st_error *err)
{
    char folder[PATH_MAX], parent[PATH_MAX];
    enum st_code code = find_folder(g, folder, parent, err);
    if (!code)
        code = gr_report_write(g->result, folder, err);
    if (!code && !g->options->report)
        code = gr_index_write(parent, err);
    if (code)
        return code;
    fprintf(g->out, "Report: %s/report.html\n", checkout_relative(folder));
    return ST_OK;
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
    struct st_error report_err;
    enum st_code code = write_json(g, err);
    if (!code)
        code = write_profile(g, err);
    enum st_code report_code = write_report(g, &report_err);
    if (code || !report_code)
        return code;
    *err = report_err;
    return report_code;
}
