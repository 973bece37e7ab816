/* Tests of the pages grading.md and report.html. */
#include "report_fixture.h"

#include "base/files.h"
#include "grader/history/history.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(report, .init = folder_make, .fini = folder_remove);

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

Test(report, the_page_names_the_source_the_machine_and_the_command)
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

Test(report, the_page_names_the_version_and_the_parts_of_earlier_gradings)
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
    cr_expect(strstr(page, "| **Kept from earlier gradings** | 10000 images (2026-11-19 "));
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
Test(report, calls_times_within_the_noise_equal)
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
