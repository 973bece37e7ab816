/* Completes a trace: times of kernels without the recording, nesting of calls, occupancy and
 * streams. */
#include "trace/trace_parts.h"

#include "vgpu/probe/occupancy.h"

#include <stdlib.h>
#include <string.h>

double tr_limit(const struct tr_trace *trace, const char *name)
{
    for (size_t i = 0; i < trace->limit_count; i++)
        if (strcmp(trace->limits[i].name, name) == 0)
            return trace->limits[i].value;
    return 0;
}

bool tr_has(const struct tr_trace *trace, const char *column)
{
    const int at = tsv_column(&trace->table, column), kind = tsv_column(&trace->table, "kind");
    for (size_t i = 0; at >= 0 && i < trace->table.rows; i++)
        if (strcmp(tsv_cell(&trace->table, i, kind), "kernel") == 0 &&
            *tsv_cell(&trace->table, i, at))
            return true;
    return false;
}

const char *tr_text(const struct tr_trace *trace, const struct tr_row *row, const char *column)
{
    const int at = tsv_column(&trace->table, column);
    return at < 0 ? "" : tsv_cell(&trace->table, row->at, at);
}

/* ---- marks ---------------------------------------------------------------------------------- */

/* When CUPTI records kernels one by one, the GPU writes the time before and after each kernel. The
 * difference is longer than the kernel's time by a constant. On an H200, this constant is 0.22 us
 * compared with the Duration in ncu's default report, 0.30 us with --set full, and 0.58 us if ncu
 * measures nothing else, because the cost of ncu's own marks varies. The middle value is
 * subtracted. docs/results/h200/profiler.md has the measurement; times of other GPUs are
 * unchanged. */
static const struct {
    int compute_capability, ns;
} marks[] = {{90, 400}};

static void take_marks_off(struct tr_trace *t)
{
    const int capability = (int)tr_limit(t, "compute_capability");
    uint64_t ns = 0;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i].compute_capability == capability)
            ns = (uint64_t)marks[i].ns;
    for (size_t i = 0; i < t->n; i++) {
        struct tr_row *row = &t->rows[i];
        /* subtracts only if at least half of the time remains, as for every real kernel */
        if (row->serial && tr_ns(row) >= 2 * ns)
            row->end_ns -= ns;
    }
}

/* ---- nesting -------------------------------------------------------------------------------- */

static int by_thread_and_start(const void *a, const void *b)
{
    const struct tr_row *x = *(const struct tr_row *const *)a,
                        *y = *(const struct tr_row *const *)b;
    return trace_order((uint64_t[]){(uint64_t)x->client, x->thread, x->start_ns, ~x->end_ns},
                       (uint64_t[]){(uint64_t)y->client, y->thread, y->start_ns, ~y->end_ns}, 4, x,
                       y);
}

/* A call is nested if it ends before its thread's latest call that is not nested. Without thread
 * numbers, no call is nested, because calls of different threads overlap. */
static void find_nested(struct tr_trace *t)
{
    struct tr_row **calls = calloc(t->n + 1, sizeof *calls);
    size_t n = 0;
    for (size_t i = 0; calls && i < t->n; i++)
        if (t->rows[i].kind == TR_API && t->rows[i].thread)
            calls[n++] = &t->rows[i];
    if (n)
        qsort(calls, n, sizeof *calls, by_thread_and_start);
    const struct tr_row *outer = NULL;
    for (size_t i = 0; i < n; i++) {
        calls[i]->nested = outer && outer->client == calls[i]->client &&
                           outer->thread == calls[i]->thread && calls[i]->end_ns <= outer->end_ns &&
                           calls[i]->start_ns < outer->end_ns;
        if (!calls[i]->nested)
            outer = calls[i];
    }
    free(calls);
}

/* ---- occupancy ------------------------------------------------------------------------------ */

static double occupancy(const struct vg_profile *gpu, const struct tr_row *row)
{
    const struct vg_kernel_attributes kernel = {
        .registers = row->registers, .static_shared_bytes = (size_t)row->static_shared_bytes};
    struct vg_profile set = *gpu;
    const double threads = tr_threads(row);
    if (threads < 1 || threads > gpu->max_threads_per_block)
        return 0;
    if (row->shared_config_bytes > 0)
        set.shared_per_multiprocessor_bytes = (size_t)row->shared_config_bytes;
    const int warps = ((int)threads + 31) / 32,
              blocks =
                  occupancy_blocks(&set, &kernel, (int)threads, (size_t)row->dynamic_shared_bytes);
    return (double)blocks * warps * 32 / gpu->max_threads_per_multiprocessor;
}

