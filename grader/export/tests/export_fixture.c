#include "export_fixture.h"

#include "base/tests/temp_folder.h"
#include "format_checks.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

TestSuite(exports, .init = temp_folder_make, .fini = temp_folder_remove);

const char hostile[] =
    "]]> <script>alert(1)</script> \"quoted\", \\ \x01\x1b[31m\n=cmd|' /C calc'!A0 "
    "\xff\xfe \xe2\x80\xae reversed";

char *result_text(const char *status, double points, bool required, const char *message)
{
    cJSON *root = cJSON_CreateObject(), *check;
    cJSON_AddStringToObject(root, "milestone", "m1");
    cJSON_AddStringToObject(root, "title", "CPU convolution");
    cJSON_AddStringToObject(root, "device", "cpu");
    cJSON_AddStringToObject(root, "version", "v1");
    cJSON_AddStringToObject(root, "date", "2026-11-21 01:01 UTC");
    cJSON_AddNumberToObject(root, "score", 5 + points);
    cJSON_AddNumberToObject(root, "max_score", 30);
    cJSON *checks = cJSON_AddArrayToObject(root, "checks");
    for (int i = 0; i < 2; i++) {
        cJSON_AddItemToArray(checks, check = cJSON_CreateObject());
        cJSON_AddStringToObject(check, "name", i ? "unit_shapes" : "builds");
        cJSON_AddStringToObject(check, "text", i ? "All outputs are right" : "Compiles");
        cJSON_AddStringToObject(check, "status", i ? status : "pass");
        cJSON_AddNumberToObject(check, "points", i ? points : 5);
        cJSON_AddNumberToObject(check, "max_points", i ? 25 : 5);
        cJSON_AddBoolToObject(check, "required", !i || required);
        cJSON_AddStringToObject(check, "pattern", "");
        cJSON_AddStringToObject(check, "message", i ? message : "compiles");
        cJSON_AddStringToObject(check, "hint", i ? "look at <b>this</b> & that" : "");
        cJSON_AddStringToObject(check, "map", "");
    }
    cJSON *list = cJSON_AddArrayToObject(root, "inference"), *inference = cJSON_CreateObject();
    cJSON_AddItemToArray(list, inference);
    cJSON_AddNumberToObject(inference, "images", 100);
    cJSON_AddBoolToObject(inference, "passed", true);
    const double times[] = {0.25, 0.5};
    cJSON_AddItemToObject(inference, "op_times_s", cJSON_CreateDoubleArray(times, 2));
    char *text = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    return text;
}

struct gx_record record_of(const char *status, double points, bool required, const char *message,
                           const char *submission)
{
    struct gx_record record;
    struct st_error err;
    char *text = result_text(status, points, required, message);
    const char *path = temp_file("r.json", text, strlen(text));
    cr_assert_eq(gx_record_read(&record, path, submission, &err), ST_OK, "%s: %s", err.what,
                 err.where);
    free(text);
    return record;
}

static const struct gx_options options = {.visibility = "visible", .stdout_visibility = "hidden"};

char *said(const char *format, struct gx_record *record)
{
    char *text = NULL;
    size_t bytes;
    struct st_error err;
    FILE *out = open_memstream(&text, &bytes);
    const struct gx_class class = {.records = 1, .record = record};
    enum st_code code = gx_format_write(gx_format_named(format), out, &class, &options, &err);
    fclose(out);
    if (!code)
        return text;
    free(text);
    return NULL;
}

void expect_valid(struct gx_record record, const char *what)
{
    for (const struct gx_format *f = gx_formats; f->name; f++) {
        char why[512], *text = said(f->name, &record);
        bool refuses = record.fault && f->refuses;
        cr_expect_eq(!text, refuses, "%s, %s", f->name, what);
        if (!text || (strcmp(f->name, "junit") == 0 && !have_xmllint())) {
            free(text);
            continue;
        }
        cr_expect(is_valid(f->name, text, why, sizeof why), "%s, %s: %s\n%s", f->name, what, why,
                  text);
        free(text);
    }
    gx_record_free(&record);
}

void be_on_a_runner(void)
{
    static const char *const variables[][2] = {{"CLASSROOM", "cs"},
                                               {"ASSIGNMENT", "m1"},
                                               {"ASSIGNMENT_TYPE", "individual"},
                                               {"OWNER", "ann"},
                                               {"SUBMISSION_TAG", "submit/1"},
                                               {"COMMIT_URL", "https://example.org/c"},
                                               {"RELEASE_URL", "https://example.org/r"},
                                               {"REVIEW_URL", "https://example.org/c"},
                                               {"COMMITTED_AT", "2026-11-01T10:00:00Z"}};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        setenv(variables[i][0], variables[i][1], 1);
}
