/* op-times: Op Time by data-set size, with a line per layer; both axes are logarithmic.
 *
 *     images   LINE 1, ms   LINE 2, ms ...   slowest_ms   label   fastest_ms   label
 *
 * At each size, the slowest point has a label above it, and the fastest point a label below it; the
 * report's table has all times. */
#include "grader/plots/plot_parts.h"

#include <math.h>
#include <string.h>

enum { MAX_LINES = PLOT_STYLES, MAX_SIZES = 32 };

struct op_times {
    const struct plot_time *line[MAX_LINES]; /* the first time of each line */
    long images[MAX_SIZES];
    size_t lines, sizes;
    double ms[MAX_SIZES][MAX_LINES];
    bool one_model;
};

static bool is_plotted(const struct plot_time *t)
{
    return !t->subject[0] && t->right && isfinite(t->ms);
}

static size_t line_of(struct op_times *o, const struct plot_time *t)
{
    for (size_t i = 0; i < o->lines; i++)
        if (o->line[i]->layer == t->layer && strcmp(o->line[i]->model, t->model) == 0)
            return i;
    if (o->lines == MAX_LINES)
        return MAX_LINES;
    o->line[o->lines] = t;
    return o->lines++;
}

/* The index of a size among the sizes so far, in ascending order; adds the size if it is new. */
static size_t size_of(struct op_times *o, long images)
{
    size_t at = 0;
    while (at < o->sizes && o->images[at] < images)
        at++;
    if (at < o->sizes && o->images[at] == images)
        return at;
    if (o->sizes == MAX_SIZES)
        return MAX_SIZES;
    memmove(&o->images[at + 1], &o->images[at], (o->sizes - at) * sizeof *o->images);
    memmove(&o->ms[at + 1], &o->ms[at], (o->sizes - at) * sizeof *o->ms);
    o->images[at] = images;
    for (size_t i = 0; i < MAX_LINES; i++)
        o->ms[at][i] = NAN;
    o->sizes++;
    return at;
}

static void collect(struct op_times *o, const struct plot_result *r)
{
    memset(o, 0, sizeof *o);
    o->one_model = true;
    for (size_t i = 0; i < r->n; i++) {
        const struct plot_time *t = &r->time[i];
        size_t line = is_plotted(t) ? line_of(o, t) : MAX_LINES;
        size_t size = line < MAX_LINES ? size_of(o, t->images) : MAX_SIZES;
        if (size < MAX_SIZES)
            o->ms[size][line] = t->ms;
        if (line < MAX_LINES)
            o->one_model = o->one_model && strcmp(o->line[0]->model, t->model) == 0;
    }
}

/* Writes "two-layer layer 1 (1x70x70, 12@5)". The shape comes from the record of times. */
static void line_name(char to[160], const struct op_times *o, size_t line,
                      const struct plot_result *r)
{
    const struct plot_time *first = o->line[line];
    const char *shape = "";
    for (size_t i = 0; i < r->n; i++)
        if (r->time[i].subject[0] && r->time[i].layer == first->layer &&
            strcmp(r->time[i].model, first->model) == 0)
            shape = r->time[i].shape;
    snprintf(to, 160, "%s%slayer %d%s%s%s", o->one_model ? "" : first->model,
             o->one_model ? "" : " ", first->layer, shape[0] ? " (" : "", shape,
             shape[0] ? ")" : "");
}

static void put_label(FILE *out, double ms)
{
    char label[NUMBER_CHARS];
    if (isfinite(ms))
        fprintf(out, "\t%.9g\t%s", ms, number_short(label, ms, 3));
    else
        fputs("\tNaN\t", out);
}

static void put_table(FILE *out, const struct op_times *o, const struct plot_result *r)
{
    fputs("images", out);
    for (size_t i = 0; i < o->lines; i++) {
        char name[160];
        line_name(name, o, i, r);
        fprintf(out, "\t%s, ms", name);
    }
    fputs("\tslowest_ms\tslowest\tfastest_ms\tfastest\n", out);
    for (size_t s = 0; s < o->sizes; s++) {
        double slowest = NAN, fastest = NAN;
        fprintf(out, "%ld", o->images[s]);
        for (size_t i = 0; i < o->lines; i++) {
            double ms = o->ms[s][i];
            fputc('\t', out);
            plot_put_number(out, ms);
            slowest = fmax(slowest, ms), fastest = fmin(fastest, ms);
        }
        put_label(out, slowest);
        put_label(out, fastest < slowest ? fastest : NAN);
        fputc('\n', out);
    }
}

static void put_values(const struct plot_job *job, const struct op_times *o,
                       const struct plot_result *r)
{
    FILE *out = job->values;
    double least = INFINITY, most = 0;
    long last_marked = 0;
    fputs("marked = '", out);
    for (size_t s = 0; s < o->sizes; s++) {
        for (size_t i = 0; i < o->lines; i++) /* fmax() of a number and NaN is the number */
            least = fmin(least, o->ms[s][i]), most = fmax(most, o->ms[s][i]);
        if ((double)o->images[s] >= 1.5 * (double)last_marked) { /* closer labels would overlap */
            fprintf(out, "%s%ld", last_marked ? " " : "", o->images[s]);
            last_marked = o->images[s];
        }
    }
    fprintf(out, "'\nfewest = %ld\nmost = %ld\nleast_ms = %.9g\nmost_ms = %.9g\nlines = %zu\n",
            o->images[0], o->images[o->sizes - 1], least, most, o->lines);
    plot_list(job, "line", o->lines);
    for (size_t i = 0; i < o->lines; i++) {
        char name[160];
        line_name(name, o, i, r);
        fprintf(out, "line[%zu] = '%s'\n", i + 1, name);
    }
}

static enum st_code draw(struct plot_stage *stage, struct plot_job *job, const struct op_times *o,
                         struct st_error *err)
{
    const struct plot_result *r = &stage->result;
    char title[80];
    snprintf(title, sizeof title, "%s: Op Time by data-set size", r->milestone);
    if (plot_begin(stage, job, title, stage->origin, err))
        return err->code;
    put_table(job->table, o, r);
    put_values(job, o, r);
    plot_caption(
        job,
        "Op Time (the time of conv_forward() for all images) by data-set size, both axes logarithmic; %s.",
        stage->origin);
    return plot_end(job, op_times_gp, err);
}

enum st_code plot_op_times(struct plot_stage *stage, struct st_error *err)
{
    struct plot_job *job = plot_add(stage, "op-times");
    struct op_times o;
    collect(&o, &stage->result);
    if (o.sizes > 1)
        return draw(stage, job, &o, err);
    if (o.sizes == 1)
        plot_skip(job, "Plot of Op Times skipped: only one data-set size was run.");
    else
        plot_skip(job, stage->graded
                           ? "Plot of Op Times skipped: no inference with right outputs was timed."
                           : "Plot of Op Times skipped: no result.json of a grading.");
    return ST_OK;
}
