/* Tests of changes between two versions, with handwritten profiles: figures, words and missing
 * parts. */
#include "base/files.h"
#include "base/tests/temp_folder.h"
#include "grader/history/compare_versions.h"
#include "history_fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t smallest[] = {100, 0};
static struct hi_change change;

static void set_up(void)
{
    temp_folder_make();
    snprintf(report_folder, sizeof report_folder, "%s", temp_path("m3"));
}

static void tear_down(void)
{
    hi_change_free(&change);
    temp_folder_remove();
}

TestSuite(change, .init = set_up, .fini = tear_down);

static void put(const char *version, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "m3/history/%s/profile/%s", version, name);
    temp_file(path, text, strlen(text));
}

/* Writes a profile of one kernel with a line that has this many shared loads. */
static void profile(const char *version, const char *kernel, int line, double loads, double ns)
{
    char folder[200], text[2000];
    struct st_error err;
    snprintf(folder, sizeof folder, "m3/history/%s/profile", version);
    cr_assert_eq(dir_make(temp_path(folder), &err), ST_OK);
    put(version, "parts.tsv", "images\tdevice\tpart\tstate\treason\n100\tvirtual\ttrace\there\t\n");
    snprintf(text, sizeof text, "images\tkernel\ttotal_ns\ttitle\n100\t%s()\t%.0f\tshared memory\n",
             kernel, ns);
    put(version, "analysis.tsv", text);
    snprintf(text, sizeof text,
             "images\tkernel\tfile\tline\tshare\n100\t%s()\t/b/conv.cu\t%d\t0.5\n", kernel, line);
    put(version, "lines.tsv", text);
    snprintf(text, sizeof text,
             "symbol\tfile\tline\tshared_load_requests\tshared_load_wavefronts\twarp_instructions\n"
             "%s()\t\t0\t%.0f\t%.0f\t1000\n%s()\t/b/conv.cu\t%d\t%.0f\t%.0f\t100\n",
             kernel, loads, loads, kernel, line, loads, loads);
    put(version, "counters-100.tsv", text);
}

/* Compares two versions. */
static void find_change(const char *before, const char *after, enum st_code expected)
{
    struct hi_list list;
    struct st_error err = {0};
    cr_assert_eq(hi_list_read(&list, report_folder, &err), ST_OK);
    hi_change_free(&change);
    enum st_code code = hi_versions_choose(&list, before, after, &change, &err);
    if (!code)
        code = hi_change_find(&change, &err);
    cr_expect_eq(code, expected, "%s", err.what);
    hi_list_free(&list);
}

static const char *version_name(size_t i)
{
    static char name[2][64];
    struct hi_list list;
    struct st_error err;
    cr_assert_eq(hi_list_read(&list, report_folder, &err), ST_OK);
    cr_assert(i < list.n);
    snprintf(name[i % 2], sizeof *name, "%s", strrchr(list.version[i].folder, '/') + 1);
    hi_list_free(&list);
    return name[i % 2];
}

static const char *sentence(size_t i)
{
    static char text[1000];
    FILE *out = fmemopen(text, sizeof text, "w");
    cr_assert(out && i < change.kernels);
    hi_kernel_sentence(out, &change.kernel[i]);
    fclose(out);
    return text;
}

static const char source_a[] = "one\ntwo\nthree\n", source_b[] = "one\nnew\nTWO\nthree\n";

static void keep_two(void)
{
    keep_record(record_of(source_a, "Monday", 2e-3, smallest), source_a, false);
    keep_record(record_of(source_b, "Tuesday", 1e-3, smallest), source_b, false);
}

Test(change, names_the_line_and_the_events_that_became_fewer)
{
    keep_record(record_of(source_a, "Monday", 2e-3, smallest), source_a, false);
    keep_record(record_of("one\nTWO\nthree\n", "Tuesday", 1e-3, smallest), "one\nTWO\nthree\n",
                false);
    profile(version_name(0), "conv", 2, 6000, 1000);
    profile(version_name(1), "conv", 2, 4000, 690);
    find_change(NULL, NULL, ST_OK);
    cr_expect_eq(change.images, 100);
    cr_assert_eq(change.kernels, 1);
    cr_expect_str_eq(sentence(0), "conv 31% faster: a third fewer shared loads at line 2");
    cr_expect_eq(change.kernel[0].line[0].count[HI_BEFORE][HI_SHARED_LOADS], 6000);
    cr_expect_str_eq(change.missing, "");
    cr_expect_eq(change.match.added, 1);
}

Test(change, a_line_that_moved_is_the_same_line)
{
    static const char longer[] = "zero\none\ntwo\nthree\n";
    keep_record(record_of(source_a, "Monday", 2e-3, smallest), source_a, false);
    keep_record(record_of(longer, "Tuesday", 1e-3, smallest), longer, false);
    profile(version_name(0), "conv", 2, 6000, 1000);
    profile(version_name(1), "conv", 3, 6000, 1000);
    find_change("1", "2", ST_OK);
    cr_expect_str_eq(sentence(0), "conv equal");
    cr_expect_eq(change.kernel[0].n, 0);
}

