/* Tests of the page, the plots and the index, and of files that cannot be written. */
#include "base/tests/permissions.h"
#include "grader/history/history.h"
#include "report_fixture.h"

#include "base/files.h"
#include "grader/report/report.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(report, .init = folder_make, .fini = folder_remove);
TestSuite(report_plots, .init = folder_make, .fini = folder_remove);
TestSuite(report_index, .init = folder_make, .fini = folder_remove);
TestSuite(report_errors, .init = folder_make, .fini = folder_remove);

static const char *const all_files[] = {
    "results.tsv",       "checks.tsv",         "result.json",        "grading.md",
    "report.html",       "op-times.tex",       "speed-up.tex",       "checks.tex",
    "evidence.tsv",      "plots/op-times.svg", "plots/op-times.png", "plots/op-times.tsv",
    "plots/op-times.gp", "plots/speed-up.svg", "plots/speed-up.png", "plots/speed-up.tsv",
    "plots/speed-up.gp",
};
enum {
    ALL_FILES = sizeof all_files / sizeof *all_files,
    FOLDER_ENTRIES = 10 /* the plots count as one */
};

/* Makes a PATH without gnuplot, for tests that are not about plots. */
static void without_gnuplot(void)
{
    setenv("PATH", in_folder("no-programs"), 1);
}

static void write_report(const struct gr_result *r, const char *name)
{
    struct st_error err;
    enum st_code code = gr_report_write(r, in_folder(name), &err);
    cr_assert_eq(code, ST_OK, "%s: %s", code ? err.what : "", code ? err.where : "");
}

/* ---- the page ------------------------------------------------------------------------------- */

Test(report, writes_every_file_and_nothing_else)
{
    struct gr_result *r = sample_result();
    write_report(r, ".");
    for (int i = 0; i < ALL_FILES; i++)
        cr_expect(file_exists(in_folder(all_files[i])), "%s", all_files[i]);
    cr_expect_eq(folder_entries(), FOLDER_ENTRIES);
    free(r);
}

Test(report, the_same_record_gives_the_same_bytes)
{
    struct gr_result *r = sample_result();
    write_report(r, "a");
    write_report(r, "b");
    for (int i = 0; i < ALL_FILES; i++) {
        char *data[2], name[64];
        size_t bytes[2];
        for (int f = 0; f < 2; f++) {
            snprintf(name, sizeof name, "%c/%s", 'a' + f, all_files[i]);
            cr_assert_eq(file_read(in_folder(name), 16 << 20, &data[f], &bytes[f], NULL), ST_OK);
        }
        cr_expect(bytes[0] == bytes[1] && memcmp(data[0], data[1], bytes[0]) == 0, "%s", name);
        free(data[0]), free(data[1]);
    }
    free(r);
}

