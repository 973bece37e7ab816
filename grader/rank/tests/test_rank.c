#include "base/checkout.h"
#include "base/tests/test_text.h"
#include "grader/gradebook/tests/gradebook_rows.h"
#include "grader/rank/board.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(rank, .init = temp_folder_make, .fini = temp_folder_remove);

/* ---- a class --------------------------------------------------------------------------------- */

/* @param seconds  Op Time at 100 images; NAN if the outputs are wrong. */
static void grade(struct gradebook *book, const char *name, const char *milestone,
                  const char *status, double score, double seconds)
{
    struct st_error err;
    struct gb_inference inference = {.model = "two-layer", .images = 100, .passed = 1};
    struct gb_timing timing = timing_row("submission", 1, 100, seconds);
    struct gb_graded stored = {.attempt = attempt_row(name, milestone, status, score, 60)};
    if (isfinite(seconds)) {
        stored.inferences.n = 1, stored.inferences.row = &inference;
        stored.timings.n = 1, stored.timings.row = &timing;
    }
    add_submission(book, name);
    cr_assert_eq(gb_graded_store(book, &stored, &err), ST_OK, "%s", err.what);
}

static const char hostile[] = "<script>alert(1)</script> & '\xe2\x80\xae"
                              "drawkcab\n2nd line";
static const char quoted[] = "\"><img src=x onerror=hacked=1>";

static void grade_class(struct gradebook *book)
{
    grade(book, "alice", "m1", "pass", 60, 0.002);
    grade(book, "bob", "m1", "pass", 60, 0.001);
    grade(book, "carol", "m1", "fail", 20, NAN);
    grade(book, "dave", "m1", "fault", NAN, NAN);
    grade(book, "eve", "m1", "missing", 0, NAN);
    grade(book, "frank", "m1", "pass", 60, 0.002000001);
    grade(book, hostile, "m1", "pass", 50, 0.1234);
    grade(book, quoted, "m1", "pass", 40, 12.34);
    grade(book, "alice", "m2", "pass", 60, 0.5);
}

static struct rk_board board_of(struct gradebook *book, const char *milestone)
{
    struct rk_board board;
    struct st_error err;
    cr_assert_eq(rk_board_read(&board, book, milestone, &err), ST_OK, "%s", err.what);
    return board;
}

static const struct rk_row *row_of(const struct rk_board *board, const char *submission)
{
    for (size_t i = 0; i < board->rows; i++)
        if (strcmp(board->row[i].submission, submission) == 0)
            return &board->row[i];
    return NULL;
}

/* ---- ranks and names ------------------------------------------------------------------------- */

Test(rank, columns_are_the_graded_milestones_of_each_exercise_in_order)
{
    struct gradebook *book = open_class();
    grade(book, "alice", "g2", "pass", 60, 0.5);
    grade(book, "alice", "m10", "pass", 60, 0.25);
    grade(book, "alice", "m9", "pass", 60, 0.125);
    struct rk_board board = board_of(book, NULL);
    cr_assert_eq(board.milestones, 3);
    cr_expect_str_eq(board.column[0].id, "m9");
    cr_expect_str_eq(board.column[1].id, "m10");
    cr_expect_str_eq(board.column[2].id, "g2");
    cr_assert_eq(board.rows, 1);
    cr_expect_float_eq(board.row[0].total_s, 0.875, 1e-9);
    rk_board_free(&board);
    gb_close(book);
}

Test(rank, points_then_time)
{
    struct gradebook *book = open_class();
    grade_class(book);
    struct rk_board board = board_of(book, "m1");
    cr_expect_eq(board.rows, 6);
    cr_expect_eq(board.not_graded, 2);
    cr_expect_str_eq(board.row[0].submission, "bob");
    cr_expect_eq(row_of(&board, "alice")->rank, 2);
    cr_expect_eq(row_of(&board, "frank")->rank, 2, "the same points and time, to a nanosecond");
    cr_expect_eq(row_of(&board, hostile)->rank, 4);
    cr_expect_eq(row_of(&board, "carol")->rank, 6);
    rk_board_free(&board);
    board = board_of(book, NULL);
    cr_expect_eq(board.milestones, 2);
    cr_expect_str_eq(board.row[0].submission, "alice", "two milestones are more than one");
    rk_board_free(&board);
    gb_close(book);
}

