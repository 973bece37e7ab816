/** @file
 * A parallel loop over a fixed number of pieces.
 */
#ifndef CONVLAB_BASE_PARALLEL_H
#define CONVLAB_BASE_PARALLEL_H

#include <stddef.h>

/** Calls body(context, piece) once for every piece from 0 to pieces - 1, on as many threads as the
 * process may use cores, and returns when all are done. Pieces are handed out in order; which
 * thread takes which is not determined, so results must not depend on it. */
void parallel_for(size_t pieces, void (*body)(void *context, size_t piece), void *context);

/** @return the number of cores this process may use (at least 1), or whose time its control group has. */
int parallel_cores(void);

#endif
