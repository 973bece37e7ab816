#include "base/files.h"

#include "base/tests/temp_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(files, .init = temp_folder_make, .fini = temp_folder_remove);

/* The number of entries in the temporary folder, in which no file may be left. */
static int entries(void)
{
    int n = 0;
    DIR *dir = opendir(temp_folder);
    cr_assert(dir);
    for (struct dirent *e; (e = readdir(dir));)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void expect_contents(const char *path, const char *expected)
{
    char *data;
    size_t bytes;
    struct st_error err;
    cr_assert_eq(file_read(path, 1000, &data, &bytes, &err), ST_OK, "%s", err.what);
    cr_expect_eq(bytes, strlen(expected));
    cr_expect_str_eq(data, expected);
    free(data);
}

static void expect_unreadable(const char *path, size_t max_bytes, enum st_code code)
{
    char dummy, *data = &dummy;
    size_t bytes = 1;
    struct st_error err;
    cr_expect_eq(file_read(path, max_bytes, &data, &bytes, &err), code, "%s", path);
    cr_expect_eq(err.code, code);
    cr_expect_str_eq(err.where, path);
    cr_expect_null(data);
    cr_expect_eq(bytes, 0);
    cr_expect_eq(file_read(path, max_bytes, &data, &bytes, NULL), code);
}

Test(files, a_file_is_read_completely_and_gets_a_nul_at_the_end)
{
    char *data;
    size_t bytes;
    struct st_error err;
    cr_assert_eq(file_read(temp_file("f", "a\0b", 3), 3, &data, &bytes, &err), ST_OK);
    cr_expect_eq(bytes, 3);
    cr_expect_eq(memcmp(data, "a\0b", 4), 0);
    free(data);
    expect_contents(temp_file("empty", "", 0), "");
}

Test(files, a_file_larger_than_allowed_is_refused)
{
    expect_unreadable(temp_file("f", "abcd", 4), 3, ST_TOO_LARGE);
}

Test(files, a_missing_file_is_not_found)
{
    expect_unreadable(temp_path("none"), 10, ST_NOT_FOUND);
}

Test(files, a_folder_is_not_a_file)
{
    expect_unreadable(temp_folder, 1 << 20, ST_BAD_FORMAT);
}

Test(files, a_named_pipe_is_refused_without_waiting_for_a_writer, .timeout = 10)
{
    cr_assert_eq(mkfifo(temp_path("pipe"), 0600), 0);
    expect_unreadable(temp_path("pipe"), 10, ST_BAD_FORMAT);
}

Test(files, a_written_file_appears_only_when_committed)
{
    const char *path = temp_path("out");
    struct file_out out;
    struct st_error err;
    cr_assert_eq(file_out_open(&out, path, &err), ST_OK);
    fputs("new", out.f);
    cr_expect_not(file_exists(path));
    cr_expect_eq(file_out_commit(&out, &err), ST_OK);
    expect_contents(path, "new");
    file_out_abort(&out); /* harmless now */
    expect_contents(path, "new");
    cr_expect_eq(entries(), 1);
}

Test(files, a_copy_is_whole_or_none)
{
    char from[PATH_MAX];
    struct st_error err;
    snprintf(from, sizeof from, "%s", temp_file("from", "whole", 5));
    const char *to = temp_file("to", "old", 3);
    cr_expect_eq(file_copy(from, to, 4, &err), ST_TOO_LARGE);
    expect_contents(to, "old");
    cr_expect_eq(file_copy(from, to, 5, &err), ST_OK, "%s", err.what);
    expect_contents(to, "whole");
    cr_expect_eq(entries(), 2);
}

Test(files, giving_up_leaves_the_old_file_and_nothing_else)
{
    const char *path = temp_file("out", "old", 3);
    struct file_out out;
    struct st_error err;
    cr_assert_eq(file_out_open(&out, path, &err), ST_OK);
    fputs("new", out.f);
    file_out_abort(&out);
    file_out_abort(&out);
    expect_contents(path, "old");
    cr_expect_eq(entries(), 1);
}

Test(files, a_killed_process_leaves_nothing)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", temp_path("out"));
    const int fd = open(temp_folder, O_TMPFILE | O_WRONLY, 0600);
    if (fd < 0)
        cr_skip("the file system has no files without a name");
    close(fd);
    const pid_t child = fork();
    if (child == 0) {
        struct file_out out;
        if (file_out_open(&out, path, NULL) == ST_OK && fputs("new", out.f) >= 0 && !fflush(out.f))
            raise(SIGKILL);
        _exit(1);
    }
    int status;
    waitpid(child, &status, 0);
    cr_expect(WIFSIGNALED(status));
    cr_expect_eq(entries(), 0);
}

Test(files, a_write_that_fails_leaves_the_old_file_and_nothing_else)
{
    const char *path = temp_file("out", "old", 3);
    struct file_out out;
    struct st_error err;
    cr_assert_eq(file_out_open(&out, path, &err), ST_OK);
    /* A limit on file sizes simulates a full disk. */
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit, small;
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = 10;
    setrlimit(RLIMIT_FSIZE, &small);
    for (int i = 0; i < 100; i++)
        fputs("0123456789", out.f);
    enum st_code code = file_out_commit(&out, &err);
    setrlimit(RLIMIT_FSIZE, &limit);
    cr_expect_eq(code, ST_IO);
    cr_expect_str_eq(err.where, path);
    cr_expect(strstr(err.what, "File too large"), "%s", err.what);
    expect_contents(path, "old");
    cr_expect_eq(entries(), 1);
}

