/** @file
 * The trace, which is common to all sources, and its reader: a program's kernels, copies, fills and
 * API calls, with their times. A trace is a TSV table (base/tsv.h); the virtual GPU writes it
 * (vgpu/device/record.h, `vgpu-run --trace`), and vprof keeps it with --export-profile. Columns may
 * have any order, because they are found by name; columns that a source does not know may be
 * missing.
 *
 * vgpu/api/trace_columns.def lists the columns. Kinds of rows, besides those of TR_KIND_MAP:
 *
 *     device     name: the GPU
 *     command    name: the command line, client: its process id
 *     process    on a real GPU; name, bytes: the process id
 *     limit      on a real GPU; name, bytes: a figure of the GPU, see tr_limit()
 *     note       name: an error while recording
 *     lost       name: the kind of missing records, bytes: their number
 *     switch     name: cudaProfilerStart or cudaProfilerStop, which are not call rows on a real GPU
 */
#pragma once

#include "base/status.h"
#include "base/tsv.h"
#include "vgpu/api/vgpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Kinds of rows: X(NAME, text in the trace, name in nvprof's tables; "" if the row has its own).
 */
#define TR_KIND_MAP(X)                                                                             \
    X(KERNEL, "kernel", "")                                                                        \
    X(COPY_HTOD, "copy_htod", "[CUDA memcpy HtoD]")                                                \
    X(COPY_DTOH, "copy_dtoh", "[CUDA memcpy DtoH]")                                                \
    X(COPY_DTOD, "copy_dtod", "[CUDA memcpy DtoD]")                                                \
    X(COPY_HTOH, "copy_htoh", "[CUDA memcpy HtoH]")                                                \
    X(COPY_PTOP, "copy_ptop", "[CUDA memcpy PtoP]")                                                \
    X(COPY_HTOA, "copy_htoa", "[CUDA memcpy HtoA]")                                                \
    X(COPY_ATOH, "copy_atoh", "[CUDA memcpy AtoH]")                                                \
    X(COPY_DTOA, "copy_dtoa", "[CUDA memcpy DtoA]")                                                \
    X(COPY_ATOD, "copy_atod", "[CUDA memcpy AtoD]")                                                \
    X(COPY_ATOA, "copy_atoa", "[CUDA memcpy AtoA]")                                                \
    X(MEMSET, "memset", "[CUDA memset]")                                                           \
    X(API, "api", "")

enum tr_kind {
#define TR_ENUM(name, text, shown) TR_##name,
    TR_KIND_MAP(TR_ENUM)
#undef TR_ENUM
        TR_KINDS
};

/** Counters of a launch from the virtual GPU and ncu. */
struct tr_counters {
#define COUNTER(name, ...) double name;
#include "vgpu/api/trace_columns.def"
};

/** Counters from ncu only. */
struct tr_hardware {
#define HARDWARE(name, ...) double name;
#include "vgpu/api/trace_columns.def"
};

#define TR_LIMITS_MAX 16

/** One kernel, copy, fill or API call. Members with the name of a column have its value. */
struct tr_row {
    enum tr_kind kind;
    const char *name; /**< as nvprof prints it: kernels with parameters, [CUDA memset],
                           cudaMalloc */
    int client, device;
    uint64_t stream, thread;
    uint64_t stream_number;    /**< for work, as in nvprof: 7 is the default stream, other streams
                                    start at 13 */
    uint64_t start_ns, end_ns; /**< for kernels, without the time that recording adds, if it is
                                    known */
    uint64_t correlation;      /**< number of the API call; for work, of the call that requested it;
                                    0: unknown */
    bool nested;               /**< for API calls: made inside another call of its thread */
    double bytes;              /**< for copies and fills, otherwise negative */
    const char *host_memory;   /**< for copies: "pageable", "pinned", "managed"; "" unknown */
    uint32_t grid[3], block[3];
    bool serial; /**< for kernels of a real GPU: recorded one by one */
    int registers;
    double static_shared_bytes, dynamic_shared_bytes;
    double shared_config_bytes; /**< 0: unknown */
    double occupancy;           /**< see theoretical_occupancy */
    int error;
    bool counted; /**< counters are known: see tr_has() for which */
    struct tr_counters counters;
    struct tr_hardware hardware;
    double dram_bytes, l2_read_bytes, l2_write_bytes, l1_wavefronts; /**< negative: unknown */
    bool modelled;                                                   /**< term_ns is known */
    double term_ns[VG_TERMS];
    const char *symbol; /**< for kernels: the mangled name, "" if unknown */
    size_t at;          /**< index of the row in the trace's table */
};

