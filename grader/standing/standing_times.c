/* Op Times of a class: sums of the layers' medians at the largest size at which any submission was
 * right. */
#include "grader/standing/standing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The Op Time of one attempt. @return NAN if it has none at this size */
static double time_of(const struct gb_timing_list *timings, int64_t attempt, size_t images)
{
    double sum = 0;
    for (size_t i = 0; i < timings->n; i++)
        if (timings->row[i].attempt == attempt && timings->row[i].images == (int64_t)images)
            sum += timings->row[i].median_s;
    return sum > 0 ? sum : NAN;
}

/* Whether this is the first student of a submission, since all members of a team have one time. */
static bool is_first_of_its_submission(const struct sd_class *class, size_t student, size_t m)
{
    const char *const own = class->student[student].milestone[m].submission;
    for (size_t i = 0; i < student; i++)
        if (class->student[i].milestone[m].submission &&
            strcmp(class->student[i].milestone[m].submission, own) == 0)
            return false;
    return true;
}

static enum st_code read_milestone(struct sd_class *class, size_t m, struct gradebook *book,
                                   struct st_error *err)
{
    struct sd_milestone *milestone = &class->milestone[m];
    struct gb_timing_list timings;
    enum st_code code = gb_timing_read(
        book, &timings, err,
        "WHERE subject = 'submission' "
        "AND attempt IN (SELECT attempt FROM grade WHERE milestone = %Q) "
        "AND EXISTS (SELECT * FROM inference i WHERE i.passed AND i.attempt = timing.attempt "
        "AND i.images = timing.images AND i.model = timing.model) ORDER BY images DESC",
        milestone->id);
    if (code)
        return code;
    milestone->images = timings.n ? (size_t)timings.row[0].images : 0;
    milestone->time_s = calloc(class->students + 1, sizeof(double));
    for (size_t i = 0; milestone->time_s && i < class->students; i++) {
        struct sd_points *p = &class->student[i].milestone[m];
        p->op_time_s = p->grade ? time_of(&timings, p->grade->attempt, milestone->images) : NAN;
        if (isfinite(p->op_time_s) && is_first_of_its_submission(class, i, m))
            milestone->time_s[milestone->times++] = p->op_time_s;
    }
    if (milestone->times)
        qsort(milestone->time_s, milestone->times, sizeof(double), ascending);
    gb_timing_free(&timings);
    return ST_OK;
}

enum st_code sd_times_read(struct sd_class *class, struct gradebook *book, struct st_error *err)
{
    enum st_code code = ST_OK;
    for (size_t m = 0; !code && m < class->milestones; m++)
        code = read_milestone(class, m, book, err);
    return code;
}
