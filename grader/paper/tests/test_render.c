/* Tests of the report as HTML, LaTeX and PDF: its only tags and commands are ours. */
#include "paper_fixture.h"

#include "base/files.h"
#include "base/tests/test_text.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(render, .init = paper_make, .fini = paper_remove);

/* A student's text of every kind. */
static const char words[] =
    "# Title $x$ \\write18{touch hacked}\n\n"
    "Text with *emphasis*, **strong**, `code \\end{document} _`, ~~struck~~ and <b>tags</b>\n"
    "<script>alert(1)</script> [link](javascript:alert(1)) [web](https://a.example/x_y%20#z&\\})\n"
    "https://b.example/?a=1 ![p](http://c.example/i.png) ![q](../../etc/passwd) ![r](a\\b.png)\n\n"
    "1. one\n   - two\n     - three\n       - four\n         - five\n           - six\n\n"
    "> quoted\n> > more\n\n---\n\n"
    "| a & b | c_d | [e] |\n|---:|:-:|---|\n| % | # | \\\\ |\n| * | ^ | {} |\n\n"
    "```\n\\end{flushleft}\n  indented\t$\n\n\n```\n\n"
    "hard  \nbreak \\\n![](x.svg)\\\nbehind a picture\n\n"
    "Łódź ąęćżź Ğğ Őő ß æ œ Ω µ ≤ ✓ 漢字 \xff \xe2\x80\xae\n\n"
    "<div>\nblock\n</div>\n\n```\nnot closed\n";

/* A report in which every place contains this text. */
static struct text written_report(void)
{
    struct text report = sample_report(), to;
    FILE *out = open_memstream(&to.text, &to.bytes);
    const char *from = report.text;
    for (const char *at; (at = strstr(from, "(write here)")); from = at + strlen("(write here)")) {
        fwrite(from, 1, (size_t)(at - from), out);
        fputs(words, out);
    }
    fputs(from, out);
    fclose(out);
    free(report.text);
    return to;
}

static char *rendered(const struct text *report, bool html, size_t *lost)
{
    struct pp_document d = document_of(report);
    char *text;
    PRINTED(text, if (html) pp_html_write(out, &d, paper_folder());
            else *lost = pp_latex_write(out, &d, paper_folder()));
    pp_document_free(&d);
    return text;
}

Test(render, html_runs_and_fetches_nothing)
{
    struct text report = written_report();
    char *html = rendered(&report, true, NULL);
    static const char *const never[] = {"<script", "javascript:", "src=\"http", "<b>",
                                        "<div>",   "<iframe",     "onerror",    "url("};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        cr_assert_null(strstr(html, never[i]), "%s", never[i]);
    cr_assert(strstr(html, "default-src 'none'"));
    cr_assert(strstr(html, "[picture not shown: http://c.example/i.png]"));
    cr_assert(strstr(html, "href=\"https://b.example/?a=1\""));
    /* an unclosed fence ends with its place */
    cr_assert(strstr(html, "<h3>Effect</h3>") && strstr(html, "Milestone 4</h2>"));
    free(html), free(report.text);
}

/* Makes a page from a text. @param narrow  the style sheet's condition for a narrow screen */
static void write_page(const char *name, const char *text, const char *narrow)
{
    static const char is[] = "(max-width: 40rem)";
    struct text report = {(char *)(uintptr_t)text, strlen(text)};
    char *html = rendered(&report, true, NULL), *at = strstr(html, is);
    cr_assert(at && strlen(narrow) == strlen(is));
    memcpy(at, narrow, strlen(is));
    write_text(name, html);
    free(html);
}

Test(render, html_suits_a_phone, .timeout = 90)
{
    static const char text[] =
        "> More: `make m2 && ./grader m2 --profile --images 100,1000,10000`\n\n"
        "| Kernel | Grid | Limited by | Evidence | What to do |\n"
        "|---|---|---|---|---|\n"
        "| `conv_thread_per_output(...)` | 4x24x100 | the issue of instructions | issue slots busy "
        "88%, integer units busy 81%, L1 busy 65%, occupancy 50%, sectors per load 3.1, sectors per "
        "store 4.9, multiply-adds 22 of 100 instructions, active lanes 88%, GFLOP/s 3336, resident "
        "blocks 4 (registers) | Warps issue instructions as fast as possible, and all other instructions delay the multiply-adds: keep several outputs of a thread in registers, "
        "so that each load and index serves more of them, and unroll the inner loops. |\n";
    if (run("command -v chromium >/dev/null 2>&1") != 0)
        cr_skip_test("no browser here: chromium is not installed");
    write_page("report.html", text, "(max-width: 40rem)");
    write_page("worse.html", text, "(max-width: 4rem )");
    cr_assert_eq(run("cp '%s' '%s' && cd '%s' && HOME=. timeout 60 chromium --headless "
                     "--no-sandbox --disable-gpu --user-data-dir=./profile "
                     "--allow-file-access-from-files --virtual-time-budget=3000 "
                     "--window-size=1400,1000 --dump-dom \"file://$PWD/phone.html\" >dom 2>log",
                     data_path("phone.html"), paper_folder(), paper_folder()),
                 0);
    cr_expect_eq(
        run("grep -q '>fits, rows are low; too wide, rows are high<' '%s'", in_folder("dom")), 0);
}

