/* Tests every format against its specification (formats/ has schemas, written from the documents
 * that they name), with wrong examples that must be rejected (formats/wrong/), and the texts for
 * skips and faults. */
#include "base/printable.h"
#include "base/checkout.h"
#include "base/files.h"
#include "base/tests/test_text.h"
#include "grader/export/autograders.h"
#include "grader/export/export_formats.h"
#include "grader/export/from_gradebook.h"
#include "grader/gradebook/tests/gradebook_rows.h"
#include "json_schema.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(exports, .init = temp_folder_make, .fini = temp_folder_remove);

static const struct gx_options options = {.visibility = "visible", .stdout_visibility = "hidden"};

/* ---- validators ------------------------------------------------------------------------------ */

static const char *format_path(const char *name)
{
    static char path[PATH_MAX];
    path_format(path, sizeof path, "%s/grader/export/tests/formats/%s", checkout_root(NULL), name);
    return path;
}

static bool schema_says(const char *format, const cJSON *value, char *why, size_t room)
{
    char name[64];
    snprintf(name, sizeof name, "%s.schema.json", format);
    char *text = text_of_file(format_path(name));
    cJSON *schema = cJSON_Parse(text);
    cr_assert(schema, "%s is not JSON", name);
    bool good = value && schema_accepts(schema, value, why, room);
    cJSON_Delete(schema);
    free(text);
    return good;
}

static bool have_xmllint(void)
{
    return system("command -v xmllint >/dev/null 2>&1") == 0;
}

static bool xml_is_valid(const char *text)
{
    char command[3 * PATH_MAX];
    FILE *f = fopen(temp_path("junit.xml"), "w");
    fputs(text, f);
    fclose(f);
    snprintf(command, sizeof command, "xmllint --nonet --noout --schema '%s' '%s' >/dev/null 2>&1",
             format_path("junit.xsd"), temp_path("junit.xml"));
    return system(command) == 0;
}

/* Whether the text is safe to print in a terminal. */
static bool is_harmless(const char *text)
{
    char *plain = strdup(text), *shown = malloc(4 * strlen(text) + 1), *to = plain;
    for (const char *from = text; *from; from++)
        if (strncmp(from, "\r\n", 2) != 0)
            *to++ = *from;
    *to = '\0';
    const bool same = strcmp(text_printable(shown, 4 * strlen(text) + 1, plain), plain) == 0;
    free(plain);
    free(shown);
    return same;
}

/* RFC 4180: rows end with CR LF and have the same length; quotes are only around a field, and
 * doubled inside. In addition, no field may be a formula. */
static bool csv_is_valid(const char *c)
{
    size_t columns = 0;
    for (size_t row = 0; *c; row++) {
        size_t fields = 1;
        for (bool end = false; !end;) {
            bool quoted = *c == '"';
            c += quoted;
            if (*c && strchr("=+-@", *c))
                return false;
            for (; *c && (quoted || !strchr(",\r\n", *c)); c++) {
                if (*c != '"')
                    continue;
                if (!quoted)
                    return false;
                if (c[1] != '"')
                    break;
                c++;
            }
            if (quoted && *c++ != '"')
                return false;
            end = *c != ',';
            fields += !end;
            c += !end;
        }
        if (strncmp(c, "\r\n", 2) != 0 || (row && fields != columns))
            return false;
        columns = fields;
        c += 2;
    }
    return true;
}

/* Chooses the validator for a wrong example, whose name begins with the format. */
static bool is_valid(const char *format, const char *text, char *why, size_t room)
{
    snprintf(why, room, "not valid");
    if (strcmp(format, "junit") == 0)
        return xml_is_valid(text);
    if (strcmp(format, "csv") == 0)
        return csv_is_valid(text) && is_harmless(text);
    cJSON *value = strcmp(format, "workflow") == 0 ? yaml_as_json(text) : cJSON_Parse(text);
    bool good = schema_says(format, value, why, room);
    cJSON_Delete(value);
    return good;
}

Test(exports, wrong_examples_are_rejected)
{
    DIR *folder = opendir(format_path("wrong"));
    cr_assert(folder);
    size_t examples = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (*entry->d_name == '.')
            continue;
        char name[sizeof entry->d_name + 8], format[32], why[512];
        sscanf(entry->d_name, "%31[^-]", format);
        if (strcmp(format, "junit") == 0 && !have_xmllint())
            continue;
        snprintf(name, sizeof name, "wrong/%s", entry->d_name);
        char *text = text_of_file(format_path(name));
        cr_expect_not(is_valid(format, text, why, sizeof why), "%s is accepted", entry->d_name);
        free(text);
        examples++;
    }
    closedir(folder);
    cr_assert_geq(examples, 25);
}

