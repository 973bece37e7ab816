#include "vgpu/device/record.h"

#include "base/files.h"
#include "base/tsv.h"
#include "vgpu/device/suppressions.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Findings beyond these are counted, but not printed. */
#define FINDINGS_PRINTED_MAX 20

/* A program that calls the runtime endlessly must not exhaust memory, neither here nor in the
 * owner, which reads the whole table. */
#define TABLE_BYTES_MAX       ((long)256 << 20)
#define TAKEN_TRACE_BYTES_MAX ((long)64 << 20)

struct record {
    pthread_mutex_t lock;
    const char *path[RECORD_TABLES];
    FILE *stream[RECORD_TABLES]; /* memory streams; NULL: not recorded */
    char *text[RECORD_TABLES];
    size_t bytes[RECORD_TABLES];
    uint64_t lost; /* dropped rows of the trace */
    bool brief;    /* only the owner gets the trace, and it reads few columns */
    bool written;
    const char *blocks_path; /* file for recordings of blocks, and the recordings */
    FILE *blocks;
    char *blocks_text;
    size_t blocks_bytes;
    struct suppressions *suppressions;
    uint64_t found; /* findings that are not suppressed, and leaks */
};

/* The columns of the trace that the virtual GPU writes. */
enum {
#define COLUMN(name, ...) AT_##name,
#define REAL(...)
#define HARDWARE(...)
#include "vgpu/api/trace_columns.def"
    TRACE_COLUMNS
};
static const char *const trace_columns[TRACE_COLUMNS] = {
#define COLUMN(name, ...) #name,
#define REAL(...)
#define HARDWARE(...)
#include "vgpu/api/trace_columns.def"
};
static const size_t brief_columns[] = {AT_kind,
                                       AT_name,
                                       AT_client,
                                       AT_stream,
                                       AT_start_ns,
                                       AT_end_ns,
                                       AT_bytes,
                                       AT_grid,
                                       AT_block,
                                       AT_registers,
                                       AT_static_shared_bytes,
                                       AT_dynamic_shared_bytes,
                                       AT_occupancy,
                                       AT_limiter,
                                       AT_error};
static const char *const fault_columns[] = {"kind",  "kernel",     "file",      "line",
                                            "block", "thread",     "address",   "detail",
                                            "count", "other_file", "other_line"};
#define WORK_MAP(X)                                                                                \
    X(kind)                                                                                        \
    X(name)                                                                                        \
    X(to)                                                                                          \
    X(from)                                                                                        \
    X(bytes)                                                                                       \
    X(grid)                                                                                        \
    X(block)                                                                                       \
    X(dynamic_shared_bytes)                                                                        \
    X(blocks)                                                                                      \
    X(ptx_hash)                                                                                    \
    X(left)
#define AT(name)   WORK_##name,
#define NAME(name) #name,
enum { WORK_MAP(AT) WORK_COLUMNS };
static const char *const work_columns[] = {WORK_MAP(NAME)};
static const char *const proof_columns[] = {"kernel", "fact", "value"};
#undef AT
#undef NAME
#define COLUMNS(a) (sizeof(a) / sizeof *(a))
_Static_assert(TRACE_COLUMNS <= TSV_ROW_MAX, "a row has room for all columns");

static void write_trace_row(struct record *r, const char *const *fields)
{
    const char *brief[COLUMNS(brief_columns)];
    for (size_t i = 0; i < COLUMNS(brief_columns); i++)
        brief[i] = fields[brief_columns[i]];
    if (r->brief)
        tsv_write_row(r->stream[RECORD_TRACE], COLUMNS(brief_columns), brief);
    else
        tsv_write_row(r->stream[RECORD_TRACE], TRACE_COLUMNS, fields);
}

/* Starts an empty table with its first row. @return false: out of memory. */
static bool table_start(struct record *r, enum record_table table)
{
    r->stream[table] = open_memstream(&r->text[table], &r->bytes[table]);
    if (!r->stream[table])
        return false;
    if (table == RECORD_TRACE)
        write_trace_row(r, trace_columns);
    else if (table == RECORD_FAULTS)
        tsv_write_row(r->stream[table], COLUMNS(fault_columns), fault_columns);
    else if (table == RECORD_WORK)
        tsv_write_row(r->stream[table], COLUMNS(work_columns), work_columns);
    else if (table == RECORD_PROOF)
        tsv_write_row(r->stream[table], COLUMNS(proof_columns), proof_columns);
    else
        vg_counters_write_header(r->stream[table]);
    return true;
}