Test(render, pictures_of_the_report_are_inside_and_no_other_file_is)
{
    struct text report = {.text =
                              strdup("![mine](mine.png) ![no](../mine.png) ![no](/etc/passwd)\n")};
    report.bytes = strlen(report.text);
    write_text("mine.png", "not really a picture");
    size_t lost;
    char *html = rendered(&report, true, NULL), *tex = rendered(&report, false, &lost);
    cr_assert(strstr(html, "src=\"data:image/png;base64,bm90IHJlYWxseSBhIHBpY3R1cmU=\""));
    cr_assert(strstr(html, "[picture not shown: ../mine.png]"));
    cr_assert(strstr(tex, "]{mine.png}"));
    cr_assert_null(strstr(tex, "{../mine.png}"));
    cr_assert_null(strstr(tex, "{/etc/passwd}"));
    free(html), free(tex), free(report.text);
}

Test(render, html_is_well_formed)
{
    if (run("command -v xmllint >/dev/null 2>&1"))
        cr_skip_test("no xmllint: apt-get install libxml2-utils");
    struct text report = written_report();
    char *html = rendered(&report, true, NULL);
    write_text("report.html", html);
    /* (xmllint knows the tags of HTML 4) */
    cr_assert_eq(run("xmllint --html --noout '%s' 2>&1 | grep -v 'Tag \\(main\\|section\\|nav\\) "
                     "invalid' | grep -c 'error :' >'%s'",
                     in_folder("report.html"), in_folder("errors")),
                 1, "xmllint found errors");
    free(html), free(report.text);
}

Test(render, an_empty_place_names_the_text_that_belongs_there)
{
    struct text report = sample_report();
    size_t lost;
    char *html = rendered(&report, true, NULL), *tex = rendered(&report, false, &lost);
    cr_assert(strstr(html, "<p class=\"unwritten\">To be written: Why should it help? </p>"));
    cr_assert(strstr(tex, "\\textit{To be written: Why should it help? }"));
    cr_assert_null(strstr(html, "(write here)"));
    free(html), free(tex), free(report.text);
}

Test(render, latex_has_no_command_of_anybody_else)
{
    struct text report = written_report();
    size_t lost;
    char *tex = rendered(&report, false, &lost);
    cr_assert_gt(lost, 0, "LaTeX's fonts have no 漢");
    cr_assert_null(strstr(tex, "\\write18{"));
    cr_assert_null(strstr(tex, "\\input{"));
    cr_assert(strstr(tex, "\\textbackslash{}write18"));
    cr_assert_eq(strstr(tex, "\\end{document}"), tex + strlen(tex) - strlen("\\end{document}\n"));
    cr_assert(strstr(tex, "\\L{}\\'{o}d\\'{z}") || strstr(tex, "\\L{}ód\\'{z}"));
    free(tex), free(report.text);
}

/* pdflatex compiles the text without errors, and the text runs no command. */
Test(render, latex_compiles_as_it_is)
{
    if (run("command -v pdflatex >/dev/null 2>&1"))
        cr_skip_test("no pdflatex: apt-get install texlive-latex-recommended");
    struct text report = written_report();
    size_t lost;
    char *tex = rendered(&report, false, &lost);
    write_text("report.tex", tex);
    cr_assert_eq(run("cd '%s' && HOME=${HOME:-$PWD} pdflatex -interaction=nonstopmode "
                     "-halt-on-error report.tex >log 2>&1 || { grep -A3 '^!' log >&2; false; }",
                     paper_folder()),
                 0);
    cr_assert(file_exists(in_folder("report.pdf")));
    cr_assert_not(file_exists(in_folder("hacked")));
    free(tex), free(report.text);
}

Test(render, what_tex_cannot_set_is_printed_by_a_browser, .timeout = 90)
{
    const char *how;
    struct st_error err;
    if (run("command -v chromium >/dev/null && command -v pdflatex >/dev/null") != 0)
        cr_skip_test("chromium or pdflatex is not installed");
    write_text("report.tex", "\\undefined");
    cr_assert_eq(pp_pdf_write(paper_folder(), true, false, &how, &err), ST_CHILD);
    write_text("report.html", "<p>printed");
    cr_assert_eq(pp_pdf_write(paper_folder(), true, true, &how, &err), ST_OK, "%s", err.what);
    cr_expect_str_eq(how, "chromium");
    char *data = text_of_file(in_folder("report.pdf"));
    cr_expect_eq(strncmp(data, "%PDF-", 5), 0);
    free(data);
}

Test(render, a_pdf_that_cannot_be_made_leaves_the_earlier_one)
{
    const char *how;
    struct st_error err;
    write_text("report.pdf", "earlier");
    write_text("report.tex", "\\undefined");
    setenv("PATH", in_folder("no-programs"), 1);
    cr_assert_eq(pp_pdf_write(paper_folder(), true, true, &how, &err), ST_MISSING_TOOL);
    cr_assert(strstr(err.what, "neither pdflatex nor chromium"));
    char *data = text_of_file(in_folder("report.pdf"));
    cr_assert_str_eq(data, "earlier");
    free(data);
}
