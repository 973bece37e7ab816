/* Tests of the history: a short grading loses no result of a long grading of the same source,
 * whatever happens to the folder. */
#include "base/files.h"
#include "base/tests/temp_folder.h"
#include "base/tests/test_text.h"
#include "history_fixture.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define A "ca978112ca1b" /* first digits of SHA-256 of "a", FIPS 180-4 */
#define B "3e23e8160039"
#define C "2e7d2c03a950"

static const size_t all[] = {100, 1000, 10000, 0}, smallest[] = {100, 0}, other[] = {20, 0};

static void set_up(void)
{
    temp_folder_make();
    snprintf(report_folder, sizeof report_folder, "%s", temp_path("m3"));
}

TestSuite(history, .init = set_up, .fini = temp_folder_remove);

static struct gr_result *newest(void)
{
    struct hi_list list;
    struct st_error err;
    struct gr_result *r = calloc(1, sizeof *r);
    cr_assert_eq(hi_list_read(&list, report_folder, &err), ST_OK);
    cr_assert(list.n > 0);
    cr_assert_eq(hi_version_read(&list.version[list.n - 1], r, &err), ST_OK, "%s", err.what);
    hi_list_free(&list);
    return r;
}

static void expect_text(const char *name, const char *expected)
{
    char *text = text_of_file(temp_path(name));
    cr_expect_str_eq(text, expected);
    free(text);
}

/* ---- kept results --------------------------------------------------------------------------- */

Test(history, a_short_grading_keeps_the_sizes_of_a_long_one)
{
    keep_record(record_of("a", "Monday", 2e-3, all), "a", false);
    keep_record(record_of("a", "Tuesday", 1e-3, smallest), "a", false);
    cr_expect_str_eq(versions(), "000002-" A);
    struct gr_result *r = newest();
    cr_expect_eq(r->inferences, 3);
    cr_expect_eq(r->timings, 6);
    cr_expect_eq(r->score, 35);
    cr_expect_eq(gr_unchecked_points(r), 0);
    cr_expect_str_eq(r->inference[0].graded, "");
    cr_expect_eq(r->inference[0].op_time_s[0], 1e-3);
    cr_expect_str_eq(r->inference[2].graded, "Monday");
    cr_expect_eq(r->inference[2].op_time_s[0], 2e-3 * 100);
    cr_expect_str_eq(check_of(r, "inference_100")->graded, "");
    cr_expect_str_eq(check_of(r, "inference_1000")->graded, "Monday");
    free(r);
}

Test(history, the_date_of_a_row_stays_that_of_its_own_grading)
{
    keep_record(record_of("a", "Monday", 2e-3, all), "a", false);
    keep_record(record_of("a", "Tuesday", 1e-3, other), "a", false);
    keep_record(record_of("a", "Wednesday", 1e-3, smallest), "a", false);
    struct gr_result *r = newest();
    cr_assert_eq(r->inferences, 4);
    cr_expect_eq(r->inference[0].images, 20);
    cr_expect_str_eq(r->inference[0].graded, "Tuesday");
    cr_expect_str_eq(r->inference[1].graded, "");
    cr_expect_str_eq(r->inference[3].graded, "Monday");
    free(r);
}

Test(history, another_source_or_device_is_another_version)
{
    struct gr_result *gpu = record_of("a", "Tuesday", 1e-3, smallest);
    strcpy(gpu->device, "gpu");
    keep_record(record_of("a", "Monday", 2e-3, all), "a", false);
    keep_record(record_of("b", "Tuesday", 1e-3, smallest), "b", false);
    keep_record(gpu, "a", false);
    cr_expect_str_eq(versions(), "000001-" A " 000002-" B " 000003-" A);
    struct gr_result *r = newest();
    cr_expect_eq(r->inferences, 1);
    cr_expect_eq(r->score, 15);
    free(r);
}

Test(history, a_network_of_the_same_name_with_other_weights_is_another_version)
{
    struct gr_result *private = record_of("a", "Tuesday", 1e-3, smallest);
    strcpy(private->model_hash, "beef");
    keep_record(record_of("a", "Monday", 2e-3, all), "a", false);
    keep_record(private, "a", false);
    cr_expect_str_eq(versions(), "000001-" A " 000002-" A);
}

