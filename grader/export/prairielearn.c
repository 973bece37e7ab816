/* PrairieLearn's results.json, as described in https://docs.prairielearn.com/externalGrading/
 * ("Grading results"): the score is a number from 0 to 1, and each test has points.
 *
 * A missing or rejected submission is not gradable: PrairieLearn shows the reason and does not
 * count an attempt. */
#include "grader/export/export_formats.h"
#include "grader/export/format_parts.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

static void add_test(cJSON *list, const struct gx_check *check)
{
    cJSON *test = gx_json_entry(list);
    gx_json_text(test, "name", check->name);
    gx_json_text(test, "description", check->text);
    cJSON_AddNumberToObject(test, "points", check->points);
    cJSON_AddNumberToObject(test, "max_points", check->max_points);
    char *output = gx_check_output(check);
    gx_json_text(test, "output", output);
    free(output);
}

/* Adds the tests. A check that was not requested is omitted, because a test must have points. */
static void add_tests(cJSON *root, const struct gx_record *record)
{
    double points = 0, most = 0;
    cJSON *tests = cJSON_AddArrayToObject(root, "tests");
    for (size_t i = 0; i < record->checks; i++)
        if (gx_check_counts(record, &record->check[i])) {
            points += record->check[i].points;
            most += record->check[i].max_points;
            add_test(tests, &record->check[i]);
        }
    cJSON_AddNumberToObject(root, "score", most > 0 ? points / most : 0);
}

enum st_code gx_prairielearn_write(FILE *out, const struct gx_class *class,
                                   const struct gx_options *options, struct st_error *err)
{
    (void)options;
    const struct gx_record *record = class->record;
    const bool gradable = !gx_record_lacks_submission(record);
    cJSON *root = cJSON_CreateObject();
    cJSON_AddBoolToObject(root, "gradable", gradable);
    if (gradable)
        add_tests(root, record);
    else
        gx_json_text(root, "format_errors", record->check[record->checks - 1].message);
    gx_json_output(root, record);
    return gx_json_print(out, root, false, err);
}
