/* Tests which files of a student's submission are accepted and which are not. */
#include "base/files.h"
#include "grader/handin/handin.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- accepted files ------------------------------------------------------------------------- */

static const struct hi_wanted two[] = {{"m1", "m1-cpu-conv", "conv.c"},
                                       {"m2", "m2-gpu-baseline", "conv.cu"}};

static enum hi_match match(size_t n, const char *path, size_t *which)
{
    *which = 99;
    return hi_match_path(two, n, path, which);
}

Test(handin, files_of_milestones_are_found_in_all_permitted_places)
{
    size_t which;
    cr_expect_eq(match(2, "m1-cpu-conv/conv.c", &which), HI_IN_ITS_FOLDER);
    cr_expect_eq(which, 0);
    cr_expect_eq(match(2, "./s001/labs/m2-gpu-baseline/conv.cu", &which), HI_IN_ITS_FOLDER);
    cr_expect_eq(which, 1);
    cr_expect_eq(match(2, "m1/conv.c", &which), HI_IN_ITS_FOLDER);
    cr_expect_eq(match(1, "conv.c", &which), HI_AT_TOP);
    cr_expect_eq(match(1, "s001/conv.c", &which), HI_LONE_FILE);
    cr_expect_eq(match(2, "conv.c", &which), HI_NO_MATCH);
    cr_expect_eq(match(2, "m1-cpu-conv/conv.cu", &which), HI_NO_MATCH);
    cr_expect_eq(match(2, "xm1-cpu-conv/conv.c", &which), HI_NO_MATCH);
    cr_expect_eq(match(2, "m1-cpu-conv/myconv.c", &which), HI_OTHER_NAME);
    cr_expect_eq(match(2, "m2-gpu-baseline/conv.c", &which), HI_NO_MATCH);
    cr_expect_eq(match(2, "__MACOSX/m1/conv.c", &which), HI_NO_MATCH);
    cr_expect_eq(match(2, "a/b/c/d/e/f/g/h/m1/conv.c", &which), HI_NO_MATCH);
}

Test(handin, similar_names_are_distinguished_from_others)
{
    static const char *const near[] = {"Conv.c",     "conv1.c",    "conv-1.c",
                                       "conv (2).C", "conv.c.txt", "src/CONV.C"};
    static const char *const other[] = {"main.c", "m1.c", "a/lab.c.txt"};
    static const char *const none[] = {"conv.cu",  "conv.h",      "conv", "conv.c.swp",
                                       "._conv.c", ".git/conv.c", "c.txt"};
    size_t which;
    for (size_t i = 0; i < sizeof near / sizeof *near; i++)
        cr_expect_eq(match(1, near[i], &which), HI_NEAR_NAME, "%s", near[i]);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        cr_expect_eq(match(1, other[i], &which), HI_OTHER_NAME, "%s", other[i]);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        cr_expect_eq(match(1, none[i], &which), HI_NO_MATCH, "%s", none[i]);
    cr_expect_eq(match(2, "Conv.c", &which), HI_NO_MATCH); /* ambiguous: several milestones */
}

Test(handin, reports_belong_to_their_milestone)
{
    size_t which;
    cr_expect(hi_match_report(two, 2, "build/report/m2/paper/report.pdf", &which) && which == 1);
    cr_expect(hi_match_report(two, 2, "report-M1.pdf", &which) && which == 0);
    cr_expect_eq(hi_match_report(two, 2, "report.pdf", &which), 0);
    cr_expect_eq(hi_match_report(two, 2, "report-m12.pdf", &which), 0);
    cr_expect_eq(hi_match_report(two, 2, "labs/m1-cpu-conv/README.md", &which), 0);
    cr_expect_gt(hi_match_report(two, 1, "report.pdf", &which),
                 hi_match_report(two, 1, "report.md", &which));
    cr_expect_gt(hi_match_report(two, 1, "m1/x.md", &which),
                 hi_match_report(two, 1, "report.pdf", &which));
}

/* Makes a folder like those of students. (Only archives need a sandbox.) */
static void put_file(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX], parent[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(parent, sizeof parent, "%.*s", (int)(strrchr(path, '/') - path), path);
    cr_assert(!dir_make(parent, NULL) && !file_write(path, text, strlen(text), NULL));
}

Test(handin, the_best_file_of_a_folder_is_taken)
{
    char folder[] = "/tmp/handin-test-XXXXXX";
    cr_assert(mkdtemp(folder));
    put_file(folder, "old/conv.c", "old");
    put_file(folder, "m1/conv.c", "right");
    put_file(folder, "conv.c.txt", "near");
    put_file(folder, "m2/Conv.cu", "only near");
    put_file(folder, "m2/report.md", "# m2");
    put_file(folder, ".git/m2-gpu-baseline/conv.cu", "no");
    const struct hi_part part = {folder, ""};
    const struct hi_handin handin = {two, 2, NULL, &part, 1};
    static struct hi_taken taken;
    char why[256];
    cr_assert_eq(hi_take(&taken, &handin, NULL), ST_OK);
    cr_expect(hi_is_chosen(&taken.source[0], false));
    cr_expect_eq(taken.source[0].bytes, 5);
    cr_expect(!memcmp(taken.source[0].contents, "right", 5));
    cr_expect_not(hi_is_chosen(&taken.source[1], false));
    cr_expect(hi_is_chosen(&taken.source[1], true));
    hi_describe_missing(&taken.source[1], &two[1], why, sizeof why);
    cr_expect_str_eq(
        why, "no file m2-gpu-baseline/conv.cu (found: m2/Conv.cu; hint: --accept-near grades it)");
    cr_expect_str_eq(taken.report[1].path, "m2/report.md");
    hi_taken_free(&taken);
    put_file(folder, "m1-cpu-conv/conv.c", "another");
    put_file(folder, "m1/report.pdf", "");
    char large[PATH_MAX];
    snprintf(large, sizeof large, "%s/m1/report.pdf", folder);
    cr_assert_eq(truncate(large, 500000000), 0); /* a hole, which uses no disk space */
    cr_assert_eq(hi_take(&taken, &handin, NULL), ST_OK);
    cr_expect_str_eq(taken.source[0].refused, HI_TWICE);
    cr_expect_str_eq(taken.report[0].refused, "has 500000000 bytes; at most 33554432 are accepted");
    cr_expect_null(taken.report[0].contents);
    hi_taken_free(&taken);
    tree_remove(folder);
}

Test(handin, paths_out_of_an_archive_are_refused)
{
    static const char *const refused[] = {"/etc/passwd", "../x",  "a/../../x", "a/..",
                                          "..\\x",       "C:\\x", "",          NULL};
    static const char *const taken[] = {"a/b", "./a", "a..b/c", "...", "a/.b"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        cr_expect_not_null(hi_path_refused(refused[i]), "%s", refused[i]);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        cr_expect_null(hi_path_refused(taken[i]), "%s", taken[i]);
}
