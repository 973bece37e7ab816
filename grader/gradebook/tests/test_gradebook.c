#include "base/tests/permissions.h"
#include "base/files.h"
#include "base/tests/test_text.h"
#include "grader/gradebook/gradebook_parts.h"
#include "grader/gradebook/tests/gradebook_rows.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(gradebook, .init = temp_folder_make, .fini = temp_folder_remove);

static enum st_code store(struct gradebook *book, const char *name, double score,
                          struct st_error *err)
{
    struct gb_check_result check[] = {check_row(1, "builds", "pass", 0, 0, "one"),
                                      check_row(2, "unit_shapes", "pass", 0, 0, "two\nlines")};
    struct gb_graded graded = {.attempt =
                                   attempt_row(name, "m1", score > 0 ? "pass" : "fail", score, 60),
                               .checks = {2, check}};
    return gb_graded_store(book, &graded, err);
}

static void run_sql(const char *sql)
{
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(temp_path("class.db"), &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* Expects that opening fails with an error that contains this text. */
static void expect_refused(enum gb_access access, enum st_code code, const char *what)
{
    struct gradebook *book;
    struct st_error err;
    char said[2048];
    cr_expect_eq(gb_open(&book, temp_path("class.db"), access, &err), code);
    cr_expect_null(book);
    snprintf(said, sizeof said, "%s | %s | %s | %s", err.what, err.expected, err.got, err.hint);
    cr_expect(strstr(said, what), "expected '%s' in: %s", what, said);
    cr_expect_str_eq(err.where, temp_path("class.db"));
}

Test(gradebook, reads_the_rows_that_it_stored)
{
    static const char *const names[] = {"s001", "with blank", "a\nnewline", "it's \"quoted\"",
                                        "-rf",  "\xc3\xa4"};
    struct gradebook *book = open_class();
    struct st_error err;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        add_submission(book, names[i]);
        cr_assert_eq(store(book, names[i], 12.5, &err), ST_OK, "%s", err.what);
        struct gb_grade_list list;
        cr_assert_eq(gb_grade_read(book, &list, &err, "WHERE submission = %Q", names[i]), ST_OK);
        cr_assert_eq(list.n, 1);
        cr_expect_str_eq(list.row[0].submission, names[i]);
        cr_expect_eq(list.row[0].score, 12.5);
        struct gb_graded graded;
        cr_assert_eq(gb_graded_read(book, list.row[0].attempt, &graded, &err), ST_OK);
        cr_expect(isnan(graded.attempt.cpu_s));
        cr_expect_null(graded.attempt.source_hash);
        cr_assert_eq(graded.checks.n, 2);
        cr_expect_str_eq(graded.checks.row[1].message, "two\nlines");
        gb_graded_free(&graded);
        gb_grade_free(&list);
    }
    gb_close(book);
}

Test(gradebook, keeps_the_history_of_a_grade)
{
    struct gradebook *book = open_class();
    struct st_error err;
    add_submission(book, "s001");
    cr_assert_eq(store(book, "s001", 0, &err), ST_OK);
    cr_assert_eq(store(book, "s001", 60, &err), ST_OK);
    struct gb_attempt_list attempts;
    struct gb_grade_list grades;
    cr_assert_eq(gb_attempt_read(book, &attempts, &err, "ORDER BY id"), ST_OK);
    cr_assert_eq(gb_grade_read(book, &grades, &err, ""), ST_OK);
    cr_assert_eq(attempts.n, 2);
    cr_assert_eq(grades.n, 1);
    cr_expect_eq(attempts.row[0].score, 0);
    cr_expect_eq(grades.row[0].attempt, attempts.row[1].id);
    cr_expect_eq(grades.row[0].score, 60);
    gb_attempt_free(&attempts);
    gb_grade_free(&grades);
    gb_close(book);
}

Test(gradebook, stores_a_grading_whole_or_not_at_all)
{
    struct gradebook *book = open_class();
    struct st_error err;
    add_submission(book, "s001");
    struct gb_check_result check[] = {check_row(1, "builds", "pass", 5, 5, "one"),
                                      check_row(2, "unit_shapes", "pass", 25, 25, "two")};
    check[1].status = "maybe"; /* the schema does not allow this status */
    struct gb_graded graded = {.attempt = attempt_row("s001", "m1", "pass", 1, 60),
                               .checks = {2, check}};
    cr_expect_neq(gb_graded_store(book, &graded, &err), ST_OK);
    cr_expect_neq(store(book, "nobody", 1, &err), ST_OK); /* the submission does not exist */
    struct gb_attempt_list attempts;
    struct gb_check_result_list checks;
    cr_assert_eq(gb_attempt_read(book, &attempts, &err, ""), ST_OK);
    cr_assert_eq(gb_check_result_read(book, &checks, &err, ""), ST_OK);
    cr_expect_eq(attempts.n, 0);
    cr_expect_eq(checks.n, 0);
    cr_expect_eq(store(book, "s001", 1, &err), ST_OK, "%s", err.what);
    gb_attempt_free(&attempts);
    gb_close(book);
}

Test(gradebook, is_whole_after_a_kill_at_any_moment)
{
    gb_close(open_class());
    for (int round = 0; round < 5; round++) {
        int stored[2];
        char byte;
        cr_assert_eq(pipe(stored), 0);
        pid_t pid = fork();
        if (pid == 0) {
            struct gradebook *book;
            if (gb_open(&book, temp_path("class.db"), GB_WRITE, NULL))
                _exit(1);
            add_submission(book, "s001");
            while (!store(book, "s001", 1, NULL) && write(stored[1], "x", 1) == 1)
                ;
            _exit(2);
        }
        cr_assert_eq(read(stored[0], &byte, 1), 1); /* one is stored; stop in the next */
        usleep(1000 + 700 * (unsigned)round);
        kill(pid, SIGKILL);
        close(stored[0]);
        close(stored[1]);
        int status;
        waitpid(pid, &status, 0);
        cr_assert(WIFSIGNALED(status));
    }
    struct gradebook *book;
    struct st_error err;
    cr_assert_eq(gb_open(&book, temp_path("class.db"), GB_READ, &err), ST_OK, "%s", err.what);
    struct gb_attempt_list attempts;
    struct gb_check_result_list checks;
    cr_assert_eq(gb_attempt_read(book, &attempts, &err, ""), ST_OK);
    cr_assert_eq(gb_check_result_read(book, &checks, &err, ""), ST_OK);
    cr_expect_geq(attempts.n, 5);
    cr_expect_eq(checks.n, 2 * attempts.n);
    gb_attempt_free(&attempts);
    gb_check_result_free(&checks);
    gb_close(book);
}

Test(gradebook, of_a_newer_version_is_refused)
{
    gb_close(open_class());
    run_sql("PRAGMA user_version = 99");
    expect_refused(GB_CREATE, ST_BAD_FORMAT, "99");
    expect_refused(GB_READ, ST_BAD_FORMAT, "another version");
}

/* Expects that the schema of this gradebook is exactly that of schema.def. */
static void expect_whole_schema(const char *path)
{
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    char *sql = gb_schema_sql();
    cr_assert_neq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "its tables exist");
    free(sql);
    sqlite3_close(db);
}

