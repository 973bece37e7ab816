#include "grader/class/final.h"

#include "base/median.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Everything that final grades are made from. Lists are sorted by submission. */
struct source {
    struct gb_submission_list submissions;
    struct gb_grade_list grades;
    struct gb_manual_item_list items;
    struct gb_timing_list timings; /* what the ranking compares */
};

/* ---- points --------------------------------------------------------------------------------- */

static const struct gb_grade *grade_of(const struct source *s, const char *name,
                                       const char *milestone)
{
    for (size_t i = 0; i < s->grades.n; i++)
        if (strcmp(s->grades.row[i].submission, name) == 0 &&
            strcmp(s->grades.row[i].milestone, milestone) == 0)
            return &s->grades.row[i];
    return NULL;
}

static bool is_no_rubric_item(const char *item)
{
    return strcmp(item, "late_days") == 0 || strcmp(item, "comment") == 0;
}

/* The sum of a milestone's manual points. @param n  set to how many items were entered */
static double manual_points(const struct source *s, const char *name, const char *milestone,
                            size_t *n)
{
    double points = 0;
    *n = 0;
    for (size_t i = 0; i < s->items.n; i++) {
        const struct gb_manual_item *m = &s->items.row[i];
        if (strcmp(m->submission, name) != 0 || strcmp(m->milestone, milestone) != 0 ||
            is_no_rubric_item(m->item) || !isfinite(m->points))
            continue;
        points += m->points;
        ++*n;
    }
    return points;
}

static double share(double points, double most)
{
    return most > 0 ? fmin(points / most, 1) : 0;
}