/* ---- records --------------------------------------------------------------------------------- */

/* A result as the grader writes it, with one more check. */
static char *result_text(const char *status, double points, bool required, const char *message)
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

static struct gx_record record_of(const char *status, double points, bool required,
                                  const char *message, const char *submission)
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

/* Exports a record in a format; NULL if the format refuses it. */
static char *said(const char *format, struct gx_record *record)
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

static const char hostile[] =
    "]]> <script>alert(1)</script> \"quoted\", \\ \x01\x1b[31m\n=cmd|' /C calc'!A0 "
    "\xff\xfe \xe2\x80\xae reversed";

/* Exports a record in all formats: each output must be valid, or refused where the format requires
 * a refusal. */
static void expect_valid(struct gx_record record, const char *what)
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

/* Sets the environment variables of Classroom 50's runner. */
static void be_on_a_runner(void)
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

Test(exports, all_formats_are_as_published)
{
    be_on_a_runner();
    expect_valid(record_of("pass", 25, true, "right in all shapes", ""), "passed");
    expect_valid(record_of("fail", 7, true, "wrong", "team a"), "failed");
    expect_valid(record_of("skip", 0, false, "not requested", "team a"), "skipped");
    expect_valid(record_of("skip", 0, true, "no space on disk", "team a"), "fault");
    expect_valid(record_of("fail", 0, true, hostile, hostile), "hostile");
    expect_valid(record_of("skip", 0, true, hostile, hostile), "hostile fault");
    struct gx_record record;
    cr_assert(gx_record_start(&record, "team b", "m3", 0));
    gx_record_set_fault(&record, "the node was lost");
    expect_valid(record, "fault without checks");
    cr_assert(gx_record_start(&record, "=HYPERLINK(\"http://example.org\")", "m3", 0));
    gx_record_set_fault(&record, hostile);
    expect_valid(record, "formula");
}

/* Counts a format's rows in the table of a document like docs/exports.md. */
static size_t documented(const char *text, const char *name)
{
    char row[64];
    size_t rows = 0;
    snprintf(row, sizeof row, "| `%s", name);
    const char *line = strstr(text, "| format | what it is |");
    while (line && *line == '|') {
        rows += strncmp(line, row, strlen(row)) == 0;
        line = strchr(line, '\n');
        line += line != NULL;
    }
    return rows;
}

Test(exports, the_documentation_lists_the_formats)
{
    char path[PATH_MAX];
    path_format(path, sizeof path, "%s/docs/exports.md", checkout_root(NULL));
    char *text = text_of_file(path);
    size_t formats = 0;
    for (const struct gx_format *f = gx_formats; f->name; f++, formats++) {
        char name[32];
        snprintf(name, sizeof name, "%s`", f->name);
        cr_expect_eq(documented(text, name), 1, "docs/exports.md has no row for '%s'", f->name);
    }
    cr_expect_eq(documented(text, ""), formats, "docs/exports.md lists a format that is none");
    cr_expect_eq(documented(text, "excel`"), 0);
    cr_expect_eq(documented("| `csv` | of another table |\n", "csv`"), 0);
    free(text);
}

Test(exports, each_format_has_wrong_examples)
{
    for (const struct gx_format *f = gx_formats; f->name; f++) {
        size_t examples = 0, length = strlen(f->name);
        DIR *folder = opendir(format_path("wrong"));
        for (struct dirent *entry; (entry = readdir(folder));)
            examples +=
                strncmp(entry->d_name, f->name, length) == 0 && entry->d_name[length] == '-';
        closedir(folder);
        cr_expect_gt(examples, 0, "tests/formats/wrong/ has no %s-WHAT", f->name);
    }
}

/* Shows that the validators check something: a document that is cut off is invalid. */
Test(exports, a_cut_document_is_rejected)
{
    be_on_a_runner();
    struct gx_record record = record_of("fail", 7, true, "wrong", "team a");
    for (const struct gx_format *f = gx_formats; f->name; f++) {
        if (strcmp(f->name, "junit") == 0 && !have_xmllint())
            continue;
        char why[512], *text = said(f->name, &record);
        text[strlen(text) - 4] = '\0';
        cr_expect_not(is_valid(f->name, text, why, sizeof why), "%s", f->name);
        free(text);
    }
    gx_record_free(&record);
}

static cJSON *said_json(const char *format, struct gx_record *record)
{
    char *text = said(format, record);
    cr_assert(text, "%s refuses", format);
    cJSON *root = cJSON_Parse(text);
    free(text);
    return root;
}

Test(exports, a_skip_is_no_pass)
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

