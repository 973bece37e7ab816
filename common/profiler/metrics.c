#include "profiler/metrics.h"

#include "profiler/figures.h"
#include "profiler/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SECTOR_BYTES    32.0
#define WAVEFRONT_BYTES 128.0

enum form { COUNT, REAL, PERCENT, RATE };

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static double warps_of(const struct tr_row *r)
{
    const double threads = (double)r->block[0] * r->block[1] * r->block[2];
    const double blocks = (double)r->grid[0] * r->grid[1] * r->grid[2];
    return blocks * (double)(((uint64_t)threads + 31) / 32);
}

static double per_second(const struct tr_row *r, double bytes)
{
    return ratio(bytes * 1e9, (double)(r->end_ns - r->start_ns));
}

/** The metrics: X(name, nvprof's description, form, value; of a launch r with counters c).
 * An efficiency is what was asked for in parts of what was moved for it; without any access it is
 * 0, as nvprof has it. A kernel without branches is 100% efficient in them. */
#define METRIC_MAP(X)                                                                              \
    X(achieved_occupancy, "Achieved Occupancy", REAL, r->occupancy)                                \
    X(branch_efficiency, "Branch Efficiency", PERCENT,                                             \
      c->branches > 0 ? 100 * ratio(c->branches - c->divergent_branches, c->branches) : 100)       \
    X(flop_count_dp, "Floating Point Operations(Double Precision)", COUNT, c->fp64_ops)            \
    X(flop_count_hp, "Floating Point Operations(Half Precision)", COUNT, c->fp16_ops)              \
    X(flop_count_sp, "Floating Point Operations(Single Precision)", COUNT,                         \
      2 * c->fp32_fma + c->fp32_add_mul)                                                           \
    X(flop_count_sp_fma, "Floating Point Operations(Single Precision FMA)", COUNT, c->fp32_fma)    \
    X(gld_efficiency, "Global Memory Load Efficiency", PERCENT,                                    \
      100 * ratio(c->global_load_bytes, SECTOR_BYTES * c->global_load_sectors))                    \
    X(gld_requested_throughput, "Requested Global Load Throughput", RATE,                          \
      per_second(r, c->global_load_bytes))                                                         \
    X(gld_throughput, "Global Load Throughput", RATE,                                              \
      per_second(r, SECTOR_BYTES * c->global_load_sectors))                                        \
    X(gld_transactions, "Global Load Transactions", COUNT, c->global_load_sectors)                 \
    X(gld_transactions_per_request, "Global Load Transactions Per Request", REAL,                  \
      ratio(c->global_load_sectors, c->global_load_requests))                                      \
    X(global_atomic_requests, "Total number of global atomic(Atom and Atom CAS) requests", COUNT,  \
      c->global_atomic_requests)                                                                   \
    X(global_load_requests, "Total number of global load requests from Multiprocessor", COUNT,     \
      c->global_load_requests)                                                                     \
    X(global_store_requests, "Total number of global store requests from Multiprocessor", COUNT,   \
      c->global_store_requests)                                                                    \
    X(gst_efficiency, "Global Memory Store Efficiency", PERCENT,                                   \
      100 * ratio(c->global_store_bytes, SECTOR_BYTES * c->global_store_sectors))                  \
    X(gst_requested_throughput, "Requested Global Store Throughput", RATE,                         \
      per_second(r, c->global_store_bytes))                                                        \
    X(gst_throughput, "Global Store Throughput", RATE,                                             \
      per_second(r, SECTOR_BYTES * c->global_store_sectors))                                       \
    X(gst_transactions, "Global Store Transactions", COUNT, c->global_store_sectors)               \
    X(gst_transactions_per_request, "Global Store Transactions Per Request", REAL,                 \
      ratio(c->global_store_sectors, c->global_store_requests))                                    \
    X(inst_executed, "Instructions Executed", COUNT, c->warp_instructions)                         \
    X(inst_per_warp, "Instructions per warp", REAL, ratio(c->warp_instructions, warps_of(r)))      \
    X(local_load_transactions, "Local Load Transactions", COUNT, c->local_load_sectors)            \
    X(local_store_transactions, "Local Store Transactions", COUNT, c->local_store_sectors)         \
    X(shared_efficiency, "Shared Memory Efficiency", PERCENT,                                      \
      100 * ratio(c->shared_load_bytes + c->shared_store_bytes,                                    \
                  WAVEFRONT_BYTES * (c->shared_load_wavefronts + c->shared_store_wavefronts)))     \
    X(shared_load_throughput, "Shared Memory Load Throughput", RATE,                               \
      per_second(r, WAVEFRONT_BYTES * c->shared_load_wavefronts))                                  \
    X(shared_load_transactions, "Shared Load Transactions", COUNT, c->shared_load_wavefronts)      \
    X(shared_load_transactions_per_request, "Shared Memory Load Transactions Per Request", REAL,   \
      ratio(c->shared_load_wavefronts, c->shared_load_requests))                                   \
    X(shared_store_throughput, "Shared Memory Store Throughput", RATE,                             \
      per_second(r, WAVEFRONT_BYTES * c->shared_store_wavefronts))                                 \
    X(shared_store_transactions, "Shared Store Transactions", COUNT, c->shared_store_wavefronts)   \
    X(shared_store_transactions_per_request, "Shared Memory Store Transactions Per Request", REAL, \
      ratio(c->shared_store_wavefronts, c->shared_store_requests))                                 \
    X(thread_inst_executed, "Instructions executed by all threads", COUNT, c->thread_instructions) \
    X(warp_execution_efficiency, "Warp Execution Efficiency", PERCENT,                             \
      100 * ratio(c->thread_instructions, 32 * c->warp_instructions))

