/* result.json, the interface outside. Numbers are written so that they read back as the same
 * double; what is not finite becomes null; text that is not UTF-8 is repaired. */
#include "grader/report/report.h"
#include "grader/report/report_parts.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static void add_text(cJSON *to, const char *name, const char *text)
{
    char *valid = gr_utf8_repair(text);
    cJSON_AddStringToObject(to, name, valid ? valid : "");
    free(valid);
}

/* cJSON would write 15 digits where they come close enough; these read back the same. */
static cJSON *new_number(double value)
{
    char digits[NUMBER_CHARS];
    return isfinite(value) ? cJSON_CreateRaw(number_exact(digits, value)) : cJSON_CreateNull();
}

static void add_number(cJSON *to, const char *name, double value)
{
    cJSON_AddItemToObject(to, name, new_number(value));
}

static void add_times(cJSON *to, const char *name, const double *seconds, size_t n)
{
    cJSON *times = cJSON_AddArrayToObject(to, name);
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(times, new_number(seconds[i]));
}

/* @return a new object at the end of a list. */
static cJSON *add_entry(cJSON *list)
{
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddItemToArray(list, entry);
    return entry;
}

static void add_check(cJSON *to, const struct gr_check *check)
{
    add_text(to, "name", check->name);
    add_text(to, "text", check->text);
    add_text(to, "status", gr_status_name(check->status));
    add_number(to, "points", check->points);
    add_number(to, "max_points", check->max_points);
    cJSON_AddBoolToObject(to, "required", check->required);
    add_text(to, "pattern", check->pattern);
    add_text(to, "message", check->message);
    add_text(to, "hint", check->hint);
    add_text(to, "map", check->map);
}

static void add_inference(cJSON *to, const struct gr_inference *inference)
{
    add_text(to, "model", inference->model);
    add_number(to, "images", (double)inference->images);
    add_times(to, "op_times_s", inference->op_time_s, (size_t)inference->convs);
    add_number(to, "correctness", inference->correctness);
    add_number(to, "expected_correctness", inference->expected_correctness);
    add_number(to, "max_error", inference->max_error);
    cJSON_AddBoolToObject(to, "passed", inference->passed);
}

static void add_timing(cJSON *to, const struct gr_timing *timing)
{
    add_text(to, "subject", gr_subject_name(timing->subject));
    add_text(to, "model", timing->model);
    add_number(to, "layer", timing->layer);
    cJSON *shape = cJSON_AddObjectToObject(to, "shape");
    add_number(shape, "B", timing->shape.B);
    add_number(shape, "M", timing->shape.M);
    add_number(shape, "C", timing->shape.C);
    add_number(shape, "H", timing->shape.H);
    add_number(shape, "W", timing->shape.W);
    add_number(shape, "K", timing->shape.K);
    add_number(to, "gmac", timing->gmac);
    add_number(to, "median_s", timing->median_s);
    add_times(to, "op_times_s", timing->op_time_s, timing->repeats);
}

static void add_evidence(cJSON *to, const struct gr_evidence *evidence)
{
    add_text(to, "fact", evidence->fact);
    cJSON_AddBoolToObject(to, "holds", evidence->holds);
    add_number(to, "found", evidence->found);
    add_text(to, "text", evidence->text);
}

static void add_speed(cJSON *to, const struct gr_speed *speed)
{
    add_number(to, "images", (double)speed->images);
    add_number(to, "to_reference", speed->to_reference);
    add_number(to, "to_m2", speed->to_baseline);
    add_number(to, "uncertainty", speed->uncertainty);
    add_number(to, "at_most", speed->at_most);
}

char *gr_json_text(const struct gr_result *result)
{
    cJSON *root = cJSON_CreateObject();
    add_text(root, "milestone", result->milestone);
    add_text(root, "title", result->title);
    add_text(root, "technique", result->technique);
    add_text(root, "device", result->device);
    add_text(root, "profile", result->profile);
    add_text(root, "subject", result->subject);
    add_text(root, "source", result->source);
    add_text(root, "version", result->version);
    add_text(root, "date", result->date);
    char seed[32]; /* whole: a double holds 53 bits */
    snprintf(seed, sizeof seed, "%" PRIu64, result->seed);
    cJSON_AddRawToObject(root, "seed", seed);
    add_text(root, "machine", result->machine);
    add_text(root, "timed_on", result->timed_on);
    add_number(root, "timed_from", result->timed_from);
    add_number(root, "timed_until", result->timed_until);
    add_text(root, "compiler", result->compiler);
    add_text(root, "command", result->command);
    cJSON *sandbox = cJSON_AddObjectToObject(root, "sandbox");
    cJSON_AddBoolToObject(sandbox, "on", result->sandboxed);
    add_text(sandbox, "reason", result->not_sandboxed);
    add_text(root, "course_lines", result->course_lines);
    add_number(root, "score", result->score);
    add_number(root, "max_score", result->max_score);
    add_number(root, "manual_max", result->manual_max);
    cJSON *list = cJSON_AddArrayToObject(root, "checks");
    for (size_t i = 0; i < result->checks; i++)
        add_check(add_entry(list), &result->check[i]);
    list = cJSON_AddArrayToObject(root, "manual");
    for (size_t i = 0; i < result->manuals; i++) {
        cJSON *entry = add_entry(list);
        add_text(entry, "name", result->manual[i].name);
        add_number(entry, "max_points", result->manual[i].max_points);
        add_text(entry, "text", result->manual[i].text);
    }
    list = cJSON_AddArrayToObject(root, "inference");
    for (size_t i = 0; i < result->inferences; i++)
        add_inference(add_entry(list), &result->inference[i]);
    list = cJSON_AddArrayToObject(root, "timings");
    for (size_t i = 0; i < result->timings; i++)
        add_timing(add_entry(list), &result->timing[i]);
    list = cJSON_AddArrayToObject(root, "evidence");
    for (size_t i = 0; i < result->evidences; i++)
        add_evidence(add_entry(list), &result->evidence[i]);
    if (result->speed.images)
        add_speed(cJSON_AddObjectToObject(root, "speed"), &result->speed);
    cJSON *shapes = cJSON_AddObjectToObject(root, "unit_shapes");
    add_number(shapes, "run", (double)result->unit_shapes);
    add_number(shapes, "right", (double)result->unit_shapes_right);
    add_number(root, "max_error", result->max_error);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    return text;
}

void gr_json_write(const struct gr_result *result, FILE *out)
{
    char *text = gr_json_text(result);
    if (text)
        fprintf(out, "%s\n", text);
    free(text);
}
