/* A grading in the gradebook: the attempt and all its rows, stored completely or not at all.
 */
#include "grader/gradebook/gradebook_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum st_code gb_setting_get(struct gradebook *book, const char *name, char **value,
                            struct st_error *err)
{
    struct gb_setting_list list;
    *value = NULL;
    enum st_code code = gb_setting_read(book, &list, err, "WHERE name = %Q", name);
    if (!code && list.n == 1) {
        *value = list.row[0].value;
        list.row[0].value = NULL;
    }
    gb_setting_free(&list);
    return code;
}

/* The tables with rows of an attempt: X(table, its list in struct gb_graded). */
#define PARTS(X)                                                                                   \
    X(check_result, checks) X(inference, inferences) X(timing, timings) X(artefact, artefacts)

static enum st_code put_parts(struct gradebook *book, struct gb_graded *graded,
                              struct st_error *err)
{
    enum st_code code = ST_OK;
#define PUT(table, list)                                                                           \
    for (size_t i = 0; !code && i < graded->list.n; i++) {                                         \
        graded->list.row[i].attempt = graded->attempt.id;                                          \
        code = gb_##table##_put(book, &graded->list.row[i], err);                                  \
    }
    PARTS(PUT)
#undef PUT
    return code;
}

enum st_code gb_graded_store(struct gradebook *book, struct gb_graded *graded, struct st_error *err)
{
    struct gb_attempt *attempt = &graded->attempt;
    enum st_code code = gb_begin(book, err);
    if (code)
        return code;
    attempt->id = 0;
    code = gb_attempt_put(book, attempt, err);
    if (!code) {
        attempt->id = gb_last_id(book);
        code = put_parts(book, graded, err);
    }
    const struct gb_grade grade = {.submission = attempt->submission,
                                   .milestone = attempt->milestone,
                                   .status = attempt->status,
                                   .score = attempt->score,
                                   .max_score = attempt->max_score,
                                   .attempt = attempt->id};
    if (!code)
        code = gb_grade_put(book, &grade, err);
    if (!code)
        code = gb_commit(book, err);
    if (code)
        gb_rollback(book);
    return code;
}

enum st_code gb_graded_read(struct gradebook *book, int64_t attempt, struct gb_graded *graded,
                            struct st_error *err)
{
    memset(graded, 0, sizeof *graded);
    struct gb_attempt_list attempts;
    enum st_code code =
        gb_attempt_read(book, &attempts, err, "WHERE id = %lld", (long long)attempt);
    if (!code && attempts.n == 0)
        code = st_fail(err, ST_NOT_FOUND, "the gradebook has no attempt %" PRId64, attempt);
    if (code)
        return code;
    graded->attempt = attempts.row[0];
    free(attempts.row);
#define READ(table, list)                                                                          \
    if (!code)                                                                                     \
        code = gb_##table##_read(book, &graded->list, err, "WHERE attempt = %lld ORDER BY rowid",  \
                                 (long long)attempt);
    PARTS(READ)
#undef READ
    if (code)
        gb_graded_free(graded);
    return code;
}

void gb_graded_free(struct gb_graded *graded)
{
    struct gb_attempt_list attempt = {1, malloc(sizeof *attempt.row)};
    if (attempt.row) { /* (the reader's own function knows which columns are malloc'd texts) */
        *attempt.row = graded->attempt;
        gb_attempt_free(&attempt);
    }
#define FREE(table, list) gb_##table##_free(&graded->list);
    PARTS(FREE)
#undef FREE
    memset(graded, 0, sizeof *graded);
}
