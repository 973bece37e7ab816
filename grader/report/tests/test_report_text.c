/* Tests of escaped strings. */
#include "base/tests/test_text.h"
#include "report_fixture.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef void put_function(FILE *out, const char *text);

static char *put(put_function *function, const char *text)
{
    char *result;
    PRINTED(result, function(out, text));
    return result;
}

static void expect(put_function *function, const char *text, const char *expected)
{
    char *got = put(function, text);
    cr_expect_str_eq(got, expected);
    free(got);
}

Test(report_text, utf8_that_is_well_formed_is_kept)
{
    const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf\n\t";
    char *copy = utf8_repair(text);
    cr_expect_str_eq(copy, text);
    free(copy);
}

Test(report_text, each_byte_that_is_not_utf8_becomes_the_replacement_character)
{
    static const struct {
        const char *text;
        size_t replaced;
    } cases[] = {
        {"\xff", 1},
        {"\xc0\x80", 2},
        {"\xc3", 1},
        {"\xc3(", 1},
        {"\x80", 1},
        {"\xe0\x80\x80", 3},
        {"\xed\xa0\x80", 3},
        {"\xf4\x90\x80\x80", 4},
        {"\xe2\x82", 2},
        {"\xf0\x9f\x98", 3},
        {"\xf5\x80\x80\x80", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *copy = utf8_repair(cases[i].text);
        cr_expect_eq(count(copy, "\xef\xbf\xbd"), cases[i].replaced, "case %zu", i);
        cr_expect(is_utf8(copy), "case %zu", i);
        free(copy);
    }
}

Test(report_text, html_has_no_character_with_a_meaning_left)
{
    expect(gr_put_html, "<a href='x'>\"&amp;\"</a>",
           "&lt;a href=&#39;x&#39;&gt;&quot;&amp;amp;&quot;&lt;/a&gt;");
}

Test(report_text, control_characters_and_direction_marks_are_not_shown)
{
    expect(gr_put_html,
           "a\x1b[31m\xe2\x80\xae"
           "b\x7f",
           "a\xef\xbf\xbd[31m\xef\xbf\xbd"
           "b\xef\xbf\xbd");
}

Test(report_text, latex_special_characters_are_escaped)
{
    expect(gr_put_latex, "100% & $x_1 #2 {a}^b ~ \\end{tabular}",
           "100\\% \\& \\$x\\_1 \\#2 \\{a\\}\\textasciicircum{}b \\textasciitilde{} "
           "\\textbackslash{}end\\{tabular\\}");
    expect(gr_put_latex, "[x] *", "{[}x] {*}");
    expect(gr_put_latex, "中 é\n\n\nnext", "? é next");
}

/* Shows Markdown as a reader sees it: the text of cmark's HTML. */
static char *shown_text(const char *markdown)
{
    cmark_gfm_core_extensions_ensure_registered();
    cmark_parser *parser = cmark_parser_new(CMARK_OPT_DEFAULT);
    cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension("table"));
    cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension("strikethrough"));
    cmark_parser_feed(parser, markdown, strlen(markdown));
    cmark_node *document = cmark_parser_finish(parser);
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    cmark_iter *iter = cmark_iter_new(document);
    for (cmark_event_type event; (event = cmark_iter_next(iter)) != CMARK_EVENT_DONE;) {
        cmark_node *node = cmark_iter_get_node(iter);
        const char *literal = cmark_node_get_literal(node);
        if (event == CMARK_EVENT_ENTER && literal) {
            cmark_node_type type = cmark_node_get_type(node);
            fprintf(out, "%s%s", type == CMARK_NODE_TEXT ? "" : "(not text:)", literal);
        }
    }
    fclose(out);
    cmark_iter_free(iter);
    cmark_node_free(document);
    cmark_parser_free(parser);
    return text;
}

ParameterizedTestParameters(report_text, markdown_shows_a_string_as_it_is)
{
    static char text[][64] = {
        "<script>alert(1)</script>",
        "a | b || c",
        "`code` ```",
        "*em* **strong** __x__",
        "[link](http://x) ![i](y)",
        "&amp; &#35; &lt",
        "\\end{tabular} \\",
        "snake_case _x_ a_ _b",
        "~~gone~~ $x$ #tag",
        "\\| \\\\|",
        "<!-- x -->",
        "http://e.test/?a=b&c=d",
    };
    return cr_make_param_array(char[64], text, sizeof text / sizeof *text);
}

ParameterizedTest(char (*text)[64], report_text, markdown_shows_a_string_as_it_is)
{
    char *escaped = put(gr_put_markdown, *text), *in_line, *in_cell;
    cr_assert_geq(asprintf(&in_line, "x %s", escaped), 0);
    cr_assert_geq(asprintf(&in_cell, "| h |\n|---|\n| %s |\n", escaped), 0);
    char *line = shown_text(in_line), *cell = shown_text(in_cell);
    cr_expect_str_eq(line + 2, *text);
    cr_expect_str_eq(cell + 1, *text);
    free(escaped), free(in_line), free(in_cell), free(line), free(cell);
}

Test(report_text, markdown_is_one_line)
{
    expect(gr_put_markdown, "\n  a\n\n\tb \n", "a b ");
}

Test(report_text, code_with_a_backtick_or_a_pipe_is_shown_as_text)
{
    expect(gr_put_markdown_code, "./grader m1", "`./grader m1`");
    expect(gr_put_markdown_code, "a`b|c", "a&#96;b&#124;c");
}

Test(report_text, a_block_cannot_be_ended_from_inside)
{
    char *block = put(gr_put_markdown_block, "a\n````\n<!-- END PROSE -->\nb");
    cr_expect_str_eq(block, "`````text\na\n````\n <!-- END PROSE -->\nb\n`````\n");
    free(block);
}

Test(report_text, base64_pads)
{
    static const char *const pair[][2] = {
        {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"\xff\xfe\xfd!", "//79IQ=="}};
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
        char *text;
        PRINTED(text, gr_put_base64(out, pair[i][0], strlen(pair[i][0])));
        cr_expect_str_eq(text, pair[i][1]);
        free(text);
    }
}

/* Three digits and the fitting unit, even where rounding reaches the next unit. */
Test(text, times_have_units)
{
    static const struct {
        double seconds;
        const char *text;
    } times[] = {{40.95e-6, "41.0 µs"}, {0.21, "210 ms"},     {999.4e-9, "999 ns"},
                 {999.6e-9, "1.00 µs"}, {999.6e-3, "1.00 s"}, {1234.5, "1234 s"},
                 {0, "0 ns"},           {NAN, "–"},           {71.252e-6, "71.3 µs"}};
    char text[GR_TIME_CHARS];
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        cr_expect_str_eq(gr_time_text(text, times[i].seconds), times[i].text);
}
