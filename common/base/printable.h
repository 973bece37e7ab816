/** @file
 * Students' text, made harmless for terminals and pages.
 */
#pragma once

#include <stddef.h>

/** Copies text: everything except printable UTF-8, tabs and newlines becomes \\xNN, also marks that
 * change the writing direction. Cut between characters if it does not fit. @return @p to. */
char *text_printable(char *to, size_t room, const char *text);
