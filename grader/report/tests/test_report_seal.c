/* Tests that the edits that a person makes on the page of a grading are never lost. */
#include "report_fixture.h"

#include "base/files.h"
#include "grader/report/report.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(report_seal, .init = folder_make, .fini = folder_remove);

/* Grades again with other results, without gnuplot, which these tests do not need. */
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

Test(report_seal, a_page_as_it_was_written_is_replaced)
{
    struct gr_result *r = graded();
    struct st_error err;
    for (int i = 0; i < 3; i++)
        cr_assert_eq(regrade(r, &err), ST_OK);
    cr_expect_not(file_exists(in_folder("m1/grading.md.bak")));
    char *page = read_text("m1/grading.md");
    cr_expect(strstr(page, "| **Seed** | 48213381 |"), "the page is new");
    free(page), free(r);
}

Test(report_seal, an_editor_that_changes_line_ends_changes_nothing)
{
    struct gr_result *r = graded();
    struct st_error err;
    char *page = read_text("m1/grading.md"), *dos = malloc(2 * strlen(page) + 1), *to = dos;
    for (const char *p = page; *p; p++) {
        if (*p == '\n')
            *to++ = '\r';
        *to++ = *p;
    }
    *to = '\0';
    write_text("m1/grading.md", dos);
    cr_expect_eq(regrade(r, &err), ST_OK);
    cr_expect_not(file_exists(in_folder("m1/grading.md.bak")));
    free(page), free(dos), free(r);
}

Test(report_seal, a_page_with_words_of_somebody_is_kept_and_the_new_one_says_so)
{
    struct gr_result *r = graded();
    struct st_error err;
    char *page = read_text("m1/grading.md");
    char *edited = replaced(page, "## Performance\n", "## Performance\n\nOur own remark.\n");
    write_text("m1/grading.md", edited);
    cr_expect_eq(regrade(r, &err), ST_OK);
    char *copy = read_text("m1/grading.md.bak"), *next = read_text("m1/grading.md");
    cr_expect_str_eq(copy, edited);
    cr_expect(strstr(next, "It is kept as `grading.md.bak`"));
    cr_expect_eq(regrade(r, &err), ST_OK);
    cr_expect_not(file_exists(in_folder("m1/grading.md.bak2")), "the note itself is not an edit");
    free(page), free(edited), free(copy), free(next), free(r);
}

Test(report_seal, pages_of_others_are_kept_one_by_one)
{
    static const char *const pages[] = {"a page of my own\n", "", "<!-- convlab page 0 -->\n"};
    struct gr_result *r = graded();
    struct st_error err;
    for (int i = 0; i < 3; i++) {
        char name[64];
        write_text("m1/grading.md", pages[i]);
        cr_expect_eq(regrade(r, &err), ST_OK);
        snprintf(name, sizeof name, i ? "m1/grading.md.bak%d" : "m1/grading.md.bak", i + 1);
        char *copy = read_text(name);
        cr_expect_str_eq(copy, pages[i]);
        free(copy);
    }
    free(r);
}

Test(report_seal, a_page_that_cannot_be_kept_is_not_replaced)
{
    struct gr_result *r = graded();
    struct st_error err;
    char name[64];
    for (int n = 1; n < 1000; n++) { /* every name is taken */
        snprintf(name, sizeof name, n == 1 ? "m1/grading.md.bak" : "m1/grading.md.bak%d", n);
        write_text(name, "");
    }
    write_text("m1/grading.md", "a page of my own\n");
    cr_expect_eq(regrade(r, &err), ST_IO);
    char *page = read_text("m1/grading.md");
    cr_expect_str_eq(page, "a page of my own\n");
    free(page), free(r);
}

Test(report_seal, hostile_results_do_not_look_like_a_seal)
{
    struct gr_result *r = hostile_result();
    struct st_error err;
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(regrade(r, &err), ST_OK, "%s", err.what);
        cr_expect_not(file_exists(in_folder("m1/grading.md.bak")));
    }
    free(r);
}