/* ---- from a gradebook ------------------------------------------------------------------------ */

static void store(struct gradebook *book, const char *name, const char *status, double score)
{
    struct st_error err;
    add_submission(book, name);
    bool graded = strcmp(status, "pass") == 0 || strcmp(status, "fail") == 0;
    struct gb_check_result checks[] = {
        check_row(1, "builds", "pass", 5, 5, "compiles"),
        check_row(2, "unit_shapes", graded ? status : "skip", score - 5, 25, "says")};
    struct gb_inference inference = {.model = "two-layer", .images = 100, .passed = 1};
    struct gb_timing timings[] = {timing_row("submission", 1, 100, 0.25),
                                  timing_row("submission", 2, 100, 0.5),
                                  timing_row("reference", 2, 100, 9)};
    struct gb_graded stored = {.attempt = attempt_row(name, "m1", status, score, 30)};
    stored.attempt.started = 1763686990, stored.attempt.finished = 1763687000;
    stored.attempt.message = "the reason";
    if (graded) {
        stored.checks.n = 2, stored.checks.row = checks;
        stored.inferences.n = 1, stored.inferences.row = &inference;
        stored.timings.n = 3, stored.timings.row = timings;
    }
    cr_assert_eq(gb_graded_store(book, &stored, &err), ST_OK, "%s %s", err.what, err.got);
}

/* Expects the beginning and the end of the text that a student reads first on Gradescope. */
static void expect_says(struct gx_record *record, const char *beginning, const char *end)
{
    char *text = said("gradescope", record);
    cJSON *root = cJSON_Parse(text);
    const char *output = cJSON_GetStringValue(cJSON_GetObjectItem(root, "output"));
    cr_assert_not_null(output);
    const size_t length = strlen(output);
    cr_expect_eq(strncmp(output, beginning, strlen(beginning)), 0, "%s", output);
    cr_assert_geq(length, strlen(end), "%s", output);
    cr_expect_str_eq(output + length - strlen(end), end);
    cJSON_Delete(root);
    free(text);
}

Test(exports, a_gradebook_gives_the_same_records)
{
    be_on_a_runner();
    struct gradebook *book = open_class();
    struct st_error err;
    struct gx_class class;
    store(book, "alice", "pass", 30);
    store(book, "bob", "fail", 12);
    store(book, "carol", "missing", 0);
    store(book, "dave", "fault", NAN);
    store(book, hostile, "fail", 5);
    const struct gb_manual_item items[] = {
        {.submission = "bob", .milestone = "m1", .item = "explanation", .points = 7, .comment = ""},
        {.submission = "bob", .milestone = "m1", .item = "style", .points = 1.5, .comment = ""},
        {.submission = "bob",
         .milestone = "m1",
         .item = "late_days",
         .points = 2,
         .comment = "\"ill\""},
        {.submission = "bob",
         .milestone = "m1",
         .item = "comment",
         .points = NAN,
         .comment = "good"}};
    const char by_hand[] = "good\nexplanation, 7\nlate_days, 2: \"ill\"\nstyle, 1.5\n";
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        cr_assert_eq(gb_manual_item_put(book, &items[i], &err), ST_OK, "%s", err.what);
    cr_assert_eq(gx_class_read(&class, book, NULL, NULL, &err), ST_OK, "%s", err.what);
    cr_assert_eq(class.records, 5);
    cr_expect_eq(class.record[2].manual, 8.5);
    cr_expect(isnan(class.record[1].manual));
    cr_expect_str_eq(class.record[2].comments, by_hand);
    cr_expect_str_eq(class.record[1].comments, "");
    static const char *const status[] = {NULL, "pass", "fail", "missing", "fault"};
    for (size_t i = 1; i < 5; i++)
        cr_expect_str_eq(class.record[i].status, status[i]);
    cr_expect_eq(class.record[1].op_time_s, 0.75);
    cr_expect_eq(class.record[1].seconds, 10);
    cr_expect_str_eq(class.record[1].date, "2025-11-21 01:03 UTC");
    cr_expect_eq(class.record[3].score, 0);
    cr_expect_str_eq(class.record[4].fault, "the reason");
    expect_says(&class.record[1], "m1: CPU convolution. Graded on cpu by ConvLab ", ".");
    expect_says(&class.record[2], "m1: CPU convolution. ", by_hand);
    char *scores = said("autolab", &class.record[3]), *junit = said("junit", &class.record[3]);
    char *not_gradable = said("prairielearn", &class.record[3]);
    cr_expect(strstr(not_gradable, "\"gradable\":\tfalse"), "%s", not_gradable);
    free(not_gradable);
    cr_expect(strstr(scores, "\"inference_10000\":0") && !strstr(scores, "submitted"), "%s",
              scores);
    cr_expect(strstr(junit, "classname=\"convlab.m1.carol\" name=\"submitted\""), "%s", junit);
    free(scores);
    free(junit);
    class.record[3].device = ""; /* as `grader class` stores it */
    expect_says(&class.record[3], "m1: CPU convolution. Looked at by ConvLab ", ".");
    for (size_t i = 0; i < class.records; i++)
        expect_valid(class.record[i], class.record[i].submission); /* also frees the record */
    free(class.record);
    cr_assert_eq(gx_class_read(&class, book, "bob", "m1", &err), ST_OK);
    cr_expect_eq(class.records, 1);
    gx_class_free(&class);
    cr_assert_eq(gx_class_read(&class, book, "eve", NULL, &err), ST_NOT_FOUND);
    gb_close(book);
}