static void table_end(struct record *r, enum record_table table)
{
    if (r->stream[table])
        fclose(r->stream[table]);
    free(r->text[table]);
    r->stream[table] = NULL;
    r->text[table] = NULL;
}

enum st_code record_open(struct record **record, const char *const path[RECORD_TABLES], bool takes,
                         struct st_error *err)
{
    struct record *r = calloc(1, sizeof *r);
    *record = r;
    if (!r)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the records");
    pthread_mutex_init(&r->lock, NULL);
    r->brief = takes && !path[RECORD_TRACE];
    for (int i = 0; i < RECORD_TABLES; i++) {
        r->path[i] = path[i];
        if ((takes || path[i]) && !table_start(r, i)) {
            record_close(r);
            *record = NULL;
            return st_fail(err, ST_NO_MEMORY, "out of memory for the records");
        }
    }
    return ST_OK;
}

void record_close(struct record *record)
{
    if (!record)
        return;
    for (int i = 0; i < RECORD_TABLES; i++)
        table_end(record, i);
    if (record->blocks)
        fclose(record->blocks);
    free(record->blocks_text);
    suppressions_free(record->suppressions);
    pthread_mutex_destroy(&record->lock);
    free(record);
}

/* Writes a row of the trace or the work. */
static void write_row(struct record *record, enum record_table table, struct tsv_row *row)
{
    pthread_mutex_lock(&record->lock);
    const bool is_trace = table == RECORD_TRACE;
    const long most = is_trace && record->brief ? TAKEN_TRACE_BYTES_MAX : TABLE_BYTES_MAX;
    if (ftell(record->stream[table]) < most && is_trace)
        write_trace_row(record, row->field);
    else if (ftell(record->stream[table]) < most)
        tsv_row_write(row, record->stream[table]);
    else if (record->lost++ == 0)
        say("the trace is full: it lacks later calls, launches and copies");
    pthread_mutex_unlock(&record->lock);
}

