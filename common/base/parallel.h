/** @file
 * A parallel loop over a fixed number of pieces.
 */
#pragma once

#include <stddef.h>

/** Calls body(context, piece) once for every piece from 0 to pieces - 1, on one thread per core
 * that the process may use, and returns when all are done. Pieces are assigned in order, but to
 * arbitrary threads, so results must not depend on the thread. */
void parallel_for(size_t pieces, void (*body)(void *context, size_t piece), void *context);

/** @return the number of cores that this process may use (at least 1), limited by its control
 * group's processor time. */
int parallel_cores(void);

/** The machine's runnable tasks, without the caller, per core that this process may use; at least
 * 1, because one worker per core is not a crowd.
 * @param loadavg  the text of /proc/loadavg (its fourth field is "RUNNABLE/ALL"); other text: 1 */
double parallel_crowding(const char *loadavg, int cores);
/** The crowding of this machine now. */
double parallel_crowding_now(void);
