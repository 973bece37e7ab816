/** @file
 * Shell completion of the grader's command line: the commands, their options and values, all from
 * commands.def and the tables of options (base/option_table.h).
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { CO_MAX_OPTIONS = 64, CO_MAX_COMMANDS = 32 };

/** The value of an option, or an operand. */
struct co_value {
    bool any, files, folders;
    char *words; /**< "gpu virtual", malloc'd; NULL: not known */
};

/** An option. Its strings point into the command's text. */
struct co_option {
    const char *name, *letter, *help;
    struct co_value value;
};

/** A command as it is called; the command with the name "" grades. */
struct co_entry {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
};

/** The words of a command. */
struct co_command {
    const char *name, *summary;
    char *text;
    struct co_option option[CO_MAX_OPTIONS];
    size_t options;
    struct co_value operand;
};

/** All commands. */
struct co_line {
    struct co_command command[CO_MAX_COMMANDS];
    size_t commands;
    char *milestones; /**< "m0 m1 ..." */
};

/** Gets the options of n commands, at most CO_MAX_COMMANDS, by running each command. Free @p line
 * in any case. */
enum st_code co_line_read(struct co_line *line, const struct co_entry *entries, size_t n,
                          struct st_error *err);

/** Frees what co_line_read() has allocated. */
void co_line_free(struct co_line *line);
