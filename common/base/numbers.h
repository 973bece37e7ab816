/** @file
 * Numbers as text: exact for programs, short for people.
 */
#pragma once

#include <stdbool.h>

enum { NUMBER_CHARS = 40 };

/** Writes @p value with the fewest digits (15 to 17) that read back as the same double.
 * @return @p to. */
const char *number_exact(char to[NUMBER_CHARS], double value);

/** Writes @p value with @p digits significant digits and no exponent; "-" if it is not finite or not
 * below 1e15. @return @p to. */
const char *number_short(char to[NUMBER_CHARS], double value, int digits);

/** Writes a time with three significant digits in a suitable unit: "71.3 us"; "-" if not finite.
 * @param micro  the unit's text for microseconds @return @p to. */
const char *number_time(char to[NUMBER_CHARS], double seconds, const char *micro);

/** @return a / b, or 0 if b is not positive. */
static inline double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/** Reads a number. @return whether the text is exactly one finite number */
bool number_read(const char *text, double *value);
