/* Tests of the grader's choice among several findings of the virtual GPU, and of refused calls. */
#include "grader/session/finding.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD "kind\tkernel\tfile\tline\tblock\tthread\tdetail\tcount\n"
#define ROW(kind, kernel, line)                                                                    \
    kind "\t" kernel "\tconv.cu\t" line "\t0,0,0\t1,0,0\tshared memory at 0x40\t3\n"

static struct gr_run told(const char *rows)
{
    struct gr_run run = {0};
    struct tsv table;
    struct st_error err;
    cr_assert_eq(tsv_parse(strdup(rows), strlen(rows), "a test", &table, &err), ST_OK);
    cr_assert(gr_finding_first(&table, "", &run));
    tsv_free(&table);
    return run;
}

Test(finding, is_the_first_one)
{
    struct gr_run run = told(HEAD ROW("out_of_bounds", "conv", "7") ROW("race_raw", "conv", "9"));
    cr_expect_str_eq(run.pattern, "out_of_bounds");
    cr_expect_not_null(strstr(run.message, "conv.cu:7"));
    cr_expect_str_not_empty(run.hint);
}

Test(finding, of_a_copy_that_was_not_waited_for_says_to_wait)
{
    struct gr_run run = told(HEAD ROW("race_raw", "conv", "9"));
    cr_expect_null(strstr(run.hint, "__pipeline_wait_prior"));
    run = told(HEAD "race_raw\tconv\tconv.cu\t9\t0,0,0\t1,0,0\tread while the asynchronous copy of "
                    "thread (1,0,0) is on its way\t3\n");
    cr_expect_not_null(strstr(run.hint, "__pipeline_wait_prior"));
}

Test(finding, is_the_race_that_caused_a_read_of_unset_memory)
{
    struct gr_run run = told(HEAD ROW("uninitialised", "conv", "7") ROW("race_raw", "conv", "9"));
    cr_expect_str_eq(run.pattern, "race_raw");
    cr_expect_not_null(strstr(run.message, "conv.cu:9"));
    run = told(HEAD ROW("uninitialised", "conv", "7") ROW("race_raw", "another", "9"));
    cr_expect_str_eq(run.pattern, "uninitialised");
    run = told(HEAD ROW("race_war", "conv", "7") ROW("barrier_divergence", "conv", "9"));
    cr_expect_str_eq(run.pattern, "barrier_divergence");
}

Test(finding, of_a_barrier_that_waits_for_a_loop_asks_about_the_loop)
{
    struct gr_run run = told(HEAD ROW("barrier_divergence", "conv", "9"));
    cr_expect_not_null(strstr(run.hint, "do not put it inside an if"));
    run = told(HEAD "barrier_divergence\tconv\tconv.cu\t9\t0,0,0\t1,0,0\t63 of 64 threads reached "
                    "the barrier; thread (0,0,0) did not reach it: it does not leave a loop at "
                    "line 7\t1\n");
    cr_expect_not_null(strstr(run.hint, "does this loop end?"));
}

Test(finding, is_a_refused_launch_and_not_a_failed_allocation)
{
    struct gr_device_row row[] = {{.kind = "api", .name = "cudaMalloc", .error = 2},
                                  {.kind = "kernel", .name = "LaunchPad", .error = 1},
                                  {.kind = "api", .name = "cudaLaunchKernel", .error = 0},
                                  {.kind = "api", .name = "cudaLaunchKernel", .error = 1}};
    struct gr_device_record record = {.row = row, .rows = 3};
    struct gr_run run = {0};
    cr_expect_not(gr_finding_refused(&record, NULL, NULL, &run));
    cr_expect_str_empty(run.pattern);
    record.rows = 4;
    cr_expect(gr_finding_refused(&record, NULL, NULL, &run));
    cr_expect_str_eq(run.pattern, "launch_failed");
    cr_expect_str_eq(run.message,
                     "cudaLaunchKernel was refused with cudaErrorInvalidValue (invalid argument)");
}

Test(finding, names_the_line_of_a_call_that_only_the_submission_makes)
{
    struct gr_device_row row = {.kind = "api", .name = "cudaMalloc", .error = 2};
    struct gr_device_record record = {.row = &row, .rows = 1};
    char path[] = "/tmp/finding-XXXXXX.cu";
    const int fd = mkstemps(path, 3);
    const char text[] = "cudaMalloc(&a, 4);\ncudaFree(a);\n";
    cr_assert(fd >= 0 && write(fd, text, sizeof text - 1) == (ssize_t)sizeof text - 1);
    struct gr_run run = {0};
    cr_expect(gr_finding_explain(&record, path, NULL, &run));
    cr_expect_not_null(strstr(run.message, "cudaMalloc was refused"), "%s", run.message);
    row = (struct gr_device_row){.kind = "api", .name = "cudaFree", .error = 1};
    run = (struct gr_run){0};
    cr_expect(gr_finding_explain(&record, path, "cudaFree: already freed", &run));
    cr_expect_not_null(strstr(run.message, ".cu:2 was refused"), "%s", run.message);
    close(fd);
    unlink(path);
}

Test(finding, of_a_race_between_two_lines_asks_for_overlapping_arrays)
{
#define WRITTEN(line)                                                                              \
    "shared memory at 0x20: written by this thread and written by thread (8,0,0) at line " line
    struct gr_run run =
        told(HEAD "race_waw\tconv\tconv.cu\t24\t0,0,0\t1,0,0\t" WRITTEN("30") "\t3\n");
    cr_expect_not_null(strstr(run.hint, "do two arrays"));
    run = told(HEAD "race_waw\tconv\tconv.cu\t30\t0,0,0\t1,0,0\t" WRITTEN("30") "\t3\n");
    cr_expect_null(strstr(run.hint, "do two arrays"));
    cr_expect_not_null(strstr(run.hint, "row length"));
}

Test(finding, outside_of_memory_says_which_tensor_is_as_large)
{
    const struct conv_shape s = {.B = 2, .M = 3, .C = 4, .H = 9, .W = 7, .K = 1};
    struct gr_run run = {
        .pattern = "out_of_bounds",
        .message = "past the end of the 2016-byte allocation from cudaMalloc #12 (1 time)",
        .hint = "as before"};
    gr_finding_name_memory(&s, &run);
    cr_expect_str_eq(
        run.message,
        "past the end of the 2016-byte allocation from cudaMalloc #12, as large as x (1 time)");
    cr_expect_str_eq(run.hint, "as before");
    snprintf(run.message, sizeof run.message,
             "past the end of the 512-byte allocation from cudaMalloc #9");
    gr_finding_name_memory(&s, &run);
    cr_expect_str_eq(run.message, "past the end of the 512-byte allocation from cudaMalloc #9");
    cr_expect_not_null(strstr(run.hint, "sizeof(float)"));
}
