/* Gradescope's results.json, as specified in
 * https://gradescope-autograders.readthedocs.io/en/latest/specs/ ("Output format").
 *
 * If a test has no status, Gradescope compares its score with its maximum to show it as passed or
 * failed. A skipped check is neither, so it has no score, and its text gives the reason. */
#include "grader/export/export_formats.h"
#include "grader/export/format_parts.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>

static void add_test(cJSON *list, const struct gx_record *record, size_t number,
                     const struct gx_options *options)
{
    const struct gx_check *check = &record->check[number - 1];
    cJSON *test = gx_json_entry(list);
    char text[32];
    snprintf(text, sizeof text, "%zu", number);
    cJSON_AddStringToObject(test, "number", text);
    gx_json_text(test, "name", check->text);
    if (gx_check_counts(record, check)) {
        cJSON_AddNumberToObject(test, "score", check->points);
        cJSON_AddNumberToObject(test, "max_score", check->max_points);
    }
    if (check->status != GR_SKIP)
        cJSON_AddStringToObject(test, "status", check->status == GR_PASS ? "passed" : "failed");
    char *output = gx_check_output(check);
    gx_json_text(test, "output", output);
    free(output);
    cJSON_AddStringToObject(test, "output_format", "text");
    cJSON *tags = cJSON_AddArrayToObject(test, "tags");
    cJSON_AddItemToArray(tags, cJSON_CreateString(check->name));
    if (check->status == GR_SKIP)
        cJSON_AddItemToArray(tags, cJSON_CreateString("skipped"));
    cJSON_AddStringToObject(test, "visibility", options->visibility);
}

static void add_leaderboard(cJSON *root, const struct gx_record *record)
{
    cJSON *board = cJSON_AddArrayToObject(root, "leaderboard");
    cJSON *entry = gx_json_entry(board);
    cJSON_AddStringToObject(entry, "name", "Automatic points");
    cJSON_AddNumberToObject(entry, "value", record->score);
    if (!isfinite(record->op_time_s))
        return;
    entry = gx_json_entry(board);
    char name[64];
    snprintf(name, sizeof name, "Op Time, %zu images (ms)", record->images);
    cJSON_AddStringToObject(entry, "name", name);
    cJSON_AddNumberToObject(entry, "value", 1e3 * record->op_time_s);
    cJSON_AddStringToObject(entry, "order", "asc");
}

enum st_code gx_gradescope_write(FILE *out, const struct gx_class *class,
                                 const struct gx_options *options, struct st_error *err)
{
    const struct gx_record *record = class->record;
    cJSON *root = cJSON_CreateObject();
    cJSON_AddNumberToObject(root, "score", record->score);
    if (isfinite(record->seconds))
        cJSON_AddNumberToObject(root, "execution_time", record->seconds);
    gx_json_output(root, record);
    cJSON_AddStringToObject(root, "output_format", "text");
    cJSON_AddStringToObject(root, "visibility", options->visibility);
    cJSON_AddStringToObject(root, "stdout_visibility", options->stdout_visibility);
    cJSON *extra = cJSON_AddObjectToObject(root, "extra_data");
    gx_json_text(extra, "milestone", record->milestone);
    gx_json_text(extra, "version", record->version);
    cJSON_AddNumberToObject(extra, "max_score", record->max_score);
    cJSON *tests = cJSON_AddArrayToObject(root, "tests");
    for (size_t i = 0; i < record->checks; i++)
        add_test(tests, record, i + 1, options);
    add_leaderboard(root, record);
    return gx_json_print(out, root, false, err);
}
