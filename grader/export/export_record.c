#include "grader/export/export_record.h"

#include "base/files.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RESULT_BYTES = 16 << 20 };

static const char *const status_names[] = {"pass", "fail", "skip"};

const char *gx_status_name(enum gx_status status)
{
    return status_names[status];
}

/* ---- reading: the first thing that is not as expected is reported, the rest is not looked at ---- */

struct reader {
    const char *name; /* of the file */
    struct st_error *err;
    bool failed;
};

static void unexpected(struct reader *r, const char *key, const char *expected)
{
    if (r->failed)
        return;
    r->failed = true;
    st_fail(r->err, ST_BAD_FORMAT, "not a result of the grader");
    st_detail(r->err, ST_WHERE, "%s, '%s'", r->name, key);
    st_detail(r->err, ST_EXPECTED, "%s", expected);
    st_detail(r->err, ST_HINT, "export what grader --json or grader class wrote");
}

static const char *text_of(struct reader *r, const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsString(item)) {
        unexpected(r, key, "a string");
        return "";
    }
    return item->valuestring;
}

static double number_of(struct reader *r, const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsNumber(item)) {
        unexpected(r, key, "a number");
        return NAN;
    }
    return item->valuedouble;
}

static enum gx_status status_of(struct reader *r, const cJSON *object)
{
    const char *word = text_of(r, object, "status");
    for (size_t i = 0; i < sizeof status_names / sizeof *status_names; i++)
        if (strcmp(word, status_names[i]) == 0)
            return (enum gx_status)i;
    unexpected(r, "status", "pass, fail or skip");
    return GX_SKIP;
}

static void read_check(struct reader *r, const cJSON *from, struct gx_check *to)
{
    to->name = text_of(r, from, "name");
    to->text = text_of(r, from, "text");
    to->status = status_of(r, from);
    to->points = number_of(r, from, "points");
    to->max_points = number_of(r, from, "max_points");
    const cJSON *required = cJSON_GetObjectItemCaseSensitive(from, "required");
    if (!cJSON_IsBool(required))
        unexpected(r, "required", "true or false");
    to->required = cJSON_IsTrue(required);
    to->message = text_of(r, from, "message");
    to->hint = text_of(r, from, "hint");
    to->map = text_of(r, from, "map");
    if (!(to->points >= 0 && to->points <= to->max_points))
        unexpected(r, to->name, "points from 0 to max_points");
    if (to->status == GX_SKIP && to->points > 0)
        unexpected(r, to->name, "no points for a check that was skipped");
}

static void read_checks(struct reader *r, const cJSON *list, struct gx_record *to)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list) read_check(r, item, &to->check[to->checks++]);
}

/* The Op Time of the largest inference that was right; m0, which grades nothing, has none. */
static void read_op_time(const cJSON *root, struct gx_record *to)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "inference"), *item;
    cJSON_ArrayForEach(item, list)
    {
        const cJSON *images = cJSON_GetObjectItemCaseSensitive(item, "images");
        if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "passed")) ||
            !cJSON_IsNumber(images) || images->valuedouble < (double)to->images)
            continue;
        const cJSON *time;
        double sum = 0;
        cJSON_ArrayForEach(time, cJSON_GetObjectItemCaseSensitive(item, "op_times_s")) sum +=
            cJSON_IsNumber(time) ? time->valuedouble : NAN;
        to->op_time_s = sum;
        to->images = (size_t)images->valuedouble;
    }
}

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

/* A required check that was skipped could not be graded, unless a failed one is the reason: what
 * `grader` says with exit status 2. */
void gx_record_judge(struct gx_record *record)
{
    const struct gx_check *skipped = NULL;
    record->status = "pass";
    for (size_t i = 0; i < record->checks; i++) {
        if (record->check[i].status == GX_FAIL) {
            record->status = "fail";
            return;
        }
        if (record->check[i].status == GX_SKIP && record->check[i].required && !skipped)
            skipped = &record->check[i];
    }
    if (!skipped)
        return;
    char reason[512];
    snprintf(reason, sizeof reason, "%s could not be graded: %s", skipped->name, skipped->message);
    gx_record_set_fault(record, reason);
}

enum st_code gx_record_parse(struct gx_record *to, const char *text, const char *name,
                             const char *submission, struct st_error *err)
{
    struct reader r = {.name = name, .err = err};
    *to = (struct gx_record){0};
    cJSON *root = cJSON_Parse(text);
    if (!cJSON_IsObject(root)) {
        cJSON_Delete(root);
        unexpected(&r, "the whole file", "a JSON object");
        return ST_BAD_FORMAT;
    }
    const char *milestone = text_of(&r, root, "milestone");
    const cJSON *checks = cJSON_GetObjectItemCaseSensitive(root, "checks");
    if (!cJSON_IsArray(checks))
        unexpected(&r, "checks", "a list");
    if (!gx_record_start(to, submission, milestone, (size_t)cJSON_GetArraySize(checks))) {
        r.failed = true;
        st_fail(err, ST_NO_MEMORY, "cannot hold a result in memory");
    }
    cJSON_AddItemToArray(to->strings, root); /* owned by the record from now on */
    if (!r.failed) {
        to->title = text_of(&r, root, "title");
        to->device = text_of(&r, root, "device");
        to->version = text_of(&r, root, "version");
        to->date = text_of(&r, root, "date");
        to->score = number_of(&r, root, "score");
        to->max_score = number_of(&r, root, "max_score");
        read_checks(&r, checks, to);
        read_op_time(root, to);
        gx_record_judge(to);
    }
    if (r.failed)
        gx_record_free(to);
    return r.failed ? (err ? err->code : ST_BAD_FORMAT) : ST_OK;
}

enum st_code gx_record_read(struct gx_record *to, const char *path, const char *submission,
                            struct st_error *err)
{
    char *text;
    size_t bytes;
    *to = (struct gx_record){0};
    enum st_code code = file_read(path, MAX_RESULT_BYTES, &text, &bytes, err);
    if (!code)
        code = gx_record_parse(to, text, path, submission, err);
    free(text);
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
    /* (doubled when full: a power of two) */
    if ((class->records & (class->records - 1)) == 0) {
        size_t room = class->records ? 2 * class->records : 1;
        struct gx_record *more = realloc(class->record, room * sizeof *more);
        if (!more) {
            gx_record_free(record);
            return st_fail(err, ST_NO_MEMORY, "cannot hold a class in memory");
        }
        class->record = more;
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
