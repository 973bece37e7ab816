#include "base/option_table.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 127, FIRST_KEY = 256 /* greater than all letters */ };

struct parsing {
    const struct option_table *table;
    void *arguments;
};

uint64_t option_number(const char *text, const struct option_row *row, struct argp_state *state)
{
    char *end, range[64] = "";
    errno = 0;
    const uint64_t number = strtoull(text, &end, 10);
    if (isdigit((unsigned char)*text) && !*end && !errno && number >= row->least &&
        number <= row->most)
        return number;
    if (row->least || row->most < UINT64_MAX)
        snprintf(range, sizeof range, " from %ju to %ju", (uintmax_t)row->least,
                 (uintmax_t)row->most);
    argp_error(state, "--%s: expected a whole number%s, got '%s'", row->name, range, text);
    return 0;
}

/* @return the index of a word, or an error that lists the words: "cpu, gpu or virtual". */
static size_t find_word(const char *text, const struct option_row *row, struct argp_state *state)
{
    char list[256] = "";
    size_t used = 0;
    for (size_t i = 0; row->words[i]; i++) {
        if (strcmp(row->words[i], text) == 0)
            return i;
        const char *before = i == 0 ? "" : row->words[i + 1] ? ", " : " or ";
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", before, row->words[i]);
        assert(used < sizeof list);
    }
    argp_error(state, "--%s: expected %s, got '%s'", row->name, list, text);
    return 0;
}

/* Stores the only operand; a second one is an error. */
static void take_operand(const char **to, const char *text, const struct option_row *row,
                         struct argp_state *state)
{
    if (*to)
        argp_error(state, "expected one %s, got '%s' and '%s'", row->value, *to, text);
    *to = text;
}

static void take(const struct option_row *row, void *arguments, char *text,
                 struct argp_state *state)
{
    void *to = (char *)arguments + row->offset;
    if (row->take)
        row->take(to, text, row, state);
    else if (row->kind == OPTION_KIND_FLAG)
        *(bool *)to = true;
    else if (row->kind == OPTION_KIND_SET)
        *(int *)to = (int)row->least;
    else if (row->kind == OPTION_KIND_TEXT)
        *(const char **)to = text;
    else if (row->kind == OPTION_KIND_NUMBER)
        *(uint64_t *)to = option_number(text, row, state);
    else if (row->kind == OPTION_KIND_INT)
        *(int *)to = (int)option_number(text, row, state);
    else if (row->kind == OPTION_KIND_WORD)
        *(const char **)to = row->words[find_word(text, row, state)];
    else if (row->kind == OPTION_KIND_CHOICE)
        *(int *)to = (int)find_word(text, row, state);
    else
        take_operand(to, text, row, state);
}

static int key_of(const struct option_table *table, const struct option_row *row)
{
    if (row->kind == OPTION_KIND_OPERAND)
        return ARGP_KEY_ARG;
    if (row->kind == OPTION_KIND_ALSO)
        return key_of(table, row - 1);
    return row->letter ? row->letter : FIRST_KEY + (int)(row - table->rows);
}

/* Called after the last word: reports missing options and operands. */
static void finish(const struct parsing *p, struct argp_state *state)
{
    for (const struct option_row *row = p->table->rows; row->kind; row++) {
        const char *missing = row->kind == OPTION_KIND_OPERAND ? row->help : row->missing;
        if (missing && !*(const char **)((char *)p->arguments + row->offset))
            argp_error(state, "%s", missing);
    }
    if (p->table->check)
        p->table->check(p->arguments, state);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    const struct parsing *p = state->input;
    if (key == ARGP_KEY_END)
        finish(p, state);
    for (const struct option_row *row = p->table->rows; row->kind; row++)
        if (row->kind != OPTION_KIND_GROUP && key_of(p->table, row) == key) {
            take(row, p->arguments, text, state);
            return 0;
        }
    return key == ARGP_KEY_END ? 0 : ARGP_ERR_UNKNOWN;
}

void options_list(FILE *out, const struct option_table *table)
{
    for (const struct option_row *row = table->rows; row->kind; row++) {
        const struct option_row *own = row;
        while (own->kind == OPTION_KIND_ALSO)
            own--;
        if (!row->name || !own->help)
            continue;
        fprintf(out, "%s\t%.*s\t%s\t", row->name, row->letter != 0, (char[]){(char)row->letter, 0},
                own->value ? own->value : "");
        for (size_t i = 0; own->words && own->words[i]; i++)
            fprintf(out, "%s%s", i ? " " : "", own->words[i]);
        fprintf(out, "\t%s\n", own->help);
    }
    const char *operands = table->operands ? table->operands : "";
    fprintf(out, "\t\t%.*s\t\t\n", (int)strcspn(operands, "\n"), operands);
}

void options_parse(const struct option_table *table, int argc, char **argv, void *arguments)
{
    if (argc == 2 && strcmp(argv[1], OPTIONS_LIST) == 0) {
        options_list(stdout, table);
        exit(0);
    }
    struct argp_option options[MAX_ROWS + 1];
    size_t n = 0;
    for (const struct option_row *row = table->rows; row->kind; row++) {
        if (row->kind == OPTION_KIND_OPERAND)
            continue;
        assert(n < MAX_ROWS);
        options[n++] = (struct argp_option){
            .name = row->name,
            .key = row->kind == OPTION_KIND_GROUP ? 0 : key_of(table, row),
            .arg = row->value,
            .flags = row->kind == OPTION_KIND_ALSO ? OPTION_ALIAS
                     : row->help                   ? 0
                                                   : OPTION_HIDDEN,
            .doc = row->help,
            .group = row->kind == OPTION_KIND_GROUP ? (int)row->least : 0,
        };
    }
    options[n] = (struct argp_option){0};
    const struct argp argp = {.options = options,
                              .parser = parse,
                              .args_doc = table->operands,
                              .doc = table->about,
                              .help_filter = table->help_filter};
    struct parsing parsing = {table, arguments};
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, table->flags, NULL, &parsing);
}
