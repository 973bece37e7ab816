/* Tests of markers: complete markers, and texts that are rejected. */
#include "grader/report/template.h"
#include "paper_fixture.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

TestSuite(paper_document, .init = paper_make, .fini = paper_remove);

static enum st_code parse(const char *text, struct pp_document *d, struct st_error *err)
{
    return pp_document_parse(strdup(text), strlen(text), "report.md", d, err);
}

#define BEGIN   "<!-- BEGIN GENERATED m3 a -->\n"
#define END     "<!-- END GENERATED m3 a 00000000 -->\n"
#define BEGIN_B "<!-- BEGIN PROSE m3 b -->\n"
#define END_B   "<!-- END PROSE m3 b -->\n"

Test(paper_document, segments_are_the_whole_text_in_order)
{
    static const char text[] = "before\n<!-- SECTION m3 -->\nx\n" BEGIN "table\n" END
                               "between" BEGIN "\n" BEGIN_B "words\n" END_B "last";
    struct pp_document d;
    struct st_error err;
    cr_assert_eq(parse(text, &d, &err), ST_OK, "%s", err.what);
    size_t at = 0;
    for (size_t i = 0; i < d.segments; i++) {
        cr_assert_eq(d.segment[i].all, d.text + at);
        at += d.segment[i].all_bytes;
    }
    cr_assert_eq(at, sizeof text - 1);
    cr_assert_eq(d.segments, 6);
    cr_assert_str_eq(d.segment[1].section, "m3");
    cr_assert(d.segment[2].edited, "the checksum is another");
    pp_document_free(&d);
}

struct damage {
    char text[240], what[80];
    int line;
};

ParameterizedTestParameters(paper_document, damage_is_one_line_with_its_place)
{
    static struct damage cases[] = {
        {BEGIN "x\n", "\"m3 a\" has no end", 1},
        {"x\n" END, "has no beginning", 2},
        {BEGIN BEGIN_B END_B END, "is inside \"m3 a\"", 2},
        {BEGIN "<!-- SECTION m4 -->\n" END, "is inside \"m3 a\"", 2},
        {BEGIN END BEGIN END, "exists twice, first in line 1", 3},
        {BEGIN_B END_B "<!-- BEGIN GENERATED m3 b -->\n", "exists twice, first in line 1", 3},
        {BEGIN END_B, "does not end block", 2},
        {BEGIN "<!-- END GENERATED m3 other 00000000 -->\n", "does not end block", 2},
        {BEGIN "<!-- END GENERATED m4 a 00000000 -->\n", "does not end block", 2},
        {BEGIN_B "x\n  <!-- END PROSE m3 b -->\n",
         "a marker must be complete and begin in the first column", 3},
        {"> <!-- BEGIN PROSE m3 b -->\n" END_B,
         "a marker must be complete and begin in the first column", 1},
        {"<!-- BEGIN GENERATED m3 a\n" END,
         "a marker must be complete and begin in the first column", 1},
        {"<!-- BEGIN GENERATED m3 -->\n" END,
         "a marker must be complete and begin in the first column", 1},
        {"<!-- BEGIN GENERATED m3 a b c -->\n" END,
         "a marker must be complete and begin in the first column", 1},
        {"<!-- BEGIN GENERATED M3 ../a -->\n" END,
         "a marker must be complete and begin in the first column", 1},
    };
    return cr_make_param_array(struct damage, cases, sizeof cases / sizeof *cases);
}

ParameterizedTest(struct damage *c, paper_document, damage_is_one_line_with_its_place)
{
    struct pp_document d;
    struct st_error err;
    char where[32];
    cr_assert_eq(parse(c->text, &d, &err), ST_BAD_FORMAT, "%s", c->text);
    snprintf(where, sizeof where, "report.md:%d", c->line);
    cr_assert_str_eq(err.where, where, "%s: %s", c->text, err.what);
    cr_assert(strstr(err.what, c->what), "%s: %s", c->text, err.what);
    cr_assert_null(d.text);
}

Test(paper_document, other_comments_are_the_students)
{
    struct pp_document d;
    struct st_error err;
    cr_assert_eq(parse("<!-- SECTION 2 of what I mean -->\n<!-- SECTIONS -->\n<!-- END -->\n"
                       "text <!-- BEGIN PROSE m3 b -->\n",
                       &d, &err),
                 ST_OK);
    cr_assert_eq(d.segments, 1);
    cr_assert_str_empty(d.segment[0].section);
    pp_document_free(&d);
}

