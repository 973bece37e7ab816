/** @file
 * Shared by the files of the trace's reader.
 */
#pragma once

#include "trace/trace.h"

/** Completes the rows of a trace: subtracts the time that recording added to kernels, finds nested
 * calls, computes missing (negative) occupancies of kernels from the GPU's limits, and numbers the
 * streams. @return false: out of memory */
bool trace_complete(struct tr_trace *trace);

/** Compares rows by @p n keys, then by their positions in the trace. */
int trace_order(const uint64_t *a, const uint64_t *b, size_t n, const struct tr_row *x,
                const struct tr_row *y);

/** @return one more than the largest process number in the trace. Numbers above a million are
 * regarded as damage and ignored. */
size_t trace_clients(const struct tr_trace *trace);
