/** @file
 * Metrics with nvprof's names, computed from the counters of each launch.
 */
#ifndef CONVLAB_PROFILER_METRICS_H
#define CONVLAB_PROFILER_METRICS_H

#include "profiler/trace.h"

#include <stdbool.h>
#include <stdio.h>

#define METRICS_MAX 64

/** A choice of metrics. */
struct metrics {
    size_t n;
    int index[METRICS_MAX]; /**< into the table */
};

/** Adds metrics by name. @param names  separated by commas; "all" for every one.
 * @return ST_USAGE for a name that is not there: the report names those that are near. */
enum st_code metrics_choose(struct metrics *chosen, const char *names, struct st_error *err);

/** Lists all metrics, as nvprof --query-metrics does. */
void metrics_query(FILE *out);

/** Prints minimum, maximum and mean over the launches of each kernel. */
void metrics_print(FILE *out, const struct tr_trace *trace, const struct metrics *chosen, bool csv);

#endif