/* One milestone of a part: 0 to 1. */
static double milestone_share(const struct source *s, const struct cl_part *part,
                              const struct cl_part_milestone *m, struct cl_final *final)
{
    const struct gb_grade *grade = grade_of(s, final->submission, m->id);
    size_t entered;
    double manual = manual_points(s, final->submission, m->id, &entered);
    if (!grade)
        return 0;
    if (strcmp(grade->status, "fault") == 0)
        final->faults++;
    if (strcmp(grade->status, "missing") != 0 && strcmp(grade->status, "rejected") != 0 &&
        entered < m->manual_items)
        final->open += m->manual_items - entered;
    double automatic = isfinite(grade->score) ? grade->score : 0;
    if (part->kind == CL_RUBRIC)
        return share(automatic + manual, m->automatic + m->manual);
    return part->first * share(automatic, m->automatic) +
           (1 - part->first) * share(manual, m->manual);
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static double best_milestones(const struct source *s, const struct cl_part *part,
                              struct cl_final *final)
{
    double each[CL_MAX_OF], sum = 0;
    for (size_t i = 0; i < part->milestones; i++)
        each[i] = milestone_share(s, part, &part->milestone[i], final);
    qsort(each, part->milestones, sizeof *each, descending);
    for (size_t i = 0; i < part->best; i++)
        sum += each[i];
    return sum / (double)part->best;
}

static double course_item(const struct source *s, const char *name, const char *item, bool *found)
{
    double sum = 0;
    *found = false;
    for (size_t i = 0; i < s->items.n; i++) {
        const struct gb_manual_item *m = &s->items.row[i];
        /* Late days may be entered for a milestone: they add up. */
        if (strcmp(m->submission, name) == 0 && strcmp(m->item, item) == 0 && isfinite(m->points) &&
            (!m->milestone[0] || is_no_rubric_item(item))) {
            sum += m->points;
            *found = true;
        }
    }
    return sum;
}

/* ---- ranking -------------------------------------------------------------------------------- */

/* The shortest sum of the layers' Op Times of a submission's right milestones, or NAN. A grade that
 * failed has none: a wrong result is worth nothing. */
static double best_time(const struct source *s, const struct cl_part *part, const char *name)
{
    double best = NAN;
    for (size_t i = 0; i < part->milestones; i++) {
        const struct gb_grade *grade = grade_of(s, name, part->milestone[i].id);
        double sum = 0;
        for (size_t k = 0; grade && k < s->timings.n; k++)
            if (s->timings.row[k].attempt == grade->attempt)
                sum += s->timings.row[k].median_s;
        if (sum > 0 && !(sum >= best))
            best = sum;
    }
    return best;
}

static double median_time(const double *all, size_t n)
{
    double *sorted = malloc(n * sizeof *sorted);
    if (!sorted)
        return NAN;
    memcpy(sorted, all, n * sizeof *sorted);
    const double median = median_of(sorted, n).median;
    free(sorted);
    return median;
}

double cl_ranking_share(const struct cl_part *part, double op_time_s, const double *all, size_t n)
{
    if (isnan(op_time_s))
        return 0;
    double median = median_time(all, n), variance = 0;
    for (size_t i = 0; i < n; i++)
        variance += (all[i] - median) * (all[i] - median) / (double)n;
    double deviations = variance > 0 ? (median - op_time_s) / sqrt(variance) : 0;
    return fmax(0, fmin(1, part->first + part->second * deviations));
}

/* Fills in one part's points of all submissions. */
static enum st_code rank(const struct source *s, const struct cl_part *part, size_t which,
                         struct cl_final_list *list, struct st_error *err)
{
    double *time = calloc(2 * list->n + 1, sizeof *time), *known = time + list->n;
    size_t n = 0;
    if (!time)
        return st_fail(err, ST_NO_MEMORY, "cannot rank the class");
    for (size_t i = 0; i < list->n; i++) {
        time[i] = best_time(s, part, list->row[i].submission);
        if (!isnan(time[i]))
            known[n++] = time[i];
    }
    for (size_t i = 0; i < list->n; i++)
        list->row[i].points[which] = part->weight * cl_ranking_share(part, time[i], known, n);
    free(time);
    return ST_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static double part_points(const struct source *s, const struct cl_part *part,
                          struct cl_final *final)
{
    bool found;
    double points;
    switch (part->kind) {
    case CL_RUBRIC:
    case CL_OPTIMISATION:
        return part->weight * best_milestones(s, part, final);
    case CL_MANUAL:
        points = course_item(s, final->submission, part->item, &found);
        final->open += !found;
        return part->weight * share(points, part->first);
    case CL_LATE:
        points = course_item(s, final->submission, part->item, &found);
        return points > part->first ? part->weight * (points - part->first) : 0;
    case CL_RANKING:
        break; /* needs the whole class */
    }
    return 0;
}

/* Op Times that count: of the largest size at which any submission was right and timed, in grades
 * that passed, and with a right inference of that size in the same attempt. */
static const char ranked[] =
#define RIGHT                                                                                      \
    "subject = 'submission' AND attempt IN (SELECT attempt FROM grade) "                           \
    "AND EXISTS (SELECT * FROM inference i "                                                       \
    "WHERE i.passed AND i.attempt = timing.attempt AND i.images = timing.images) "
    "WHERE " RIGHT "AND images = (SELECT max(images) FROM timing WHERE " RIGHT ") "
    "AND attempt IN (SELECT attempt FROM grade WHERE status = 'pass')";
#undef RIGHT

static enum st_code read_source(struct source *s, struct gradebook *book, struct st_error *err)
{
    enum st_code code = gb_submission_read(book, &s->submissions, err, "ORDER BY name");
    if (!code)
        code = gb_grade_read(book, &s->grades, err, "ORDER BY submission");
    if (!code)
        code = gb_manual_item_read(book, &s->items, err, "ORDER BY submission");
    if (!code)
        code = gb_timing_read(book, &s->timings, err, ranked);
    return code;
}

static void free_source(struct source *s)
{
    gb_submission_free(&s->submissions);
    gb_grade_free(&s->grades);
    gb_manual_item_free(&s->items);
    gb_timing_free(&s->timings);
}

enum st_code cl_final_make(struct cl_final_list *list, struct gradebook *book,
                           const struct cl_weights *weights, struct st_error *err)
{
    struct source s = {0};
    memset(list, 0, sizeof *list);
    enum st_code code = read_source(&s, book, err);
    if (!code && !(list->row = calloc(s.submissions.n + 1, sizeof *list->row)))
        code = st_fail(err, ST_NO_MEMORY, "cannot hold the final grades in memory");
    for (size_t i = 0; !code && i < s.submissions.n; i++) {
        struct cl_final *final = &list->row[list->n++];
        final->submission = strdup(s.submissions.row[i].name);
        final->team = strdup(s.submissions.row[i].team);
        for (size_t g = 0; g < s.grades.n; g++)
            final->grades += strcmp(s.grades.row[g].submission, final->submission) == 0;
        for (size_t p = 0; p < weights->parts; p++)
            final->points[p] = part_points(&s, &weights->part[p], final);
    }
    for (size_t p = 0; !code && p < weights->parts; p++)
        if (weights->part[p].kind == CL_RANKING)
            code = rank(&s, &weights->part[p], p, list, err);
    for (size_t i = 0; i < list->n; i++) {
        for (size_t p = 0; p < weights->parts; p++)
            list->row[i].total += list->row[i].points[p];
        list->row[i].total = fmax(0, list->row[i].total);
    }
    free_source(&s);
    if (code)
        cl_final_free(list);
    return code;
}

void cl_final_free(struct cl_final_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->row[i].submission);
        free(list->row[i].team);
    }
    free(list->row);
    memset(list, 0, sizeof *list);
}
