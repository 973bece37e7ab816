/** @file
 * Students' text, made harmless for terminals and pages.
 */
#pragma once

#include <stddef.h>

/** Copies text: everything except printable UTF-8, tabs and newlines becomes \\xNN, even marks that
 * change the writing direction. Text that does not fit is cut between characters. @return @p to. */
char *text_printable(char *to, size_t room, const char *text);
