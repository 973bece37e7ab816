/* Tests of the pages for students and instructors: what they contain, and what they must not
 * contain. */
#include "base/checkout.h"
#include "base/files.h"
#include "base/tests/test_text.h"
#include "grader/feedback/feedback.h"
#include "grader/feedback/overview.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int gr_command_worksheet(int argc, char **argv);

#define HOSTILE "<img src=x onerror=hacked=1>"
#define TEXT(x) ((char *)(x))

static char folder[] = "/tmp/feedback-test-XXXXXX", path[PATH_MAX];
static struct gradebook *book;

static const char *in_folder(const char *name)
{
    static char full[PATH_MAX];
    snprintf(full, sizeof full, "%s/%s", folder, name);
    return full;
}

static void put_source(const char *name, const char *text)
{
    char file[64];
    snprintf(file, sizeof file, "%s.c", name);
    cr_assert_eq(file_write(in_folder(file), text, strlen(text), NULL), ST_OK);
}

/* Stores a grade of m1 with one check, and with a time if the check passed. */
static void put_grade(const char *name, double score, const char *hash, const char *options,
                      const char *message, double time_s)
{
    char source[64];
    snprintf(source, sizeof source, "%s.c", name);
    const bool pass = score > 5;
    const struct gb_submission s = {.name = TEXT(name),
                                    .team = TEXT(""),
                                    .kind = TEXT("folder"),
                                    .status = TEXT("ok"),
                                    .message = TEXT("")};
    cr_assert_eq(gb_submission_put(book, &s, NULL), ST_OK);
    struct gb_check_result check = {.position = 1,
                                    .name = TEXT("unit_shapes"),
                                    .text = TEXT("every shape is right"),
                                    .status = TEXT(pass ? "pass" : "fail"),
                                    .points = pass ? 25 : 0,
                                    .max_points = 25,
                                    .required = 1,
                                    .pattern = TEXT(pass ? "" : "read_out_of_bounds"),
                                    .message = TEXT(message),
                                    .hint = TEXT("print the indices for M=7")};
    struct gb_timing timing = {.subject = TEXT("submission"),
                               .model = TEXT("two-layer"),
                               .layer = 1,
                               .images = 100,
                               .median_s = time_s,
                               .op_times_s = TEXT("")};
    struct gb_inference inference = {.model = TEXT("two-layer"), .images = 100, .passed = 1};
    struct gb_artefact artefact = {.kind = TEXT("source"), .path = source};
    struct gb_graded graded = {.attempt = {.submission = TEXT(name),
                                           .milestone = TEXT("m1"),
                                           .run = 1,
                                           .status = TEXT(pass ? "pass" : "fail"),
                                           .score = score,
                                           .max_score = 60,
                                           .manual_max = 40,
                                           .seed = 7,
                                           .version = TEXT("1"),
                                           .device = TEXT("cpu"),
                                           .profile = TEXT(""),
                                           .machine = TEXT("srv17"),
                                           .compiler = TEXT(""),
                                           .sandbox = TEXT(""),
                                           .options = TEXT(options),
                                           .source_hash = TEXT(hash),
                                           .started = 1,
                                           .finished = 2,
                                           .exit_status = 1,
                                           .tries = 1,
                                           .message = TEXT(""),
                                           .timed_on = TEXT("")},
                               .checks = {1, &check},
                               .inferences = {pass, &inference},
                               .timings = {pass, &timing},
                               .artefacts = {1, &artefact}};
    cr_assert_eq(gb_graded_store(book, &graded, NULL), ST_OK);
}

static void put_person(const char *name, const char *display, const char *team)
{
    const struct gb_roster row = {.name = TEXT(name),
                                  .team = TEXT(team),
                                  .display_name = TEXT(display),
                                  .email = TEXT(""),
                                  .line = 1,
                                  .platform_id = TEXT(""),
                                  .sis_id = TEXT(""),
                                  .section = TEXT("")};
    cr_assert_eq(gb_roster_put(book, &row, NULL), ST_OK);
}

