#include "grader/export/export_record.h"

#include "base/array_room.h"
#include "grader/record/result_json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>

/* ---- making -------------------------------------------------------------------------------- */

bool gx_record_start(struct gx_record *to, const char *submission, const char *milestone,
                     size_t checks)
{
    *to = (struct gx_record){
        .score = NAN, .max_score = NAN, .manual = NAN, .op_time_s = NAN, .seconds = NAN};
    to->title = to->device = to->version = to->date = to->comments = "";
    to->strings = cJSON_CreateArray();
    to->check = calloc(checks + 1, sizeof *to->check);
    to->submission = gx_record_keep(to, submission);
    to->milestone = gx_record_keep(to, milestone);
    return to->strings && to->check;
}

const char *gx_record_keep(struct gx_record *record, const char *text)
{
    cJSON *kept = text && *text && record->strings ? cJSON_CreateString(text) : NULL;
    cJSON_AddItemToArray(record->strings, kept);
    return kept ? kept->valuestring : "";
}

void gx_record_set_fault(struct gx_record *record, const char *reason)
{
    record->status = "fault";
    record->score = NAN;
    record->fault = gx_record_keep(record, reason && *reason ? reason : "not graded");
}

/* A required check that was skipped makes the record a fault (`grader` exits with status 2 for such
 * a check), unless another check failed. */
void gx_record_judge(struct gx_record *record)
{
    const struct gx_check *skipped = NULL;
    record->status = "pass";
    for (size_t i = 0; i < record->checks; i++) {
        if (record->check[i].status == GR_FAIL) {
            record->status = "fail";
            return;
        }
        if (record->check[i].status == GR_SKIP && record->check[i].required && !skipped)
            skipped = &record->check[i];
    }
    if (!skipped)
        return;
    char reason[512];
    snprintf(reason, sizeof reason, "%s could not be graded: %s", skipped->name, skipped->message);
    gx_record_set_fault(record, reason);
}

/* ---- from result.json ----------------------------------------------------------------------- */

/* Rejects points outside a grading's range, which could make a score of any size. */
static enum st_code check_points(const struct gr_check *check, const char *name,
                                 struct st_error *err)
{
    const bool in_range = check->points >= 0 && check->points <= check->max_points;
    if (in_range && (check->status != GR_SKIP || check->points == 0))
        return ST_OK;
    st_fail(err, ST_BAD_FORMAT, "not a grading result");
    st_detail(err, ST_WHERE, "%s, '%s'", name, check->name);
    return st_detail(err, ST_EXPECTED, "%s",
                     in_range ? "no points for a check that was skipped"
                              : "points from 0 to max_points");
}

static void take_check(struct gx_record *to, const struct gr_check *from)
{
    to->check[to->checks++] = (struct gx_check){.name = gx_record_keep(to, from->name),
                                                .text = gx_record_keep(to, from->text),
                                                .status = from->status,
                                                .points = from->points,
                                                .max_points = from->max_points,
                                                .required = from->required,
                                                .message = gx_record_keep(to, from->message),
                                                .hint = gx_record_keep(to, from->hint),
                                                .map = gx_record_keep(to, from->map)};
}

/* Reads the Op Time of the largest inference that was right and timed. (m0, which grades nothing,
 * has none.) */
static void take_op_time(struct gx_record *to, const struct gr_result *from)
{
    for (size_t i = 0; i < from->inferences; i++) {
        const struct gr_inference *inference = &from->inference[i];
        if (!inference->passed || inference->images < to->images || isnan(inference->op_time_s[0]))
            continue;
        to->images = inference->images;
        to->op_time_s = 0;
        for (int layer = 0; layer < inference->convs; layer++)
            to->op_time_s += inference->op_time_s[layer];
    }
}

static bool take_result(struct gx_record *to, const struct gr_result *from, const char *submission)
{
    if (!gx_record_start(to, submission, from->milestone, from->checks))
        return false;
    to->title = gx_record_keep(to, from->title);
    to->device = gx_record_keep(to, from->device);
    to->version = gx_record_keep(to, from->version);
    to->date = gx_record_keep(to, from->date);
    to->score = from->score;
    to->max_score = from->max_score;
    for (size_t i = 0; i < from->checks; i++)
        take_check(to, &from->check[i]);
    take_op_time(to, from);
    gx_record_judge(to);
    return true;
}

static enum st_code read_result(const char *path, struct gr_result *result, struct st_error *err)
{
    enum st_code code = gr_result_read(path, GR_NEED_GRADE, result, err);
    for (size_t i = 0; !code && i < result->checks; i++)
        code = check_points(&result->check[i], path, err);
    if (code == ST_BAD_FORMAT)
        st_detail(err, ST_HINT, "export a file written by grader --json or grader class");
    return code;
}

enum st_code gx_record_read(struct gx_record *to, const char *path, const char *submission,
                            struct st_error *err)
{
    *to = (struct gx_record){0};
    struct gr_result *result = malloc(sizeof *result);
    enum st_code code = result ? read_result(path, result, err) : ST_NO_MEMORY;
    if (!code && !take_result(to, result, submission))
        code = ST_NO_MEMORY;
    if (code == ST_NO_MEMORY)
        st_fail(err, code, "out of memory for a result");
    if (code)
        gx_record_free(to);
    free(result);
    return code;
}

void gx_record_free(struct gx_record *record)
{
    free(record->check);
    cJSON_Delete(record->strings);
    *record = (struct gx_record){0};
}

enum st_code gx_class_add(struct gx_class *class, struct gx_record *record, struct st_error *err)
{
    if (!ARRAY_ROOM(class->record, class->records)) {
        gx_record_free(record);
        return st_fail(err, ST_NO_MEMORY, "out of memory for the grades of a class");
    }
    class->record[class->records++] = *record;
    return ST_OK;
}

void gx_class_free(struct gx_class *class)
{
    for (size_t i = 0; i < class->records; i++)
        gx_record_free(&class->record[i]);
    free(class->record);
    *class = (struct gx_class){0};
}
