/** @file
 * Time limits of other processes' work. On a crowded machine a second of waiting counts less, down
 * to a fourth: a slow machine must not fail a submission, but a submission that crowds the machine
 * itself still reaches its limit.
 */
#pragma once

#include <stdbool.h>

/** The rest of a limit. */
struct patience {
    double left_s;
    double looked_s; /**< time of the last look */
};

struct patience patience_begin(double limit_s);

/** Subtracts the time since the last look. @return whether some is left */
bool patience_lasts(struct patience *patience);
/** The same at a given time, with a number of tasks per core (base/parallel.h), at least 1. */
bool patience_takes(struct patience *patience, double now_s, double crowding);
/** Ignores the time since the last look. */
void patience_skips(struct patience *patience);