/** The events: X(name, description, value). */
#define EVENT_MAP(X)                                                                               \
    X(atom_count, "Number of warps that executed an atomic operation on global memory",            \
      c->global_atomic_requests)                                                                   \
    X(branch, "Number of branches that warps executed", c->branches)                               \
    X(divergent_branch, "Number of branches after which a warp had several paths",                 \
      c->divergent_branches)                                                                       \
    X(global_load, "Number of warps that executed a load from global memory",                      \
      c->global_load_requests)                                                                     \
    X(global_store, "Number of warps that executed a store to global memory",                      \
      c->global_store_requests)                                                                    \
    X(inst_executed, "Number of instructions that warps executed", c->warp_instructions)           \
    X(local_load, "Number of warps that executed a load from local memory",                        \
      c->local_load_requests)                                                                      \
    X(local_store, "Number of warps that executed a store to local memory",                        \
      c->local_store_requests)                                                                     \
    X(shared_ld_bank_conflict, "Number of passes that loads from shared memory took beyond one",   \
      c->shared_load_wavefronts - c->shared_load_requests)                                         \
    X(shared_ld_transactions, "Number of passes that loads from shared memory took",               \
      c->shared_load_wavefronts)                                                                   \
    X(shared_load, "Number of warps that executed a load from shared memory",                      \
      c->shared_load_requests)                                                                     \
    X(shared_st_bank_conflict, "Number of passes that stores to shared memory took beyond one",    \
      c->shared_store_wavefronts - c->shared_store_requests)                                       \
    X(shared_st_transactions, "Number of passes that stores to shared memory took",                \
      c->shared_store_wavefronts)                                                                  \
    X(shared_store, "Number of warps that executed a store to shared memory",                      \
      c->shared_store_requests)                                                                    \
    X(thread_inst_executed, "Number of instructions that threads executed",                        \
      c->thread_instructions)                                                                      \
    X(threads_launched, "Number of threads",                                                       \
      (double)r->grid[0] * r->grid[1] * r->grid[2] * r->block[0] * r->block[1] * r->block[2])      \
    X(warps_launched, "Number of warps", warps_of(r))

#define VALUE(name, text, form, value)                                                             \
    static double value_##name(const struct tr_row *r)                                             \
    {                                                                                              \
        const struct tr_counters *c = &r->counters;                                                \
        (void)c;                                                                                   \
        return value;                                                                              \
    }
