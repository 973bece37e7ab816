/* speed-up: speeds relative to a base, with a group of bars per layer: the base, which is 1 (the
 * plain loops of m1, or the code with which the check "speed" compares), then the graded code, the
 * reference, and the code of earlier milestones whose gradings are next to this one.
 *
 *     group   base   label   graded   label   ...   layer   of (its shape or model) */
#include "exercise/exercise.h"
#include "grader/plots/plot_parts.h"
#include "grader/record/result_json.h"

#include <math.h>
#include <string.h>

enum { MAX_GROUPS = 6, MAX_BARS = 6, BASE = 0, GRADED, OTHERS };

struct speed_up {
    const char *base, *graded; /* names of subjects */
    const char *milestone;     /* of the base; NULL: the plain loops */
    size_t groups, bars;
    const struct plot_time *group[MAX_GROUPS]; /* the base's time of each group */
    char name[MAX_BARS][32];
    double times[MAX_GROUPS][MAX_BARS];
};

/* @return a subject's time for the layer, model and size of another time; NULL: none. The shape must
 * be equal, too, because a layer of a matrix product is timed at several sizes. */
static const struct plot_time *find(const struct plot_result *r, const char *subject,
                                    const struct plot_time *like)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->time[i].subject, subject) == 0 && r->time[i].layer == like->layer &&
            r->time[i].images == like->images && strcmp(r->time[i].model, like->model) == 0 &&
            (!r->time[i].shape[0] || strcmp(r->time[i].shape, like->shape) == 0))
            return &r->time[i];
    return NULL;
}

/* Whether the outputs were right: a wrong result has no speed. */
static bool is_right(const struct plot_result *r, const struct plot_time *like)
{
    const struct plot_time *inference = find(r, "", like);
    return !inference || inference->right;
}

static double times_as_fast(const struct plot_time *base, const struct plot_time *other)
{
    return other && isfinite(other->ms) ? base->ms / other->ms : NAN;
}

/* Collects the groups. A group is a layer for which base and graded code were timed at the same
 * size; if there are several such sizes, the largest. */
static void collect(struct speed_up *s, const struct plot_result *r, const char *base)
{
    memset(s, 0, sizeof *s);
    const struct exercise *exercise = exercise_of(r->milestone);
    s->base = base;
    s->milestone = strcmp(base, gr_subject_name(GR_BASELINE)) ? NULL : exercise->baseline;
    s->graded = strcmp(r->subject, "reference") == 0 ? "reference" : "submission";
    s->bars = OTHERS;
    if (s->milestone)
        snprintf(s->name[BASE], sizeof s->name[BASE], "%s (%s)", s->milestone,
                 exercise->plain_baseline ? "plain version" : "reference");
    else
        snprintf(s->name[BASE], sizeof s->name[BASE], "%s", base);
    snprintf(s->name[GRADED], sizeof s->name[GRADED], "%.12s (%s)", r->milestone, plot_whose(r));
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
        s->times[at][BASE] = 1;
        s->times[at][GRADED] = times_as_fast(t, find(r, s->graded, t));
    }
}

/* Adds a bar to the groups, unless no group has a time for it. */
static void add_bar(struct speed_up *s, const char *milestone, const char *whose,
                    const double times[MAX_GROUPS])
{
    bool any = false;
    for (size_t g = 0; g < s->groups; g++)
        any = any || isfinite(times[g]);
    if (!any || s->bars == MAX_BARS)
        return;
    snprintf(s->name[s->bars], sizeof s->name[s->bars], "%.12s (%s)", milestone, whose);
    for (size_t g = 0; g < s->groups; g++)
        s->times[g][s->bars] = times[g];
    s->bars++;
}

static void add_reference(struct speed_up *s, const struct plot_result *r)
{
    double times[MAX_GROUPS];
    for (size_t g = 0; g < s->groups; g++)
        times[g] = strcmp(s->graded, "reference")
                       ? times_as_fast(s->group[g], find(r, "reference", s->group[g]))
                       : NAN;
    add_bar(s, r->milestone, "reference", times);
}

