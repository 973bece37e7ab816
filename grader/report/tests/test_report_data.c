/* Tests of result.json, the tables and the LaTeX fragments. */
#include "report_fixture.h"

#include "base/tests/test_text.h"
#include "base/tsv.h"

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(report_json);
TestSuite(report_tables, .init = folder_make, .fini = folder_remove);
TestSuite(report_tex);

static char *json_text(const struct gr_result *result)
{
    char *text;
    PRINTED(text, gr_result_write(out, result));
    return text;
}

static cJSON *json_of(const struct gr_result *result)
{
    char *text = json_text(result);
    cr_assert_not_null(text);
    cr_expect(is_utf8(text));
    cJSON *root = cJSON_Parse(text);
    free(text);
    cr_assert_not_null(root);
    return root;
}

static const char *text_at(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    cr_assert_not_null(text, "%s", name);
    return text;
}

static double number_at(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    cr_assert(cJSON_IsNumber(item), "%s", name);
    return item->valuedouble;
}

static const cJSON *entry_of(const cJSON *root, const char *list, int index)
{
    const cJSON *entry = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(root, list), index);
    cr_assert_not_null(entry, "%s[%d]", list, index);
    return entry;
}

Test(report_json, has_all_of_the_grading)
{
    struct gr_result *r = sample_result();
    cJSON *root = json_of(r);
    cr_expect_str_eq(text_at(root, "milestone"), "m1");
    cr_expect_str_eq(text_at(root, "title"), r->title);
    cr_expect_str_eq(text_at(root, "source"), r->source);
    cr_expect_str_eq(text_at(root, "machine"), r->machine);
    cr_expect_str_eq(text_at(root, "timed_on"), r->timed_on);
    cr_expect_eq(number_at(root, "score"), 60);
    cr_expect_eq(number_at(root, "manual_max"), 40);
    cr_expect_str_eq(text_at(entry_of(root, "checks", 0), "status"), "pass");
    cr_expect_str_eq(text_at(entry_of(root, "manual", 0), "name"), "explanation");
    cr_expect_eq(number_at(entry_of(root, "inference", 2), "images"), 10000);
    cr_expect_str_eq(text_at(entry_of(root, "timings", 12), "subject"), "plain loops");
    cr_expect_eq(number_at(cJSON_GetObjectItem(root, "unit_shapes"), "right"), 26);
    cJSON_Delete(root);
    free(r);
}

Test(report_json, numbers_read_back_exactly)
{
    struct gr_result *r = sample_result();
    r->inference[0].op_time_s[0] = 1.0 / 3;
    r->inference[0].max_error = 5e-324;
    r->max_error = 0.1 + 0.2;
    cJSON *root = json_of(r);
    const cJSON *inference = entry_of(root, "inference", 0);
    cr_expect_eq(entry_of(inference, "op_times_s", 0)->valuedouble, 1.0 / 3);
    cr_expect_eq(number_at(inference, "max_error"), 5e-324);
    cr_expect_eq(number_at(root, "max_error"), 0.1 + 0.2);
    cJSON_Delete(root);
    free(r);
}

Test(report_json, a_seed_of_64_bits_keeps_all_digits)
{
    struct gr_result *r = sample_result();
    r->seed = UINT64_MAX;
    char *text = json_text(r);
    cr_expect(strstr(text, "18446744073709551615"));
    free(text);
    free(r);
}

Test(report_json, nan_and_infinity_become_null)
{
    struct gr_result *r = sample_result();
    r->inference[0].expected_correctness = NAN;
    r->max_error = INFINITY;
    cJSON *root = json_of(r);
    cr_expect(
        cJSON_IsNull(cJSON_GetObjectItem(entry_of(root, "inference", 0), "expected_correctness")));
    cr_expect(cJSON_IsNull(cJSON_GetObjectItem(root, "max_error")));
    cJSON_Delete(root);
    free(r);
}

Test(report_json, hostile_strings_read_back_with_only_broken_utf8_replaced)
{
    struct gr_result *r = hostile_result();
    cJSON *root = json_of(r);
    char *repaired = utf8_repair(hostile);
    cr_expect_str_eq(text_at(entry_of(root, "checks", 0), "message"), repaired);
    free(repaired);
    cJSON_Delete(root);
    free(r);
}

/* ---- tables --------------------------------------------------------------------------------- */

static void read_table(const char *name, struct tsv *table)
{
    struct st_error err;
    enum st_code code = tsv_read(in_folder(name), table, &err);
    cr_assert_eq(code, ST_OK, "%s", code ? err.what : "");
}