Test(report, the_page_says_what_was_graded_where_and_how)
{
    struct gr_result *r = sample_result();
    write_report(r, ".");
    char *page = read_text("grading.md");
    static const char *const lines[] = {
        "# Milestone m1: CPU convolution\n",
        "**Automatic checks: 60 of 60 points.** The instructor gives a further 40 points.",
        "| **Graded** | submission, `labs/m1-cpu-conv/conv.c` |",
        "| **Machine** | Intel(R) Xeon(R) Processor, 2 cores, 23 GiB |",
        "| **Compiler** | gcc 12.2.0, -O3 -march=native |",
        "| **Seed** | 48213377 |",
        "| **ConvLab** | v1.0-3-g0123456 |",
        "| **Date** | 2026-11-20 18:30 UTC |",
        "| **Command** | `./grader m1` |",
        "| Every unit shape is right | ✓ pass | 40 / 40 | all outputs are right |",
        "| | 100 images | 1000 images | 10000 images |",
        "| Correctness | 0.9200 | 0.9030 | 0.8994 |",
        "| Expected | 0.9200 | 0.9030 | 0.8994 |",
        "| Largest error | 3.1e-06 | 3.1e-06 | 3.1e-06 |",
        "| Outputs | ✓ right | ✓ right | ✓ right |",
        "| 100 | 1 | 1×70×70, 12@5 | 2.10 ms | 2.079–2.142 | 62.2 |",
        "| Layer 1 | submission | 2.100 | 21.00 | 210.0 |",
        "| Layer 1 | plain loops | 65.40 (31.1×) | – | – |",
        "| Layer 2 | reference | 3.280 (0.800×) | 32.80 (0.800×) | 328.0 (0.800×) |",
        "](plots/op-times.svg)\\\n*Figure 1. ",
        "](plots/speed-up.svg)\\\n*Figure 2. ",
        "```text\nLoading fashion-mnist data... done\n",
        "## Left for the instructor\n",
        "| The report explains the order of the loops | \\_\\_\\_ / 40 |",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_expect(strstr(page, lines[i]), "%s", lines[i]);
    free(page), free(r);
}

Test(report, the_page_names_the_version_and_what_is_of_earlier_gradings)
{
    struct gr_result *r = sample_result();
    write_report(r, ".");
    char *page = read_text("grading.md");
    cr_expect(!strstr(page, "**Version**") && !strstr(page, "graded earlier"));
    free(page);
    snprintf(r->source_hash, sizeof r->source_hash, "1f09a2b4c6d8%052d", 0);
    strcpy(r->inference[2].graded, "2026-11-19 09:00 UTC");
    strcpy(r->check[1].graded, "2026-11-19 09:00 UTC");
    write_report(r, ".");
    page = read_text("grading.md");
    cr_expect(strstr(page, "| **Version** | `1f09a2b4` |"));
    cr_expect(strstr(page, "| **Graded earlier, of this version** | 10000 images (2026-11-19 "));
    cr_expect_eq(count(page, "all outputs are right (graded 2026-11-19 09:00 UTC) |"), 1);
    free(page), free(r);
}

static void keep_version(struct gr_result *r, char hash)
{
    struct hi_writing w;
    struct st_error err;
    memset(r->source_hash, hash, 64);
    cr_assert_eq(hi_begin(&w, in_folder("."), &err), ST_OK, "%s", err.what);
    cr_assert_eq(hi_commit(&w, r, "text\n", 5, "conv.c", &err), ST_OK, "%s", err.what);
    hi_end(&w);
}

Test(report, the_page_has_op_times_before_and_after)
{
    struct gr_result *r = sample_result();
    keep_version(r, 'a');
    write_report(r, ".");
    char *page = read_text("grading.md");
    cr_expect(!strstr(page, "Since the version before"));
    free(page);
    r->inference[0].op_time_s[0] /= 4;
    keep_version(r, 'b');
    write_report(r, ".");
    page = read_text("grading.md");
    cr_expect(strstr(page, "## Since the version before\n"));
    cr_expect(strstr(page, "Version `aaaaaaaa` (2026-11-20 18:30 UTC) before, `bbbbbbbb` ("));
    cr_expect(strstr(page, "| 100 | 1 | 2.100 | 0.5250 | 4.0 times as fast |"));
    cr_expect(strstr(page, "| 100 | 2 | 4.100 | 4.100 | equal within noise |"));
    free(page), free(r);
}

Test(report, a_failed_check_is_shown_with_pattern_hint_and_map)
{
    without_gnuplot();
    struct gr_result *r = sample_result();
    struct gr_check *check = &r->check[0];
    check->status = GR_FAIL;
    strcpy(check->pattern, "last_row_missing");
    strcpy(check->message, "15 of 26 shapes are wrong\nconv.c:3: warning");
    strcpy(check->hint, "H_out is H - K + 1");
    strcpy(check->map, "...\n___\n");
    r->check[1].status = GR_SKIP;
    strcpy(r->check[1].message, "unit shapes are wrong");
    write_report(r, ".");
    char *page = read_text("grading.md"), *html = read_text("report.html");
    cr_expect(strstr(page, "### Failed: Every unit shape is right\n\n"
                           "**Found:** 15 of 26 shapes are wrong\n\n"
                           "```text\nconv.c:3: warning\n```\n\n"
                           "**Pattern:** `last_row_missing`\n\n"
                           "> **Hint:** H_out is H - K + 1\n\n"
                           "```text\n...\n___\n```\n"));
    cr_expect(strstr(page, "– skip | 20 / 20 | unit shapes are wrong |"));
    cr_expect(strstr(html, "<strong>✗ FAIL</strong>"));
    free(page), free(html), free(r);
}

Test(report, the_html_holds_everything_inside)
{
    struct gr_result *r = sample_result();
    write_report(r, ".");
    char *html = read_text("report.html");
    cr_expect(strstr(html, "<title>Milestone m1: CPU convolution</title>"));
    cr_expect(strstr(html, "name=\"viewport\""));
    cr_expect(strstr(html, "default-src 'none'"));
    cr_expect_eq(count(html, "src=\"data:image/svg+xml;base64,"), 2);
    cr_expect_eq(count(html, "src=\""), 2);
    cr_expect_not(strstr(html, "http://") || strstr(html, "https://"));
    cr_expect_not(strstr(html, "url(") || strstr(html, "@import") || strstr(html, "<link"));
    cr_expect_eq(count(html, "<table>"), 6);
    free(html), free(r);
}

Test(report, hostile_strings_are_text_in_every_format)
{
    struct gr_result *r = hostile_result();
    write_report(r, ".");
    char *html = read_text("report.html"), *page = read_text("grading.md");
    char *svg = read_text("plots/op-times.svg");
    cr_expect(is_utf8(html));
    cr_expect(is_utf8(page));
    cr_expect_not(strstr(html, "<script"));
    cr_expect_eq(count(html, "href="), count(html, "href=\"#s"), "links to its own sections alone");
    cr_expect_not(strstr(html, "http://e.test/i.png\""));
    cr_expect_eq(count(html, "<h1>"), 1);
    cr_expect_eq(count(html, "<table>"), 6, "as many as in a tame report");
    cr_expect_eq(count(html, "<th"), count(html, "</th>") + 6 /* <thead */);
    cr_expect_not(strchr(html, '\x1b'));
    cr_expect_not(strstr(html, "\xe2\x80\xae"));
    cr_expect_not(strstr(svg, "<script"));
    cr_expect_not(file_exists("hacked") || file_exists(in_folder("hacked")));
    cr_expect_eq(folder_entries(), FOLDER_ENTRIES);
    free(html), free(page), free(svg), free(r);
}

/* As sample_result(), with a technique and the times of m2. */
static struct gr_result *gpu_result(const char *text)
{
    struct gr_result *r = sample_result();
    for (size_t i = 0, n = r->timings; i < n; i++) {
        if (r->timing[i].subject != GR_REFERENCE)
            continue;
        struct gr_timing *t = &r->timing[r->timings++];
        *t = r->timing[i];
        t->subject = GR_BASELINE;
        t->median_s *= 5;
    }
    strcpy(r->evidence[0].fact, "x_through_shared");
    snprintf(r->evidence[0].text, sizeof r->evidence[0].text, "%s", text);
    r->evidence[0].found = 0.25;
    r->evidence[1] = r->evidence[0];
    r->evidence[1].holds = true;
    r->evidences = 2;
    r->speed = (struct gr_speed){100, 0.5e-3, 1.25, 0.25, 0, 2};
    return r;
}

Test(report, shows_evidence_and_ratios)
{
    without_gnuplot();
    struct gr_result *r = gpu_result("25% of <b>it</b> | through");
    write_report(r, ".");
    char *page = read_text("grading.md"), *html = read_text("report.html");
    char *json = read_text("result.json"), *table = read_text("evidence.tsv");
    cr_expect(strstr(page, "| **✗** | 25% of"));
    cr_expect(strstr(page, "| ✓ | 25% of"));
    cr_expect(strstr(html, "25% of &lt;b&gt;it&lt;/b&gt; | through"));
    cr_expect(strstr(page, "| All layers | submission |"));
    cr_expect_eq(count(page, "| Layer 1 | m2 | "), 1);
    cr_expect_eq(count(page, " (4.00×) |"), 9, "m2: each layer and all, three sizes");
    cr_expect_eq(count(page, " (0.800×) |"), 9, "the reference, too");
    cr_expect(strstr(json, "\"to_reference\":\t1.25"));
    cr_expect(strstr(json, "\"fact\":\t\"x_through_shared\""));
    cr_expect(strstr(table, "x_through_shared\tno\t0.25\t25% of <b>it</b> | through\n"));
    free(page), free(html), free(json), free(table), free(r);
}

/* A difference within the noise does not count: 0.2% never counts, 4% is noise only if repeats
 * differ as much. */
Test(report, calls_equal_what_is_equal_within_the_noise)
{
    static const struct {
        double factor, spread;
        size_t equal;
    } cases[] = {{1.002, 0, 9}, {1.04, 0, 0}, {1.04, 0.2, 9}, {3, 0.2, 0}};
    without_gnuplot();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct gr_result *r = gpu_result("x");
        for (size_t i = 0; i < r->timings; i++) {
            struct gr_timing *t = &r->timing[i];
            for (size_t k = 0; k < r->timings && t->subject == GR_REFERENCE; k++)
                if (r->timing[k].subject == GR_SUBMISSION && r->timing[k].layer == t->layer &&
                    r->timing[k].shape.B == t->shape.B)
                    t->median_s = cases[c].factor * r->timing[k].median_s;
            for (size_t k = 0; k < t->repeats; k++)
                t->op_time_s[k] = t->median_s * (1 + cases[c].spread * ((double)(k % 3) - 1));
        }
        write_report(r, ".");
        char *page = read_text("grading.md");
        cr_expect_eq(count(page, " (equal) |"), cases[c].equal, "%g with %g: %s", cases[c].factor,
                     cases[c].spread, page);
        free(page), free(r);
    }
}