static const char failed[] =
    "right in 3 of 52 shapes\nfirst mismatch: shape B=2 M=7 C=4 H=9 W=7 K=1\n/srv/term/grades.db.files/x/conv.c:12: read there";

static void begin(void)
{
    char name[16];
    cr_assert(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/g.db", folder);
    cr_assert_eq(gb_open(&book, path, GB_CREATE, NULL), ST_OK);
    cr_assert_eq(
        gb_run_put(
            book,
            &(struct gb_run){
                .id = 1, .started = 1, .command = TEXT(""), .version = TEXT(""), .host = TEXT("")},
            NULL),
        ST_OK);
    put_person("ann", HOSTILE, "");
    put_person("bob", "Bob B", "team");
    put_person("cara", "Cara C", "team");
    put_source("ann", "int f(int a) { return a + 1; } // mine");
    put_source("team", "int f(int a) { return a + 2; }");
    put_grade("ann", 5, "h1", "--shapes shapes.tsv@1", failed, NAN);
    put_grade("team", 5, "h2", "", failed, NAN);
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "s%d", i);
        put_source(name, i < 2    ? "int g(int b)\n{\n    return b + 1;\n}\n"
                         : i == 2 ? "int h;"
                                  : "int h[2];");
        put_grade(name, i == 3 ? 50 : 40, i < 2 ? "same" : name, "", "right", 0.01 * (i + 1));
    }
    const struct gb_manual_item item = {
        TEXT("ann"), TEXT("m1"), TEXT("explanation_effect"), 9, TEXT("Why " HOSTILE "?"), 1};
    const struct gb_handin handin = {.submission = TEXT("ann"),
                                     .milestone = TEXT("m1"),
                                     .submitted = NAN,
                                     .source = TEXT(""),
                                     .report = TEXT("report.md"),
                                     .report_name = TEXT("r.md"),
                                     .report_bytes = 9};
    cr_assert_eq(gb_manual_item_put(book, &item, NULL), ST_OK);
    cr_assert_eq(gb_handin_put(book, &handin, NULL), ST_OK);
    cr_assert_eq(file_write(in_folder("report.md"), "# " HOSTILE "\n![](../g.db)\n", 45, NULL),
                 ST_OK);
}

static void end(void)
{
    gb_close(book);
    tree_remove(folder);
}

static char *page_of(const char *student, size_t *bytes, bool html)
{
    struct sd_class class;
    char *text = NULL, *page = NULL;
    cr_assert_eq(sd_class_read(&class, book, NULL, NULL, NULL), ST_OK);
    FILE *out = open_memstream(&text, bytes);
    for (size_t i = 0; i < class.students; i++)
        if (strcmp(class.student[i].name, student) == 0) {
            cr_assert_eq(fb_markdown_write(out, &class, &class.student[i], NULL, book, NULL),
                         ST_OK);
            fflush(out);
            FILE *to = open_memstream(&page, &(size_t){0});
            fb_html_write(to, class.student[i].name, text, *bytes);
            fclose(to);
        }
    fclose(out);
    sd_class_free(&class);
    char *wanted = html ? page : text;
    free(html ? text : page);
    return wanted;
}

Test(feedback, a_students_page_has_only_the_students_data, .init = begin, .fini = end)
{
    size_t bytes;
    char *text = page_of("bob", &bytes, false);
    static const char *const there[] = {"# Bob B",
                                        "the team team",
                                        "5 of 100 points",
                                        "first mismatch: shape B=2 M=7",
                                        "grader explain read_out_of_bounds",
                                        "grader m1 --seed 7",
                                        "conv.c:12: read there"};
    static const char *const not_there[] = {"/srv", "srv17", "ann", "s3", "hacked", "grades.db"};
    for (size_t i = 0; i < sizeof there / sizeof *there; i++)
        cr_expect(strstr(text, there[i]), "%s is missing in\n%s", there[i], text);
    for (size_t i = 0; i < sizeof not_there / sizeof *not_there; i++)
        cr_expect_null(strstr(text, not_there[i]), "%s is in\n%s", not_there[i], text);
    free(text);
}

