/* The values of metrics and events, from metrics.def. */
#include "vprof/metrics_table.h"

#include "base/numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SECTOR_BYTES    32.0
#define WAVEFRONT_BYTES 128.0

static double warps_of(const struct tr_row *r)
{
    return tr_blocks(r) * (double)(((uint64_t)tr_threads(r) + 31) / 32);
}

static double per_second(const struct tr_row *r, double bytes)
{
    return ratio(bytes * 1e9, (double)tr_ns(r));
}

/* Cycles of stalled warps, in percent of the cycles of all active warps. */
static double stalled(const struct tr_hardware *h, double cycles)
{
    return 100 * ratio(cycles, h->active_warp_cycles);
}

/* Each value is a function of a launch. */
#define VALUE(function, value)                                                                     \
    static double function(const struct tr_row *r)                                                 \
    {                                                                                              \
        const struct tr_counters *c = &r->counters;                                                \
        const struct tr_hardware *h = &r->hardware;                                                \
        (void)c, (void)h;                                                                          \
        return value;                                                                              \
    }
#define METRIC(name, text, form, value) VALUE(metric_##name, value)
#define EVENT(name, text, value)        VALUE(event_##name, value)
#include "vprof/metrics.def"
#undef METRIC
#undef EVENT

static const struct metric metrics[] = {
#define METRIC(name, text, form, value) {#name, text, form, metric_##name, #value},
#define EVENT(name, text, value)
#include "vprof/metrics.def"
#undef METRIC
#undef EVENT
};
static const struct metric events[] = {
#define METRIC(name, text, form, value)
#define EVENT(name, text, value) {#name, text, COUNT, event_##name, #value},
#include "vprof/metrics.def"
#undef METRIC
#undef EVENT
};

const struct metric *metric_table(bool of_events, int *length)
{
    *length =
        of_events ? (int)(sizeof events / sizeof *events) : (int)(sizeof metrics / sizeof *metrics);
    return of_events ? events : metrics;
}

bool metric_needs(const struct metric *m, const char *column)
{
    const size_t length = strlen(column);
    if (strstr(m->from, "stalled(") && strcmp(column, "active_warp_cycles") == 0)
        return true;
    for (const char *at = m->from; (at = strstr(at, "->")) != NULL;) {
        at += 2;
        if (strncmp(at, column, length) == 0 &&
            !strchr("abcdefghijklmnopqrstuvwxyz0123456789_", at[length] ? at[length] : ' '))
            return true;
    }
    return false;
}

bool metric_needs_gpu(const struct metric *m)
{
    return strstr(m->from, "h->") != NULL;
}

void metric_value_text(char to[FIGURE_MAX], const struct metric *m, double value, bool csv)
{
    switch (m->form) {
    case COUNT: /* means are truncated; in text, a value that is too long for its column gets an
                   exponent */
        if (snprintf(to, FIGURE_MAX, "%" PRIu64, (uint64_t)value) > 10 && !csv)
            snprintf(to, FIGURE_MAX, "%.4e", value);
        break;
    case REAL:
        if (snprintf(to, FIGURE_MAX, "%.6f", value) > 10 && !csv)
            snprintf(to, FIGURE_MAX, "%.4e", value);
        break;
    case PERCENT:
        snprintf(to, FIGURE_MAX, csv ? "%.6f%%" : "%.2f%%", value);
        break;
    case RATE:
        if (csv)
            figure_rate_csv(to, value);
        else
            figure_rate(to, value, 10);
        break;
    }
}

bool metric_recorded(const struct tr_trace *trace, const struct metric *m)
{
    if (metric_needs(m, "occupancy") && trace->theoretical_occupancy)
        return false;
#define COUNTER(name, ...)                                                                         \
    if (metric_needs(m, #name) && !tr_has(trace, #name))                                           \
        return false;
#define HARDWARE COUNTER
#include "vgpu/api/trace_columns.def"
    return true;
}