Test(report, an_empty_record_gives_a_page)
{
    struct gr_result *r = calloc(1, sizeof *r);
    write_report(r, ".");
    char *page = read_text("grading.md");
    cr_expect(strstr(page, "there are no Op Times"));
    free(page), free(r);
}

Test(report, a_record_with_only_the_reference_is_named_so)
{
    without_gnuplot();
    struct gr_result *r = sample_result();
    strcpy(r->subject, "reference");
    for (size_t i = 0; i < r->timings; i++) /* the times can be labelled as the reference's */
        if (r->timing[i].subject == GR_SUBMISSION)
            r->timing[i].layer = 99, r->timing[i].subject = GR_PLAIN_LOOPS;
    cr_expect_eq(gr_graded_subject(r), GR_REFERENCE);
    write_report(r, ".");
    char *page = read_text("grading.md");
    cr_expect(strstr(page, "| **Graded** | reference, "));
    cr_expect(strstr(page, "| Layer 1 | reference | 1.680 |"), "it is not compared with itself");
    cr_expect(strstr(page, "| Layer 1 | plain loops | 65.40 (38.9×) |"));
    free(page), free(r);
}

/* ---- plots ---------------------------------------------------------------------------------- */

Test(report_plots, without_gnuplot_the_page_says_so_once)
{
    struct gr_result *r = sample_result();
    without_gnuplot();
    write_report(r, ".");
    char *page = read_text("grading.md");
    cr_expect_eq(count(page, "Plots skipped: gnuplot is not installed."), 1);
    cr_expect_not(strstr(page, "Figure"));
    cr_expect_eq(folder_entries(), FOLDER_ENTRIES);
    free(page), free(r);
}

