/** @file
 * A program's command line as a table: each option is a row with its name, its text in --help and
 * the member of a struct that gets the value. glibc's argp does the rest.
 *
 *     struct arguments { const char *out; bool quick; const char *folder; };
 *
 *     static const struct option_row rows[] = {
 *         {"out", 'o', "FILE", "write the table there", OPTION_TEXT(struct arguments, out)},
 *         {"quick", 0, NULL, "fewer shapes", OPTION_FLAG(struct arguments, quick)},
 *         {.value = "folder", OPTION_OPERAND(struct arguments, folder)},
 *         {0}};
 *     const struct option_table table = {.rows = rows, .operands = "DIR", .about = "..."};
 *     options_parse(&table, argc, argv, &arguments);
 *
 * Wrong usage prints a line, "PROGRAM: --jobs: expected a whole number from 1 to 256, got '0'", and
 * exits with status 2.
 */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** How an option's value is stored. */
enum option_kind {
    OPTION_KIND_END, /**< the end of a table */
    OPTION_KIND_GROUP,
    OPTION_KIND_ALSO,
    OPTION_KIND_FLAG,
    OPTION_KIND_SET,
    OPTION_KIND_TEXT,
    OPTION_KIND_NUMBER,
    OPTION_KIND_INT,
    OPTION_KIND_WORD,
    OPTION_KIND_CHOICE,
    OPTION_KIND_TAKE,
    OPTION_KIND_OPERAND
};

struct option_row;

/** Reads the value of an option of kind OPTION_KIND_TAKE; reports errors with argp_error().
 * @param to  the row's member */
typedef void option_take(void *to, char *text, const struct option_row *row,
                         struct argp_state *state);

/** An option. Write the first four members; a macro below sets the others. */
struct option_row {
    const char *name;
    int letter;        /**< -x, or 0 */
    const char *value; /**< name of its value in --help, or NULL; for an operand, its name */
    const char *help;  /**< NULL: --help does not show it; for an operand: the error message if it
                            is missing, or NULL if optional */
    enum option_kind kind;
    size_t offset;
    uint64_t least, most;
    const char *const *words; /**< ends with NULL */
    option_take *take;
    const char *missing; /**< for a required text: the error message if it is missing */
};

/** A heading for the rows below. */
#define OPTION_GROUP(heading)                                                                      \
    {                                                                                              \
        .help = (heading), .kind = OPTION_KIND_GROUP                                               \
    }

/** A heading for the rows below and for --help; this group is printed last. */
#define OPTION_LAST_GROUP(heading)                                                                 \
    {                                                                                              \
        .help = (heading), .kind = OPTION_KIND_GROUP, .least = UINT64_MAX                          \
    }

/** Another name for the previous row's option. */
#define OPTION_ALSO(other)                                                                         \
    {                                                                                              \
        .name = (other), .kind = OPTION_KIND_ALSO                                                  \
    }

/** A bool, set to true. */
#define OPTION_FLAG(type, member) OPTION_TO(FLAG, type, member)

/** An int or enum, set to @p constant by an option without a value. */
#define OPTION_SET(type, member, constant) OPTION_TO(SET, type, member), .least = (constant)

/** A const char *, set to point into argv. */
#define OPTION_TEXT(type, member) OPTION_TO(TEXT, type, member)

/** Like OPTION_TEXT, but required: @p error is printed if the option is missing. */
#define OPTION_NEEDED(type, member, error) OPTION_TEXT(type, member), .missing = (error)

/** A size_t or uint64_t in a range; error messages print the range unless it covers all numbers. */
#define OPTION_NUMBER(type, member, from, to)                                                      \
    OPTION_TO(NUMBER, type, member), .least = (from), .most = (to)

/** Like OPTION_NUMBER for an int or unsigned; @p to is at most INT_MAX. */
#define OPTION_INT(type, member, from, to)                                                         \
    OPTION_TO(INT, type, member), .least = (from), .most = (to)

/** A const char * that is set to a word of @p list. */
#define OPTION_WORD(type, member, list) OPTION_TO(WORD, type, member), .words = (list)

/** An int or enum that is set to the index of a word in @p list. */
#define OPTION_CHOICE(type, member, list) OPTION_TO(CHOICE, type, member), .words = (list)

/** A member of any type, set by a function. */
#define OPTION_TAKE(type, member, function) OPTION_TO(TAKE, type, member), .take = (function)

/** A function that gets the whole struct, not a member. */
#define OPTION_TAKE_ALL(function) .kind = OPTION_KIND_TAKE, .take = (function)

/** A const char * that is set to the only operand. */
#define OPTION_OPERAND(type, member) OPTION_TO(OPERAND, type, member)

/** Any number of operands: @p function gets each operand, and the whole struct. */
#define OPTION_OPERANDS(function) .kind = OPTION_KIND_OPERAND, .take = (function)

#define OPTION_TO(word, type, member) .kind = OPTION_KIND_##word, .offset = offsetof(type, member)

/** A command line. */
struct option_table {
    const struct option_row *rows;
    const char *operands, *about; /**< argp's args_doc and doc */
    /** Checks the arguments after parsing; may be NULL. */
    void (*check)(void *arguments, struct argp_state *state);
    char *(*help_filter)(int key, const char *text, void *input); /**< for argp, or NULL */
    unsigned flags;                                               /**< for argp */
};

/** The argument with which a program or command lists its table: see options_list(). */
#define OPTIONS_LIST "--list-options"

/** Lists the options for programs, such as a shell's completion: one line for each option that
 * --help shows, then one for the operands. A line has name, letter, value, words and help,
 * separated by tabs; missing parts are empty, and the operands' line has no name. */
void options_list(FILE *out, const struct option_table *table);

/** Parses; on --help or wrong usage prints and exits (status 2); for OPTIONS_LIST alone, prints the
 * list and exits. */
void options_parse(const struct option_table *table, int argc, char **argv, void *arguments);

/** Reads a value like OPTION_NUMBER, for the function of an OPTION_TAKE. */
uint64_t option_number(const char *text, const struct option_row *row, struct argp_state *state);
