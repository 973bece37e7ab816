/* grader rank: prints the anonymous board. */
#include "base/files.h"
#include "base/option_table.h"
#include "grader/rank/board.h"
#include "base/printable.h"

int gr_command_rank(int argc, char **argv);

struct arguments {
    const char *gradebook, *milestone, *html, *own_name, *no_own_name; /* the last two: tokens */
    bool tokens;
};

static const struct option_row rows[] = {
    {"milestone", 0, "mN", "only this milestone (default: all together)",
     OPTION_TEXT(struct arguments, milestone)},
    {"html", 0, "FILE", "also write the ranking as a self-contained page",
     OPTION_TEXT(struct arguments, html)},
    {"tokens", 0, NULL, "list the secret token of each submission instead",
     OPTION_FLAG(struct arguments, tokens)},
    {"own-name", 0, "TOKEN", "from now on list the team with this token under its own name",
     OPTION_TEXT(struct arguments, own_name)},
    {"no-own-name", 0, "TOKEN", "no longer", OPTION_TEXT(struct arguments, no_own_name)},
    GB_OPTION_ROW(struct arguments, gradebook),
    {0}};

static enum st_code print_tokens(struct gradebook *book, struct st_error *err)
{
    struct gb_submission_list list;
    enum st_code code = gb_submission_read(book, &list, err, "ORDER BY name");
    for (size_t i = 0; !code && i < list.n; i++) {
        char token[RK_TOKEN_CHARS], name[256];
        code = rk_token(book, list.row[i].name, token, err);
        if (!code)
            printf("%s  %s\n", token, text_printable(name, sizeof name, list.row[i].name));
    }
    gb_submission_free(&list);
    return code;
}

static enum st_code write_board(struct gradebook *book, const struct arguments *a,
                                struct st_error *err)
{
    struct rk_board board;
    struct file_out out;
    enum st_code code = rk_board_read(&board, book, a->milestone, err);
    if (code)
        return code;
    rk_table_write(&board, stdout);
    if (a->html && !(code = file_out_open(&out, a->html, err))) {
        rk_page_write(&board, out.f);
        code = file_out_commit(&out, err);
        if (!code)
            printf("Page: %s\n", a->html);
    }
    rk_board_free(&board);
    return code;
}

static enum st_code rank(struct gradebook *book, void *arguments, struct st_error *err)
{
    const struct arguments *a = arguments;
    enum st_code code = ST_OK;
    if (a->own_name)
        code = rk_show_own_name(book, a->own_name, true, err);
    if (!code && a->no_own_name)
        code = rk_show_own_name(book, a->no_own_name, false, err);
    if (code)
        return code;
    return a->tokens ? print_tokens(book, err) : write_board(book, a, err);
}

int gr_command_rank(int argc, char **argv)
{
    static const struct option_table table = {
        .rows = rows,
        .about =
            "Rank a class anonymously, by points, then by Op Time. Every team has a pseudonym, the same in all rankings of a gradebook."};
    struct arguments a = {.gradebook = GB_DEFAULT_PATH};
    options_parse(&table, argc, argv, &a);
    return gb_command(argv[0], a.gradebook, GB_WRITE, rank, &a);
}
