/** @file
 * The clocks, in seconds.
 */
#pragma once

/** @return CLOCK_MONOTONIC in seconds. */
double clock_now_s(void);

/** @return CLOCK_REALTIME, since 1970. */
double clock_date_s(void);
