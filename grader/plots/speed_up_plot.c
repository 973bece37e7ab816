/* speed-up: how many times as fast as what was timed beside it, a group of bars for each layer: the
 * plain loops of m1, or the kernel of m2 (which is 1), then the graded code and the reference.
 *
 *     group   base   label   graded   label   reference   label   layer   of (its shape or model) */
#include "grader/plots/plot_parts.h"

#include <math.h>
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

/* @return the highest bar. */
static double put_table(FILE *out, const struct speed_up *s)
{
    bool one_model = true;
    double highest = 1;
    for (size_t g = 0; g < s->groups; g++)
        one_model = one_model && strcmp(s->group[g]->model, s->group[0]->model) == 0;
    fprintf(out, "group\t%s\tlabel\t%s\tlabel\treference\tlabel\tlayer\tof\n", s->base, s->graded);
    for (size_t g = 0; g < s->groups; g++) {
        fprintf(out, "%zu", g);
        for (size_t b = 0; b < MAX_BARS; b++) {
            char label[NUMBER_CHARS];
            const double times = s->times[g][b];
            number_short(label, times, b ? 3 : 1);
            fputc('\t', out);
            plot_put_number(out, times);
            fprintf(out, "\t%s", isfinite(times) ? label : "");
            highest = fmax(highest, times); /* of a number and NaN the number */
        }
        fprintf(out, "\tlayer %d\t%s\n", s->group[g]->layer,
                one_model ? s->group[g]->shape : s->group[g]->model);
    }
    return highest;
}

static enum st_code draw(struct plot_stage *stage, struct plot_job *job, const struct speed_up *s,
                         struct st_error *err)
{
    char title[96];
    snprintf(title, sizeof title, "%s: speed-up over %s, %ld images", stage->result.milestone,
             s->base, s->group[0]->images);
    if (plot_begin(stage, job, title, stage->origin, err))
        return err->code;
    fprintf(job->values, "groups = %zu\nbars = %zu\nhighest = %.9g\n", s->groups, s->bars,
            put_table(job->table, s));
    plot_caption(job, "How many times as fast as %s, which was timed in turn with it; %s.", s->base,
                 stage->origin);
    return plot_end(job, speed_up_gp, err);
}

enum st_code plot_speed_up(struct plot_stage *stage, struct st_error *err)
{
    struct plot_job *job = plot_add(stage, "speed-up");
    struct speed_up s;
    collect(&s, &stage->result, "plain loops");
    if (!s.groups)
        collect(&s, &stage->result, "m2");
    if (s.groups)
        return draw(stage, job, &s, err);
    plot_skip(
        job,
        stage->graded
            ? "Plot of speed-up skipped: neither the plain loops nor m2 were timed beside a right inference."
            : "Plot of speed-up skipped: there is no result.json of a grading.");
    return ST_OK;
}