Test(gradebook, of_an_older_version_is_brought_up_to_date_and_copied)
{
    char *old = text_of_file(checkout_file("grader/gradebook/tests/version-1.sql"));
    run_sql(old);
    free(old);
    expect_refused(GB_READ, ST_BAD_FORMAT, "older version");
    struct gradebook *book;
    struct st_error err;
    struct gb_attempt_list attempts;
    cr_assert_eq(gb_open(&book, temp_path("class.db"), GB_WRITE, &err), ST_OK, "%s", err.what);
    cr_assert_eq(gb_attempt_read(book, &attempts, &err, ""), ST_OK, "%s", err.what);
    cr_assert_eq(attempts.n, 1);
    cr_expect_eq(attempts.row[0].score, 60);
    cr_expect_eq(attempts.row[0].alone, 0);
    cr_expect_str_eq(attempts.row[0].timed_on, "");
    cr_expect(isnan(attempts.row[0].timed_from));
    gb_attempt_free(&attempts);
    add_submission(book, "s002");
    cr_expect_eq(store(book, "s002", 1, &err), ST_OK, "%s", err.what);
    gb_close(book);
    expect_whole_schema(temp_path("class.db"));
    /* The copy is the file before the update. */
    cr_assert_eq(rename(temp_path("class.db.version-1"), temp_path("class.db")), 0);
    expect_refused(GB_READ, ST_BAD_FORMAT, "older version");
}

Test(gradebook, of_an_older_version_stays_as_it_is_if_it_cannot_be_copied)
{
    char *old = text_of_file(checkout_file("grader/gradebook/tests/version-1.sql"));
    run_sql(old);
    free(old);
    cr_assert_eq(mkdir(temp_path("class.db.version-1.tmp"), 0777), 0);
    temp_file("class.db.version-1.tmp/in-the-way", "", 0);
    expect_refused(GB_WRITE, ST_IO, "copy the gradebook");
    cr_assert_eq(remove(temp_path("class.db.version-1.tmp/in-the-way")), 0);
    expect_refused(GB_READ, ST_BAD_FORMAT, "older version");
}

