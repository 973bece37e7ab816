#include "grader/standing/unchecked.h"

#include <string.h>

const char *const sd_unchecked_words[] = {"ask", "omit", "lost", NULL};

enum st_code sd_unchecked_read(struct gb_check_result_list *to, struct gradebook *book,
                               struct st_error *err)
{
    return gb_check_result_read(
        book, to, err,
        "WHERE NOT required AND status = 'skip' AND max_points > 0 "
        "AND attempt IN (SELECT attempt FROM grade) ORDER BY attempt, position");
}

double sd_unchecked_points(const struct gb_check_result_list *unchecked, int64_t attempt)
{
    double points = 0;
    for (size_t i = 0; i < unchecked->n; i++)
        if (unchecked->row[i].attempt == attempt)
            points += unchecked->row[i].max_points;
    return points;
}

enum st_code sd_unchecked_refuse(const struct gb_check_result_list *unchecked,
                                 const struct gb_grade_list *grades,
                                 bool (*counts)(const void *of, const char *milestone),
                                 const void *of, struct st_error *err)
{
    for (size_t i = 0; i < unchecked->n; i++) {
        const struct gb_check_result *check = &unchecked->row[i];
        const struct gb_grade *grade = NULL;
        size_t like = 0;
        for (size_t g = 0; g < grades->n && !grade; g++)
            if (grades->row[g].attempt == check->attempt)
                grade = &grades->row[g];
        if (!grade || !counts(of, grade->milestone))
            continue;
        for (size_t k = i; k < unchecked->n; k++)
            like += strcmp(unchecked->row[k].name, check->name) == 0;
        st_fail(err, ST_USAGE, "some gradings left out a check of the rubric");
        st_detail(err, ST_WHERE, "%s %s", grade->submission, grade->milestone);
        st_detail(err, ST_GOT, "%s, %g points, in %zu grade%s", check->name, check->max_points,
                  like, like == 1 ? "" : "s");
        return st_detail(
            err, ST_HINT,
            "--unchecked omit removes its points from the maximum, --unchecked lost counts it as 0; or grade again with the rubric's sizes");
    }
    return ST_OK;
}
