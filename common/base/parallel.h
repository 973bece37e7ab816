/** @file
 * A parallel loop over a fixed number of pieces.
 */
#pragma once

#include <stddef.h>

/** Calls body(context, piece) once for every piece from 0 to pieces - 1, on as many threads as the
 * process may use cores, and returns when all are done. Pieces are handed out in order; which
 * thread takes which is not determined, so results must not depend on it. */
void parallel_for(size_t pieces, void (*body)(void *context, size_t piece), void *context);

/** @return the number of cores this process may use (at least 1), or whose time its control group has. */
int parallel_cores(void);

/** The number of runnable tasks of the whole machine for each core that this process may use: 1 or more.
 * @param loadavg  the text of /proc/loadavg, whose fourth field is "RUNNABLE/ALL"; other text gives 1 */
double parallel_crowding(const char *loadavg, int cores);
/** The same at this moment. */
double parallel_crowding_now(void);