Test(report_tables, results_have_one_row_a_timed_run)
{
    struct gr_result *r = sample_result();
    FILE *out = fopen(in_folder("results.tsv"), "w");
    gr_results_tsv(out, r);
    fclose(out);
    struct tsv table;
    read_table("results.tsv", &table);
    cr_expect_eq(table.rows, r->timings * 3);
    cr_expect_eq(table.columns, 13);
    size_t row = 3 * 12 + 1; /* plain loops, layer 1, second repeat */
    cr_expect_str_eq(tsv_cell(&table, row, tsv_column(&table, "subject")), "plain loops");
    cr_expect_str_eq(tsv_cell(&table, row, tsv_column(&table, "images")), "100");
    cr_expect_str_eq(tsv_cell(&table, row, tsv_column(&table, "M")), "12");
    cr_expect_str_eq(tsv_cell(&table, row, tsv_column(&table, "W")), "70");
    cr_expect_str_eq(tsv_cell(&table, row, tsv_column(&table, "repeat")), "2");
    cr_expect_eq(strtod(tsv_cell(&table, row, tsv_column(&table, "op_time_s")), NULL), 0.0654);
    tsv_free(&table);
    free(r);
}

Test(report_tables, checks_hold_hostile_strings_unchanged)
{
    struct gr_result *r = hostile_result();
    FILE *out = fopen(in_folder("checks.tsv"), "w");
    gr_checks_tsv(out, r);
    fclose(out);
    struct tsv table;
    read_table("checks.tsv", &table);
    cr_expect_eq(table.rows, r->checks + r->manuals);
    cr_expect_str_eq(tsv_cell(&table, 0, tsv_column(&table, "status")), "fail");
    cr_expect_str_eq(tsv_cell(&table, 0, tsv_column(&table, "message")), hostile);
    cr_expect_str_eq(tsv_cell(&table, 2, tsv_column(&table, "kind")), "manual");
    tsv_free(&table);
    free(r);
}

/* ---- LaTeX ---------------------------------------------------------------------------------- */

static char *tex_of(const struct gr_result *r, int fragment)
{
    static void (*const fragments[])(FILE *, const struct gr_result *) = {
        gr_op_times_tex, gr_speed_up_tex, gr_checks_tex};
    char *text;
    PRINTED(text, fragments[fragment](out, r));
    return text;
}

/* Finds what TeX would reject, without TeX: braces and environments balance, every row ends and has
 * the same number of cells, and special characters are escaped. */
static void expect_sound_tabular(const char *text, int cells)
{
    int depth = 0, ampersands = 0;
    cr_expect_eq(count(text, "\n\\begin{tabular}"), 1);
    cr_expect_eq(count(text, "\\end{tabular}"), 1);
    for (const char *line = strstr(text, "\\midrule\n") + 9;
         *line != '\\' || strncmp(line, "\\bottomrule", 11);) {
        const char *end = strchr(line, '\n');
        ampersands = 0;
        cr_expect(end - line > 3 && memcmp(end - 2, "\\\\", 2) == 0, "%.*s", (int)(end - line),
                  line);
        for (const char *p = line; p < end; p++) {
            if (*p == '\\') {
                p += p[1] != '\0';
                continue;
            }
            depth += (*p == '{') - (*p == '}');
            ampersands += *p == '&';
            cr_expect_not(strchr("%#^~", *p), "%c unescaped in %.*s", *p, (int)(end - line), line);
            cr_expect_geq(depth, 0);
        }
        cr_expect_eq(depth, 0);
        cr_expect(ampersands == cells - 1 ||
                      memmem(line, (size_t)(end - line), "\\multicolumn", 12),
                  "%.*s", (int)(end - line), line);
        line = end + 1;
    }
}

Test(report_tex, fragments_are_sound_tabulars)
{
    /* a hostile model has a separate column; without sizes, there is no column for sizes */
    static const int cells[3][3] = {{7, 7, 7}, {5, 6, 2}, {3, 3, 3}};
    for (int fragment = 0; fragment < 3; fragment++) {
        struct gr_result *results[] = {sample_result(), hostile_result(),
                                       calloc(1, sizeof(struct gr_result))};
        for (int i = 0; i < 3; i++) {
            char *text = tex_of(results[i], fragment);
            if (fragment < 2 || i < 2)
                expect_sound_tabular(text, cells[fragment][i]);
            free(text);
            free(results[i]);
        }
    }
}

