/* speed-up: how many times as fast as what was timed beside it, a group of bars for each layer: the
 * plain loops of m1, or the kernel of m2 (which is 1), then the graded code and the reference.
 *
 *     group   base   label   graded   label   reference   label */
#include "grader/plots/plot_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_GROUPS = 6, MAX_BARS = 3 };

struct speed_up {
    const char *base, *graded; /* subjects */
    size_t groups, bars;
    const struct plot_time *group[MAX_GROUPS]; /* its base */
    double times[MAX_GROUPS][MAX_BARS];
};

static const struct plot_time *find(const struct plot_result *r, const char *subject,
                                    const struct plot_time *like)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->time[i].subject, subject) == 0 && r->time[i].layer == like->layer &&
            r->time[i].images == like->images && strcmp(r->time[i].model, like->model) == 0)
            return &r->time[i];
    return NULL;
}

/* A wrong result has no speed. */
static bool is_right(const struct plot_result *r, const struct plot_time *like)
{
    const struct plot_time *inference = find(r, "", like);
    return !inference || inference->right;
}

static double times_as_fast(const struct plot_time *base, const struct plot_time *other)
{
    return other && isfinite(other->ms) ? base->ms / other->ms : NAN;
}

/* The groups: layers of which base and graded code were timed at one size, the largest such. */
static void collect(struct speed_up *s, const struct plot_result *r, const char *base)
{
    memset(s, 0, sizeof *s);
    s->base = base;
    s->graded = strcmp(r->subject, "reference") == 0 ? "reference" : "submission";
    s->bars = 2;
    for (size_t i = 0; i < r->n; i++) {
        const struct plot_time *t = &r->time[i];
        if (strcmp(t->subject, base) != 0 || !isfinite(t->ms) || !is_right(r, t) ||
            !isfinite(times_as_fast(t, find(r, s->graded, t))))
            continue;
        size_t at = 0;
        while (at < s->groups &&
               (s->group[at]->layer != t->layer || strcmp(s->group[at]->model, t->model)))
            at++;
        if (at == MAX_GROUPS || (at < s->groups && s->group[at]->images > t->images))
            continue;
        s->group[at] = t;
        s->groups = at == s->groups ? at + 1 : s->groups;
        s->times[at][0] = 1;
        s->times[at][1] = times_as_fast(t, find(r, s->graded, t));
        s->times[at][2] =
            strcmp(s->graded, "reference") ? times_as_fast(t, find(r, "reference", t)) : NAN;
        if (isfinite(s->times[at][2]))
            s->bars = 3;
    }
}

static enum st_code put_table(struct plot_stage *stage, struct plot_job *job,
                              const struct speed_up *s, double *highest, struct st_error *err)
{
    FILE *out = plot_file(stage, job, "tsv", err);
    if (!out)
        return err->code;
    fprintf(out, "group\t%s\tlabel\t%s\tlabel\treference\tlabel\n", s->base, s->graded);
    *highest = 1;
    for (size_t g = 0; g < s->groups; g++) {
        char label[MAX_BARS][NUMBER_CHARS];
        for (size_t b = 0; b < MAX_BARS; b++) {
            bool there = isfinite(s->times[g][b]);
            number_short(label[b], s->times[g][b], b ? 3 : 1);
            label[b][there ? NUMBER_CHARS - 1 : 0] = '\0';
            *highest = fmax(*highest, s->times[g][b]); /* of a number and NaN the number */
        }
        plot_row(out, "zgsgsgs", g, s->times[g][0], label[0], s->times[g][1], label[1],
                 s->times[g][2], label[2]);
    }
    return fclose(out) ? st_fail(err, ST_IO, "cannot write a plot's data") : ST_OK;
}

static void put_tics(FILE *out, const struct speed_up *s)
{
    bool one_model = true;
    for (size_t g = 0; g < s->groups; g++)
        one_model = one_model && strcmp(s->group[g]->model, s->group[0]->model) == 0;
    fputs("set xtics scale 0 (", out);
    for (size_t g = 0; g < s->groups; g++)
        fprintf(out, "%s'layer %d'.\"\\n\".'%s' %zu", g ? ", " : "", s->group[g]->layer,
                one_model ? s->group[g]->shape : s->group[g]->model, g);
    fputs(")\n", out);
}

static enum st_code draw(struct plot_stage *stage, struct plot_job *job, const struct speed_up *s,
                         const struct plot_result *r, struct st_error *err)
{
    char title[96], origin[128];
    double highest = 1;
    int height = PLOT_TOP + 260 + 66 + plot_key_height(s->bars);
    snprintf(title, sizeof title, "%s: speed-up over %s, %ld images", r->milestone, s->base,
             s->group[0]->images);
    enum st_code code = put_table(stage, job, s, &highest, err);
    if (!code)
        code = plot_begin(stage, job, height, title, plot_origin(origin, sizeof origin, r), err);
    if (code)
        return code;
    FILE *out = job->script;
    double width = 0.8 / (double)s->bars;
    plot_panel(job, 84, PLOT_WIDTH - 16, PLOT_TOP, PLOT_TOP + 260);
    plot_ylabel(job, "Speed-up, times as fast", PLOT_TOP, PLOT_TOP + 260);
    put_tics(out, s);
    fprintf(out,
            "unset grid\nset grid ytics lt 1 lw 0.8 lc rgb '#c4cad0'\n"
            "set boxwidth %.3g\n"
            "set xrange [-0.6:%.2f]\nset yrange [0:%.9g]\n"
            "plot ",
            width * 0.92, (double)s->groups - 0.4, highest * 1.15);
    const char *const titles[] = {s->base, s->graded, "reference"};
    static const size_t fills[] = {5, 0, 1};
    for (size_t b = 0; b < s->bars; b++) {
        double shift = width * ((double)b - (double)(s->bars - 1) / 2.0);
        fprintf(out,
                "'%s.tsv' skip 1 using ($1+(%.3g)):%zu with boxes %s title '%s', \\\n"
                "     '' skip 1 using ($1+(%.3g)):%zu:%zu with labels offset 0,0.6 notitle%s",
                job->told->name, shift, 2 + 2 * b, plot_fill(fills[b]), titles[b], shift, 2 + 2 * b,
                3 + 2 * b, b + 1 < s->bars ? ", \\\n     " : "\n");
    }
    plot_caption(job, "How many times as fast as %s, which was timed in turn with it; %s.", s->base,
                 origin);
    return plot_end(job, err);
}

enum st_code plot_speed_up(struct plot_stage *stage, struct st_error *err)
{
    struct plot_job *job = plot_add(stage, "speed-up");
    struct plot_result *r = malloc(sizeof *r);
    enum st_code code = ST_OK;
    char path[PATH_MAX];
    struct st_error ignored;
    struct speed_up s;
    path_format(path, sizeof path, "%s/result.json", stage->folder);
    if (!r) {
        code = st_fail(err, ST_NO_MEMORY, "cannot hold a plot in memory");
    } else if (plot_result_read(r, path, &ignored)) {
        plot_skip(job, "Plot of speed-up skipped: there is no result.json of a grading.");
    } else {
        collect(&s, r, "plain loops");
        if (!s.groups)
            collect(&s, r, "m2");
        if (s.groups)
            code = draw(stage, job, &s, r, err);
        else
            plot_skip(job, "Plot of speed-up skipped: neither the plain loops nor m2 were timed "
                           "beside a right inference.");
    }
    free(r);
    return code;
}