/* The failure is reported whether it is noticed while writing or at the end. */
Test(files, a_full_device_is_reported_as_full)
{
    struct st_error err;
    struct file_out out;
    for (int bytes = 1; bytes <= 1 << 20; bytes *= 32) {
        cr_assert_eq(file_out_open(&out, "/dev/full", &err), ST_OK);
        for (int i = 0; i < bytes; i++)
            fputc('x', out.f);
        cr_expect_eq(file_out_commit(&out, &err), ST_IO);
        cr_expect(strstr(err.what, "No space left"), "%d bytes: %s", bytes, err.what);
    }
}

Test(files, a_file_cannot_replace_a_folder)
{
    const char *path = temp_path("folder");
    struct file_out out;
    struct st_error err;
    cr_assert_eq(mkdir(path, 0700), 0);
    cr_assert_eq(file_out_open(&out, path, &err), ST_OK);
    cr_expect_eq(file_out_commit(&out, &err), ST_IO);
    cr_expect_eq(entries(), 1);
}

Test(files, writing_into_a_missing_folder_names_the_file)
{
    struct file_out out;
    struct st_error err;
    cr_expect_eq(file_out_open(&out, temp_path("none/out"), &err), ST_NOT_FOUND);
    cr_expect(strstr(err.where, "none/out"));
    cr_expect_null(out.f);
}

Test(files, a_path_too_long_is_refused)
{
    static char path[PATH_MAX + 10];
    memset(path, 'a', sizeof path - 1);
    struct file_out out;
    struct st_error err;
    cr_expect_eq(file_out_open(&out, path, &err), ST_TOO_LARGE);
    cr_expect_eq(dir_make(path, &err), ST_TOO_LARGE);
    file_out_abort(&out);
}

Test(files, a_folder_is_made_with_its_parents_and_may_exist_already)
{
    struct st_error err;
    for (int i = 0; i < 2; i++)
        cr_expect_eq(dir_make(temp_path("a/b//c/"), &err), ST_OK, "%s", err.what);
    cr_expect(file_exists(temp_path("a/b/c")));
    cr_expect_eq(dir_make("/", &err), ST_OK);
}

Test(files, a_folder_is_not_made_over_or_below_a_file)
{
    struct st_error err;
    temp_file("file", "", 0);
    cr_expect_eq(dir_make(temp_path("file"), &err), ST_IO);
    cr_expect_eq(dir_make(temp_path("file/below"), &err), ST_IO);
    cr_expect(strstr(err.what, "Not a directory"), "%s", err.what);
    cr_expect_str_eq(err.where, temp_path("file"));
}

Test(files, a_folder_without_a_name_is_refused)
{
    struct st_error err;
    cr_expect_eq(dir_make("", &err), ST_NOT_FOUND);
}

Test(files, a_path_that_does_not_fit_is_an_empty_string)
{
    char path[6];
    cr_expect(path_format(path, sizeof path, "%s/%d", "abc", 1));
    cr_expect_str_eq(path, "abc/1");
    cr_expect_not(path_format(path, sizeof path, "%s/%d", "abc", 10));
    cr_expect_str_empty(path);
    struct st_error err;
    cr_expect_eq(path_make(path, sizeof path, &err, "%s/%d", "abc", 10), ST_TOO_LARGE);
    cr_expect_str_empty(path);
    cr_expect_str_eq(err.where, "abc/1...");
}

Test(files, standard_streams_that_are_closed_are_opened)
{
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    const int lowest = dup(STDERR_FILENO);
    cr_assert_eq(lowest, STDIN_FILENO, "that number is free");
    close(lowest);
    files_open_standard();
    const int next = dup(STDERR_FILENO);
    cr_expect_gt(next, STDERR_FILENO, "none of the three is free");
    cr_expect_eq(write(STDOUT_FILENO, "x", 1), 1);
    close(next);
    files_open_standard();
    const int same = dup(STDERR_FILENO);
    cr_expect_eq(same, next, "if all three are open, nothing is opened");
}

Test(files, numbers_of_a_folder_are_the_largest_in_order)
{
    static const char *const names[] = {"n-10.tsv", "n-9.tsv", "n-100.tsv", "n-0.tsv", "n-.tsv",
                                        "n-7.tsv~", "x-8.tsv", "n--3.tsv",  "n-20.tsv"};
    long found[4] = {0}, few[2] = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        temp_file(names[i], "", 0);
    cr_assert_eq(folder_numbers(temp_folder, "n-", ".tsv", found, 4), 4);
    cr_expect(found[0] == 9 && found[1] == 10 && found[2] == 20 && found[3] == 100);
    cr_assert_eq(folder_numbers(temp_folder, "n-", ".tsv", few, 2), 2);
    cr_expect(few[0] == 20 && few[1] == 100);
    cr_expect_eq(folder_numbers(temp_path("none"), "n-", ".tsv", found, 4), 0);
}