static void find_occupancy(struct tr_trace *t)
{
    const struct vg_profile gpu = {
        .max_threads_per_multiprocessor = 32 * (int)tr_limit(t, "warps_per_multiprocessor"),
        .max_threads_per_block = (int)tr_limit(t, "threads_per_block"),
        .max_blocks_per_multiprocessor = (int)tr_limit(t, "blocks_per_multiprocessor"),
        .registers_per_multiprocessor = (int)tr_limit(t, "registers_per_multiprocessor"),
        .registers_per_block = (int)tr_limit(t, "registers_per_block"),
        .shared_per_multiprocessor_bytes = (size_t)tr_limit(t, "shared_per_multiprocessor_bytes"),
        .shared_per_block_optin_bytes = SIZE_MAX, /* it was launched, so it fits */
        .shared_reserved_bytes = tr_limit(t, "compute_capability") >= 80 ? 1024 : 0};
    for (size_t i = 0; i < t->n; i++) {
        struct tr_row *row = &t->rows[i];
        if (row->kind != TR_KERNEL || row->occupancy >= 0)
            continue;
        row->occupancy = 0;
        if (gpu.max_threads_per_multiprocessor > 0 && gpu.registers_per_multiprocessor > 0) {
            row->occupancy = occupancy(&gpu, row);
            t->theoretical_occupancy = true;
        }
    }
}

/* ---- streams -------------------------------------------------------------------------------- */

/* The default streams: legacy and per thread. */
static bool is_default(uint64_t stream)
{
    return stream <= 2;
}

static int by_stream_and_start(const void *a, const void *b)
{
    const struct tr_row *x = *(const struct tr_row *const *)a,
                        *y = *(const struct tr_row *const *)b;
    return trace_order((uint64_t[]){x->stream, x->start_ns}, (uint64_t[]){y->stream, y->start_ns},
                       2, x, y);
}

/* The work of one stream, by start time. */
struct stream {
    struct tr_row **rows;
    size_t n;
};

static int by_first(const void *a, const void *b)
{
    const struct stream *x = a, *y = b;
    const struct tr_row *first = *x->rows, *other = *y->rows;
    return trace_order((uint64_t[]){first->start_ns, first->stream},
                       (uint64_t[]){other->start_ns, other->stream}, 2, first, other);
}

/* The program's own streams are numbered in the order of their first work. */
static void number_streams(struct tr_row **rows, size_t n, struct stream *streams)
{
    enum { FIRST = 13 };
    size_t count = 0;
    qsort(rows, n, sizeof *rows, by_stream_and_start);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || rows[i]->stream != rows[i - 1]->stream)
            streams[count++] = (struct stream){&rows[i], 0};
        streams[count - 1].n++;
    }
    qsort(streams, count, sizeof *streams, by_first);
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < streams[k].n; i++)
            streams[k].rows[i]->stream_number = FIRST + k;
}

static bool find_streams(struct tr_trace *t)
{
    enum { DEFAULT = 7 };
    struct tr_row **rows = calloc(t->n + 1, sizeof *rows);
    struct stream *streams = calloc(t->n + 1, sizeof *streams);
    const bool memory = rows && streams;
    size_t n = 0;
    for (size_t i = 0; memory && i < t->n; i++) {
        struct tr_row *row = &t->rows[i];
        row->stream_number = t->real ? row->stream : DEFAULT;
        if (!t->real && row->kind != TR_API && !is_default(row->stream))
            rows[n++] = row;
    }
    if (n)
        number_streams(rows, n, streams);
    free(rows);
    free(streams);
    return memory;
}

size_t trace_clients(const struct tr_trace *trace)
{
    enum { MOST = 1000000 };
    int most = 0;
    for (size_t i = 0; i < trace->n; i++)
        if (trace->rows[i].client > most && trace->rows[i].client <= MOST)
            most = trace->rows[i].client;
    for (size_t i = 0; i < trace->switch_count; i++)
        if (trace->switches[i].client > most && trace->switches[i].client <= MOST)
            most = trace->switches[i].client;
    return (size_t)most + 1;
}

bool trace_complete(struct tr_trace *trace)
{
    take_marks_off(trace);
    find_nested(trace);
    find_occupancy(trace);
    return find_streams(trace);
}
