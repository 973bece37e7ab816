/* result.json read back into the record that it was written from, so that a report which is made
 * later shows the same as the page of the grading. What is missing in an older file stays empty. */
#include "grader/report/report.h"

#include "base/files.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_JSON_BYTES = 8 << 20 };

static const cJSON *item(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static void read_text(const cJSON *object, const char *name, char *to, size_t room)
{
    const char *text = cJSON_GetStringValue(item(object, name));
    snprintf(to, room, "%s", text ? text : "");
}

#define READ_TEXT(object, name, field) read_text(object, name, field, sizeof(field))

static double read_number(const cJSON *object, const char *name)
{
    const cJSON *number = item(object, name);
    return cJSON_IsNumber(number) ? number->valuedouble : NAN;
}

/* A number that counts something; what cannot be one is 0. */
static size_t read_count(const cJSON *object, const char *name)
{
    const double value = read_number(object, name);
    return value >= 0 && value <= 1e9 ? (size_t)value : 0;
}

static size_t read_times(const cJSON *list, double *to, size_t room)
{
    size_t n = 0;
    const cJSON *time;
    cJSON_ArrayForEach(time, list)
    {
        if (n < room)
            to[n++] = cJSON_IsNumber(time) ? time->valuedouble : NAN;
    }
    return n;
}

static void read_check(const cJSON *from, struct gr_check *to)
{
    char status[16];
    READ_TEXT(from, "name", to->name);
    READ_TEXT(from, "text", to->text);
    READ_TEXT(from, "status", status);
    to->status = strcmp(status, "pass") == 0   ? GR_PASS
                 : strcmp(status, "fail") == 0 ? GR_FAIL
                                               : GR_SKIP;
    to->points = read_number(from, "points");
    to->max_points = read_number(from, "max_points");
    to->required = cJSON_IsTrue(item(from, "required"));
    READ_TEXT(from, "pattern", to->pattern);
    READ_TEXT(from, "message", to->message);
    READ_TEXT(from, "hint", to->hint);
    READ_TEXT(from, "map", to->map);
}

static void read_inference(const cJSON *from, struct gr_inference *to)
{
    READ_TEXT(from, "model", to->model);
    to->images = read_count(from, "images");
    to->convs = (int)read_times(item(from, "op_times_s"), to->op_time_s, NN_MAX_CONVS);
    to->correctness = read_number(from, "correctness");
    to->expected_correctness = read_number(from, "expected_correctness");
    to->max_error = read_number(from, "max_error");
    to->passed = cJSON_IsTrue(item(from, "passed"));
}

static void read_timing(const cJSON *from, struct gr_timing *to)
{
    char subject[32];
    READ_TEXT(from, "subject", subject);
    for (int s = GR_SUBMISSION; s <= GR_BASELINE; s++)
        if (strcmp(subject, gr_subject_name((enum gr_subject)s)) == 0)
            to->subject = (enum gr_subject)s;
    READ_TEXT(from, "model", to->model);
    to->layer = (int)read_count(from, "layer");
    const cJSON *shape = item(from, "shape");
    to->shape = (struct conv_shape){(int)read_count(shape, "B"), (int)read_count(shape, "M"),
                                    (int)read_count(shape, "C"), (int)read_count(shape, "H"),
                                    (int)read_count(shape, "W"), (int)read_count(shape, "K")};
    to->gmac = read_number(from, "gmac");
    to->median_s = read_number(from, "median_s");
    to->repeats = read_times(item(from, "op_times_s"), to->op_time_s, GR_MAX_REPEATS);
}

static void read_evidence(const cJSON *from, struct gr_evidence *to)
{
    READ_TEXT(from, "fact", to->fact);
    READ_TEXT(from, "text", to->text);
    to->holds = cJSON_IsTrue(item(from, "holds"));
    to->found = read_number(from, "found");
}

/* Reads each entry of a list, as many as the record has room for. */
#define READ_LIST(root, name, array, n, room, read)                                                \
    do {                                                                                           \
        const cJSON *entry_;                                                                       \
        cJSON_ArrayForEach(entry_, item(root, name))                                               \
        {                                                                                          \
            if ((n) < (size_t)(room))                                                              \
                read(entry_, &(array)[(n)++]);                                                     \
        }                                                                                          \
    } while (0)

static void read_manual(const cJSON *from, struct gr_manual *to)
{
    READ_TEXT(from, "name", to->name);
    READ_TEXT(from, "text", to->text);
    to->max_points = read_number(from, "max_points");
}

/* All 64 bits, where a double would keep 53. Quotes within strings are escaped, so that this can
 * only be the name. */
static uint64_t read_seed(const char *text)
{
    const char *seed = strstr(text, "\"seed\":");
    return seed ? strtoull(seed + strlen("\"seed\":"), NULL, 10) : 0;
}

static void read_head(const cJSON *root, struct gr_result *r)
{
    READ_TEXT(root, "milestone", r->milestone);
    READ_TEXT(root, "title", r->title);
    READ_TEXT(root, "technique", r->technique);
    READ_TEXT(root, "device", r->device);
    READ_TEXT(root, "profile", r->profile);
    READ_TEXT(root, "subject", r->subject);
    READ_TEXT(root, "source", r->source);
    READ_TEXT(root, "version", r->version);
    READ_TEXT(root, "date", r->date);
    READ_TEXT(root, "machine", r->machine);
    READ_TEXT(root, "timed_on", r->timed_on);
    r->timed_from = read_number(root, "timed_from");
    r->timed_until = read_number(root, "timed_until");
    READ_TEXT(root, "compiler", r->compiler);
    READ_TEXT(root, "command", r->command);
    READ_TEXT(root, "course_lines", r->course_lines);
    r->score = read_number(root, "score");
    r->max_score = read_number(root, "max_score");
    r->manual_max = read_number(root, "manual_max");
    r->max_error = read_number(root, "max_error");
    const cJSON *sandbox = item(root, "sandbox");
    r->sandboxed = cJSON_IsTrue(item(sandbox, "on"));
    READ_TEXT(sandbox, "reason", r->not_sandboxed);
    const cJSON *shapes = item(root, "unit_shapes");
    r->unit_shapes = read_count(shapes, "run");
    r->unit_shapes_right = read_count(shapes, "right");
}

enum st_code gr_json_read(const char *path, struct gr_result *result, struct st_error *err)
{
    char *text;
    size_t bytes;
    memset(result, 0, sizeof *result);
    enum st_code code = file_read(path, MAX_JSON_BYTES, &text, &bytes, err);
    if (code)
        return code;
    cJSON *root = cJSON_Parse(text);
    result->seed = read_seed(text);
    free(text);
    if (!cJSON_IsObject(root) || !cJSON_IsArray(item(root, "checks"))) {
        cJSON_Delete(root);
        st_fail(err, ST_BAD_FORMAT, "this is no result of a grading");
        return st_detail(err, ST_WHERE, "%s", path), ST_BAD_FORMAT;
    }
    read_head(root, result);
    READ_LIST(root, "checks", result->check, result->checks, GR_MAX_CHECKS, read_check);
    READ_LIST(root, "manual", result->manual, result->manuals, GR_MAX_MANUAL, read_manual);
    READ_LIST(root, "inference", result->inference, result->inferences, GR_MAX_INFERENCES,
              read_inference);
    READ_LIST(root, "timings", result->timing, result->timings, GR_MAX_TIMINGS, read_timing);
    READ_LIST(root, "evidence", result->evidence, result->evidences, GR_MAX_EVIDENCE,
              read_evidence);
    cJSON_Delete(root);
    return ST_OK;
}
