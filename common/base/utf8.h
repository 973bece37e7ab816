/** @file
 * UTF-8, of text that may not be any (RFC 3629).
 */
#ifndef CONVLAB_UTF8_H
#define CONVLAB_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/** Reads the character at @p text, which ends with a zero byte and is not read beyond it.
 * @param point  set to which it is; unchanged if it is none
 * @return how many bytes it has, 0 if they are no well-formed character */
size_t utf8_decode(const char *text, unsigned *point);

/** @return whether the whole text is well-formed. */
bool utf8_valid(const char *text);

#endif