Test(change, a_passage_is_compared_as_one_and_a_kernel_may_be_renamed)
{
    keep_two();
    profile(version_name(0), "conv", 2, 6000, 1000);
    profile(version_name(1), "tile", 3, 12000, 3000);
    find_change(NULL, NULL, ST_OK);
    cr_assert_eq(change.kernels, 1);
    cr_expect_str_eq(sentence(0), "tile (conv before) 3.0 times as slow: "
                                  "twice as many shared loads at lines 2-3 (line 2 before)");
}

Test(change, without_a_profile_names_the_missing_part_and_the_command)
{
    keep_two();
    profile(version_name(1), "conv", 2, 6000, 1000);
    find_change(NULL, NULL, ST_OK);
    cr_expect_eq(change.kernels, 0);
    cr_expect(strstr(change.missing,
                     "was not profiled (to profile it: ./grader m3 --quick --profile --source "),
              "%s", change.missing);
    profile(version_name(0), "conv", 2, 6000, 1000);
    put(version_name(0), "parts.tsv", "images\tpart\tstate\n1000\ttrace\there\n");
    find_change(NULL, NULL, ST_OK);
    cr_expect_str_eq(change.missing, "the two versions were profiled at different sizes");
}

Test(change, damaged_tables_are_none)
{
    static const char *const damages[] = {"", "images", "images\tkernel\n100\n", "\t\t\n\t\t\n",
                                          "images\tkernel\ttotal_ns\n100\tconv()\tnan\n"};
    static const char *const tables[] = {"parts.tsv", "analysis.tsv", "lines.tsv",
                                         "counters-100.tsv"};
    keep_two();
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t d = 0; d < sizeof damages / sizeof *damages; d++) {
            profile(version_name(0), "conv", 2, 6000, 1000);
            profile(version_name(1), "conv", 3, 4000, 690);
            put(version_name(1), tables[t], damages[d]);
            find_change(NULL, NULL, ST_OK);
        }
}

Test(change, versions_are_named_by_number_or_digits)
{
    keep_two();
    char digits[8];
    snprintf(digits, sizeof digits, "%.5s", strchr(version_name(1), '-') + 1);
    find_change("1", digits, ST_OK);
    cr_expect_eq(change.version[HI_AFTER].number, 2);
    find_change("2", "1", ST_OK);
    cr_expect_eq(change.version[HI_AFTER].number, 1);
    static const char *const wrong[] = {"3", "0", "", "zzzz", "-1", "1x", "00000000000000000001a"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        find_change(wrong[i], NULL, ST_NOT_FOUND);
}

Test(change, times_of_other_devices_are_not_compared)
{
    struct gr_result *gpu = record_of("b", "Tuesday", 1e-3, smallest);
    strcpy(gpu->device, "gpu");
    keep_record(record_of("a", "Monday", 2e-3, smallest), "a", false);
    keep_record(gpu, "b", false);
    find_change(NULL, NULL, ST_NOT_FOUND);
    find_change("1", "2", ST_OK);
    cr_expect(strstr(change.missing, "different devices"), "%s", change.missing);
}

Test(change, times_in_words)
{
    static const struct {
        double before, after, noise;
        const char *words;
    } cases[] = {{1, 1, 0, "equal"},
                 {1, 0.69, 0, "31% faster"},
                 {1, 1.12, 0, "12% slower"},
                 {1, 0.995, 0, "0.5% faster"},
                 {1, 0.98, 0.03, "equal within noise"},
                 {1, 0.25, 0, "4.0 times as fast"},
                 {1, 2.5, 0.1, "2.5 times as slow"},
                 {1, NAN, 0, "-"},
                 {0, 1, 0, "-"}};
    char words[HI_WORDS];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_str_eq(hi_time_words(words, cases[i].before, cases[i].after, cases[i].noise),
                         cases[i].words);
}

Test(change, counts_in_words)
{
    static const struct {
        double before, after;
        const char *words;
    } cases[] = {{6, 4, "a third fewer barriers"},       {6, 2, "two thirds fewer barriers"},
                 {100, 50, "half as many barriers"},     {100, 200, "twice as many barriers"},
                 {100, 700, "7 times as many barriers"}, {100, 60, "40% fewer barriers"},
                 {100, 104, "4.0% more barriers"},       {0, 5, "new barriers"},
                 {5, 0, "no longer any barriers"}};
    char words[HI_WORDS];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_str_eq(hi_count_words(words, HI_BARRIERS, cases[i].before, cases[i].after),
                         cases[i].words);
}

/* A time measured once has 3% of noise; a modelled time has none. */
Test(change, a_measured_time_is_noisy_and_a_modelled_one_is_not)
{
    struct gr_result *r = record_of("a", "Monday", 2e-3, smallest);
    double noise;
    cr_expect_eq(hi_op_time(r, 100, 2, &noise), 4e-3);
    cr_expect_eq(noise, 0);
    strcpy(r->device, "gpu");
    hi_op_time(r, 100, 1, &noise);
    cr_expect_float_eq(noise, 0.03, 1e-9);
    struct gr_timing *t = &r->timing[0];
    t->repeats = 5;
    for (int i = 0; i < 5; i++)
        t->op_time_s[i] = 2e-3 * (0.8 + 0.1 * i);
    hi_op_time(r, 100, 1, &noise);
    cr_expect(noise > 0.1, "%g", noise);
    cr_expect(isnan(hi_op_time(r, 1000, 1, &noise)));
    r->inference[0].passed = false;
    cr_expect(isnan(hi_op_time(r, 100, 1, &noise)));
    free(r);
}