Test(report_plots, a_gnuplot_that_fails_leaves_no_plot)
{
    struct gr_result *r = sample_result();
    static const char *const programs[] = {
        "#!/bin/sh\nprintf '%100s</svg>'\nexit 1\n",         /* an error after a complete picture */
        "#!/bin/sh\nprintf '%100s' '<svg>half a picture'\n", /* half a picture, no error */
    };
    setenv("PATH", in_folder("."), 1);
    for (int i = 0; i < 2; i++) {
        write_text("gnuplot", programs[i]);
        chmod(in_folder("gnuplot"), 0755);
        write_report(r, "m1");
        cr_expect_not(file_exists(in_folder("m1/plots/op-times.svg")));
        char *page = read_text("m1/grading.md");
        cr_expect_eq(count(page, "Plots skipped: gnuplot could not draw them."), 1);
        free(page);
    }
    free(r);
}

Test(report_plots, without_a_baseline_there_is_no_plot_of_speed_up_and_none_stays)
{
    struct gr_result *r = sample_result();
    write_report(r, ".");
    cr_assert(file_exists(in_folder("plots/speed-up.svg")));
    r->timings -= 2; /* the plain loops */
    write_report(r, ".");
    cr_expect_not(file_exists(in_folder("plots/speed-up.svg")) ||
                  file_exists(in_folder("plots/speed-up.png")));
    char *page = read_text("grading.md");
    cr_expect(strstr(page, "Plot of speed-up skipped: neither the plain loops nor m2 were timed"));
    cr_expect(strstr(page, "Figure 1"));
    free(page), free(r);
}

Test(report_plots, wrong_inferences_are_not_plotted)
{
    struct gr_result *r = sample_result();
    r->inference[1].passed = false;
    write_report(r, ".");
    char *svg = read_text("plots/op-times.svg");
    cr_expect(strstr(svg, ">10000<"));
    cr_expect_not(strstr(svg, "41.0"), "the time at 1000 images");
    for (size_t i = 0; i < r->inferences; i++)
        r->inference[i].passed = false;
    write_report(r, ".");
    char *page = read_text("grading.md");
    cr_expect(strstr(page, "no inference with right outputs was timed"));
    cr_expect_not(strstr(page, "Figure"));
    cr_expect_not(file_exists(in_folder("plots/op-times.svg")) ||
                  file_exists(in_folder("plots/op-times.png")));
    free(svg), free(page), free(r);
}