Test(gradebook, that_another_program_has_locked_is_reported)
{
    gb_close(open_class());
    sqlite3 *db;
    struct gradebook *book;
    struct st_error err;
    cr_assert_eq(sqlite3_open(temp_path("class.db"), &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    cr_assert_eq(gb_open(&book, temp_path("class.db"), GB_WRITE, &err), ST_OK, "%s", err.what);
    cr_expect_eq(gb_begin(book, &err), ST_IO);
    cr_expect(strstr(err.hint, "another program has locked it"), "%s", err.hint);
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    cr_expect_eq(gb_begin(book, &err), ST_OK, "%s", err.what);
    gb_rollback(book);
    gb_close(book);
    sqlite3_close(db);
}

Test(gradebook, a_file_that_is_not_a_gradebook_is_refused)
{
    struct file_out file;
    cr_assert_eq(file_out_open(&file, temp_path("class.db"), NULL), ST_OK);
    for (int i = 0; i < 3000; i++)
        fputs("name,points\n", file.f);
    cr_assert_eq(file_out_commit(&file, NULL), ST_OK);
    expect_refused(GB_CREATE, ST_BAD_FORMAT, "not a gradebook");
    cr_assert_eq(unlink(temp_path("class.db")), 0);
    run_sql("CREATE TABLE other (a)");
    expect_refused(GB_CREATE, ST_BAD_FORMAT, "not a gradebook");
    cr_assert_eq(unlink(temp_path("class.db")), 0);
    expect_refused(GB_READ, ST_NOT_FOUND, "the gradebook does not exist");
}

Test(gradebook, that_is_damaged_is_refused)
{
    gb_close(open_class());
    FILE *f = fopen(temp_path("class.db"), "r+");
    cr_assert(f);
    fseek(f, 100, SEEK_SET); /* the first page, after SQLite's header */
    for (int i = 0; i < 3000; i++)
        fputc(0xa5, f);
    fclose(f);
    expect_refused(GB_CREATE, ST_BAD_FORMAT, "damaged");
}

Test(gradebook, that_cannot_be_written_is_readable)
{
    struct gradebook *book = open_class();
    struct st_error err;
    add_submission(book, "s001");
    cr_assert_eq(store(book, "s001", 3, &err), ST_OK);
    gb_close(book);
    chmod(temp_folder, 0555);
    chmod(temp_path("class.db"), 0444);
    permissions_bind();
    struct gb_grade_list grades = {0};
    cr_expect_neq(gb_open(&book, temp_path("class.db"), GB_WRITE, &err), ST_OK);
    cr_expect(strstr(err.hint, "cannot be written"), "%s", err.hint);
    cr_assert_eq(gb_open(&book, temp_path("class.db"), GB_READ, &err), ST_OK, "%s", err.what);
    cr_assert_eq(gb_grade_read(book, &grades, &err, ""), ST_OK);
    cr_expect_eq(grades.n, 1);
    gb_grade_free(&grades);
    gb_close(book);
    chmod(temp_folder, 0755);
}

Test(gradebook, changes_and_numbers_are_of_the_rows_that_were_named)
{
    struct gradebook *book = open_class();
    struct st_error err;
    double n = 0;
    add_submission(book, "it's");
    add_submission(book, "its");
    cr_assert_eq(store(book, "it's", 12.5, &err), ST_OK, "%s", err.what);
    cr_assert_eq(gb_number(book, &n, &err, "SELECT score FROM grade WHERE submission = %Q", "it's"),
                 ST_OK);
    cr_expect_eq(n, 12.5);
    cr_assert_eq(gb_change(book, &err, "DELETE FROM grade WHERE submission = %Q", "its"), ST_OK);
    cr_expect_eq(gb_changed(book), 0);
    cr_assert_eq(gb_change(book, &err, "DELETE FROM grade WHERE submission = %Q", "it's"), ST_OK);
    cr_expect_eq(gb_changed(book), 1);
    cr_assert_eq(gb_number(book, &n, &err, "SELECT max(score) FROM grade"), ST_OK);
    cr_expect(isnan(n), "the number of no row");
    cr_expect_eq(gb_number(book, &n, &err, "SELECT nothing FROM grade"), ST_IO);
    cr_expect_eq(gb_change(book, &err, "DELETE FROM nothing"), ST_IO);
    gb_close(book);
}

Test(gradebook, every_table_is_in_its_page)
{
    char *page = text_of_file(checkout_file("docs/gradebook.md")), *schema;
    PRINTED(schema, gb_schema_print(out));
    char *from = strstr(page, "\n### ");
    cr_assert(from);
    cr_expect(strcmp(from, schema) == 0,
              "docs/gradebook.md: its tables are not those of schema.def (hint: replace what "
              "follows its introduction by what grader gradebook --schema prints)");
    free(page);
    free(schema);
}
