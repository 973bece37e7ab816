/* Draws plots: data and scripts are written into a stage folder inside DIR/plots, gnuplot draws
 * there, and complete files are renamed into place. */
#include "grader/plots/plot_parts.h"

#include "grader/plots/plot_gnuplot.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The suffixes of a plot's files, pictures first. */
enum { SVG, PNG, PDF, PICTURES, TABLE = PICTURES, SCRIPT, FILES };
static const char *const suffix[FILES] = {"svg", "png", "pdf", "tsv", "gp"};

enum st_code plot_stage_open(struct plot_stage *stage, const char *folder, struct gr_plots *plots,
                             struct st_error *err)
{
    memset(stage, 0, sizeof *stage);
    memset(plots, 0, sizeof *plots);
    stage->plots = plots;
    if (path_make(stage->folder, PATH_MAX, err, "%s", folder) ||
        path_make(stage->to, PATH_MAX, err, "%s/plots", folder) ||
        path_make(stage->stage, PATH_MAX, err, "%s/.new-XXXXXX", stage->to))
        return err->code;
    enum st_code code = dir_make(stage->to, err);
    if (!code && !mkdtemp(stage->stage)) {
        code = st_fail_errno(err, errno, "cannot create a folder for plots");
        st_detail(err, ST_WHERE, "%s", stage->to);
    }
    if (code)
        stage->stage[0] = '\0';
    return code;
}

struct plot_job *plot_add(struct plot_stage *stage, const char *name)
{
    if (stage->plots->n == GR_PLOTS_MAX)
        return NULL;
    struct plot_job *job = &stage->job[stage->plots->n];
    job->result = &stage->plots->plot[stage->plots->n++];
    snprintf(job->result->name, sizeof job->result->name, "%s", name);
    return job;
}

void plot_skip(struct plot_job *job, const char *reason, ...)
{
    va_list args;
    va_start(args, reason);
    vsnprintf(job->result->reason, sizeof job->result->reason, reason, args);
    va_end(args);
}

void plot_caption(struct plot_job *job, const char *text, ...)
{
    char *caption = job->result->caption;
    size_t used = strlen(caption);
    if (used && used + 1 < sizeof job->result->caption)
        caption[used++] = ' ', caption[used] = '\0';
    va_list args;
    va_start(args, text);
    vsnprintf(caption + used, sizeof job->result->caption - used, text, args);
    va_end(args);
}

FILE *plot_file(const struct plot_stage *stage, const struct plot_job *job, const char *ending,
                struct st_error *err)
{
    char path[PATH_MAX];
    FILE *file = path_format(path, sizeof path, "%s/%s.%s", stage->stage, job->result->name, ending)
                     ? fopen(path, "w")
                     : NULL;
    if (!file) {
        st_fail_errno(err, errno, "cannot write a plot's data");
        st_detail(err, ST_WHERE, "%s/%s.%s", stage->to, job->result->name, ending);
    }
    return file;
}

/* ---- drawing -------------------------------------------------------------------------------- */

static bool staged(const struct plot_stage *stage, const struct plot_job *job, int file)
{
    char path[PATH_MAX];
    return path_format(path, sizeof path, "%s/%s.%s", stage->stage, job->result->name,
                       suffix[file]) &&
           (file < PICTURES ? gnuplot_picture_is_whole(path) : file_exists(path));
}

static bool is_drawn(const struct plot_stage *stage, const struct plot_job *job)
{
    return staged(stage, job, SVG) && staged(stage, job, PNG);
}

/* Runs all scripts in one process; if that fails, runs each remaining script alone, so that a wrong
 * script does not prevent the others from being drawn. @return whether gnuplot exists. */
static bool run_all(struct plot_stage *stage)
{
    struct st_error ignored;
    char name[GR_PLOTS_MAX][128];
    const char *scripts[GR_PLOTS_MAX + 1] = {NULL};
    size_t n = 0;
    for (size_t i = 0; i < stage->plots->n; i++)
        if (stage->job[i].begun) {
            snprintf(name[n], sizeof name[n], "%s.gp", stage->job[i].result->name);
            scripts[n] = name[n];
            n++;
        }
    enum st_code code = n ? gnuplot_run(stage->stage, scripts, &ignored) : ST_OK;
    for (size_t i = 0; code == ST_CHILD && i < stage->plots->n; i++) {
        if (!stage->job[i].begun || is_drawn(stage, &stage->job[i]))
            continue;
        char script[128];
        snprintf(script, sizeof script, "%s.gp", stage->job[i].result->name);
        const char *const one[] = {script, NULL};
        gnuplot_run(stage->stage, one, &ignored);
    }
    return code != ST_MISSING_TOOL;
}

static enum st_code place(const struct plot_stage *stage, const struct plot_job *job, int file,
                          bool keep, struct st_error *err)
{
    char from[PATH_MAX], to[PATH_MAX];
    if (!path_format(from, PATH_MAX, "%s/%s.%s", stage->stage, job->result->name, suffix[file]) ||
        !path_format(to, PATH_MAX, "%s/%s.%s", stage->to, job->result->name, suffix[file]))
        return st_fail(err, ST_TOO_LARGE, "path of a plot is too long");
    if (!keep) {
        unlink(to);
    } else if (rename(from, to)) {
        st_fail_errno(err, errno, "cannot write a plot");
        return st_detail(err, ST_WHERE, "%s", to);
    }
    return ST_OK;
}

enum st_code plot_stage_draw(struct plot_stage *stage, struct st_error *err)
{
    bool there = run_all(stage);
    enum st_code first = ST_OK;
    for (size_t i = 0; i < stage->plots->n; i++) {
        struct plot_job *job = &stage->job[i];
        bool drawn = job->begun && is_drawn(stage, job);
        if (!job->begun && !job->result->reason[0]) { /* an error: the old files stay */
            plot_skip(job, "Plots skipped: their files could not be written.");
            job->result->failed = true;
            continue;
        }
        if (job->begun && !there)
            plot_skip(job, "Plots skipped: gnuplot is not installed.");
        else if (job->begun && !drawn)
            plot_skip(job, "Plots skipped: gnuplot could not draw them.");
        job->result->failed = job->begun && !drawn;
        job->result->pdf = drawn && staged(stage, job, PDF);
        for (int file = 0; file < FILES; file++) {
            struct st_error failure;
            bool keep = file >= PICTURES ? job->begun : drawn && (file != PDF || job->result->pdf);
            enum st_code code = place(stage, job, file, keep, &failure);
            if (code && !first) {
                first = code;
                if (err)
                    *err = failure;
            }
        }
    }
    return first;
}

void plot_stage_close(struct plot_stage *stage)
{
    if (stage->stage[0])
        tree_remove(stage->stage);
}