Test(history, a_requested_profile_that_failed_is_not_replaced)
{
    struct gr_result *r = record_of("a", "Tuesday", 1e-3, all);
    check_of(r, "inference_1000")->status = GR_FAIL;
    check_of(r, "inference_10000")->status = GR_SKIP; /* a smaller data set failed */
    r->inferences = 1, r->timings = 2;
    keep_record(record_of("a", "Monday", 2e-3, all), "a", false);
    keep_record(r, "a", false);
    r = newest();
    cr_expect_eq(check_of(r, "inference_1000")->status, GR_FAIL);
    cr_expect_eq(check_of(r, "inference_10000")->status, GR_SKIP);
    cr_expect_eq(r->inferences, 1);
    free(r);
}

Test(history, times_taken_in_turn_with_others_stay_with_them)
{
    struct gr_result *r = record_of("a", "Monday", 2e-3, smallest);
    r->timing[2] = r->timing[0], r->timing[2].subject = GR_REFERENCE, r->timings = 3;
    keep_record(r, "a", false);
    keep_record(record_of("a", "Tuesday", 1e-3, smallest), "a", false);
    r = newest();
    cr_expect_eq(r->timings, 3);
    cr_expect_eq(r->inference[0].op_time_s[0], 2e-3);
    cr_expect_str_eq(r->inference[0].graded, "Monday");
    cr_expect_str_eq(check_of(r, "inference_100")->graded, "");
    free(r);
}

Test(history, a_profile_grows_by_sizes_and_belongs_to_its_version)
{
    keep_record(record_of("a", "Monday", 2e-3, all), "a", true);
    keep_record(record_of("a", "Tuesday", 1e-3, smallest), "a", true);
    static const char merged[] =
        "images\tpart\n100\tof Tuesday\n1000\tof Monday\n10000\tof Monday\n";
    expect_text("m3/profile/parts.tsv", merged);
    expect_text("m3/profile/time-100.txt", "Tuesday");
    expect_text("m3/profile/time-1000.txt", "Monday");
    expect_text("m3/profile/source.txt", "int i;\n"); /* only once, on the last recording's page */
    expect_text("m3/profile/run-2.html", "Tuesday");
    keep_record(record_of("b", "Wednesday", 1e-3, smallest), "b", false);
    cr_expect(!file_exists(temp_path("m3/profile")));
    keep_record(record_of("a", "Thursday", 1e-3, smallest), "a", false);
    expect_text("m3/profile/parts.tsv", merged);
    expect_text("m3/profile/source.txt", "int i;\n");
    expect_text("m3/profile/run-2.html", "Tuesday");
    expect_text("m3/history/000004-" A "/conv.cu", "a");
}

/* ---- changes of the folder -------------------------------------------------------------------- */

Test(history, a_damaged_version_is_reported_and_the_rest_is_used)
{
    static const char *const damages[] = {"", "{\"milestone\": \"m3\"", "[]", "{\"checks\": []}"};
    keep_record(record_of("b", "Sunday", 1e-3, all), "b", false);
    keep_record(record_of("a", "Monday", 2e-3, all), "a", false);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        temp_file("m3/history/000002-" A "/result.json", damages[i], strlen(damages[i]));
        const char *note = keep_record(record_of("a", "Tuesday", 1e-3, smallest), "a", false);
        cr_expect(i || strstr(note, "000002-" A ": damaged"), "%s", note);
        keep_record(record_of("b", "Tuesday", 1e-3, smallest), "b", false);
        struct gr_result *r = newest();
        cr_expect_eq(r->inferences, 3, "b is whole");
        free(r);
    }
}

Test(history, a_file_of_64_MiB_is_left_out_in_one_line)
{
    keep_record(record_of("a", "Monday", 2e-3, all), "a", false);
    cr_assert_eq(truncate(temp_path("m3/history/000001-" A "/result.json"), 64 << 20), 0);
    const char *note = keep_record(record_of("a", "Tuesday", 1e-3, smallest), "a", false);
    cr_expect(strstr(note, "damaged") && !strchr(note, '\n'), "%s", note);
    cr_expect_str_eq(versions(), "000001-" A " 000002-" A);
}

Test(history, the_oldest_of_too_many_versions_is_removed)
{
    char source[16] = "";
    for (int i = 0; i <= HI_MAX_VERSIONS; i++) {
        snprintf(source, sizeof source, "version %d", i);
        const char *note = keep_record(record_of(source, "Monday", 1e-3, smallest), source, false);
        cr_expect_eq(note[0] != '\0', i == HI_MAX_VERSIONS, "%d: %s", i, note);
    }
    cr_expect_eq(strncmp(versions(), "000002-", 7), 0);
    const char *note = keep_record(record_of(source, "Monday", 1e-3, smallest), source, false);
    cr_expect_str_eq(note, "", "the same version again removes none");
}