struct tr_trace {
    size_t n;
    struct tr_row *rows; /**< in the order of the file */
    const char *device;  /**< "NVIDIA H200"; "" if unknown */
    const char *command; /**< the command line, or "" */
    int pid;             /**< 0 if unknown */
    bool real;           /**< recorded on a real GPU; otherwise times are modelled */
    /** Occupancies are the largest that registers, shared memory and the block size allow; if
     * false, achieved ones, modelled or measured. */
    bool theoretical_occupancy;
    size_t limit_count, note_count;
    struct tr_limit {
        const char *name;
        double value;
    } limits[TR_LIMITS_MAX];
    size_t switch_count;
    struct tr_row *switches; /**< rows of the kind "switch"; their `kind` is TR_KINDS */
    const char **notes;      /**< errors while recording, and the numbers of lost records */
    char truncated[160];     /**< where the file ended too early, and the missing part, or "" */
    struct tsv table;        /**< the table, as read */
    char **names;            /**< strings outside the table to which `rows` point */
    size_t name_count;
};

/** Reads a trace from a file, up to a damaged row (cut off, or of a wrong length), whose line
 * `truncated` states. @return ST_OK even then; ST_BAD_FORMAT if the file is not a trace. Free with
 * tr_free(). */
enum st_code tr_read(const char *path, struct tr_trace *trace, struct st_error *err);

/** Reads a trace from memory. @param text  malloc'd, with a NUL at the end; the trace owns it, even
 * after an error. */
enum st_code tr_parse(char *text, size_t bytes, const char *path, struct tr_trace *trace,
                      struct st_error *err);

/** Writes the table to a file, with a row for the device and one for the command. */
enum st_code tr_write(const struct tr_trace *trace, const char *path, struct st_error *err);

/** @return a figure of the GPU, by its name in cupti/cupti_rows.c: "multiprocessors", "clock_khz";
 * 0 if the trace lacks it. */
double tr_limit(const struct tr_trace *trace, const char *name);

/** @return a field of a row by the name of its column, which need not be in trace_columns.def:
 * ncu's measurements have ncu's names; "" if it is empty or the column does not exist */
const char *tr_text(const struct tr_trace *trace, const struct tr_row *row, const char *column);

/** Whether the trace's rows of kernels have a column of this name, for example a counter. */
bool tr_has(const struct tr_trace *trace, const char *column);

/** Keeps only the kernels that a filter matches; copies, fills and calls stay. @param filter  an
 * extended regular expression for the name, or nvprof's CONTEXT:STREAM:NAME:INVOCATION, any part of
 * which may be empty: the numbers are those in the tables, and INVOCATION counts the launches of
 * kernels with one name. */
enum st_code tr_filter(struct tr_trace *trace, const char *filter, struct st_error *err);

/** Keeps only calls between cudaProfilerStart() and cudaProfilerStop(), and the work that they
 * requested. @param from_start  whether to also keep the calls before the first of these functions;
 * if the program calls neither function, the trace is then unchanged */
enum st_code tr_profiled_range(struct tr_trace *trace, bool from_start, struct st_error *err);

/** The duration of a row; the number of blocks of a launch, and of threads of a block. */
static inline uint64_t tr_ns(const struct tr_row *row)
{
    return row->end_ns - row->start_ns;
}

static inline double tr_blocks(const struct tr_row *row)
{
    return (double)row->grid[0] * row->grid[1] * row->grid[2];
}

static inline double tr_threads(const struct tr_row *row)
{
    return (double)row->block[0] * row->block[1] * row->block[2];
}

/** The context's number in nvprof's tables: the number of the process. */
static inline int tr_context(const struct tr_row *row)
{
    return row->client > 0 ? row->client : 1;
}

/** Some rows of a trace, sorted; free them with free(). NULL: out of memory. @param wanted  one of
 * the four functions below, or another @param order  for qsort() over pointers to rows, such as
 * tr_by_start() @param n  set to the number of rows */
const struct tr_row **tr_select(const struct tr_trace *trace,
                                bool (*wanted)(const struct tr_row *row),
                                int (*order)(const void *a, const void *b), size_t *n);
bool tr_is_call(const struct tr_row *row);
bool tr_is_work(const struct tr_row *row);
bool tr_is_kernel(const struct tr_row *row);
bool tr_is_counted(const struct tr_row *row);
int tr_by_start(const void *a, const void *b);

/** An index that finds, by correlation, the call that requested work, or the (first) work that a
 * call requested. */
struct tr_index;
/** Makes an index of a trace; free it with free(). NULL: out of memory. @param calls  whether it
 * finds calls; otherwise it finds work. */
struct tr_index *tr_index_make(const struct tr_trace *trace, bool calls);
/** @return the work of a call, or the call of work; NULL: none. */
const struct tr_row *tr_index_find(const struct tr_index *index, const struct tr_row *row);

/** Releases a trace; harmless on a zeroed struct. */
void tr_free(struct tr_trace *trace);
