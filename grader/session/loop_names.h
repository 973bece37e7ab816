/** @file
 * Explains from a loop's source why it does not end: the variables of its condition, and those that
 * the loop changes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Reads the for or while loop of a line of a source file. If the compiler removed a loop's
 * condition, machine code may give the line of a loop inside it: if the variables of that loop's
 * condition change, and those of an enclosing one do not, the enclosing loop is read.
 * @param line  set to the line of that loop
 * @param to    set to "its condition q < K reads q and K, and the loop changes neither", for
 *              example @return false, with @p to empty, without a loop or if its condition is
 *              not plain */
bool gr_loop_names(const char *file, int *line, char *to, size_t room);

/** Blanks comments and literals of a source's text, and keeps the lines. */
void gr_blank_comments(char *text);