Test(paper_document, a_place_is_written_if_more_than_comments_are_in_it)
{
    static const struct {
        const char *text;
        bool written;
    } cases[] = {{"", false},
                 {"<!-- What? -->\n\n(write here)\n", false},
                 {"<!-- open\n", false},
                 {"<!-- What? -->\nBecause.\n", true},
                 {"(write here) x", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert_eq(pp_prose_look(cases[i].text, strlen(cases[i].text)).written, cases[i].written,
                     "%s", cases[i].text);
}

Test(paper_document, any_bytes_are_cut_or_refused)
{
    /* the text cut at every position, and with zero bytes in it */
    struct text report = sample_report();
    for (size_t n = 0; n < report.bytes; n += 37) {
        struct pp_document d;
        struct st_error err;
        char *cut = malloc(n + 1);
        memcpy(cut, report.text, n);
        if (n > 10)
            cut[n / 2] = '\0';
        pp_document_parse(cut, n, "report.md", &d, &err);
        pp_document_free(&d);
    }
    free(report.text);
}

/* ---- templates ------------------------------------------------------------------------------ */

struct wrong {
    char text[160], what[80];
    int line;
};

ParameterizedTestParameters(paper_document, a_wrong_template_is_refused_with_its_line)
{
    static struct wrong cases[] = {
        {"x\n<!-- @tabel a file=\"x\" -->\n", "unknown kind", 2},
        {"<!-- @prose -->\n", "without a name", 1},
        {"<!-- @prose Name -->\n", "without a name", 1},
        {"<!-- @ -->\n", "without a kind", 1},
        {"<!-- @prose a -->\n\n<!-- @figure a -->\n", "same name", 3},
        {"<!-- @prose a question=why -->\n", "key=\"value\"", 1},
        {"<!-- @prose a question=\"why -->\n", "key=\"value\"", 1},
        {"<!-- @prose a\n", "without an end", 1},
        {"x <!-- @prose a -->\n", "first column", 1},
        {"<!-- @prose a --> x\n", "text after", 1},
    };
    return cr_make_param_array(struct wrong, cases, sizeof cases / sizeof *cases);
}

ParameterizedTest(struct wrong *c, paper_document, a_wrong_template_is_refused_with_its_line)
{
    struct gr_template t;
    struct st_error err;
    char where[PATH_MAX];
    write_text("m3.md", c->text);
    cr_assert_eq(gr_template_read(paper_folder(), "m3", &t, &err), ST_BAD_FORMAT, "%s", c->text);
    snprintf(where, sizeof where, "%s/m3.md:%d", paper_folder(), c->line);
    cr_assert_str_eq(err.where, where);
    cr_assert(strstr(err.what, c->what), "%s", err.what);
}

Test(paper_document, an_included_file_is_named_in_its_errors)
{
    struct gr_template t;
    struct st_error err;
    const char *folder = paper_folder();
    cr_assert_eq(mkdir(in_folder("parts"), 0700), 0);
    write_text("m3.md", "a\n<!-- @include one -->\nb\n<!-- @tabel c -->\n");
    write_text("parts/one.md", "x\n<!-- @prose why -->\n");
    cr_assert_eq(gr_template_read(folder, "m3", &t, &err), ST_BAD_FORMAT);
    cr_assert_str_eq(strrchr(err.where, '/'), "/m3.md:4");
    write_text("parts/one.md", "x\n<!-- @tabel c -->\n");
    cr_assert_eq(gr_template_read(folder, "m3", &t, &err), ST_BAD_FORMAT);
    cr_assert(strstr(err.where, "/parts/one.md:2"), "%s", err.where);
    write_text("parts/one.md", "<!-- @include one -->\n");
    cr_assert_eq(gr_template_read(folder, "m3", &t, &err), ST_BAD_FORMAT);
    cr_assert(strstr(err.what, "too many includes"), "%s", err.what);
    write_text("m3.md", "<!-- @include two -->\n");
    cr_assert_eq(gr_template_read(folder, "m3", &t, &err), ST_NOT_FOUND);
    cr_assert(strstr(err.where, "/parts/two.md"), "%s", err.where);
}
