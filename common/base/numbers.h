/** @file
 * Numbers as text: exact for programs, short for people.
 */
#pragma once

#include <stdbool.h>

enum { NUMBER_CHARS = 40 };

/** Writes @p value with the fewest of 15 to 17 digits that read back as the same double. @return @p
 * to. */
const char *number_exact(char to[NUMBER_CHARS], double value);

/** Writes @p value with @p digits significant digits and no exponent; "-" if not finite. @return @p
 * to. */
const char *number_short(char to[NUMBER_CHARS], double value, int digits);

/** Writes a time in the fitting unit, with three significant digits: "71.3 us"; "-" if not finite.
 * @param micro  the text for the unit of microseconds @return @p to. */
const char *number_time(char to[NUMBER_CHARS], double seconds, const char *micro);

/** Reads a text that is exactly one finite number. @return whether it is */
bool number_read(const char *text, double *value);
