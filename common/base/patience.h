/** @file
 * Time limits of other processes' work. On a crowded machine a second of waiting counts less, down to a fourth:
 * a slow machine must not fail a submission, and a submission that crowds the machine itself still
 * comes to its limit.
 */
#pragma once

#include <stdbool.h>

/** What is left of a limit. */
struct patience {
    double left_s;
    double looked_s; /**< when it was looked at last */
};

struct patience patience_begin(double limit_s);

/** Takes the time since the last look. @return whether some is left */
bool patience_lasts(struct patience *patience);
/** The same at a time, where so many tasks want each core (base/parallel.h): at least 1. */
bool patience_takes(struct patience *patience, double now_s, double crowding);
/** The time since the last look does not count. */
void patience_skips(struct patience *patience);
