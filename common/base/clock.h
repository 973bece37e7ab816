/** @file
 * The one wall clock: monotonic, in seconds.
 */
#ifndef CONVLAB_BASE_CLOCK_H
#define CONVLAB_BASE_CLOCK_H

/** @return CLOCK_MONOTONIC in seconds. */
double clock_now_s(void);

#endif
