/** @file
 * The table of metrics and events: what each is called, and how it comes from a launch.
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
    const char *from; /**< the expression of its value */
};

/** The metrics, or the events. @param length  set to how many there are */
const struct metric *metric_table(bool events, int *length);

/** Whether its value is made from a column of the trace, by name. */
bool metric_needs(const struct metric *metric, const char *column);

/** A value as a table has it. */
void metric_value_text(char to[FIGURE_MAX], const struct metric *metric, double value, bool csv);

/** Whether the trace has what a metric is made from. */
bool metric_recorded(const struct tr_trace *trace, const struct metric *metric);

/** Whether only a real GPU has what it needs. */
bool metric_needs_gpu(const struct metric *metric);
