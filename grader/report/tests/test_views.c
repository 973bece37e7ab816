/* Tests of the parts of report.html that show a profile: the cost of a line, and that students'
 * text stays text. */
#include "report_fixture.h"

#include "grader/report/timeline_page.h"
#include "grader/report/view.h"

#include "base/files.h"
#include "base/tests/test_text.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KERNELS "images\tkernel\ttotal_ns\n10\tk(int)\t9\n100\tk(int)\t1000\n100\tj()\t3000\n"
#define ANALYSIS                                                                                   \
    "images\tkernel\tgrid\tblock\tcalls\ttotal_ns\ttitle\tfigures\tfile\tline\tsource\tadvice\n"   \
    "100\tj()\t2x1x1\t32x1x1\t1\t3000\tthe weather\tall of it\t/x/conv.cu\t2\tb;\tWait.\n"         \
    "100\tk(int)\t1x1x1\t32x1x1\t1\t1000\t<b>\t\t\t\t\t\n"                                         \
    "100\ttiny()\t1x1x1\t32x1x1\t1\t3\tsize\t\t\t\t\t\n"
#define RESOURCES                                                                                  \
    "images\tkernel\tgrid\tblock\tkind\tname\tshare\ttext\n"                                       \
    "100\tj()\t2x1x1\t32x1x1\tbusy\tl2\t0.25\tL2 busy\n"                                           \
    "100\tj()\t2x1x1\t32x1x1\tbusy\tissue\t0.75\tissue slots busy\n"                               \
    "100\tj()\t2x1x1\t32x1x1\tinstruction\tint\t0.6\tintegers\n"                                   \
    "100\tj()\t9x1x1\t32x1x1\tbusy\tissue\t0.99\tof another grid\n"                                \
    "100\tj()\t2x1x1\t32x1x1\toccupancy\tachieved\t0.4400\tx\n"                                    \
    "100\tj()\t2x1x1\t32x1x1\toccupancy\tpossible\t0.5000\t8 blocks; limited by registers\n"
/* Line 2: kernel j spends half of its 3000 ns there, kernel k a quarter of its 1000 ns: 43.75% of
 * 4000 ns. */
#define LINES                                                                                      \
    "images\tkernel\tfile\tline\tsource\tshare\tresource\twarp_instructions\tsectors\twavefronts"  \
    "\twasted_wavefronts\tactive_lanes\n"                                                          \
    "10\tj()\t/x/conv.cu\t1\ta;\t1\tissue\t1\t0\t0\t0\t1\n"                                        \
    "100\tj()\t/x/conv.cu\t2\tb;\t0.5\tissue\t60\t8\t0\t0\t1\n"                                    \
    "100\tj()\t/x/conv.cu\t3\tc;\t0.5\tissue\t20\t0\t0\t0\t0.5\n"                                  \
    "100\tk(int)\t/x/conv.cu\t2\tb;\t0.25\tissue\t20\t0\t0\t0\t1\n"                                \
    "100\tk(int)\t/cuda/math.h\t1\t\t0.75\tissue\t100\t0\t0\t0\t1\n"

static void make_profile(void)
{
    folder_make();
    mkdir(in_folder("profile"), 0777);
    write_text("profile/kernels.tsv", KERNELS);
    write_text("profile/analysis.tsv", ANALYSIS);
    write_text("profile/resources.tsv", RESOURCES);
    write_text("profile/lines.tsv", LINES);
    write_text("profile/pictures.tsv", "images\tkernel\tpage\n100\tj()\trun-2.html\n"
                                       "100\tk(int)\thttp://x/run.html\n");
    write_text("profile/source.txt", "a;\n\tb;\nc;\n");
}

TestSuite(views, .init = make_profile, .fini = folder_remove);

static char *view(const char *name)
{
    char *text;
    bool any;
    PRINTED(text, any = gr_view_put(out, name, in_folder(".")));
    cr_expect_eq(any, *text != '\0');
    cr_expect_eq(any, gr_view_exists(name, in_folder(".")));
    return text;
}

static void expect_part(const char *text, const char *part)
{
    cr_expect(strstr(text, part), "%s is not in:\n%s", part, text);
}

