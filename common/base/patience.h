/** @file
 * Time limits for other processes' work. On a crowded machine a second of waiting counts less, down
 * to a quarter, and of a gap in which the caller did not run, only the first second counts: a slow
 * machine must not fail a submission, but a submission that itself crowds the machine must still
 * reach its limit.
 */
#pragma once

#include <stdbool.h>

/** The rest of a limit. */
struct patience {
    double left_s;
    double looked_s; /**< time of the last call of a function below */
};

struct patience patience_begin(double limit_s);

/** Subtracts the time since the last call. @pre called several times a second @return whether any is
 * left */
bool patience_lasts(struct patience *patience);
/** patience_lasts() at a given time and crowding (see base/parallel.h), at least 1. */
bool patience_takes(struct patience *patience, double now_s, double crowding);
/** Ignores the time since the last call. */
void patience_skips(struct patience *patience);
