/* Tests of reports that cannot be written: the error is named, and old files stay whole. */
#include "report_fixture.h"

#include "base/files.h"
#include "base/tests/permissions.h"
#include "grader/report/report.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

TestSuite(report_errors, .init = folder_make, .fini = folder_remove);

Test(report_errors, a_folder_that_is_a_file_is_named_and_untouched)
{
    struct gr_result *r = sample_result();
    struct st_error err;
    write_text("m1", "mine");
    cr_expect_eq(gr_report_write(r, in_folder("m1"), &err), ST_IO);
    cr_expect(strstr(err.what, "cannot create folder"));
    cr_expect(strstr(err.where, "/m1"));
    cr_expect(strstr(err.hint, "--report"));
    char *text = read_text("m1");
    cr_expect_str_eq(text, "mine");
    free(text), free(r);
}

Test(report_errors, a_read_only_folder_is_an_error_and_stays_as_it_was)
{
    struct gr_result *r = sample_result();
    struct st_error err;
    write_report(r, ".");
    size_t entries = folder_entries();
    char *page = read_text("grading.md");
    chmod(in_folder("."), 0555);
    permissions_bind();
    r->seed++;
    r->timings = 0; /* without timings, the plots would be removed */
    cr_expect_eq(gr_report_write(r, in_folder("."), &err), ST_IO);
    cr_expect(strstr(err.what, "Permission denied"));
    chmod(in_folder("."), 0755);
    char *after = read_text("grading.md");
    cr_expect_str_eq(after, page);
    cr_expect_eq(folder_entries(), entries);
    free(page), free(after), free(r);
}

Test(report_errors, a_disk_that_fills_up_leaves_old_files_whole_and_no_parts)
{
    struct gr_result *r = sample_result();
    struct st_error err;
    write_report(r, ".");
    char *old[ALL_FILES];
    for (int i = 0; i < ALL_FILES; i++)
        old[i] = read_text(all_files[i]);
    /* The limit simulates a full disk: only a file's first 1000 bytes fit. */
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit;
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 1000;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    r->seed++;
    enum st_code code = gr_report_write(r, in_folder("."), &err);
    limit.rlim_cur = before;
    setrlimit(RLIMIT_FSIZE, &limit);
    cr_expect_eq(code, ST_IO);
    cr_expect(strstr(err.where, "results.tsv"), "the first that does not fit");
    cr_expect_eq(folder_entries(), FOLDER_ENTRIES, "no temporary file stays");
    for (int i = 0; i < ALL_FILES; i++) {
        char *now = read_text(all_files[i]);
        if (strlen(old[i]) > 1000 && !strstr(all_files[i], ".png"))
            cr_expect_str_eq(now, old[i], "%s", all_files[i]);
        free(now), free(old[i]);
    }
    free(r);
}

Test(report_errors, one_file_that_cannot_be_written_does_not_stop_the_others)
{
    struct gr_result *r = sample_result();
    struct st_error err;
    mkdir(in_folder("checks.tsv"), 0777);
    without_gnuplot();
    cr_expect_eq(gr_report_write(r, in_folder("."), &err), ST_IO);
    cr_expect(strstr(err.where, "checks.tsv"));
    cr_expect(file_exists(in_folder("result.json")) && file_exists(in_folder("report.html")));
    cr_expect_eq(folder_entries(), FOLDER_ENTRIES);
    free(r);
}
