/* against-cudnn: each milestone's speed relative to cuDNN, for all layers together, with a bar per
 * data-set size. The data is the benchmark's bench.tsv; without it, this plot is not drawn.
 *
 *     group   milestone   times at the first size   ... at the second   ... */
#include "grader/plots/plot_parts.h"

#include <math.h>
#include <string.h>

enum { MAX_GROUPS = 16, MAX_SIZES = 4 };

struct sum {
    double ms;
    int layers;
};

struct totals {
    size_t groups, sizes;
    char name[MAX_GROUPS][16];
    double images[MAX_SIZES];
    struct sum sum[MAX_GROUPS][MAX_SIZES], cudnn[MAX_SIZES];
};

static void collect(struct totals *t, const struct tsv *table)
{
    memset(t, 0, sizeof *t);
    for (size_t row = 0; row < table->rows; row++) {
        const char *subject = plot_cell(table, row, "subject");
        const bool is_cudnn = strcmp(subject, "cudnn") == 0;
        const double images = plot_number(table, row, "images"),
                     ms = plot_number(table, row, "median_ms");
        size_t group = 0, size = 0;
        if (strcmp(plot_cell(table, row, "status"), "ok") != 0 ||
            (!is_cudnn && strncmp(subject, "cudnn", 5) == 0) || !(ms > 0) || !(images > 0))
            continue;
        while (!is_cudnn && group < t->groups && strcmp(t->name[group], subject) != 0)
            group++;
        while (size < t->sizes && t->images[size] != images)
            size++;
        if (group == MAX_GROUPS || size == MAX_SIZES)
            continue;
        if (!is_cudnn && group == t->groups)
            plot_text(t->name[t->groups++], sizeof t->name[group], subject, 12);
        if (size == t->sizes)
            t->images[t->sizes++] = images;
        struct sum *sum = is_cudnn ? &t->cudnn[size] : &t->sum[group][size];
        sum->ms += ms;
        sum->layers++;
    }
}

/* NAN: cuDNN or the milestone was not measured on every layer. */
static double speed(const struct totals *t, size_t group, size_t size)
{
    const struct sum *own = &t->sum[group][size], *cudnn = &t->cudnn[size];
    return own->layers && own->layers == cudnn->layers ? cudnn->ms / own->ms : NAN;
}

/* @return the height of the highest bar. */
static double put_table(FILE *out, const struct totals *t)
{
    double highest = 1;
    fputs("group\tmilestone", out);
    for (size_t i = 0; i < t->sizes; i++)
        fprintf(out, "\t%.0f images", t->images[i]);
    fputc('\n', out);
    for (size_t g = 0; g < t->groups; g++) {
        fprintf(out, "%zu\t%s", g, t->name[g]);
        for (size_t i = 0; i < t->sizes; i++) {
            fputc('\t', out);
            plot_put_number(out, speed(t, g, i));
            highest = fmax(highest, speed(t, g, i)); /* fmax() of a number and NaN is the number */
        }
        fputc('\n', out);
    }
    return highest;
}

static enum st_code draw(struct plot_stage *stage, struct plot_job *job, const struct totals *t,
                         const char *origin, struct st_error *err)
{
    if (plot_begin(stage, job, "All layers: times as fast as cuDNN in float32", origin, err))
        return err->code;
    fprintf(job->values, "groups = %zu\nsizes = %zu\nhighest = %.9g\n", t->groups, t->sizes,
            put_table(job->table, t));
    plot_caption(
        job,
        "Speed of each milestone relative to cuDNN with float32 and its best algorithm, all layers together; %s.",
        origin);
    return plot_end(job, against_cudnn_gp, err);
}

enum st_code plot_against_cudnn(struct plot_stage *stage, struct st_error *err)
{
    struct tsv bench;
    struct totals t;
    char why[256], origin[160], device[64];
    enum st_code code = ST_OK;
    if (!plot_table(&bench, stage->folder, "bench.tsv", why, sizeof why))
        return ST_OK;
    collect(&t, &bench);
    struct plot_job *job = plot_add(stage, "against-cudnn");
    if (t.groups && t.cudnn[0].layers) {
        snprintf(origin, sizeof origin, "measured on %s in one run",
                 plot_text(device, sizeof device, plot_cell(&bench, 0, "device"), 40));
        code = draw(stage, job, &t, origin, err);
    } else {
        plot_skip(job, "Comparison with cuDNN skipped: bench.tsv has no times of cuDNN.");
    }
    tsv_free(&bench);
    return code;
}