/* ---- autograders ----------------------------------------------------------------------------- */

/* Reads a file written for a platform as the platform does. */
static char *valid_file(const char *format, const char *name)
{
    char why[512], *text = text_of_file(temp_path(name));
    cr_expect(is_valid(format, text, why, sizeof why), "%s\n%s", why, text);
    return text;
}

Test(exports, the_workflow_is_one_that_github_runs)
{
    struct st_error err;
    struct gx_autograder of = {.milestone = "m1,m3,m10", .options = "--quick"};
    cr_assert_eq(gx_actions_workflow(&of, temp_path("w.yml"), &err), ST_OK, "%s", err.what);
    char *text = valid_file("workflow", "w.yml");
    cr_expect(strstr(text, "actions-grade.sh m10 --quick\n"));
    cr_expect(strstr(text, "\"$RUNNER_TEMP/convlab\" m1 m3 m10\n"));
    free(text);
    of.url = "https://example.org/convlab-handout.tar.gz?v=1";
    cr_assert_eq(gx_actions_workflow(&of, temp_path("w.yml"), &err), ST_OK, "%s", err.what);
    text = valid_file("workflow", "w.yml");
    cr_expect(strstr(text, "            'https://example.org/convlab-handout.tar.gz?v=1'\n"));
    free(text);
    of.url = "https://example.org/'; rm -rf ~; '";
    cr_expect_eq(gx_actions_workflow(&of, temp_path("other.yml"), &err), ST_USAGE);
    cr_expect_not(file_exists(temp_path("other.yml")));
}

Test(exports, questions_are_those_of_prairielearn)
{
    struct st_error err;
    struct gx_autograder of = {.milestone = "m3", .options = "", .image = "example/convlab:2026"};
    cr_assert_eq(gx_prairielearn_question(&of, temp_path(""), &err), ST_OK, "%s", err.what);
    char *text = valid_file("question", "info.json"),
         *html = text_of_file(temp_path("question.html"));
    cr_expect(strstr(text, "\"image\":\t\"example/convlab:2026\""), "%s", text);
    cr_expect(strstr(html, "<pl-file-upload file-names=\"conv.cu\">"), "%s", html);
    free(html);
    cr_assert_eq(gx_prairielearn_question(&of, temp_path(""), &err), ST_OK);
    char *again = text_of_file(temp_path("info.json"));
    cr_expect_str_eq(again, text, "another uuid would be another question");
    free(again);
    of.milestone = "m1";
    cr_assert_eq(gx_prairielearn_question(&of, temp_path(""), &err), ST_OK);
    again = valid_file("question", "info.json");
    cr_expect_str_neq(again, text);
    free(again);
    free(text);
    static const char *const bad[] = {NULL, "", "-v", "a b", "$(reboot)", "a\"b"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        of.image = bad[i];
        cr_expect_eq(gx_prairielearn_autograder(&of, temp_path("pl"), &err), ST_USAGE, "%zu", i);
        cr_expect_not(file_exists(temp_path("pl")));
    }
}

Test(exports, autograders_take_no_commands_for_names)
{
    static const struct gx_autograder bad[] = {{.milestone = "m1; reboot", .options = ""},
                                               {.milestone = "m01", .options = ""},
                                               {.milestone = "m1,", .options = ""},
                                               {.milestone = "", .options = ""},
                                               {.milestone = "m1,m3", .options = ""},
                                               {.milestone = "m1", .options = "--quick; reboot"},
                                               {.milestone = "m1", .options = "$(reboot)"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct st_error err;
        cr_expect_eq(gx_gradescope_autograder(&bad[i], temp_path("a.zip"), &err), ST_USAGE, "%zu",
                     i);
        cr_expect_not(file_exists(temp_path("a.zip")));
    }
}
