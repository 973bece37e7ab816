/** @file
 * nvprof's tables: the summary, the traces of the GPU and of the API, and metrics. Each is written
 * as text for people or as CSV; where nvprof says nothing, neither do these.
 */
#pragma once

#include "trace/trace.h"

#include <stdbool.h>
#include <stdio.h>

/** Which groups a summary has. */
#define TABLES_GPU 1u
#define TABLES_API 2u

/** Total, mean and extremes of equal activities and calls, the longest total first. In a group
 * without rows nothing is printed; without any kernel or copy, "No kernels were profiled." is. */
void tables_summary(FILE *out, const struct tr_trace *trace, unsigned groups, bool csv);

/** Every kernel, copy and fill by its start. */
void tables_gpu_trace(FILE *out, const struct tr_trace *trace, bool csv);

/** Every API call by its start; launches name their kernel. */
void tables_api_trace(FILE *out, const struct tr_trace *trace, bool csv);

/** The GPU, as the tables name it: "NVIDIA H200 (0)". @param row  of which activity; NULL: the
 * first GPU @param room  of @p to */
void tables_device(const struct tr_trace *trace, const struct tr_row *row, char *to, size_t room);
