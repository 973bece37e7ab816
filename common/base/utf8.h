/** @file
 * Reads UTF-8 from text that may be invalid (RFC 3629).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** U+FFFD, the replacement of a byte that is not UTF-8. */
enum { UTF8_REPLACEMENT = 0xfffd };

/** Reads the character at @p text, which ends with a zero byte and is not read beyond it.
 * @param point  set to the code point; unchanged if invalid
 * @return its length in bytes; 0 if its bytes are not well-formed UTF-8 */
size_t utf8_decode(const char *text, unsigned *point);

/** @return whether the whole text is well-formed. */
bool utf8_valid(const char *text);

/** Reads one code point and advances past it. Each byte that is not UTF-8 (overlong forms,
 * surrogates, cut sequences) gives UTF8_REPLACEMENT. @return 0 at the end, without advancing. */
unsigned utf8_next(const char **text);

/** Writes a code point. */
void utf8_put(FILE *out, unsigned point);

/** Writes a text as a JSON string, with quotes; each byte that is not UTF-8 becomes
 * UTF8_REPLACEMENT. */
void utf8_put_json(FILE *out, const char *text);

/** Copies @p text with every byte that is not UTF-8 replaced. @return malloc'd, or NULL. */
char *utf8_repair(const char *text);
