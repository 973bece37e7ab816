/** @file
 * What the files of the trace's reader share.
 */
#pragma once

#include "trace/trace.h"

/** Works out what the rows of a trace that was read do not say: which calls are nested, and the
 * occupancy of kernels (theirs is negative so far) from the GPU's limits; and takes off kernels'
 * times what recording added to them. @return false without memory */
bool trace_complete(struct tr_trace *trace);

/** Compares rows by @p n keys, then by their places in the trace. */
int trace_order(const uint64_t *a, const uint64_t *b, size_t n, const struct tr_row *x,
                const struct tr_row *y);

/** The numbers of processes: one more than the largest in the trace. Larger ones than a million are
 * taken for damage and not counted. */
size_t trace_clients(const struct tr_trace *trace);