Test(rank, names_are_stable_and_reveal_nothing)
{
    struct gradebook *book = open_class();
    char before[RK_NAME_CHARS], label[RK_LABEL_CHARS];
    struct st_error err;
    grade_class(book);
    struct rk_board board = board_of(book, "m1");
    const struct rk_row *alice = row_of(&board, "alice");
    cr_assert(alice);
    strcpy(before, alice->pseudonym);
    for (size_t i = 0; i < board.rows; i++) {
        cr_expect_null(strstr(rk_row_label(&board.row[i], label), board.row[i].submission));
        for (size_t j = 0; j < i; j++)
            cr_expect_str_neq(board.row[i].pseudonym, board.row[j].pseudonym);
    }
    rk_board_free(&board);
    gb_close(book);
    cr_assert_eq(gb_open(&book, temp_path("class.db"), GB_WRITE, &err), ST_OK);
    grade(book, "zoe", "m1", "pass", 60, 0.0005);
    board = board_of(book, NULL);
    cr_expect_str_eq(row_of(&board, "alice")->pseudonym, before);
    rk_board_free(&board);
    gb_close(book);

    char one[RK_NAME_CHARS], other[RK_NAME_CHARS], again[RK_NAME_CHARS];
    rk_pseudonym("secret", "alice", 0, one);
    rk_pseudonym("another", "alice", 0, other);
    rk_pseudonym("secret", "alice", 1, again);
    cr_expect_str_neq(one, other, "another class, another name");
    cr_expect_str_neq(one, again, "where two meet, there are more");
}

Test(rank, a_token_shows_the_own_name_and_hides_it_again)
{
    struct gradebook *book = open_class();
    char token[RK_TOKEN_CHARS], of_other[RK_TOKEN_CHARS], label[RK_LABEL_CHARS];
    struct st_error err;
    grade_class(book);
    cr_assert_eq(rk_token(book, "alice", token, &err), ST_OK);
    cr_assert_eq(rk_token(book, "bob", of_other, &err), ST_OK);
    cr_expect_str_neq(token, of_other);
    cr_assert_eq(rk_show_own_name(book, token, true, &err), ST_OK);
    struct rk_board board = board_of(book, "m1");
    cr_expect_str_eq(rk_row_label(row_of(&board, "alice"), label), "alice");
    cr_expect_str_neq(rk_row_label(row_of(&board, "bob"), label), "bob");
    rk_board_free(&board);
    cr_assert_eq(rk_show_own_name(book, token, false, &err), ST_OK);
    board = board_of(book, "m1");
    cr_expect_str_neq(rk_row_label(row_of(&board, "alice"), label), "alice");
    rk_board_free(&board);
    cr_expect_eq(rk_show_own_name(book, "0123456789abcdef", true, &err), ST_NOT_FOUND);
    gb_close(book);
}

static void show_all_names(struct gradebook *book)
{
    static const char *const names[] = {hostile, quoted, "alice"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char token[RK_TOKEN_CHARS];
        struct st_error err;
        cr_assert_eq(rk_token(book, names[i], token, &err), ST_OK);
        cr_assert_eq(rk_show_own_name(book, token, true, &err), ST_OK);
    }
}

/* The table contains no character that reverses the text or moves the cursor. */
Test(rank, the_table_is_printable)
{
    struct gradebook *book = open_class();
    char *text = NULL;
    grade_class(book);
    show_all_names(book);
    struct rk_board board = board_of(book, "m1");
    PRINTED(text, rk_table_write(&board, out));
    cr_expect(strstr(text, "rank  name"));
    cr_expect_null(strstr(text, "\xe2\x80\xae"));
    size_t lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    cr_expect_eq(lines, 1 + 6 + 1 + 1, "heading, rows, images, not graded:\n%s", text);
    free(text);
    rk_board_free(&board);
    gb_close(book);
}

