/** @file
 * What the files of the trace's reader share.
 */
#ifndef CONVLAB_PROFILER_TRACE_PARTS_H
#define CONVLAB_PROFILER_TRACE_PARTS_H

#include "profiler/trace.h"

/** Works out what the rows of a trace that was read do not say: which calls are nested, and the
 * occupancy of kernels (theirs is negative so far) from the GPU's limits; and takes off kernels'
 * times what recording added to them. */
void trace_complete(struct tr_trace *trace);

#endif