METRIC_MAP(VALUE)
#undef VALUE
#define VALUE(name, text, value)                                                                   \
    static double event_##name(const struct tr_row *r)                                             \
    {                                                                                              \
        const struct tr_counters *c = &r->counters;                                                \
        (void)c;                                                                                   \
        return value;                                                                              \
    }
EVENT_MAP(VALUE)
#undef VALUE

static const struct metric {
    const char *name, *text;
    enum form form;
    double (*value)(const struct tr_row *row);
} metric_table[] =
    {
#define ROW(name, text, form, value) {#name, text, form, value_##name},
        METRIC_MAP(ROW)
#undef ROW
},
  event_table[] = {
#define ROW(name, text, value) {#name, text, COUNT, event_##name},
      EVENT_MAP(ROW)
#undef ROW
};
#define LENGTH(a) ((int)(sizeof(a) / sizeof *(a)))
_Static_assert(LENGTH(metric_table) <= METRICS_MAX && LENGTH(event_table) <= METRICS_MAX,
               "a choice has room for all");

/* The table that a choice is of, and its length. */
static const struct metric *table_of(bool events, int *length)
{
    *length = events ? LENGTH(event_table) : LENGTH(metric_table);
    return events ? event_table : metric_table;
}

/* Levenshtein's distance. */
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    int row[LONGEST + 1];
    int m = (int)strnlen(a, LONGEST), n = (int)strnlen(b, LONGEST);
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 1; i <= m; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

/* The three nearest names, and all within the word that was given. */
static void near(const char *name, bool events, char *to, size_t room)
{
    bool used[METRICS_MAX] = {false};
    int length;
    const struct metric *table = table_of(events, &length);
    to[0] = '\0';
    for (int k = 0; k < 3; k++) {
        int best = -1, least = 0;
        for (int i = 0; i < length; i++) {
            int d = strstr(table[i].name, name) ? 0 : distance(name, table[i].name);
            if (!used[i] && (best < 0 || d < least)) {
                best = i;
                least = d;
            }
        }
        used[best] = true;
        size_t n = strlen(to);
        snprintf(to + n, room - n, "%s%s", k ? ", " : "", table[best].name);
    }
}

static enum st_code choose_one(struct metrics *m, const char *name, struct st_error *err)
{
    const bool all = strcmp(name, "all") == 0;
    bool found = all;
    int length;
    const struct metric *table = table_of(m->events, &length);
    for (int i = 0; i < length; i++) {
        if (!all && strcmp(name, table[i].name) != 0)
            continue;
        found = true;
        bool there = false;
        for (size_t k = 0; k < m->n; k++)
            there = there || m->index[k] == i;
        if (!there)
            m->index[m->n++] = i;
    }
    if (found)
        return ST_OK;
    char others[200];
    near(name, m->events, others, sizeof others);
    const char *what = m->events ? "event" : "metric";
    st_fail(err, ST_USAGE, "there is no %s '%s'", what, name);
    return st_detail(err, ST_HINT, "near it: %s; --query-%ss lists all", others, what);
}

enum st_code metrics_choose(struct metrics *chosen, const char *names, bool events,
                            struct st_error *err)
{
    chosen->events = events;
    char *copy = strdup(names), *rest = NULL;
    if (!copy)
        return st_fail(err, ST_NO_MEMORY, "no memory for the metrics");
    enum st_code code = ST_OK;
    char *name = strtok_r(copy, ", ", &rest);
    if (!name)
        code = st_fail(err, ST_USAGE, "--%s without a name", events ? "events" : "metrics");
    for (; name && !code; name = strtok_r(NULL, ", ", &rest))
        code = choose_one(chosen, name, err);
    free(copy);
    return code;
}

void metrics_query(FILE *out, bool events)
{
    int length;
    const struct metric *table = table_of(events, &length);
    fprintf(out, "Available %s:\n%40s   %s\n", events ? "Events" : "Metrics", "Name",
            "Description");
    for (int i = 0; i < length; i++)
        fprintf(out, "%40s:  %s\n", table[i].name, table[i].text);
}