static void set_launch(struct tsv_row *row, const struct record_row *r)
{
    const struct vg_launch_report *l = r->launch;
    tsv_row_set(row, AT_grid, "%ux%ux%u", r->grid.x, r->grid.y, r->grid.z);
    tsv_row_set(row, AT_block, "%ux%ux%u", r->block.x, r->block.y, r->block.z);
    tsv_row_set(row, AT_registers, "%d", l->registers);
    tsv_row_set(row, AT_static_shared_bytes, "%zu", l->static_shared_bytes);
    tsv_row_set(row, AT_dynamic_shared_bytes, "%zu", l->dynamic_shared_bytes);
    tsv_row_set(row, AT_occupancy, "%.4f", l->occupancy);
    tsv_row_set_text(row, AT_limiter, l->limiter);
    if (l->registers_sm)
        tsv_row_set(row, AT_registers_from, "sm_%d", l->registers_sm);
    else
        tsv_row_set_text(row, AT_registers_from, "estimate");
#define PASSED(name, ...) tsv_row_set(row, AT_##name, "%.0f", l->name);
#define COUNTER(name, ...)                                                                         \
    tsv_row_set(row, AT_##name, "%llu", (unsigned long long)l->counters.name);
#define TERM(NAME, name, text) tsv_row_set(row, AT_##name, "%.0f", l->term_ns[VG_TERM_##NAME]);
#include "vgpu/api/trace_columns.def"
}

void record_trace(struct record *record, const struct record_row *r)
{
    struct tsv_row row;
    if (!record->stream[RECORD_TRACE])
        return;
    tsv_row_start(&row, TRACE_COLUMNS);
    tsv_row_set_text(&row, AT_kind, r->kind);
    tsv_row_set_text(&row, AT_name, r->name);
    tsv_row_set(&row, AT_client, "%d", r->client);
    tsv_row_set(&row, AT_stream, "%llu", (unsigned long long)r->stream);
    tsv_row_set(&row, AT_start_ns, "%.0f", r->span.start_ns);
    tsv_row_set(&row, AT_end_ns, "%.0f", r->span.end_ns);
    tsv_row_set(&row, AT_duration_ns, "%.0f", r->span.end_ns - r->span.start_ns);
    if (r->bytes >= 0)
        tsv_row_set(&row, AT_bytes, "%.0f", r->bytes);
    if (r->launch)
        set_launch(&row, r);
    tsv_row_set(&row, AT_error, "%d", r->error);
    tsv_row_set_text(&row, AT_symbol, r->symbol);
    tsv_row_set_text(&row, AT_host_memory, r->host_memory);
    write_row(record, RECORD_TRACE, &row);
}

bool record_wants_work(const struct record *record)
{
    return record->stream[RECORD_WORK] != NULL;
}

void record_work_copy(struct record *record, const char *kind, const char *to, const char *from,
                      double bytes)
{
    struct tsv_row row;
    tsv_row_start(&row, WORK_COLUMNS);
    tsv_row_set_text(&row, WORK_kind, kind);
    tsv_row_set_text(&row, WORK_to, to);
    tsv_row_set_text(&row, WORK_from, from);
    tsv_row_set(&row, WORK_bytes, "%.0f", bytes);
    write_row(record, RECORD_WORK, &row);
}

void record_work_kernel(struct record *record, const char *name, const char *ptx_hash,
                        double sent_bytes, const struct record_row *r)
{
    struct tsv_row row;
    tsv_row_start(&row, WORK_COLUMNS);
    tsv_row_set_text(&row, WORK_kind, "kernel");
    tsv_row_set_text(&row, WORK_name, name);
    tsv_row_set(&row, WORK_grid, "%ux%ux%u", r->grid.x, r->grid.y, r->grid.z);
    tsv_row_set(&row, WORK_block, "%ux%ux%u", r->block.x, r->block.y, r->block.z);
    tsv_row_set(&row, WORK_bytes, "%.0f", sent_bytes);
    tsv_row_set(&row, WORK_dynamic_shared_bytes, "%zu", r->launch->dynamic_shared_bytes);
    tsv_row_set_text(&row, WORK_blocks, r->launch->blocks);
    tsv_row_set_text(&row, WORK_ptx_hash, ptx_hash);
    tsv_row_set_text(&row, WORK_left, r->launch->left);
    write_row(record, RECORD_WORK, &row);
}

FILE *record_proof(struct record *record)
{
    return record->stream[RECORD_PROOF];
}

static void fault_row(FILE *out, const struct vg_fault *f, uint64_t count)
{
    struct tsv_row row;
    tsv_row_start(&row, 0);
    tsv_row_add_text(&row, fault_name(f->kind));
    tsv_row_add_text(&row, f->kernel);
    tsv_row_add_text(&row, f->file);
    tsv_row_add(&row, "%d", f->line);
    tsv_row_add(&row, "%u,%u,%u", f->block[0], f->block[1], f->block[2]);
    tsv_row_add(&row, "%u,%u,%u", f->thread[0], f->thread[1], f->thread[2]);
    tsv_row_add(&row, "0x%llx", (unsigned long long)f->address);
    tsv_row_add_text(&row, f->detail);
    tsv_row_add(&row, "%llu", (unsigned long long)count);
    tsv_row_add_text(&row, f->other_file);
    tsv_row_add(&row, "%d", f->other_line);
    tsv_row_write(&row, out);
}

/* @param is_cut  the kernel's program has ended: a thread that waited might have continued */
static bool is_left_out(const struct record *record, const struct vg_fault *fault, bool is_cut)
{
    if (is_cut &&
        (fault->kind == VG_FAULT_NO_PROGRESS || fault->kind == VG_FAULT_BARRIER_DIVERGENCE))
        return true;
    return suppressions_cover(record->suppressions, fault);
}

/* Relies on this: the list of findings only grows, and their counts only increase. */
static void record_findings(struct record *record, const struct vg_device *device,
                            struct record_reported *reported, bool is_cut)
{
    FILE *out = record->stream[RECORD_FAULTS];
    const struct vg_fault *faults;
    size_t n = vg_faults(device, &faults);
    if (n > reported->n) {
        uint64_t *more = realloc(reported->counts, n * sizeof *more);
        if (!more)
            return;
        memset(more + reported->n, 0, (n - reported->n) * sizeof *more);
        reported->counts = more;
        reported->n = n;
    }
    for (size_t i = 0; i < n; i++) {
        if (faults[i].count > reported->counts[i] && !is_left_out(record, &faults[i], is_cut))
            fault_row(out, &faults[i], faults[i].count - reported->counts[i]);
        reported->counts[i] = faults[i].count;
    }
}

void record_device(struct record *record, struct vg_device *device,
                   struct record_reported *reported, bool is_cut)
{
    pthread_mutex_lock(&record->lock);
    if (record->stream[RECORD_FAULTS])
        record_findings(record, device, reported, is_cut);
    if (record->stream[RECORD_COUNTERS])
        vg_counters_write(device, record->stream[RECORD_COUNTERS]);
    vg_counters_clear(device);
    if (record->blocks)
        vg_recordings_write(device, record->blocks);
    pthread_mutex_unlock(&record->lock);
}

static bool write_all(int fd, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t put = write(fd, text, bytes);
        if (put <= 0)
            return false;
        text += put;
        bytes -= (size_t)put;
    }
    return true;
}

