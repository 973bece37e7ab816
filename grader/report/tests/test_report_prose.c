/* What a student wrote in report.md is never lost. */
#include "report_fixture.h"

#include "base/files.h"
#include "grader/report/report.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(report_prose, .init = folder_make, .fini = folder_remove);

#define PLACE(name, text) "<!-- BEGIN PROSE " name " -->\n" text "<!-- END PROSE -->\n"

/* Grades once more, with other results. Without gnuplot, which these tests do not need. */
static enum st_code regrade(struct gr_result *r, struct st_error *err)
{
    setenv("PATH", in_folder("no-programs"), 1);
    r->seed++;
    r->inference[0].op_time_s[0] *= 1.1;
    return gr_report_write(r, in_folder("m1"), err);
}

static struct gr_result *graded(void)
{
    struct gr_result *r = sample_result();
    struct st_error err;
    cr_assert_eq(regrade(r, &err), ST_OK);
    return r;
}

/* Puts words into a place of report.md. */
static void write_place(const char *name, const char *words)
{
    char begin[80], *page = read_text("m1/report.md");
    snprintf(begin, sizeof begin, "\n<!-- BEGIN PROSE %s -->\n", name);
    char *at = strstr(page, begin), *end;
    cr_assert_not_null(at);
    at += strlen(begin);
    end = strstr(at, "<!-- END PROSE -->");
    char *edited;
    cr_assert_geq(asprintf(&edited, "%.*s%s%s", (int)(at - page), page, words, end), 0);
    write_text("m1/report.md", edited);
    free(page), free(edited);
}

Test(report_prose, survives_ten_regenerations_byte_for_byte)
{
    static const char words[] = "The inner loop read x with a stride.\r\n\n| a | b |\n|---|---|\n"
                                "```c\nfor (;;) /* <!-- not a marker --> */\n\n  trailing  \n"
                                "\xff caf\xc3\xa9 &amp; <b>\n";
    struct gr_result *r = graded();
    struct st_error err;
    write_place("opportunity", words);
    write_place("authors", "Group 7\n");
    write_place("division", "");
    for (int i = 0; i < 10; i++)
        cr_assert_eq(regrade(r, &err), ST_OK);
    char *page = read_text("m1/report.md"), *expected;
    cr_assert_geq(
        asprintf(&expected, "<!-- BEGIN PROSE opportunity -->\n%s<!-- END PROSE -->\n", words), 0);
    cr_expect(strstr(page, expected));
    cr_expect(strstr(page, PLACE("authors", "Group 7\n")));
    cr_expect(strstr(page, PLACE("division", "")));
    cr_expect(strstr(page, PLACE("effect", "(write here)\n")));
    cr_expect_not(file_exists(in_folder("m1/report.md.bak")));
    cr_expect(strstr(page, "| **Seed** | 48213388 |"), "the rest of the page is new");
    free(page), free(expected), free(r);
}

Test(report_prose, an_editor_that_changes_line_ends_changes_nothing)
{
    struct gr_result *r = graded();
    struct st_error err;
    write_place("effect", "It gained a factor of 20.\n");
    char *page = read_text("m1/report.md"), *dos = malloc(2 * strlen(page) + 1), *to = dos;
    for (const char *p = page; *p; p++) {
        if (*p == '\n')
            *to++ = '\r';
        *to++ = *p;
    }
    *to = '\0';
    write_text("m1/report.md", dos);
    cr_expect_eq(regrade(r, &err), ST_OK);
    char *next = read_text("m1/report.md");
    cr_expect(strstr(next, "It gained a factor of 20.\r\n<!-- END"));
    cr_expect_not(file_exists(in_folder("m1/report.md.bak")));
    free(page), free(dos), free(next), free(r);
}

Test(report_prose, words_outside_of_the_places_are_kept_in_a_copy_and_the_page_says_so)
{
    struct gr_result *r = graded();
    struct st_error err;
    write_place("effect", "inside\n");
    char *page = read_text("m1/report.md");
    char *edited = replaced(page, "## Performance\n", "## Performance\n\nOur own remark.\n");
    write_text("m1/report.md", edited);
    cr_expect_eq(regrade(r, &err), ST_OK, "the places are whole: this is no error");
    char *copy = read_text("m1/report.md.bak"), *next = read_text("m1/report.md");
    cr_expect_str_eq(copy, edited);
    cr_expect(strstr(next, PLACE("effect", "inside\n")));
    cr_expect(strstr(next, "It is kept as `report.md.bak`"));
    cr_expect_eq(regrade(r, &err), ST_OK);
    cr_expect_not(file_exists(in_folder("m1/report.md.bak2")), "the note itself is no edit");
    free(page), free(edited), free(copy), free(next), free(r);
}

