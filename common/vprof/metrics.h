/** @file
 * Metrics and events with nvprof's names, computed from the counters of each launch. An event is a
 * plain count; a metric may be a ratio or a rate.
 */
#pragma once

#include "trace/trace.h"

#include <stdbool.h>
#include <stdio.h>

#define METRICS_MAX 128

/** A selection of metrics or of events. */
struct metrics {
    bool events;
    size_t n;
    int index[METRICS_MAX];  /**< indices in the table */
    bool named[METRICS_MAX]; /**< by index in the table: it was requested by name */
};

/** Adds metrics or events by name. @param names  separated by commas; "all" adds all.
 * @return ST_USAGE for an unknown name; the report lists similar ones. */
enum st_code metrics_choose(struct metrics *chosen, const char *names, bool events,
                            struct st_error *err);

/** Keeps only metrics that the virtual GPU has. @return ST_USAGE if another was requested by
 * name. */
enum st_code metrics_for_virtual(struct metrics *chosen, struct st_error *err);

/** Whether the selection needs a column of the trace. */
bool metrics_need(const struct metrics *chosen, const char *column);

/** Lists all metrics or events, like nvprof --query-metrics and --query-events. */
void metrics_query(FILE *out, bool events);

/** Prints the selection: minimum, maximum and mean over the launches of each kernel, for events
 * also the total. */
void metrics_print(FILE *out, const struct tr_trace *trace, const struct metrics *chosen, bool csv);

/** Prints the values for each launch, in the order of starts: events, then metrics. */
void metrics_print_trace(FILE *out, const struct tr_trace *trace, const struct metrics *events,
                         const struct metrics *metrics, bool csv);