Test(history, the_oldest_versions_go_when_they_take_too_much_room)
{
    keep_record(record_of("a", "Monday", 1e-3, smallest), "a", false);
    keep_record(record_of("b", "Monday", 1e-3, smallest), "b", false);
    cr_assert_eq(truncate(temp_path("m3/history/000001-" A "/conv.cu"), HI_MAX_BYTES - 8192), 0);
    const char *note = keep_record(record_of("c", "Monday", 1e-3, smallest), "c", false);
    cr_expect_str_eq(note, "", "there is room for all");
    cr_assert_eq(truncate(temp_path("m3/history/000001-" A "/conv.cu"), HI_MAX_BYTES), 0);
    note = keep_record(record_of("c", "Monday", 1e-3, smallest), "c", false);
    cr_expect(strstr(note, "000001-" A ": removed: the history keeps 100 versions and 64 MiB"),
              "%s", note);
    cr_expect_eq(strncmp(versions(), "000002-", 7), 0, "%s", versions());
    cr_assert_eq(truncate(temp_path("m3/history/000002-" B "/conv.cu"), HI_MAX_BYTES), 0);
    note = keep_record(record_of("c", "Monday", 1e-3, smallest), "c", false);
    cr_expect_str_eq(note, "", "two are always kept");
}

/* Runs in a child process: grades one size at a time, alternating with the other processes. */
static _Noreturn void grade_sizes(size_t from)
{
    for (size_t images = from; images < 8; images += 2) {
        const size_t sizes[] = {images, 0};
        keep_record(record_of("a", "Monday", 1e-3, sizes), "a", true);
    }
    _exit(0);
}

Test(history, gradings_at_the_same_time_lose_nothing_of_each_other)
{
    int status;
    for (size_t i = 1; i <= 2; i++)
        if (fork() == 0)
            grade_sizes(i);
    while (wait(&status) > 0)
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    cr_expect_str_eq(versions(), "000007-" A);
    struct gr_result *r = newest();
    cr_expect_eq(r->inferences, 7);
    free(r);
    char *parts = text_of_file(temp_path("m3/profile/parts.tsv"));
    for (const char *size = "1234567"; *size; size++)
        cr_expect(strchr(parts, *size), "%c in %s", *size, parts);
    free(parts);
}

static size_t entries_of(const char *folder, const char *prefix)
{
    size_t n = 0;
    DIR *dir = opendir(temp_path(folder));
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        n += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    closedir(dir);
    return n;
}

Test(history, a_grading_that_is_killed_leaves_the_others_whole)
{
    int status;
    keep_record(record_of("a", "Monday", 2e-3, all), "a", true);
    pid_t child = fork();
    if (!child) {
        struct hi_writing w;
        hi_begin(&w, report_folder, NULL);
        char path[PATH_MAX];
        path_format(path, sizeof path, "%s/result.json", w.folder);
        file_write(path, "{\"half", 6, NULL);
        raise(SIGKILL);
    }
    waitpid(child, &status, 0);
    cr_assert(WIFSIGNALED(status));
    cr_expect_eq(entries_of("m3/history", "new-"), 1);
    cr_expect_str_eq(versions(), "000001-" A);
    keep_record(record_of("a", "Tuesday", 1e-3, smallest), "a", false);
    cr_expect_str_eq(versions(), "000002-" A);
    cr_expect_eq(entries_of("m3/history", "new-"), 0);
}

/* A limit on file sizes simulates a full disk. */
Test(history, a_full_disk_is_an_error_and_the_earlier_version_stays)
{
    struct hi_writing w;
    struct st_error err;
    keep_record(record_of("a", "Monday", 2e-3, all), "a", false);
    struct gr_result *r = record_of("a", "Tuesday", 1e-3, smallest);
    cr_assert_eq(hi_begin(&w, report_folder, &err), ST_OK);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, little = {1000, RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &before);
    little.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_FSIZE, &little);
    const enum st_code code = hi_commit(&w, r, "a", 1, "conv.cu", &err);
    hi_end(&w);
    setrlimit(RLIMIT_FSIZE, &before);
    cr_expect_eq(code, ST_IO, "%s", err.what);
    cr_expect_eq(r->inferences, 3, "the report still has all sizes");
    cr_expect_str_eq(versions(), "000001-" A);
    cr_expect_eq(entries_of("m3/history", "new-"), 0);
    free(r);
}
