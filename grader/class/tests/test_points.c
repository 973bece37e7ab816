/* Tests of points: items that were not requested, ranks of equal times and of slow submissions, and
 * the noise that justifies a second grading. */
#include "base/files.h"
#include "grader/class/final.h"
#include "grader/class/task.h"
#include "grader/gradebook/tests/gradebook_rows.h"
#include "grader/record/result_json.h"
#include "grader/record/timing.h"

#include <stdlib.h>
#include <string.h>

TestSuite(points, .init = temp_folder_make, .fini = temp_folder_remove);

/* ---- a class of m1 and m3 ------------------------------------------------------------------- */

/* @param check  the check that did not pass; its member required is 0 if it was not requested */
static void grade(struct gradebook *book, const char *name, const char *milestone, double score,
                  struct gb_check_result check, double seconds)
{
    struct st_error err;
    struct gb_inference inference = {.model = "two-layer", .images = 100, .passed = 1};
    struct gb_timing timing = timing_row("submission", 1, 100, seconds);
    struct gb_graded stored = {
        .attempt =
            attempt_row(name, milestone, strcmp(check.status, "fail") ? "pass" : "fail", score, 60),
        .checks = {1, &check},
        .inferences = {1, &inference},
        .timings = {1, &timing}};
    add_submission(book, name);
    cr_assert_eq(gb_graded_store(book, &stored, &err), ST_OK, "%s", err.what);
}

static struct gb_check_result unchecked(void)
{
    struct gb_check_result check = check_row(1, "inference_10000", "skip", 0, 10, "");
    check.required = 0;
    return check;
}

static const struct cl_weights m1_alone = {
    .parts = 1,
    .part = {{.name = "all",
              .weight = 100,
              .kind = CL_RUBRIC,
              .best = 1,
              .milestones = 1,
              .milestone = {{.id = "m1", .automatic = 60}}}}};

Test(points, checks_that_were_not_requested_are_left_out_or_lost_but_not_by_default)
{
    struct gradebook *book = open_class();
    struct cl_final_list list;
    struct st_error err;
    grade(book, "alice", "m1", 50, unchecked(), 1);
    grade(book, "bob", "m1", 25, unchecked(), 1);
    cr_expect_eq(cl_final_make(&list, book, &m1_alone, SD_UNDECIDED, &err), ST_USAGE);
    cr_expect_str_eq(err.got, "inference_10000, 10 points, in 2 grades");
    cr_assert_eq(cl_final_make(&list, book, &m1_alone, SD_OMIT, &err), ST_OK);
    cr_expect_float_eq(list.row[0].total, 100, 1e-9, "50 of 50");
    cr_expect_float_eq(list.row[1].total, 50, 1e-9);
    cl_final_free(&list);
    cr_assert_eq(cl_final_make(&list, book, &m1_alone, SD_LOST, &err), ST_OK);
    cr_expect_float_eq(list.row[0].total, 100 * 5 / 6., 1e-9);
    cl_final_free(&list);
    gb_close(book);
}

Test(points, checks_that_ran_or_do_not_count_need_no_decision)
{
    struct gradebook *book = open_class();
    struct cl_final_list list;
    struct st_error err;
    struct gb_check_result reached = unchecked();
    reached.required = 1;
    grade(book, "alice", "m1", 50, reached, 1);
    grade(book, "alice", "m3", 50, unchecked(), 1);
    cr_assert_eq(cl_final_make(&list, book, &m1_alone, SD_UNDECIDED, &err), ST_OK);
    cr_expect_float_eq(list.row[0].total, 100 * 5 / 6., 1e-9);
    cl_final_free(&list);
    gb_close(book);
}

static const struct cl_weights m1_and_m3 = {
    .parts = 2,
    .part = {{.name = "alone",
              .weight = 10,
              .kind = CL_RUBRIC,
              .best = 1,
              .milestones = 1,
              .milestone = {{.id = "m1", .automatic = 60}}},
             {.name = "together",
              .weight = 20,
              .kind = CL_RUBRIC,
              .best = 1,
              .milestones = 1,
              .milestone = {{.id = "m3", .automatic = 60}}}}};

static void put_in_roster(struct gradebook *book, const char *name, const char *team)
{
    struct st_error err;
    const struct gb_roster row = {.name = (char *)name,
                                  .team = (char *)team,
                                  .display_name = (char *)"",
                                  .email = (char *)"",
                                  .platform_id = (char *)"",
                                  .sis_id = (char *)"",
                                  .section = (char *)""};
    cr_assert_eq(gb_roster_put(book, &row, &err), ST_OK, "%s", err.what);
}

