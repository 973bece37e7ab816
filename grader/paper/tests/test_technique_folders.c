/* Tests of the folders of techniques: the page keeps the student's words, the source is the graded
 * one, and missing parts are printed. */
#include "paper_fixture.h"

#include "base/files.h"
#include "base/sha256.h"
#include "grader/paper/report_files.h"
#include "grader/paper/technique_folders.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char graded[] = "__global__ void tiles() {}\n";
static char *said; /* the output of the last run */

/* Makes the gradings of the test data, with m3's source as a file of the folder, and a table of
 * techniques. */
static void techniques_make(void)
{
    char hash[SHA256_HEX];
    paper_make();
    cr_assert_eq(
        run("mkdir -p '%s/labs/m3-shared-memory' && cp -r '%s' '%s/gradings' && mkdir '%s/t'",
            paper_folder(), data_path("gradings"), paper_folder(), paper_folder()),
        0);
    cr_assert_eq(run("cp '%s/../../../../report-templates/technique.md' '%s/t/'", data_path("."),
                     paper_folder()),
                 0);
    write_text("labs/m3-shared-memory/conv.cu", graded);
    sha256_hex(graded, sizeof graded - 1, hash);
    cr_assert_eq(run("sed -i 's/^ \"version\"/ \"source_hash\": \"%s\",\\n&/' '%s'", hash,
                     in_folder("gradings/m3/result.json")),
                 0);
    write_text(
        "t/techniques.tsv",
        "folder\tmilestone\ttechnique\nreq_0\tm11\tTensor cores\nop_1\tm3\tTiles\n"
        "op_2\tm4\tConstants\nop_3\tm3\tTiles again\nop_4\tm77\tNot offered\nop_5\tm9\tLoops\n");
}

static void techniques_remove(void)
{
    free(said);
    paper_remove();
}

TestSuite(techniques, .init = techniques_make, .fini = techniques_remove);

static enum st_code make(const char *const *names, struct st_error *err)
{
    struct gr_sources *src = calloc(1, sizeof *src);
    char *templates = strdup(in_folder("t"));
    struct pp_request request = {.src = src, .templates = templates};
    src->root = paper_folder();
    snprintf(src->gradings, sizeof src->gradings, "%s", in_folder("gradings"));
    snprintf(src->out, sizeof src->out, "%s", in_folder("out"));
    for (; *names; names++)
        request.section[request.sections++] = *names;

    /* Redirects standard output to a file. */
    fflush(stdout);
    const int before = dup(1);
    cr_assert(freopen(in_folder("said"), "w", stdout));
    enum st_code code = pp_sources_read(src, err);
    if (!code)
        code = pp_techniques_write(&request, PP_MD, err);
    fflush(stdout);
    dup2(before, 1);
    close(before);

    size_t bytes;
    free(said);
    cr_assert_eq(file_read(in_folder("said"), 1 << 20, &said, &bytes, NULL), ST_OK);
    pp_sources_free(src);
    free(src);
    free(templates);
    return code;
}

static void made(const char *const *names)
{
    struct st_error err = {0};
    cr_assert_eq(make(names, &err), ST_OK, "%s: %s", err.what, err.where);
}

static const char *const all[] = {NULL};

static char *contents(const char *name)
{
    char *text = NULL;
    size_t bytes;
    cr_assert_eq(file_read(in_folder(name), 1 << 20, &text, &bytes, NULL), ST_OK, "%s", name);
    return text;
}

static bool exists(const char *name)
{
    return file_exists(in_folder(name));
}

Test(techniques, of_graded_milestones_get_a_page_the_source_and_the_profile)
{
    made(all);
    char *page = contents("out/op_1/report.md"), *source = contents("out/op_1/conv.cu");
    cr_expect_str_eq(source, graded);
    cr_expect(strncmp(page, "<!-- SECTION m3 -->", 19) == 0, "no front page: %.40s", page);
    cr_expect(strstr(page, "\n# op_1: Tiles (m3)\n"));
    static const char *const places[] = {"choice", "theory",   "implementation",
                                         "effect", "together", "references"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char mark[80];
        snprintf(mark, sizeof mark, "<!-- BEGIN PROSE m3 %s -->\n<!-- %zu. ", places[i], i + 1);
        cr_expect(strstr(page, mark), "%s", mark);
    }
    cr_expect(strstr(page, "BEGIN GENERATED m3 op-times") &&
              strstr(page, "BEGIN GENERATED m3 kernels"));
    cr_expect(exists("out/op_1/profile/summary-100.txt") && exists("out/op_1/profile/kernels.tsv"));
    cr_expect(exists("out/op_3/report.md"), "a second technique of one milestone");
    cr_expect(!exists("out/req_0") && !exists("out/op_4") && !exists("out/op_5"), "not graded");
    free(page), free(source);
}