/* Regrades over a damaged page: it is reported, kept under copy_name, and a place carried over. */
static void expect_kept(struct gr_result *r, const char *damaged, const char *copy_name,
                        const char *still_there)
{
    struct st_error err;
    write_text("m1/report.md", damaged);
    cr_expect_eq(regrade(r, &err), ST_BAD_FORMAT);
    cr_expect(strstr(err.what, "marked places"));
    cr_expect(strstr(err.hint, copy_name));
    char name[64];
    snprintf(name, sizeof name, "m1/%s", copy_name);
    char *copy = read_text(name);
    cr_expect_str_eq(copy, damaged);
    char *next = read_text("m1/report.md");
    cr_expect(strstr(next, still_there));
    cr_expect_eq(count(next, "<!-- BEGIN PROSE"), GR_PLACES);
    cr_expect_eq(count(next, "<!-- END PROSE -->"), GR_PLACES);
    free(copy), free(next);
}

Test(report_prose, a_damaged_page_is_kept_and_what_can_be_found_is_carried_over)
{
    struct gr_result *r = graded();
    write_place("opportunity", "first\n");
    write_place("effect", "second\n");
    char *page = read_text("m1/report.md");
    static const char *const damage[][3] = {
        /* cut, put there instead, place that can still be found */
        {"first\n<!-- END PROSE -->\n", "first\n", PLACE("effect", "second\n")},
        {"<!-- BEGIN PROSE opportunity -->\n", "", PLACE("effect", "second\n")},
        {"<!-- BEGIN PROSE opportunity -->\n", "<!-- BEGIN PROSE mine -->\n",
         PLACE("effect", "second\n")},
        {"second\n", "<!-- BEGIN PROSE effect -->\n", PLACE("opportunity", "first\n")},
        {PLACE("effect", "second\n"), PLACE("effect", "second\n") PLACE("effect", "third\n"),
         PLACE("opportunity", "first\n")},
        {"second\n<!-- END PROSE -->\n", "second", PLACE("opportunity", "first\n")},
    };
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        char name[32], *damaged = replaced(page, damage[i][0], damage[i][1]);
        snprintf(name, sizeof name, i ? "report.md.bak%zu" : "report.md.bak", i + 1);
        expect_kept(r, damaged, name, damage[i][2]);
        free(damaged);
    }
    expect_kept(r, "a page of my own\n", "report.md.bak7", PLACE("effect", "(write here)\n"));
    expect_kept(r, "", "report.md.bak8", PLACE("effect", "(write here)\n"));
    free(page), free(r);
}

Test(report_prose, a_page_that_cannot_be_kept_is_not_replaced)
{
    struct gr_result *r = graded();
    struct st_error err;
    char name[64];
    for (int n = 1; n < 1000; n++) { /* no name is free */
        snprintf(name, sizeof name, n == 1 ? "m1/report.md.bak" : "m1/report.md.bak%d", n);
        write_text(name, "");
    }
    write_text("m1/report.md", "a page of my own\n");
    cr_expect_eq(regrade(r, &err), ST_IO);
    char *page = read_text("m1/report.md");
    cr_expect_str_eq(page, "a page of my own\n");
    free(page), free(r);
}

Test(report_prose, hostile_results_do_not_look_like_places)
{
    struct gr_result *r = hostile_result();
    struct st_error err;
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(regrade(r, &err), ST_OK, "%s", err.what);
        cr_expect_not(file_exists(in_folder("m1/report.md.bak")));
    }
    write_place("effect", "mine\n");
    cr_expect_eq(regrade(r, &err), ST_OK);
    char *page = read_text("m1/report.md");
    cr_expect(strstr(page, PLACE("effect", "mine\n")));
    free(page), free(r);
}

Test(report_prose, is_shown_in_the_html_and_cannot_swallow_what_follows)
{
    struct gr_result *r = graded();
    struct st_error err;
    write_text("other.png", "not of this page");
    write_place("opportunity", "We saw **this**.\n\n```c\nan open fence\n");
    write_place("effect", "<script>alert(1)</script>\n\n[x](javascript:alert(1)) "
                          "![x](http://e.test/x.png) ![y](../other.png)\n");
    cr_assert_eq(regrade(r, &err), ST_OK);
    char *html = read_text("m1/report.html");
    cr_expect(strstr(html, "<p>We saw <strong>this</strong>.</p>"));
    cr_expect(strstr(html, "<h2>Effect and why</h2>"), "the open fence ends with its place");
    cr_expect_not(strstr(html, "<script"));
    cr_expect_not(strstr(html, "href=\"javascript"));
    cr_expect_eq(count(html, "[picture not shown: "), 2);
    cr_expect(strstr(html, "Not written yet"));
    free(html), free(r);
}

Test(report_prose, pictures_beside_the_page_are_put_inside)
{
    struct gr_result *r = graded();
    struct st_error err;
    write_text("m1/timeline.png", "not really a picture");
    write_place("effect", "![the timeline](timeline.png)\n");
    cr_assert_eq(regrade(r, &err), ST_OK);
    char *html = read_text("m1/report.html");
    cr_expect(strstr(html, "src=\"data:image/png;base64,bm90IHJlYWxseSBhIHBpY3R1cmU=\" "
                           "alt=\"the timeline\""));
    free(html), free(r);
}