/* Both students hand in m1 alone and m3 together; bob has also handed in m3 alone. */
Test(points, a_team_of_one_milestone_counts_with_submissions_of_one_student)
{
    struct gradebook *book = open_class();
    struct cl_final_list list;
    struct st_error err;
    struct gb_check_result check = check_row(1, "speed", "pass", 5, 5, "");
    grade(book, "alice", "m1", 30, check, 1);
    grade(book, "alice+bob", "m3", 60, check, 1);
    grade(book, "bob", "m1", 60, check, 1);
    grade(book, "bob", "m3", 15, check, 1);
    for (const char *name = "alice\0bob\0"; *name; name += strlen(name) + 1)
        put_in_roster(book, name, "alice+bob");
    cr_assert_eq(cl_final_make(&list, book, &m1_and_m3, SD_LOST, &err), ST_OK);
    cr_expect_float_eq(list.row[0].total, 5 + 20, 1e-9, "%g", list.row[0].total);
    cr_expect_float_eq(list.row[2].total, 10 + 5, 1e-9, "%g", list.row[2].total);
    cl_final_free(&list);
    gb_close(book);
}

/* Bob changes his partner; the roster has one team per milestone. */
Test(points, each_milestone_has_a_team_of_its_own)
{
    static const char *const members[][3] = {{"alice", "m1", "alice+bob"},
                                             {"bob", "m1", "alice+bob"},
                                             {"bob", "m3", "bob+carl"},
                                             {"carl", "m3", "bob+carl"}};
    struct gradebook *book = open_class();
    struct cl_final_list list;
    struct st_error err;
    struct gb_check_result check = check_row(1, "speed", "pass", 5, 5, "");
    grade(book, "alice+bob", "m1", 30, check, 1);
    grade(book, "bob+carl", "m3", 60, check, 1);
    put_in_roster(book, "alice", "alice+bob");
    put_in_roster(book, "bob", "alice+bob");
    put_in_roster(book, "carl", "bob+carl");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const struct gb_member row = {(char *)members[i][0], (char *)members[i][1],
                                      (char *)members[i][2]};
        cr_assert_eq(gb_member_put(book, &row, &err), ST_OK, "%s", err.what);
    }
    cr_assert_eq(cl_final_make(&list, book, &m1_and_m3, SD_LOST, &err), ST_OK);
    cr_assert_eq(list.n, 3);
    cr_expect_float_eq(list.row[0].total, 5, 1e-9, "alice: %g", list.row[0].total);
    cr_expect_float_eq(list.row[1].total, 20, 1e-9, "carl: %g", list.row[1].total);
    cr_expect_str_eq(list.row[2].submission, "bob");
    cr_expect_float_eq(list.row[2].total, 25, 1e-9, "bob: %g", list.row[2].total);
    cl_final_free(&list);
    gb_close(book);
}

/* ---- ranking --------------------------------------------------------------------------------- */

static const struct cl_weights ranking = {.parts = 1,
                                          .part = {{.name = "ranking",
                                                    .weight = 10,
                                                    .kind = CL_RANKING,
                                                    .first = 0.75,
                                                    .second = 0.125,
                                                    .milestones = 1,
                                                    .milestone = {{.id = "m3", .automatic = 60}}}}};

/* Nine students have the same time, except that "i" took a nanosecond more; others failed speed. */
Test(points, a_nanosecond_is_worth_nothing_and_slow_is_not_wrong)
{
    struct gradebook *book = open_class();
    struct cl_final_list list;
    struct st_error err;
    struct gb_check_result slow = check_row(1, "speed", "fail", 0, 5, ""), impossible = slow,
                           wrong = check_row(1, "unit_shapes", "fail", 0, 25, "");
    impossible.pattern = "impossible_time";
    for (const char *name = "a\0b\0c\0d\0e\0f\0g\0h\0i\0"; *name; name += 2)
        grade(book, name, "m3", 60, check_row(1, "speed", "pass", 5, 5, ""),
              *name == 'i' ? 1.00001e-4 : 1e-4);
    grade(book, "slow", "m3", 55, slow, 1.3e-4);
    grade(book, "untrue", "m3", 55, impossible, 1e-9);
    grade(book, "wrong", "m3", 30, wrong, 1e-5);
    cr_assert_eq(cl_final_make(&list, book, &ranking, SD_LOST, &err), ST_OK);
    for (size_t i = 1; i < 9; i++)
        cr_expect_eq(list.row[i].total, list.row[0].total, "%s", list.row[i].submission);
    cr_expect_float_eq(list.row[0].total, 7.5, 1e-9);
    cr_expect(list.row[9].total > 3 && list.row[9].total < 7.4, "%g", list.row[9].total);
    cr_expect_eq(list.row[10].total, 0);
    cr_expect_eq(list.row[11].total, 0);
    cl_final_free(&list);
    gb_close(book);
}

