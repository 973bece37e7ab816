/* grader rank: the anonymous board. */
#include "base/files.h"
#include "grader/gradebook/gradebook_options.h"
#include "grader/rank/board.h"
#include "grader/sandbox/printable.h"

#include <stdlib.h>

int gr_command_rank(int argc, char **argv);

struct arguments {
    const char *gradebook, *milestone, *html, *token;
    bool tokens, show;
};

enum { KEY_HTML = 256, KEY_MILESTONE, KEY_TOKENS, KEY_OWN_NAME, KEY_NO_OWN_NAME };

static const struct argp_option options[] = {
    {"milestone", KEY_MILESTONE, "mN", 0, "only this milestone (default: all together)", 0},
    {"html", KEY_HTML, "FILE", 0, "also write the board as a page, which needs nothing else", 0},
    {"tokens", KEY_TOKENS, 0, 0, "list each submission's token instead: secret, one for each team",
     0},
    {"own-name", KEY_OWN_NAME, "TOKEN", 0,
     "from now on list the team that has this token under its own name", 0},
    {"no-own-name", KEY_NO_OWN_NAME, "TOKEN", 0, "no longer", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case KEY_MILESTONE:
        a->milestone = arg;
        break;
    case KEY_HTML:
        a->html = arg;
        break;
    case KEY_TOKENS:
        a->tokens = true;
        break;
    case KEY_OWN_NAME:
    case KEY_NO_OWN_NAME:
        a->token = arg;
        a->show = key == KEY_OWN_NAME;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static enum st_code print_tokens(struct gradebook *book, struct st_error *err)
{
    struct gb_submission_list list;
    enum st_code code = gb_submission_read(book, &list, "ORDER BY name", NULL, err);
    for (size_t i = 0; !code && i < list.n; i++) {
        char token[RK_TOKEN_CHARS], name[256];
        code = rk_token(book, list.row[i].name, token, err);
        if (!code)
            printf("%s  %s\n", token, gr_printable(name, sizeof name, list.row[i].name));
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

int gr_command_rank(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc = "Rank a class, anonymously: by points, then by Op Time. Every team has a name that "
               "stays "
               "the same in all boards of a gradebook and tells nobody who it is."};
    struct arguments a = {0};
    struct gradebook *book;
    struct st_error err;
    gb_options_parse(&argp, argc, argv, &a, &a.gradebook);
    enum st_code code = gb_open(&book, a.gradebook, GB_WRITE, &err);
    if (!code && a.token)
        code = rk_show_own_name(book, a.token, a.show, &err);
    if (!code && a.tokens)
        code = print_tokens(book, &err);
    else if (!code)
        code = write_board(book, &a, &err);
    gb_close(book);
    if (code)
        st_print(stderr, argv[0], &err);
    return code ? 2 : 0;
}
