/* Tests the records of results: the texts for skips and faults, and files that are not results. */
#include "export_fixture.h"

#include "base/tests/temp_folder.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *said_json(const char *format, struct gx_record *record)
{
    char *text = said(format, record);
    cr_assert(text, "%s refuses", format);
    cJSON *root = cJSON_Parse(text);
    free(text);
    return root;
}

Test(exports, a_skip_is_not_a_pass)
{
    struct gx_record record = record_of("skip", 0, false, "not requested", "");
    cr_assert_null(record.fault);
    cJSON *root = said_json("gradescope", &record);
    const cJSON *test = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "tests"), 1);
    cr_expect_null(cJSON_GetObjectItem(test, "status"));
    cr_expect_null(cJSON_GetObjectItem(test, "score"));
    cJSON_Delete(root);
    root = said_json("prairielearn", &record);
    cr_expect_eq(cJSON_GetArraySize(cJSON_GetObjectItem(root, "tests")), 1);
    cr_expect_eq(cJSON_GetObjectItem(root, "score")->valuedouble, 1); /* all requested points */
    cJSON_Delete(root);
    root = said_json("autolab", &record);
    cr_expect_null(cJSON_GetObjectItem(cJSON_GetObjectItem(root, "scores"), "unit_shapes"));
    cr_expect_eq(cJSON_GetObjectItem(cJSON_GetObjectItem(root, "scores"), "builds")->valuedouble,
                 5);
    cJSON_Delete(root);
    root = said_json("check50", &record);
    test = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "results"), 1);
    cr_expect(cJSON_IsNull(cJSON_GetObjectItem(test, "passed")));
    cJSON_Delete(root);
    char *xml = said("junit", &record), *csv = said("csv", &record);
    cr_expect(strstr(xml, "<skipped message=\"not requested\">"), "%s", xml);
    cr_expect(strstr(xml, "skipped=\"1\""));
    cr_expect(strstr(csv, ",5,\r\n"), "an empty cell: %s", csv);
    free(xml);
    free(csv);
    gx_record_free(&record);
}

Test(exports, a_fault_is_not_the_students)
{
    struct gx_record record = record_of("skip", 0, true, "no space on disk", "team a");
    cr_assert(record.fault);
    cr_expect(isnan(record.score));
    cr_expect_null(said("gradescope", &record));
    cr_expect_null(said("autolab", &record));
    cr_expect_null(said("prairielearn", &record));
    be_on_a_runner();
    cr_expect_null(said("classroom50", &record));
    cJSON *root = said_json("check50", &record);
    cr_expect_null(cJSON_GetObjectItem(root, "results"));
    cJSON_Delete(root);
    char *xml = said("junit", &record), *csv = said("csv", &record);
    cr_expect(strstr(xml, "<error type=\"infrastructure\""), "%s", xml);
    cr_expect(strstr(xml, "failures=\"0\" errors=\"1\""), "%s", xml);
    cr_expect(strstr(csv, "team a,m1,fault,,30,,"), "%s", csv);
    free(xml);
    free(csv);
    gx_record_free(&record);
}

/* A skip that follows from a failure is a grade, because no better result was possible. */
Test(exports, a_failure_is_a_grade_although_more_was_skipped)
{
    struct gx_record record = record_of("fail", 0, true, "wrong", "team a");
    record.check[0].status = GR_SKIP;
    gx_record_judge(&record);
    cr_expect_null(record.fault);
    cr_expect_str_eq(record.status, "fail");
    gx_record_free(&record);
}

Test(exports, results_that_are_none_are_rejected)
{
    static const struct {
        const char *replace, *by, *where;
    } cases[] = {{"\"milestone\"", "\"stone\"", "milestone"},
                 {"\"score\":12", "\"score\":\"12\"", "score"},
                 {"\"status\":\"fail\"", "\"status\":\"failed\"", "status"},
                 {"\"required\":true", "\"required\":1", "required"},
                 {"\"points\":7", "\"points\":26", "unit_shapes"},
                 {"\"points\":7", "\"points\":-1", "unit_shapes"},
                 {"\"status\":\"fail\"", "\"status\":\"skip\"", "unit_shapes"},
                 {"\"checks\":[", "\"checks\":[3,", "name"},
                 {"{\"milestone\"", "[\"milestone\"", "the whole file"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = result_text("fail", 7, true, "wrong"), *at = strstr(text, cases[i].replace);
        char changed[8192];
        cr_assert(at, "%s", text);
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, cases[i].by,
                 at + strlen(cases[i].replace));
        struct gx_record record;
        struct st_error err = {0};
        const char *path = temp_file("r.json", changed, strlen(changed));
        cr_expect_eq(gx_record_read(&record, path, "", &err), ST_BAD_FORMAT, "%s", cases[i].by);
        cr_expect(strstr(err.what, "not a grading result"), "%s", err.what);
        cr_expect(strstr(err.where, cases[i].where), "%s: %s", cases[i].by, err.where);
        free(text);
    }
}