Test(techniques, what_is_missing_is_printed)
{
    made(all);
    cr_expect(strstr(said, "op_1: 6 of 6 questions have no answer yet\n"), "%s", said);
    cr_expect(
        strstr(
            said,
            "op_2: the graded source was changed, and no copy is kept: make m4 && ./grader m4\n"),
        "%s", said);
    cr_expect(!strstr(said, "op_1: no profile") && !exists("out/op_2/conv.cu"), "%s", said);
    cr_expect(strstr(said, "req_0: required, but not graded: make m11 && ./grader m11 --profile\n"),
              "%s", said);
    cr_expect(!strstr(said, "op_4") && !strstr(said, "op_5"), "%s", said);

    cr_assert_eq(run("rm -r '%s'", in_folder("gradings/m3/profile")), 0);
    made(all);
    cr_expect(strstr(said, "op_1: no profile: make m3 && ./grader m3 --profile\n"), "%s", said);
    cr_expect(!exists("out/op_1/profile"), "not that of an earlier grading");

    made((const char *const[]){"m9", NULL});
    cr_expect(strstr(said, "op_5: not graded: make m9 && ./grader m9 --profile\n"), "%s", said);
    cr_expect(exists("out/op_5/report.md") && !strstr(said, "op_1"), "%s", said);
}

Test(techniques, keep_every_word_when_made_again)
{
    made(all);
    cr_assert_eq(run("sed -i '0,/^(write here)$/s//My own words./' '%s' && echo mine >'%s'",
                     in_folder("out/op_1/report.md"), in_folder("out/op_1/notes.txt")),
                 0);
    char *before = contents("out/op_1/report.md");
    made(all);
    char *after = contents("out/op_1/report.md");
    cr_expect(strstr(before, "My own words.") != NULL);
    cr_expect_str_eq(after, before);
    cr_expect(exists("out/op_1/notes.txt"));
    cr_expect(strstr(said, "op_1: 5 of 6 questions"), "%s", said);
    free(before), free(after);
}

Test(techniques, take_the_graded_source_not_the_present_one)
{
    write_text("labs/m3-shared-memory/conv.cu", "changed since\n");
    made(all);
    cr_expect(!exists("out/op_1/conv.cu"));
    cr_expect(strstr(said, "op_1: the graded source was changed, and no copy is kept"), "%s", said);

    cr_assert_eq(run("mkdir -p '%s'", in_folder("gradings/m3/history/000001-0123456789ab")), 0);
    write_text("gradings/m3/history/000001-0123456789ab/conv.cu", graded);
    made(all);
    char *source = contents("out/op_1/conv.cu");
    cr_expect_str_eq(source, graded);
    free(source);
}

Test(techniques, leave_out_files_of_others)
{
    cr_assert_eq(run("sed -i 's/\"subject\": \"submission\"/\"subject\": \"reference\"/' '%s'",
                     in_folder("gradings/m3/result.json")),
                 0);
    made(all);
    cr_expect(strstr(said, "op_1: the last grading is skipped, because it did not grade your work"),
              "%s", said);
    cr_expect(!exists("out/op_1/conv.cu") && !exists("out/op_1/profile"));
}

Test(techniques, refuse_names_and_tables_that_are_wrong)
{
    static const struct {
        const char *row, *got;
    } wrong[] = {{"../op_1\tm3\tTiles\n", "'../op_1'"},
                 {"op_1\t\tTiles\n", "''"},
                 {"op_1\tm3\t\n", "''"},
                 {"Op\tm3\tTiles\n", "'Op'"},
                 {"op_1\tm3\tA\nop_1\tm4\tB\n", "'op_1', 'm4'"}};
    struct st_error err = {0};
    cr_expect_eq(make((const char *const[]){"op_9", NULL}, &err), ST_NOT_FOUND);
    cr_expect(strstr(err.what, "'op_9'") && err.hint[0], "%s", err.what);
    cr_expect_eq(make((const char *const[]){"m77", NULL}, &err), ST_USAGE, "no such milestone");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char table[200];
        snprintf(table, sizeof table, "folder\tmilestone\ttechnique\n%s", wrong[i].row);
        write_text("t/techniques.tsv", table);
        cr_expect_eq(make(all, &err), ST_BAD_FORMAT, "%s", wrong[i].row);
        cr_expect(strstr(err.got, wrong[i].got), "%s", err.got);
    }
    write_text("t/techniques.tsv", "folder\tmilestone\ttechnique\nop_5\tm9\tLoops\n");
    cr_expect_eq(make(all, &err), ST_USAGE);
    cr_expect(strstr(err.what, "no technique has been graded yet"), "%s", err.what);
    cr_expect(!exists("out"));
}

/* The course's own table: every row can be read, and its milestones have templates. */
Test(techniques, of_the_course_are_a_table_that_is_right)
{
    cr_assert_eq(run("cp '%s/../../../../report-templates/techniques.tsv' '%s/t/'", data_path("."),
                     paper_folder()),
                 0);
    made((const char *const[]){"req_1", "m10", NULL});
    cr_expect(exists("out/req_1/report.md") && exists("out/op_6/report.md"), "%s", said);
}