/* Adds earlier milestones on the same device at the same size. @return whether there are any. */
static bool add_earlier(struct speed_up *s, const struct plot_stage *stage)
{
    struct gradings all;
    const size_t before = s->bars;
    const struct plot_result *r = &stage->result;
    plot_gradings_read(&all, stage);
    for (size_t i = 0; i < all.n; i++) {
        const struct plot_result *e = all.of[i];
        double times[MAX_GROUPS];
        const bool is_base =
            strcmp(e->milestone, s->milestone) == 0 && strcmp(e->subject, "reference") == 0;
        if (is_base || !plot_same_device(e, r) || strverscmp(e->milestone, r->milestone) >= 0)
            continue;
        for (size_t g = 0; g < s->groups; g++)
            times[g] = times_as_fast(
                s->group[g],
                plot_right_time(e, s->group[g]->model, s->group[g]->images, s->group[g]->layer));
        add_bar(s, e->milestone, plot_whose(e), times);
    }
    plot_gradings_free(&all);
    return s->bars > before;
}

/* @return the height of the highest bar. */
static double put_table(FILE *out, const struct speed_up *s, bool square)
{
    bool one_model = true;
    double highest = 1;
    for (size_t g = 0; g < s->groups; g++)
        one_model = one_model && strcmp(s->group[g]->model, s->group[0]->model) == 0;
    fputs("group", out);
    for (size_t b = 0; b < s->bars; b++)
        fprintf(out, "\t%s\tlabel", s->name[b]);
    fputs("\tlayer\tof\n", out);
    for (size_t g = 0; g < s->groups; g++) {
        fprintf(out, "%zu", g);
        for (size_t b = 0; b < s->bars; b++) {
            char label[NUMBER_CHARS];
            const double times = s->times[g][b];
            number_short(label, times, b ? 3 : 1);
            fputc('\t', out);
            plot_put_number(out, times);
            fprintf(out, "\t%s", isfinite(times) ? label : "");
            highest = fmax(highest, times); /* fmax() of a number and NaN is the number */
        }
        if (square)
            fprintf(out, "\tproduct\t%s\n", s->group[g]->shape);
        else
            fprintf(out, "\tlayer %d\t%s\n", s->group[g]->layer,
                    one_model ? s->group[g]->shape : s->group[g]->model);
    }
    return highest;
}

static enum st_code draw(struct plot_stage *stage, struct plot_job *job, const struct speed_up *s,
                         bool earlier, struct st_error *err)
{
    char title[96], images[24] = "";
    const bool square = exercise_of(stage->result.milestone)->square;
    if (!square)
        snprintf(images, sizeof images, ", %ld images", s->group[0]->images);
    snprintf(title, sizeof title, "%s: speed-up over %s%s", stage->result.milestone, s->name[BASE],
             images);
    if (plot_begin(stage, job, title, stage->origin, err))
        return err->code;
    fprintf(job->values, "groups = %zu\nbars = %zu\nhighest = %.9g\n", s->groups, s->bars,
            put_table(job->table, s, square));
    plot_caption(job, "Speed relative to %s, timed alternately; %s.", s->name[BASE], stage->origin);
    if (earlier)
        plot_caption(job, "Earlier milestones have the times of their last gradings.");
    return plot_end(job, speed_up_gp, err);
}

enum st_code plot_speed_up(struct plot_stage *stage, struct st_error *err)
{
    struct plot_job *job = plot_add(stage, "speed-up");
    struct speed_up s;
    collect(&s, &stage->result, "plain loops");
    if (!s.groups)
        collect(&s, &stage->result, gr_subject_name(GR_BASELINE));
    if (s.groups) {
        add_reference(&s, &stage->result);
        const bool earlier = s.milestone && add_earlier(&s, stage);
        return draw(stage, job, &s, earlier, err);
    }
    plot_skip(
        job,
        stage->graded
            ? "Plot of speed-up skipped: neither the plain loops nor m2 were timed together with a right inference."
            : "Plot of speed-up skipped: no result.json of a grading.");
    return ST_OK;
}
