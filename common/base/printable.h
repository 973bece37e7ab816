/** @file
 * Students' text, made harmless for terminals and pages.
 */
#pragma once

#include <stddef.h>

/** Copies text: what is not printable UTF-8, a tab or a newline becomes \\xNN, also marks that turn
 * the direction of writing. Cut between characters where it does not fit. @return @p to. */
char *text_printable(char *to, size_t room, const char *text);
