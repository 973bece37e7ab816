/* The part of a final grade that comes from Op Times. */
#include "grader/class/final_parts.h"

#include "base/median.h"
#include "grader/record/timing.h"
#include "grader/standing/people.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An Op Time in the ranking. */
struct place {
    struct cl_final *final;
    double seconds, uncertainty;
};

/* Finds the shortest sum of layer Op Times among a submission's right milestones, or NAN. */
static void find_best(const struct cl_source *s, const struct cl_part *part, struct place *place)
{
    place->seconds = NAN;
    for (size_t i = 0; i < part->milestones; i++) {
        const struct gb_grade *grade =
            gb_grade_of(&s->grades, place->final->submission, part->milestone[i].id);
        double sum = 0, variance = 0;
        for (size_t k = 0; grade && k < s->timings.n; k++) {
            const struct gb_timing *row = &s->timings.row[k];
            if (row->attempt != grade->attempt)
                continue;
            sum += row->median_s;
            variance += pow(gr_timing_text_uncertainty(row->op_times_s) * row->median_s, 2);
        }
        if (sum > 0 && !(sum >= place->seconds)) {
            place->seconds = sum;
            place->uncertainty = sqrt(variance) / sum;
        }
    }
}

/* Orders by time; submissions without a time come last. */
static int by_time(const void *a, const void *b)
{
    const double x = ((const struct place *)a)->seconds, y = ((const struct place *)b)->seconds;
    return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x > y) - (x < y);
}

/* Replaces times that are equal within their precision by the shortest of them, so that a
 * difference of a nanosecond changes no points. @param place  sorted */
static void make_equal(struct place *place, size_t n)
{
    for (size_t i = 1, first = 0; i < n; i++) {
        if (gr_same_time(place[first].seconds, place[first].uncertainty, place[i].seconds,
                         place[i].uncertainty))
            place[i].seconds = place[first].seconds;
        else
            first = i;
    }
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

enum st_code cl_rank(const struct cl_source *s, const struct cl_part *part, size_t which,
                     struct cl_final_list *list, struct st_error *err)
{
    struct place *place = calloc(list->n + 1, sizeof *place);
    double *time = calloc(list->n + 1, sizeof *time);
    size_t n = 0;
    for (size_t i = 0; place && time && i < list->n; i++) {
        place[i].final = &list->row[i];
        find_best(s, part, &place[i]);
        n += !isnan(place[i].seconds);
    }
    if (place && time) {
        qsort(place, list->n, sizeof *place, by_time);
        make_equal(place, n);
        for (size_t i = 0; i < n; i++)
            time[i] = place[i].seconds;
        for (size_t i = 0; i < list->n; i++)
            place[i].final->points[which] =
                part->weight * cl_ranking_share(part, place[i].seconds, time, n);
    }
    const bool good = place && time;
    free(place);
    free(time);
    return good ? ST_OK : st_fail(err, ST_NO_MEMORY, "cannot rank the class");
}

void cl_share_places(const struct cl_source *s, size_t which, struct cl_final_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const char *const name = list->row[i].submission, *const team = cl_team_of(s, name);
        for (size_t k = 0; k < list->n; k++)
            if (k != i && sd_is_team_of(&s->members, name, team, list->row[k].submission))
                list->row[i].points[which] =
                    fmax(list->row[i].points[which], list->row[k].points[which]);
    }
}
