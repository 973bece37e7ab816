/** @file
 * Makes hostile programs: randomly changed PTX, which must not crash the process.
 */
#pragma once

#include <stdint.h>

/** @return a text with some lines deleted, repeated, exchanged, or with other numbers and words,
 * malloc'd. The same seed gives the same text. */
char *case_mutate(const char *text, uint64_t seed);
