/* Writes Classroom 50's result.json, by its schema classroom50/result/v1:
 * https://github.com/foundation50/classroom50/blob/main/schemas/result-v1.schema.json
 *
 * The student's name comes from environment variables that Classroom 50's runner sets for an
 * autograder (see its wiki/Autograders.md), COMMITTED_AT from platform/classroom50-autograder.py.
 * Points are integers: each check's points are rounded, and the score is their sum. */
#include "grader/export/export_formats.h"
#include "grader/export/format_parts.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>

static const struct {
    const char *key, *variable;
} identity[] = {{"classroom", "CLASSROOM"},
                {"assignment", "ASSIGNMENT"},
                {"assignment_type", "ASSIGNMENT_TYPE"},
                {"owner", "OWNER"},
                {"submission", "SUBMISSION_TAG"},
                {"commit", "COMMIT_URL"},
                {"release", "RELEASE_URL"},
                {"review", "REVIEW_URL"},
                {"datetime", "COMMITTED_AT"}};

static enum st_code add_identity(cJSON *root, struct st_error *err)
{
    for (size_t i = 0; i < sizeof identity / sizeof *identity; i++) {
        const char *value = getenv(identity[i].variable);
        if (!value || !*value) {
            st_fail(err, ST_USAGE, "classroom50 can be written only on Classroom 50's runner");
            st_detail(err, ST_GOT, "%s is not in the environment", identity[i].variable);
            return st_detail(err, ST_HINT, "run: grader export classroom50-autograder");
        }
        gx_json_text(root, identity[i].key, value);
    }
    return ST_OK;
}

static void add_test(cJSON *list, const struct gx_check *check)
{
    cJSON *test = gx_json_entry(list);
    char *output = gx_check_output(check);
    gx_json_text(test, "test-name", check->name);
    cJSON_AddBoolToObject(test, "passed", check->status == GR_PASS);
    cJSON_AddNumberToObject(test, "score", round(check->points));
    cJSON_AddNumberToObject(test, "max-score", round(check->max_points));
    gx_json_text(test, "output", output);
    free(output);
}

enum st_code gx_classroom50_write(FILE *out, const struct gx_class *class,
                                  const struct gx_options *options, struct st_error *err)
{
    (void)options;
    const struct gx_record *record = class->record;
    double score = 0, most = 0;
    cJSON *root = cJSON_CreateObject(), *tests = cJSON_CreateArray();
    cJSON_AddStringToObject(root, "schema", "classroom50/result/v1");
    for (size_t i = 0; i < record->checks; i++)
        if (gx_check_counts(record, &record->check[i])) {
            score += round(record->check[i].points);
            most += round(record->check[i].max_points);
            add_test(tests, &record->check[i]);
        }
    cJSON_AddNumberToObject(root, "score", score);
    cJSON_AddNumberToObject(root, "max-score", most);
    cJSON_AddItemToObject(root, "tests", tests);
    const enum st_code code = add_identity(root, err);
    if (!code)
        return gx_json_print(out, root, false, err);
    cJSON_Delete(root);
    return code;
}
