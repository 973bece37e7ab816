/* Tests of the index of all reports. */
#include "report_fixture.h"

#include "grader/report/report.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

TestSuite(report_index, .init = folder_make, .fini = folder_remove);

Test(report_index, lists_milestones_in_numeric_order)
{
    struct gr_result *r = sample_result();
    write_report(r, "m10");
    without_gnuplot();
    write_report(r, "m2");
    r->inference[2].passed = false;
    r->check[1].required = false;
    r->score = 40;
    write_report(r, "m1");
    write_report(r, "other");
    struct st_error err;
    cr_assert_eq(gr_index_write(in_folder("."), &err), ST_OK);
    char *html = read_text("index.html");
    char *m1 = strstr(html, "href=\"m1/report.html\""),
         *m2 = strstr(html, "href=\"m2/report.html\"");
    char *m10 = strstr(html, "href=\"m10/report.html\"");
    cr_expect(m1 && m2 && m10 && m1 < m2 && m2 < m10);
    cr_expect_not(strstr(html, "other"));
    cr_expect_eq(count(html, "60 of 60 automatic points</p>"), 2);
    cr_expect_eq(count(html, "40 of 40 automatic points checked in this run, 20 not checked</p>"),
                 1);
    cr_expect_eq(count(html, "layer 1: 210 ms, layer 2: 410 ms (10000 images, two-layer)"), 3);
    cr_expect_eq(count(html, "<strong>✗ outputs wrong</strong>"), 1);
    cr_expect_eq(count(html, "<img"), 1, "only m10 was plotted");
    free(html), free(r);
}

Test(report_index, shows_time_and_ratios_as_far_as_they_are_known)
{
    static const struct {
        struct gr_speed speed;
        const char *line;
    } cases[] = {
        {{100, 0.5e-3, 1.25, 0.25, 0, 2}, "<dd>0.500 ms, 1.25× the reference's, 0.250× m2's</dd>"},
        {{5000, 61.25e-3, NAN, NAN, 0, 50}, "<dd>61.2 ms</dd>"},
        {{100, NAN, NAN, 3, 0, 2}, "<dd>3.00× m2's</dd>"},
        {{100, NAN, NAN, NAN, 0, 2}, NULL}};
    without_gnuplot();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gr_result *r = gpu_result("x");
        struct st_error err;
        r->speed = cases[i].speed;
        write_report(r, "m1");
        cr_assert_eq(gr_index_write(in_folder("."), &err), ST_OK);
        char *html = read_text("index.html");
        cr_expect(cases[i].line ? strstr(html, cases[i].line) != NULL
                                : !strstr(html, "Op Times</dt>"),
                  "case %zu", i);
        free(html), free(r);
    }
}

/* Points that could not be obtained are explained; points of failed checks and of items without
 * points are not. */
Test(report_index, skipped_and_failed_points_have_their_reason)
{
    struct gr_result *r = sample_result();
    without_gnuplot();
    write_report(r, "m1");
    r->check[0].status = GR_SKIP;
    r->check[0].max_points = 10;
    snprintf(r->check[0].name, sizeof r->check[0].name, "library_gpu");
    snprintf(r->check[0].message, sizeof r->check[0].message, "there is no GPU <to> use");
    write_report(r, "m2");
    r->check[0].max_points = 0;
    write_report(r, "m3");
    r->check[0].status = GR_FAIL;
    r->check[0].max_points = 10;
    write_report(r, "m4");
    struct st_error err;
    cr_assert_eq(gr_index_write(in_folder("."), &err), ST_OK);
    char *html = read_text("index.html");
    cr_expect_eq(count(html, "10 points, library_gpu: there is no GPU &lt;to&gt; use"), 1);
    cr_expect_eq(count(html, "<dt>Failed</dt><dd><strong>✗ library_gpu</strong>: there is no GPU "
                             "&lt;to&gt; use</dd>"),
                 1);
    cr_expect_eq(count(html, "library_gpu"), 2);
    free(html), free(r);
}

Test(report_index, an_empty_folder_gives_a_page)
{
    struct st_error err;
    cr_assert_eq(gr_index_write(in_folder("."), &err), ST_OK);
    char *html = read_text("index.html");
    cr_expect(strstr(html, "No milestone has been graded yet."));
    free(html);
}

Test(report_index, damaged_results_are_named_and_hostile_ones_are_text)
{
    struct gr_result *r = hostile_result();
    without_gnuplot();
    write_report(r, "m1");
    static const char *const damaged[] = {
        "", "{\"milestone\": \"m2\"", "[]", "{}",
        "{\"inference\":[7,null,{\"images\":\"x\"}],\"score\":{}}"};
    for (int i = 0; i < 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "m%d", i + 2);
        mkdir(in_folder(name), 0777);
        snprintf(name, sizeof name, "m%d/result.json", i + 2);
        write_text(name, damaged[i]);
    }
    struct st_error err;
    cr_assert_eq(gr_index_write(in_folder("."), &err), ST_OK);
    char *html = read_text("index.html");
    cr_expect_eq(count(html, "cannot be read: grade"), 3);
    cr_expect_eq(count(html, "class=\"card\""), 6);
    cr_expect_not(strstr(html, "<script"));
    cr_expect(strstr(html, "&lt;script&gt;"));
    free(html), free(r);
}

Test(report_index, a_missing_folder_is_an_error)
{
    struct st_error err;
    cr_expect_eq(gr_index_write(in_folder("nowhere"), &err), ST_NOT_FOUND);
    cr_expect(strstr(err.where, "nowhere"));
}