Test(points, times_are_equal_as_far_as_they_are_known)
{
    cr_expect(gr_same_time(1, 0, 1.004, 0) && !gr_same_time(1, 0, 1.006, 0));
    cr_expect(gr_same_time(1, 0.03, 1.04, 0.03) && !gr_same_time(1, 0.03, 1.05, 0.03));
    cr_expect(gr_same_time(INFINITY, 0, INFINITY, 0) && !gr_same_time(1, 0, INFINITY, 0));
    cr_expect_eq(gr_timing_text_uncertainty(""), 0);
    cr_expect_eq(gr_timing_text_uncertainty("1 1 1"), 0);
    cr_expect_gt(gr_timing_text_uncertainty("1 1.5 2 0.9"), 0.2);
}

/* ---- noise ----------------------------------------------------------------------------------- */

static struct gr_result *result;

static struct gr_check *add_check(const char *name, enum gr_status status)
{
    struct gr_check *check = &result->check[result->checks++];
    *check = (struct gr_check){.status = status, .required = true, .max_points = 5};
    snprintf(check->name, sizeof check->name, "%s", name);
    return check;
}

/* Reads back a grading with the given times. @return the verdict. */
static enum cl_verdict read_back(const char *milestone, const char *device, const double times[4],
                                 int status)
{
    static const struct cl_options options;
    struct cl_class class = {.options = &options};
    struct cl_task task = {.submission = "alice",
                           .milestone = (char *)milestone,
                           .source = "in/conv.cu",
                           .seed = 7,
                           .number = 1};
    const struct conv_shape shape = {100, 12, 1, 70, 70, 5};
    struct cl_outcome outcome = {.status = status};
    struct gb_graded graded;
    struct file_out file;
    struct st_error err;
    const char *kind;
    char message[512], folder[PATH_MAX], path[PATH_MAX];
    snprintf(class.files, sizeof class.files, "%s", temp_folder);
    snprintf(result->milestone, sizeof result->milestone, "%s", milestone);
    snprintf(result->device, sizeof result->device, "%s", device);
    result->seed = 7;
    for (int i = 0; i < 4; i++)
        gr_timing_add(gr_timing_of(result, GR_SUBMISSION, "two-layer", 0, &shape), times[i]);
    cl_task_folder(class.files, &task, folder);
    path_format(path, sizeof path, "%s/result.json", folder);
    cr_assert(!dir_make(folder, &err) && !file_out_open(&file, path, &err));
    gr_result_write(file.f, result);
    cr_assert_eq(file_out_commit(&file, &err), ST_OK);
    const enum cl_verdict verdict = cl_task_read(&class, &task, &outcome, &graded, &kind, message);
    cr_assert_neq(verdict, CL_FAULT, "%s: %s", kind, message);
    gb_graded_free(&graded);
    return verdict;
}

static const double quiet[] = {1, 1, 1, 1}, loud[] = {1, 3, 1.8, 2.6};

static void new_result(void)
{
    free(result);
    result = calloc(1, sizeof *result);
    cr_assert(result);
    result->speed = (struct gr_speed){.to_reference = NAN, .to_baseline = NAN};
    add_check("builds", GR_PASS);
}

Test(points, only_noise_that_counts_is_graded_again)
{
    new_result();
    cr_expect_eq(read_back("m1", "cpu", loud, 0), CL_GRADED, "m1 gives no points for time");
    new_result();
    cr_expect_eq(read_back("m2", "gpu", loud, 0), CL_NOISY, "ranked");
    new_result();
    cr_expect_eq(read_back("m2", "gpu", quiet, 0), CL_GRADED);
    new_result();
    add_check("inference_10000", GR_SKIP); /* for example, because memory is too small */
    cr_expect_eq(read_back("m2", "gpu", quiet, 2), CL_GRADED, "a skip is not noise");
    new_result();
    add_check("speed", GR_SKIP);
    result->speed.images = 100;
    result->speed.to_baseline = 3.1;
    cr_expect_eq(read_back("m3", "gpu", quiet, 2), CL_NOISY, "too noisy to be judged");
    result->speed = (struct gr_speed){.images = 5000, .op_time_s = 0.06, .to_baseline = NAN};
    cr_expect_eq(read_back("m3", "gpu", quiet, 2), CL_NOISY, "in milliseconds, too");
    result->speed = (struct gr_speed){.to_baseline = NAN};
    cr_expect_eq(read_back("m3", "gpu", quiet, 2), CL_GRADED, "not timed: nothing was right");
    new_result();
    add_check("speed", GR_SKIP)->required = false;
    cr_expect_eq(read_back("m3", "gpu", quiet, 0), CL_GRADED);
    free(result);
}
