/* against-cudnn: each milestone's speed relative to cuDNN, for all layers together, with a bar per
 * data-set size. The data is the benchmark's totals.tsv; without it, this plot is not drawn.
 *
 *     group   milestone   times at the first size   ... at the second   ... */
#include "grader/plots/plot_parts.h"

#include <math.h>
#include <string.h>

enum { MAX_GROUPS = 16, MAX_SIZES = 4 };

struct totals {
    size_t groups, sizes;
    char name[MAX_GROUPS][16];
    double images[MAX_SIZES], times[MAX_GROUPS][MAX_SIZES];
};

static void collect(struct totals *t, const struct tsv *table)
{
    memset(t, 0, sizeof *t);
    for (size_t row = 0; row < table->rows; row++) {
        const char *subject = plot_cell(table, row, "subject");
        double images = plot_number(table, row, "images"),
               times = plot_number(table, row, "times_cudnn");
        size_t group = 0, size = 0;
        if (strcmp(plot_cell(table, row, "model"), "all") != 0 ||
            strncmp(subject, "cudnn", 5) == 0 || !(times > 0) || !(images > 0))
            continue;
        while (group < t->groups && strcmp(t->name[group], subject) != 0)
            group++;
        while (size < t->sizes && t->images[size] != images)
            size++;
        if (group == MAX_GROUPS || size == MAX_SIZES)
            continue;
        if (group == t->groups) {
            plot_text(t->name[group], sizeof t->name[group], subject, 12);
            for (size_t i = 0; i < MAX_SIZES; i++)
                t->times[group][i] = NAN;
            t->groups++;
        }
        if (size == t->sizes)
            t->images[t->sizes++] = images;
        t->times[group][size] = times;
    }
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
            plot_put_number(out, t->times[g][i]);
            highest = fmax(highest, t->times[g][i]); /* fmax() of a number and NaN is the number */
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
        "Speed of each milestone relative to cuDNN with float32 and its best algorithm, all layers of both networks together; %s.",
        origin);
    return plot_end(job, against_cudnn_gp, err);
}

enum st_code plot_against_cudnn(struct plot_stage *stage, struct st_error *err)
{
    struct tsv table, bench;
    struct totals t;
    char why[256], origin[160] = "measured in one run", device[64];
    enum st_code code = ST_OK;
    if (!plot_table(&table, stage->folder, "totals.tsv", why, sizeof why))
        return ST_OK;
    if (plot_table(&bench, stage->folder, "bench.tsv", why, sizeof why)) {
        if (bench.rows)
            snprintf(origin, sizeof origin, "measured on %s in one run",
                     plot_text(device, sizeof device, plot_cell(&bench, 0, "device"), 40));
        tsv_free(&bench);
    }
    struct plot_job *job = plot_add(stage, "against-cudnn");
    collect(&t, &table);
    if (t.groups)
        code = draw(stage, job, &t, origin, err);
    else
        plot_skip(job, "Comparison with cuDNN skipped: totals.tsv has no times of cuDNN.");
    tsv_free(&table);
    return code;
}
