/* Reads from the gradebook what final grades are made of: grades, items and times. */
#include "grader/class/final_parts.h"

#include <string.h>

const char *cl_team_of(const struct cl_source *s, const char *name)
{
    for (size_t i = 0; i < s->roster.n; i++)
        if (strcmp(s->roster.row[i].name, name) == 0)
            return s->roster.row[i].team;
    return "";
}

/* The Op Times that count: those at the largest size at which any submission was right and timed.
 * The same attempt must have a right inference at this size, and no check other than speed may have
 * failed. (An impossible time has a pattern.) */
static const char ranked[] =
#define RIGHT                                                                                      \
    "subject = 'submission' AND attempt IN (SELECT attempt FROM grade) "                           \
    "AND EXISTS (SELECT * FROM inference i "                                                       \
    "WHERE i.passed AND i.attempt = timing.attempt AND i.images = timing.images) "
    "WHERE " RIGHT "AND images = (SELECT max(images) FROM timing WHERE " RIGHT ") "
    "AND NOT EXISTS (SELECT * FROM check_result c WHERE c.attempt = timing.attempt "
    "AND c.status = 'fail' AND (c.name <> 'speed' OR c.pattern <> ''))";
#undef RIGHT

enum st_code cl_source_read(struct cl_source *s, struct gradebook *book, struct st_error *err)
{
    enum st_code code = gb_submission_read(book, &s->submissions, err, "ORDER BY name");
    if (!code)
        code = gb_roster_read(book, &s->roster, err, "");
    if (!code)
        code = gb_member_read(book, &s->members, err, "");
    if (!code)
        code = gb_grade_read(book, &s->grades, err, "ORDER BY submission");
    if (!code)
        code = gb_manual_item_read(book, &s->items, err, "ORDER BY submission");
    if (!code)
        code = gb_timing_read(book, &s->timings, err, ranked);
    if (!code)
        code = sd_unchecked_read(&s->unchecked, book, err);
    if (!code)
        code = sd_lates_make(&s->lates, book, NULL, NULL, err);
    return code;
}

void cl_source_free(struct cl_source *s)
{
    gb_check_result_free(&s->unchecked);
    gb_submission_free(&s->submissions);
    gb_roster_free(&s->roster);
    gb_member_free(&s->members);
    gb_grade_free(&s->grades);
    gb_manual_item_free(&s->items);
    gb_timing_free(&s->timings);
    sd_lates_free(&s->lates);
}