Test(views, of_the_source_have_each_line_in_order_with_its_share_of_the_time_in_kernels)
{
    char *text = view("annotated-source");
    expect_part(text, "<div class=\"l\" id=\"L1\"><span class=\"n\">1</span><span "
                      "class=\"v\"></span><code>a;</code></div>"); /* cost only at another size */
    expect_part(text, "<b class=\"m0\">43.8%</b><b class=\"m1\">40.0%</b><b class=\"m2\">100.0%</b>"
                      "</span><code>    b;</code></summary>");
    expect_part(text, "<b class=\"m0\">37.5%</b><b class=\"m1\">10.0%</b></span><code>c;</code>");
    expect_part(text, "<a href=\"#L2\">line 2</a> (43.8%), <a href=\"#L3\">line 3</a> (37.5%)");
    cr_expect_lt(strstr(text, "id=\"L2\""), strstr(text, "id=\"L3\""));
    cr_expect_eq(count(text, "<details"), 2);
    cr_expect_eq(count(text, "<input"), 3, "no choice of wavefronts, which there are none of");
    cr_expect(!strstr(text, "math.h"), "%s", text);
    free(text);
}

Test(views, of_the_kernels_have_their_limiters_and_leave_out_small_kernels)
{
    char *text = view("speed-of-light");
    expect_part(text,
                "<b>3.00 µs</b>, 74.9% of the time in kernels: 1 × grid 2x1x1 of blocks 32x1x1");
    expect_part(text, "<b>Limited by the weather.</b> Wait.");
    expect_part(text, "<a href=\"#L2\">conv.cu:2</a> <code>b;</code>");
    expect_part(
        text,
        "<li class=\"most\" style=\"--w:75.0%\"><span>issue slots busy</span><i></i><b>75%</b>");
    cr_expect_lt(strstr(text, "issue slots"), strstr(text, "L2 busy"), "the busiest first");
    expect_part(text, "<a href=\"profile/run-2.html\">See it run</a>");
    cr_expect_eq(count(text, "<a href=\"profile/"), 1, "only to a file beside the page");
    expect_part(text, "60% integers</li>\n<li>40% others");
    expect_part(text, "A multiprocessor holds 8 blocks; limited by registers.");
    expect_part(text, "&lt;b&gt;");
    cr_expect(!strstr(text, "another grid") && !strstr(text, "tiny"), "%s", text);
    cr_expect_eq(count(text, "<article"), 2);
    free(text);
}

/* Possible contents of a student's file: an end of any element, a command for a terminal or for the
 * browser's text layout, half a character, a zero byte. */
Test(views, show_hostile_text_as_text)
{
    static const char source[] = "</code></details><script>alert(1)</script>\n"
                                 "\" onload='x' \xc2\x9b \xe2\x80\xae \xff\xe2\x82 & \x1b[31m\r\n"
                                 "<img src=http://x/y>\n";
    write_text("profile/source.txt", source);
    write_text("profile/kernels.tsv", "images\tkernel\ttotal_ns\n100\t</script><i>\t1000\n");
    write_text("profile/analysis.tsv",
               "images\tkernel\tgrid\tblock\tcalls\ttotal_ns\ttitle\tfile\tline\tsource\tadvice\n"
               "100\t</script><i>\t<u>\t\"'\t1\t1000\t<s>\t/<q>\t\"><x>\t<w>\t<y>\n");
    write_text("profile/lines.tsv",
               "images\tkernel\tfile\tline\tsource\tshare\tresource\twarp_instructions\n"
               "100\t</script><i>\t/x/conv.cu\t2\tb;\t0.5\t<z>\tnan\n"
               "100\t</script><i>\t/x/conv.cu\t99999999999\tb;\tinf\t<z>\t-1\n"
               "100\t</script><i>\t/x/conv.cu\t-2\tb;\t0.5\t<z>\t1\n");
    static const char *const bad[] = {
        "<script", "</script", "<img", "<u>",      "<s>",      "<q>",  "<x>",          "<w>",
        "<y>",     "<z>",      "<i>",  "onload='", "\xc2\x9b", "\x1b", "\xe2\x80\xae", "\r"};
    char *text[] = {view("annotated-source"), view("speed-of-light")};
    for (int t = 0; t < 2; t++) {
        cr_expect(is_utf8(text[t]));
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
            cr_expect(!strstr(text[t], bad[i]), "%s is in %s", bad[i], text[t]);
    }
    expect_part(text[0], "&lt;img src=http://x/y&gt;");
    expect_part(text[0], "&quot; onload=&#39;x&#39; \xef\xbf\xbd \xef\xbf\xbd");
    free(text[0]);
    free(text[1]);
}

Test(views, need_a_whole_profile)
{
    char *none = view("no-such-view");
    cr_expect_str_empty(none);
    free(none);
    unlink(in_folder("profile/source.txt"));
    cr_expect(!gr_view_exists("annotated-source", in_folder(".")));
    cr_expect(gr_view_exists("speed-of-light", in_folder(".")));
    write_text("profile/resources.tsv", "images\tkernel\n1\n");
    cr_expect(!gr_view_exists("speed-of-light", in_folder(".")));
}

