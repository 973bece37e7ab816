/** @file
 * nvprof's tables: the summary, the traces of the GPU and of the API, and metrics. Each table is
 * written as text or as CSV, with exactly nvprof's contents.
 */
#pragma once

#include "trace/trace.h"

#include <stdbool.h>
#include <stdio.h>

/** The groups of a summary. */
#define TABLES_GPU 1u
#define TABLES_API 2u

/** Prints total, mean and extremes of equal activities and calls, the longest total first. A group
 * without rows is omitted; if nothing ran on the GPU, prints "No kernels were profiled." */
void tables_summary(FILE *out, const struct tr_trace *trace, unsigned groups, bool csv);

/** Prints every kernel, copy and fill by start time. */
void tables_gpu_trace(FILE *out, const struct tr_trace *trace, bool csv);

/** Prints every API call by start time; launches name their kernel. */
void tables_api_trace(FILE *out, const struct tr_trace *trace, bool csv);

/** Writes the GPU's name in tables: "NVIDIA H200 (0)". @param row  an activity on the GPU; NULL:
 * the first GPU @param room  size of @p to */
void tables_device(const struct tr_trace *trace, const struct tr_row *row, char *to, size_t room);
