/** @file
 * Hostile programs: PTX that was changed at random, which must not bring the process down.
 */
#pragma once

#include <stdint.h>

/** @return a text with some lines deleted, repeated, exchanged, or with other numbers and words in them,
 * malloc'd: the same for the same seed. */
char *case_mutate(const char *text, uint64_t seed);