Test(feedback, private_shapes_are_not_in_it, .init = begin, .fini = end)
{
    size_t bytes;
    char *text = page_of("ann", &bytes, false);
    cr_expect(strstr(text, "right in 3 of 52 shapes"), "%s", text);
    cr_expect(strstr(text, "9 of 12"), "%s", text);
    cr_expect_null(strstr(text, "M=7"), "%s", text);
    free(text);
    text = page_of("ann", &bytes, true);
    cr_expect_null(strstr(text, "<img"), "%s", text);
    free(text);
}

Test(feedback, times_of_a_few_are_not_shown, .init = begin, .fini = end)
{
    size_t bytes;
    char *text = page_of("s1", &bytes, false);
    cr_expect(strstr(text, "20 ms at 100 images") && !strstr(text, "In the class"), "%s", text);
    free(text);
    put_source("s4", "int k;");
    put_grade("s4", 40, "s4", "", "right", 0.05);
    text = page_of("s1", &bytes, false);
    cr_expect(strstr(text, "In the class, 1 of 5 times is shorter") && strstr(text, "<- you"), "%s",
              text);
    free(text);
}

Test(feedback, paths_lose_their_folders)
{
    static const char *const rows[][2] = {{"/a/b/c.c:3: no", "c.c:3: no"},
                                          {"in \"/tmp/x y\"", "in \"x y\""},
                                          {"a/b and 1/2 or / here", "a/b and 1/2 or / here"},
                                          {"(/etc/passwd)", "(passwd)"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text;
        PRINTED(text, fb_put_without_paths(out, rows[i][0]));
        cr_expect_str_eq(text, rows[i][1]);
        free(text);
    }
}

/* Writes the pages next to harness.html, which checks the claims in a browser. */
Test(feedback, a_browser_shows_sorts_and_filters, .init = begin, .fini = end, .timeout = 90)
{
    char command[6 * PATH_MAX], out[PATH_MAX];
    size_t bytes;
    struct st_error err;
    if (system("command -v chromium >/dev/null 2>&1") != 0)
        cr_skip_test("no browser here: chromium is not installed");
    cr_assert_eq(
        ov_page_write(in_folder("running.html"), book, &(struct ov_progress){3, 7, 100}, &err),
        ST_OK, "%s", err.what);
    cr_assert_eq(
        ov_page_write(in_folder("class.html"), book, &(struct ov_progress){7, 7, NAN}, &err), ST_OK,
        "%s", err.what);
    snprintf(out, sizeof out, "%s", folder);
    char *argv[] = {TEXT("grader worksheet"), TEXT("--out"), out, TEXT("--gradebook"), path, NULL};
    cr_assert_eq(gr_command_worksheet(5, argv), 0);
    char *feedback = page_of("ann", &bytes, true);
    cr_assert_eq(file_write(in_folder("feedback.html"), feedback, strlen(feedback), NULL), ST_OK);
    free(feedback);
    snprintf(
        command, sizeof command,
        "cp '%s/grader/feedback/tests/harness.html' '%s' && HOME='%s' timeout 60 chromium --headless --no-sandbox "
        "--disable-gpu --user-data-dir='%s/profile' --allow-file-access-from-files --virtual-time-budget=3000 "
        "--window-size=1400,1000 --dump-dom 'file://%s/harness.html' >'%s/dom' 2>'%s/log'",
        checkout_root(NULL), folder, folder, folder, folder, folder, folder);
    cr_assert_eq(system(command), 0);
    char *dom = text_of_file(in_folder("dom"));
    char *result = strstr(dom, "<pre id=\"result\">");
    cr_assert(result, "%s", dom);
    result[strcspn(result, "/")] = '\0';
    cr_expect(strstr(result, "claims: 22"), "%s", result);
    cr_expect_null(strstr(result, "FAILED"), "%s", result);
    free(dom);
}
