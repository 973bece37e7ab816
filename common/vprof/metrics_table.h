/** @file
 * The table of metrics and events: their names, and how to compute them from a launch.
 */
#pragma once

#include "trace/figures.h"
#include "trace/trace.h"

#include <stdbool.h>

enum metric_form { COUNT, REAL, PERCENT, RATE };

struct metric {
    const char *name, *text;
    enum metric_form form;
    double (*value)(const struct tr_row *row);
    const char *from; /**< the expression for its value */
};

/** The metrics, or the events. @param length  set to their number */
const struct metric *metric_table(bool events, int *length);

/** Whether the metric depends on a column of the trace, by name. */
bool metric_needs(const struct metric *metric, const char *column);

/** Writes a value as in a table. */
void metric_value_text(char to[FIGURE_MAX], const struct metric *metric, double value, bool csv);

/** Whether the trace has the data for a metric. */
bool metric_recorded(const struct tr_trace *trace, const struct metric *metric);

/** Whether only a real GPU has the data for the metric. */
bool metric_needs_gpu(const struct metric *metric);
