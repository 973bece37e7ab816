/* The result of one grading step of GitHub Classroom: what
 * classroom-resources/autograding-grading-reporter takes from the environment as NAME_RESULTS
 * (base64 of JSON), as its sources read it:
 * https://github.com/classroom-resources/autograding-grading-reporter (src/main.js,
 * src/notify-classroom.js, src/console-results.js). It adds up the tests' scores, so that part of
 * the points counts. */
#include "grader/export/export_formats.h"
#include "grader/export/format_parts.h"
#include "grader/report/report_parts.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

static void add_test(cJSON *list, const struct gx_record *record, const struct gx_check *check)
{
    cJSON *test = gx_json_entry(list);
    const char *status = check->status == GR_PASS         ? "pass"
                         : gx_check_counts(record, check) ? "fail"
                                                          : "error";
    gx_json_text(test, "name", check->name);
    cJSON_AddStringToObject(test, "status", status);
    cJSON_AddNumberToObject(test, "score", check->points);
    char *output = gx_check_output(check);
    gx_json_text(test, "message", output);
    free(output);
}

/* A check that was not asked for is left out: the reporter knows no "skipped". */
static cJSON *result_of(const struct gx_record *record)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddNumberToObject(root, "version", 1);
    bool failed = false;
    double max_score = 0;
    for (size_t i = 0; i < record->checks; i++) {
        failed |= record->check[i].status == GR_FAIL;
        max_score += record->check[i].status == GR_SKIP && !record->check[i].required
                         ? 0
                         : record->check[i].max_points;
    }
    cJSON_AddStringToObject(root, "status", record->fault ? "error" : failed ? "fail" : "pass");
    cJSON_AddNumberToObject(root, "max_score", max_score);
    cJSON *tests = cJSON_AddArrayToObject(root, "tests");
    struct gx_check fault;
    size_t n;
    const struct gx_check *check = gx_checks_or_fault(record, &fault, &n);
    for (size_t i = 0; i < n; i++)
        if (check[i].status != GR_SKIP || check[i].required)
            add_test(tests, record, &check[i]);
    return root;
}

enum st_code gx_github_write(FILE *out, const struct gx_class *class,
                             const struct gx_options *options, struct st_error *err)
{
    (void)options;
    cJSON *root = result_of(class->record);
    char *text = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    if (!text)
        return st_fail(err, ST_NO_MEMORY, "cannot hold the export in memory");
    gr_put_base64(out, text, strlen(text));
    fputc('\n', out);
    free(text);
    return ST_OK;
}
