/** @file
 * Numbers as text: exact for programs, short for people.
 */
#pragma once

#include <stdbool.h>

enum { NUMBER_CHARS = 40 };

/** @p value in the fewest of 15 to 17 digits that read back as the same double. @return @p to. */
const char *number_exact(char to[NUMBER_CHARS], double value);

/** @p value with @p digits significant digits and no exponent; "-" if not finite. @return @p to. */
const char *number_short(char to[NUMBER_CHARS], double value, int digits);

/** A time in the unit that fits it, with three significant digits: "71.3 us"; "-" if not finite.
 * @param micro  how the unit of a millionth is written @return @p to. */
const char *number_time(char to[NUMBER_CHARS], double seconds, const char *micro);

/** Reads a text that is one finite number, and nothing else. @return whether it is */
bool number_read(const char *text, double *value);
