/* Tests the records that are read from a gradebook. */
#include "export_fixture.h"

#include "grader/export/from_gradebook.h"
#include "grader/gradebook/tests/gradebook_rows.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
