/** @file
 * Explains from a loop's source why the loop does not end: names the variables of its condition,
 * and those that the loop changes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Reads the for or while loop in a line of a source file. If the compiler removed a loop's
 * condition, machine code may name the line of an inner loop instead: if the inner loop changes its
 * condition's variables, and an enclosing loop does not change its own, reads the enclosing loop.
 * @param line  set to the line of the loop that was read
 * @param to  set to "its condition q < K reads q and K, and the loop changes neither", for example
 * @return false, with @p to empty, if there is no loop or its condition is not plain */
bool gr_loop_names(const char *file, int *line, char *to, size_t room);

/** Blanks the comments and literals in a source's text; the line breaks stay. */
void gr_blank_comments(char *text);