static void value_text(char to[FIGURE_MAX], const struct metric *m, double value, bool csv)
{
    switch (m->form) {
    case COUNT:
        snprintf(to, FIGURE_MAX, "%" PRIu64, (uint64_t)value); /* means are cut off */
        break;
    case REAL: /* in text, what is too long for the column has an exponent */
        if (snprintf(to, FIGURE_MAX, "%.6f", value) > 10 && !csv)
            snprintf(to, FIGURE_MAX, "%.4e", value);
        break;
    case PERCENT:
        snprintf(to, FIGURE_MAX, csv ? "%.6f%%" : "%.2f%%", value);
        break;
    case RATE:
        figure_rate(to, value, 10);
        break;
    }
}

/* The columns of an event have no description, but a total. */
static void print_metric(FILE *out, const struct metric *m, const struct tr_row *const *rows,
                         size_t n, const char *device, bool events, bool csv)
{
    double min = 0, max = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double value = m->value(rows[i]);
        min = i == 0 || value < min ? value : min;
        max = i == 0 || value > max ? value : max;
        sum += value;
    }
    char lo[FIGURE_MAX], hi[FIGURE_MAX], mean[FIGURE_MAX], total[FIGURE_MAX];
    value_text(lo, m, min, csv);
    value_text(hi, m, max, csv);
    value_text(mean, m, sum / (double)n, csv);
    value_text(total, m, sum, csv);
    if (csv) {
        tables_quote(out, device);
        fputc(',', out);
        tables_quote(out, rows[0]->name);
        fprintf(out, ",%zu,\"%s\"", n, m->name);
        if (!events)
            fprintf(out, ",\"%s\"", m->text);
        fprintf(out, ",%s,%s,%s", lo, hi, mean);
        fprintf(out, events ? ",%s\n" : "\n", total);
        return;
    }
    fprintf(out, "%11zu  %40s", n, m->name);
    if (!events)
        fprintf(out, "  %40s", m->text);
    fprintf(out, "  %10s  %10s  %10s", lo, hi, mean);
    if (events)
        fprintf(out, "  %10s", total);
    fputc('\n', out);
}

static void print_header(FILE *out, const char *device, bool events, bool csv)
{
    if (csv)
        fprintf(out, events ? "\"Device\",\"Kernel\",\"Invocations\",\"Event Name\",\"Min\","
                              "\"Max\",\"Avg\",\"Total\"\n"
                            : "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric "
                              "Description\",\"Min\",\"Max\",\"Avg\"\n");
    else if (events)
        fprintf(out, "%11s  %40s  %10s  %10s  %10s  %10s\nDevice \"%s\"\n", "Invocations",
                "Event Name", "Min", "Max", "Avg", "Total", device);
    else
        fprintf(out, "%11s  %40s  %40s  %10s  %10s  %10s\nDevice \"%s\"\n", "Invocations",
                "Metric Name", "Metric Description", "Min", "Max", "Avg", device);
}

static int by_kernel(const void *a, const void *b)
{
    const struct tr_row *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);
    return order ? order : (*x > *y) - (*x < *y);
}

void metrics_print(FILE *out, const struct tr_trace *trace, const struct metrics *chosen, bool csv)
{
    const struct tr_row **rows = calloc(trace->n + 1, sizeof *rows);
    size_t n = 0;
    for (size_t i = 0; rows && i < trace->n; i++)
        if (trace->rows[i].kind == TR_KERNEL && trace->rows[i].counted)
            rows[n++] = &trace->rows[i];
    if (!rows || n == 0) {
        fprintf(out, "No kernels were profiled.\n");
        free(rows);
        return;
    }
    qsort(rows, n, sizeof *rows, by_kernel);
    char device[128];
    tables_device(trace, device, sizeof device);
    int length;
    const struct metric *table = table_of(chosen->events, &length);
    print_header(out, device, chosen->events, csv);
    for (size_t at = 0, end; at < n; at = end) {
        for (end = at; end < n && strcmp(rows[end]->name, rows[at]->name) == 0; end++)
            ;
        if (!csv)
            fprintf(out, "    Kernel: %s\n", rows[at]->name);
        for (size_t k = 0; k < chosen->n; k++)
            print_metric(out, &table[chosen->index[k]], rows + at, end - at, device, chosen->events,
                         csv);
    }
    free(rows);
}