Test(report_plots, show_title_units_and_key)
{
    struct gr_result *r = sample_result();
    write_report(r, ".");
    char *svg = read_text("plots/op-times.svg"), *bars = read_text("plots/speed-up.svg");
    static const char *const texts[] = {"m1: Op Time by data-set size", "Op Time, ms", "Images",
                                        "layer 1 (1x70x70, 12@5)", "410"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cr_expect(strstr(svg, texts[i]), "%s", texts[i]);
    cr_expect(strstr(bars, "plain loops") && strstr(bars, "m1 (yours)") && strstr(bars, "31.1"));
    cr_expect(strstr(bars, "m1: speed-up over plain loops, 100 images"));
    free(svg), free(bars), free(r);
}

Test(report_plots, odd_times_and_sizes_are_drawn_or_left_out)
{
    struct gr_result *r = sample_result();
    r->inference[0].images = 1;
    r->inference[1].images = 7;
    r->inference[2].images = 8;
    r->inference[0].op_time_s[0] = 0;
    r->inference[1].op_time_s[0] = NAN;
    r->inference[1].op_time_s[1] = 1e-9;
    r->inference[2].op_time_s[1] = 1e5;
    write_report(r, ".");
    cr_expect(file_exists(in_folder("plots/op-times.svg")) &&
              file_exists(in_folder("plots/op-times.png")));
    free(r);
}

/* ---- index ---------------------------------------------------------------------------------- */

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

/* Points that could not be obtained are explained; points of failed checks and of items without
 * points are not. */
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

Test(report_index, skipped_points_have_their_reason)
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
    cr_expect_eq(count(html, "library_gpu"), 1);
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

/* ---- errors --------------------------------------------------------------------------------- */

Test(report_errors, a_folder_that_is_a_file_is_named_and_untouched)
{
    struct gr_result *r = sample_result();
    struct st_error err;
    write_text("m1", "mine");
    cr_expect_eq(gr_report_write(r, in_folder("m1"), &err), ST_IO);
    cr_expect(strstr(err.what, "cannot create folder"));
    cr_expect(strstr(err.where, "/m1"));
    cr_expect(strstr(err.hint, "--report"));
    char *text = read_text("m1");
    cr_expect_str_eq(text, "mine");
    free(text), free(r);
}

Test(report_errors, a_read_only_folder_is_an_error_and_stays_as_it_was)
{
    struct gr_result *r = sample_result();
    struct st_error err;
    write_report(r, ".");
    size_t entries = folder_entries();
    char *page = read_text("grading.md");
    chmod(in_folder("."), 0555);
    permissions_bind();
    r->seed++;
    r->timings = 0; /* without timings, the plots would be removed */
    cr_expect_eq(gr_report_write(r, in_folder("."), &err), ST_IO);
    cr_expect(strstr(err.what, "Permission denied"));
    chmod(in_folder("."), 0755);
    char *after = read_text("grading.md");
    cr_expect_str_eq(after, page);
    cr_expect_eq(folder_entries(), entries);
    free(page), free(after), free(r);
}

Test(report_errors, a_disk_that_fills_up_leaves_old_files_whole_and_no_parts)
{
    struct gr_result *r = sample_result();
    struct st_error err;
    write_report(r, ".");
    char *old[ALL_FILES];
    for (int i = 0; i < ALL_FILES; i++)
        old[i] = read_text(all_files[i]);
    /* The limit simulates a full disk: only a file's first 1000 bytes fit. */
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit;
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 1000;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    r->seed++;
    enum st_code code = gr_report_write(r, in_folder("."), &err);
    limit.rlim_cur = before;
    setrlimit(RLIMIT_FSIZE, &limit);
    cr_expect_eq(code, ST_IO);
    cr_expect(strstr(err.where, "results.tsv"), "the first that does not fit");
    cr_expect_eq(folder_entries(), FOLDER_ENTRIES, "no temporary file stays");
    for (int i = 0; i < ALL_FILES; i++) {
        char *now = read_text(all_files[i]);
        if (strlen(old[i]) > 1000 && !strstr(all_files[i], ".png"))
            cr_expect_str_eq(now, old[i], "%s", all_files[i]);
        free(now), free(old[i]);
    }
    free(r);
}

Test(report_errors, one_file_that_cannot_be_written_does_not_stop_the_others)
{
    struct gr_result *r = sample_result();
    struct st_error err;
    mkdir(in_folder("checks.tsv"), 0777);
    without_gnuplot();
    cr_expect_eq(gr_report_write(r, in_folder("."), &err), ST_IO);
    cr_expect(strstr(err.where, "checks.tsv"));
    cr_expect(file_exists(in_folder("result.json")) && file_exists(in_folder("report.html")));
    cr_expect_eq(folder_entries(), FOLDER_ENTRIES);
    free(r);
}
