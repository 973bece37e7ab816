/* The output of `check50 -o json`, as specified in
 * https://cs50.readthedocs.io/projects/check50/en/latest/json_specification/. A check that did not
 * run has "passed": null. If nothing could be checked, "error" replaces "results".
 */
#include "grader/export/export_formats.h"
#include "grader/export/format_parts.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

/* The log is a list of lines. */
static void add_log(cJSON *to, const struct gx_check *check)
{
    cJSON *log = cJSON_AddArrayToObject(to, "log");
    char *text = check->status == GR_SKIP ? NULL : gx_check_output(check), *rest = text, *line;
    while ((line = rest ? strsep(&rest, "\n") : NULL))
        if (*line)
            cJSON_AddItemToArray(log, cJSON_CreateString(line));
    free(text);
}

static void add_cause(cJSON *to, const struct gx_check *check)
{
    if (check->status == GR_PASS) {
        cJSON_AddNullToObject(to, "cause");
        return;
    }
    cJSON *cause = cJSON_AddObjectToObject(to, "cause");
    gx_json_text(cause, "rationale", check->message);
    if (*check->hint)
        gx_json_text(cause, "help", check->hint);
    else
        cJSON_AddNullToObject(cause, "help");
}

static void add_result(cJSON *list, const struct gx_record *record, const struct gx_check *check)
{
    cJSON *result = gx_json_entry(list);
    gx_json_text(result, "name", check->name);
    gx_json_text(result, "description", check->text);
    if (check->status == GR_SKIP)
        cJSON_AddNullToObject(result, "passed");
    else
        cJSON_AddBoolToObject(result, "passed", check->status == GR_PASS);
    add_log(result, check);
    add_cause(result, check);
    cJSON *data = cJSON_AddObjectToObject(result, "data");
    cJSON_AddNumberToObject(data, "points", check->points);
    cJSON_AddNumberToObject(data, "max_points", check->max_points);
    /* All other checks depend on the first: a submission that does not compile has no results for
     * them. */
    if (check == record->check)
        cJSON_AddNullToObject(result, "dependency");
    else
        gx_json_text(result, "dependency", record->check->name);
}

enum st_code gx_check50_write(FILE *out, const struct gx_class *class,
                              const struct gx_options *options, struct st_error *err)
{
    (void)options;
    const struct gx_record *record = class->record;
    cJSON *root = cJSON_CreateObject();
    char slug[64];
    snprintf(slug, sizeof slug, "convlab/%s", record->milestone);
    gx_json_text(root, "slug", slug);
    if (record->fault) {
        cJSON *error = cJSON_AddObjectToObject(root, "error");
        cJSON_AddStringToObject(error, "type", "InfrastructureFault");
        gx_json_text(error, "value", record->fault);
        cJSON_AddArrayToObject(error, "traceback");
        cJSON *actions = cJSON_AddObjectToObject(error, "actions");
        cJSON_AddBoolToObject(actions, "show_traceback", false);
        gx_json_text(actions, "message", record->fault);
        cJSON_AddObjectToObject(error, "data");
    } else {
        cJSON *results = cJSON_AddArrayToObject(root, "results");
        for (size_t i = 0; i < record->checks; i++)
            add_result(results, record, &record->check[i]);
    }
    gx_json_text(root, "version", record->version);
    return gx_json_print(out, root, false, err);
}