Test(report_tex, a_wrong_inference_has_no_time)
{
    struct gr_result *r = sample_result();
    r->inference[0].passed = false;
    char *text = tex_of(r, 0);
    cr_expect_eq(count(text, "outputs wrong"), 2);
    free(text);
    free(r);
}

Test(report_tables, result_json_reads_back_as_the_same_record)
{
    struct gr_result *results[] = {sample_result(), hostile_result()};
    results[0]->speed = (struct gr_speed){100, 0.5e-3, 1.25, NAN, 0.01, 2};
    for (size_t i = 0; i < 2; i++) {
        struct gr_result *again = malloc(sizeof *again);
        results[i]->seed = UINT64_MAX - 1; /* more bits than a double can hold */
        char *first = json_text(results[i]);
        struct st_error err;
        write_text("result.json", first);
        cr_assert_eq(gr_result_read(in_folder("result.json"), GR_NEED_CHECKS, again, &err), ST_OK,
                     "%s", err.what);
        char *second = json_text(again);
        if (i == 0) /* (text that is not UTF-8 is repaired, and may then be cut at another
                       position) */
            cr_expect_str_eq(second, first);
        cr_expect_eq(again->seed, UINT64_MAX - 1);
        free(first), free(second), free(again), free(results[i]);
    }
    static const char *const wrong[] = {"", "{", "[]", "{}", "{\"checks\": 1}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct gr_result *r = malloc(sizeof *r);
        write_text("result.json", wrong[i]);
        cr_expect_eq(gr_result_read(in_folder("result.json"), GR_NEED_CHECKS, r, NULL),
                     ST_BAD_FORMAT, "%s", wrong[i]);
        free(r);
    }
}

/* Reads a result.json with these fields. */
static enum st_code read_fields(const char *fields, enum gr_need need, struct gr_result *to,
                                struct st_error *err)
{
    char text[8192];
    snprintf(text, sizeof text, "{%s}", fields);
    write_text("result.json", text);
    return gr_result_read(in_folder("result.json"), need, to, err);
}

Test(report_json, fields_of_another_type_are_empty_where_they_are_not_needed)
{
    struct gr_result *r = malloc(sizeof *r);
    static const char fields[] =
        "\"milestone\": 1, \"score\": \"9\", \"speed\": 4, \"new\": [[]],"
        "\"inference\": [{\"images\": -1, \"passed\": \"yes\", \"op_times_s\": [1, null]}, 7],"
        "\"timings\": [{\"subject\": \"nobody\", \"layer\": 1e300, \"shape\": []}]";
    cr_assert_eq(read_fields(fields, GR_NEED_OBJECT, r, NULL), ST_OK);
    cr_expect_str_eq(r->milestone, "");
    cr_expect(isnan(r->score) && isnan(r->speed.to_reference));
    cr_expect_eq(r->inferences, 2);
    cr_expect_eq(r->inference[0].images, 0);
    cr_expect_eq(r->inference[0].convs, 2);
    cr_expect(isnan(r->inference[0].op_time_s[1]) && !r->inference[0].passed);
    cr_expect_eq(r->timing[0].subject, GR_SUBMISSION);
    cr_expect_eq(r->timing[0].layer, 0);
    free(r);
}

Test(report_json, text_that_does_not_fit_is_cut_between_two_characters)
{
    struct gr_result *r = malloc(sizeof *r);
    cr_assert_eq(read_fields("\"device\": \"fourteen bytes\xe2\x82\xac\"", GR_NEED_OBJECT, r, NULL),
                 ST_OK);
    cr_expect_str_eq(r->device, "fourteen bytes");
    free(r);
}

Test(report_json, more_checks_than_a_grading_has_are_refused)
{
    struct gr_result *r = malloc(sizeof *r);
    struct st_error err = {0};
    char fields[1024] = "\"checks\": [{}";
    for (size_t i = 1; i < GR_MAX_CHECKS; i++)
        strcat(fields, ",{}");
    strcat(fields, "]");
    cr_expect_eq(read_fields(fields, GR_NEED_CHECKS, r, &err), ST_OK);
    strcpy(strrchr(fields, ']'), ",{}]");
    cr_expect_eq(read_fields(fields, GR_NEED_CHECKS, r, &err), ST_BAD_FORMAT);
    cr_expect(strstr(err.where, "'checks'"), "%s", err.where);
    cr_expect_eq(read_fields(fields, GR_NEED_OBJECT, r, &err), ST_OK);
    free(r);
}
