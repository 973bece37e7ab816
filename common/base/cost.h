/** @file
 * The time and memory that a program used, printed like /usr/bin/time.
 */
#pragma once

#include "base/status.h"

struct rusage;

struct cost {
    double user_s, system_s, elapsed_s;
    long max_resident_kib, inputs, outputs, major_faults, minor_faults, swaps;
};

/** @return the cost of a child, from the result of wait4() and the elapsed time. */
struct cost cost_of(const struct rusage *used, double elapsed_s);

/** Writes the two lines of GNU time, without the last newline. @return @p to. */
const char *cost_text(char to[256], const struct cost *cost);

/** Writes the lines of cost_text() to a file. */
enum st_code cost_write(const char *path, const struct cost *cost, struct st_error *err);
