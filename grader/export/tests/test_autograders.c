/* Tests the files that `grader export` writes for the autograders of platforms. */
#include "base/files.h"
#include "base/tests/temp_folder.h"
#include "base/tests/test_text.h"
#include "format_checks.h"
#include "grader/export/autograders.h"

#include <stdlib.h>
#include <string.h>

/* Reads a file written for a platform as the platform does. */
static char *valid_file(const char *format, const char *name)
{
    char why[512], *text = text_of_file(temp_path(name));
    cr_expect(is_valid(format, text, why, sizeof why), "%s\n%s", why, text);
    return text;
}

Test(exports, the_workflow_is_one_that_github_runs)
{
    struct st_error err;
    struct gx_autograder of = {.milestone = "m1,m3,m10", .options = "--quick"};
    cr_assert_eq(gx_actions_workflow(&of, temp_path("w.yml"), &err), ST_OK, "%s", err.what);
    char *text = valid_file("workflow", "w.yml");
    cr_expect(strstr(text, "actions-grade.sh m10 --quick\n"));
    cr_expect(strstr(text, "\"$RUNNER_TEMP/convlab\" m1 m3 m10\n"));
    free(text);
    of.url = "https://example.org/convlab-handout.tar.gz?v=1";
    cr_assert_eq(gx_actions_workflow(&of, temp_path("w.yml"), &err), ST_OK, "%s", err.what);
    text = valid_file("workflow", "w.yml");
    cr_expect(strstr(text, "            'https://example.org/convlab-handout.tar.gz?v=1'\n"));
    free(text);
    of.url = "https://example.org/'; rm -rf ~; '";
    cr_expect_eq(gx_actions_workflow(&of, temp_path("other.yml"), &err), ST_USAGE);
    cr_expect_not(file_exists(temp_path("other.yml")));
}

Test(exports, questions_are_those_of_prairielearn)
{
    struct st_error err;
    struct gx_autograder of = {.milestone = "m3", .options = "", .image = "example/convlab:2026"};
    cr_assert_eq(gx_prairielearn_question(&of, temp_path(""), &err), ST_OK, "%s", err.what);
    char *text = valid_file("question", "info.json"),
         *html = text_of_file(temp_path("question.html"));
    cr_expect(strstr(text, "\"image\":\t\"example/convlab:2026\""), "%s", text);
    cr_expect(strstr(html, "<pl-file-upload file-names=\"conv.cu\">"), "%s", html);
    free(html);
    cr_assert_eq(gx_prairielearn_question(&of, temp_path(""), &err), ST_OK);
    char *again = text_of_file(temp_path("info.json"));
    cr_expect_str_eq(again, text, "another uuid would be another question");
    free(again);
    of.milestone = "m1";
    cr_assert_eq(gx_prairielearn_question(&of, temp_path(""), &err), ST_OK);
    again = valid_file("question", "info.json");
    cr_expect_str_neq(again, text);
    free(again);
    free(text);
    static const char *const bad[] = {NULL, "", "-v", "a b", "$(reboot)", "a\"b"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        of.image = bad[i];
        cr_expect_eq(gx_prairielearn_autograder(&of, temp_path("pl"), &err), ST_USAGE, "%zu", i);
        cr_expect_not(file_exists(temp_path("pl")));
    }
}

Test(exports, autograders_take_no_commands_for_names)
{
    static const struct gx_autograder bad[] = {{.milestone = "m1; reboot", .options = ""},
                                               {.milestone = "m01", .options = ""},
                                               {.milestone = "m1,", .options = ""},
                                               {.milestone = "", .options = ""},
                                               {.milestone = "m1,m3", .options = ""},
                                               {.milestone = "m1", .options = "--quick; reboot"},
                                               {.milestone = "m1", .options = "$(reboot)"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct st_error err;
        cr_expect_eq(gx_gradescope_autograder(&bad[i], temp_path("a.zip"), &err), ST_USAGE, "%zu",
                     i);
        cr_expect_not(file_exists(temp_path("a.zip")));
    }
}
