/** @file
 * Clues to a wrong shape in the text of a submission. Each clue is a fact about the code, not a
 * guess. The functions that read a text change it; @p shown is its path for the message.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Finds a case of a switch that falls through to the next one, or calls a template's instance for
 * another number although other cases call their own; or two cases that have exchanged theirs. */
bool gr_clue_switch(char *text, const char *shown, char *to, size_t room);

/** Finds a launch that exchanges two sizes or two tensors, by their names.
 * @param to  set to "the launch of conv at conv.cu:27 passes C as its parameter M, and M as C" */
bool gr_clue_arguments(char *text, const char *shown, char *to, size_t room);

/** Finds K^2, which a student may take for a power. */
bool gr_clue_power(char *text, const char *shown, char *to, size_t room);

/** Finds where a text calls a runtime function or launches a kernel.
 * @param to  set to " at conv.cu:12", or " (conv.cu:12, 40 or 51)"
 * @return false, with @p to empty, if it does not, or in more than 4 places */
bool gr_clue_place(char *text, const char *shown, const char *name, bool is_kernel, char *to,
                   size_t room);
/** The same for a file. @param source  its path, or NULL */
bool gr_clue_place_in(const char *source, const char *name, bool is_kernel, char *to, size_t room);

/** Finds a warning that usually means a mistake, such as a use of memory after free(), in what gcc said.
 * @param to  set to "the compiler warns: conv.c:22: pointer 'a' used after 'free' (call to 'free' here:
 * line 12)"
 * @return a hint; NULL, with @p to empty, if there is no such warning */
const char *gr_clue_compiler(const char *said, const char *source, char *to, size_t room);

/** Finds the first clue in a file.
 * @param source  its path, or NULL  @param of_switch  look at the cases of a switch, too
 * @return a hint; NULL, with @p to empty, if there is no clue */
const char *gr_clue_source(const char *source, bool of_switch, char *to, size_t room);
