/** @file
 * Random PTX programs, as cases (engine_case.h): with any control flow, all types, and all kinds of
 * accesses.
 *
 * A program's results do not depend on anything in which engines may differ: a thread writes only
 * its own elements, or adds to common ones with operations that commute; registers, local and
 * shared memory are written before they are read. A few programs break this rule within a block,
 * because a block's warps alternate in a fixed order.
 */
#pragma once

#include <stdint.h>

/** @return the program of a seed: the same text on every machine, malloc'd. */
char *generate(uint64_t seed);