/* On the page, a view follows the heading of its section, whose text is folded below. */
Test(views, stand_in_the_place_of_their_mark)
{
    static const char page[] = "# One\n\n<!-- view annotated-source -->\n\n### Lines\n\nrows\n\n"
                               "<!-- view no-such -->\n\n### Others\n\nplain\n\n## Two\n";
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    gr_html_write(out, "title", page, sizeof page - 1, in_folder("."));
    fclose(out);
    const char *
        heading = strstr(text, "<h3 id=\"s1\">Lines</h3>"),
       *source = strstr(text, "<div class=\"source\""),
       *rows = strstr(
           text,
           "<details class=\"folded\"><summary>These values as a table</summary>\n<p>rows</p>\n</details>"),
       *others = strstr(text, "<h3 id=\"s2\">Others</h3>\n<p>plain</p>\n<h2 id=\"s3\">Two</h2>");
    cr_expect(heading && source && rows && others, "%s", text);
    cr_expect(heading < source && source < rows && rows < others);
    const char *nav =
        strstr(text, "<h1>One</h1>\n<nav class=\"jump\" aria-label=\"Contents\"><ul>\n"
                     "<li><a href=\"#s1\">Lines</a></li>\n<li><a href=\"#s2\">");
    cr_expect(nav && nav < heading, "%s", text);
    cr_expect(!strstr(text, "<script") && !strstr(text, "http:") && !strstr(text, "https:"));
    free(text);
}

/* ---- the timeline ----------------------------------------------------------------------------- */

#define TRACE                                                                                      \
    "kind\tname\tclient\tstream\tstart_ns\tend_ns\tbytes\tgrid\tblock\n"                           \
    "device\tGPU</script>\t0\t\t\t\t\t\t\n"                                                        \
    "copy_htod\t\t1\t0\t1000\t3000\t4000\t\t\n"                                                    \
    "kernel\tconv</script><b>\t1\t0\t3000\t5000\t\t2x1x1\t32x1x1\n"                                \
    "kernel\tconv</script><b>\t1\t5\t4000\t6000\t\t2x1x1\t32x1x1\n"                                \
    "api\tcudaMemcpy\t1\t\t500\t3000\t\t\t\n"

Test(views, of_the_timeline_have_each_row_in_its_lane)
{
    struct st_error err;
    write_text("profile/trace-9.tsv", "kind\tname\tstart_ns\tend_ns\nkernel\tsmall\t0\t1\n");
    write_text("profile/trace-100.tsv", TRACE);
    cr_assert_eq(gr_timeline_page_write(in_folder("."), &err), ST_OK, "%s", err.what);
    char *page = read_text(GR_TIMELINE_PAGE), *cards = view("speed-of-light");
    expect_part(page, "[1,0,1000,2000,4000]");
    expect_part(page, "[2,1,3000,2000,0,\"2x1x1, 32x1x1\"],[3,1,4000,2000,0,\"2x1x1, 32x1x1\"]");
    expect_part(page, "[0,2,500,2500]");
    expect_part(page, "[\"kernels, stream 0\",\"kernel\"],[\"kernels, stream 5\",\"kernel\"]");
    expect_part(page, "\"images\":100,\"cut\":0");
    expect_part(page, "default-src 'none'");
    cr_expect_eq(count(page, "</script>"), 2, "names end no element");
    cr_expect(!strstr(page, "small") && !strstr(page, "http:"), "%s", page);
    expect_part(cards, "<a href=\"timeline.html\">");
    free(page), free(cards);
}

Test(views, of_the_timeline_have_a_lane_for_the_copies_of_each_stream)
{
    struct st_error err;
    write_text("profile/trace-100.tsv", TRACE "copy_dtoh\t\t1\t5\t6000\t7000\t4000\t\t\n");
    cr_assert_eq(gr_timeline_page_write(in_folder("."), &err), ST_OK, "%s", err.what);
    char *page = read_text(GR_TIMELINE_PAGE);
    expect_part(page, "[\"copies, stream 0\",\"copy\"],[\"copies, stream 5\",");
    expect_part(page, "[2,3,6000,1000,4000]");
    expect_part(page, "[3,1,3000,2000,0,\"2x1x1, 32x1x1\"]");
    free(page);
}

Test(views, of_the_timeline_go_with_their_trace)
{
    struct st_error err;
    write_text(GR_TIMELINE_PAGE, "of an earlier profile");
    cr_assert_eq(gr_timeline_page_write(in_folder("."), &err), ST_OK);
    cr_expect(!file_exists(in_folder(GR_TIMELINE_PAGE)));
    char *cards = view("speed-of-light");
    cr_expect(!strstr(cards, "timeline.html"));
    free(cards);
}