/* ---- in a browser ---------------------------------------------------------------------------- */

static void write_page(const struct rk_board *board)
{
    FILE *out = fopen(temp_path("board.html"), "w");
    rk_page_write(board, out);
    fclose(out);
}

/* The page loads nothing: it contains no URLs, only names of teams. */
Test(rank, the_page_is_self_contained)
{
    struct gradebook *book = open_class();
    grade_class(book);
    struct rk_board board = board_of(book, NULL);
    write_page(&board);
    char *text = text_of_file(temp_path("board.html"));
    static const char *const outside[] = {"http:", "https:", "//",   "@import",
                                          "url(",  "src=",   "<link"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        cr_expect_null(strstr(text, outside[i]), "%s", outside[i]);
    cr_expect_null(strstr(text, "alice"), "the name of a team");
    free(text);
    rk_board_free(&board);
    gb_close(book);
}

/* Opens harness.html, which is in the folder of board.html, in a browser. @return the resulting
 * document; NULL if there is no browser. */
static char *browse(void)
{
    char command[4 * PATH_MAX];
    if (system("command -v chromium >/dev/null 2>&1") != 0)
        return NULL;
    snprintf(
        command, sizeof command,
        "cp '%s/grader/rank/tests/harness.html' '%s' && HOME='%s' timeout 60 chromium --headless "
        "--no-sandbox --disable-gpu --user-data-dir='%s/profile' --allow-file-access-from-files "
        "--enable-logging=stderr --virtual-time-budget=3000 --window-size=1400,1000 --dump-dom "
        "'file://%s/harness.html' >'%s/dom' 2>'%s/log'",
        checkout_root(NULL), temp_folder, temp_folder, temp_folder, temp_folder, temp_folder,
        temp_folder);
    cr_assert_eq(system(command), 0, "the browser failed: %s", text_of_file(temp_path("log")));
    return text_of_file(temp_path("dom"));
}

Test(rank, a_browser_sorts_it, .timeout = 90)
{
    struct gradebook *book = open_class();
    grade_class(book);
    show_all_names(book);
    struct rk_board board = board_of(book, "m1");
    write_page(&board);
    rk_board_free(&board);
    gb_close(book);
    char *dom = browse();
    if (!dom)
        cr_skip_test("no browser here: chromium is not installed");
    char *result = strstr(dom, "<pre id=\"result\">");
    cr_assert(result, "%s", dom);
    result[strcspn(result, "/")] = '\0'; /* before </pre> */
    cr_expect(strstr(result, "claims: 17"), "%s", result);
    cr_expect_null(strstr(result, "FAILED"), "%s", result);
    char *log = text_of_file(temp_path("log"));
    cr_expect_null(strstr(log, "CONSOLE"), "%s", log);
    free(log);
    free(dom);
}

/* The harness finds mistakes in a page whose texts are not escaped and which has no style. */
Test(rank, a_browser_finds_a_broken_page, .timeout = 90)
{
    FILE *out = fopen(temp_path("board.html"), "w");
    fputs("<!doctype html><table style='width: 800px'><thead><tr><th "
          "data-column=rank><button>Rank</button></th>"
          "<th data-column=name><button>Name</button></th><th "
          "data-column=m1_points><button>P</button></th>"
          "<th data-column=m1_ms><button>T</button></th></tr></thead><tbody>"
          "<tr><td data-value=1>1</td><td><img src=x onerror=hacked=1>a</td><td "
          "data-value=2>2</td><td data-value=3>3</td></tr>"
          "<tr><td data-value=2>2</td><td>b</td><td data-value=3>3</td><td data-value=2>2</td></tr>"
          "</tbody></table>",
          out);
    fclose(out);
    char *dom = browse();
    if (!dom)
        cr_skip_test("no browser here: chromium is not installed");
    static const char *const found[] = {
        "FAILED: the page is as wide as a phone", "FAILED: a click sorts",
        "FAILED: a hostile name is only text", "FAILED: nothing of it ran"};
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        cr_expect(strstr(dom, found[i]), "%s\n%s", found[i], strstr(dom, "<pre"));
    free(dom);
}