bool record_take(struct record *record, int fd, uint64_t bytes[RECORD_TABLES], uint64_t *lost)
{
    bool good = true;
    pthread_mutex_lock(&record->lock);
    for (int i = 0; i < RECORD_TABLES && good; i++) {
        good = record->stream[i] && fflush(record->stream[i]) == 0 &&
               write_all(fd, record->text[i], record->bytes[i]);
        bytes[i] = record->bytes[i];
        table_end(record, i);
        good = table_start(record, i) && good;
    }
    *lost = record->lost;
    record->lost = 0;
    pthread_mutex_unlock(&record->lock);
    return good;
}

void record_findings_print(struct record *record, const struct vg_device *device, size_t *printed,
                           bool is_cut)
{
    const struct vg_fault *faults;
    size_t n = vg_faults(device, &faults);
    if (*printed >= n)
        return;
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return;
    for (; *printed < n; (*printed)++) {
        if (is_left_out(record, &faults[*printed], is_cut))
            continue;
        record->found += !fault_is_note(faults[*printed].kind);
        if (*printed < FINDINGS_PRINTED_MAX)
            fault_text(out, &faults[*printed]);
        else if (*printed == FINDINGS_PRINTED_MAX)
            fprintf(
                out,
                "virtual GPU: more findings are not printed (hint: --faults FILE has them all)\n");
    }
    fclose(out);
    write_all(STDERR_FILENO, text, bytes);
    free(text);
}

void record_leaks(struct record *record, uint64_t allocations)
{
    record->found += allocations;
}

bool record_has_findings(const struct record *record)
{
    return record->found > 0;
}

enum st_code record_suppress(struct record *record, const char *path, struct st_error *err)
{
    return suppressions_read(&record->suppressions, path, err);
}

void record_blocks(struct record *record, const char *path)
{
    record->blocks_path = path;
    record->blocks = open_memstream(&record->blocks_text, &record->blocks_bytes);
}

bool record_wants_blocks(const struct record *record)
{
    return record->blocks != NULL;
}

static enum st_code write_file(const char *path, FILE *stream, char *const *text,
                               const size_t *bytes, struct st_error *err)
{
    if (!stream || !path)
        return ST_OK;
    fflush(stream);
    return file_write(path, *text, *bytes, err);
}

enum st_code record_write(struct record *record, struct st_error *err)
{
    pthread_mutex_lock(&record->lock);
    struct st_error one;
    enum st_code code = ST_OK;
    for (int i = 0; i <= RECORD_TABLES && !record->written; i++) {
        const enum st_code wrote =
            i < RECORD_TABLES ? write_file(record->path[i], record->stream[i], &record->text[i],
                                           &record->bytes[i], &one)
                              : write_file(record->blocks_path, record->blocks,
                                           &record->blocks_text, &record->blocks_bytes, &one);
        if (wrote && !code) {
            code = wrote;
            if (err)
                *err = one;
        }
    }
    record->written = true;
    pthread_mutex_unlock(&record->lock);
    return code;
}

void say(const char *format, ...)
{
    char line[2048];
    va_list args;
    va_start(args, format);
    int at = snprintf(line, sizeof line, "virtual GPU: ");
    int n = vsnprintf(line + at, sizeof line - (size_t)at - 1, format, args);
    va_end(args);
    size_t bytes = n < 0 ? (size_t)at : (size_t)(at + n);
    if (bytes > sizeof line - 2)
        bytes = sizeof line - 2;
    line[bytes++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, bytes);
    (void)ignored;
}

void say_error(const char *before, const struct st_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return;
    st_print(out, before, err);
    fclose(out);
    if (bytes && text[bytes - 1] == '\n')
        text[bytes - 1] = '\0';
    say("%s", text);
    free(text);
}
