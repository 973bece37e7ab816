/** @file
 * What a loop's source says of why it does not end: the variables of its condition, and which of them
 * the loop changes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Reads the for or while loop of a line of a source file. The line that machine code has for a loop whose
 * condition the compiler left out may be that of a loop inside of it: where the variables of that
 * loop's condition change, and those of one around it do not, that one is read.
 * @param line  set to the line of the loop that was read
 * @param to    set to "its condition q < K reads q and K, and the loop changes neither", for one
 * @return false, with @p to empty, if there is none, or its condition is not plain */
bool gr_loop_names(const char *file, int *line, char *to, size_t room);
