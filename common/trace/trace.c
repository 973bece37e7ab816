#include "trace/trace.h"

#include "base/files.h"
#include "trace/demangle.h"
#include "trace/trace_parts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define TRACE_BYTES_MAX ((size_t)1 << 30)
#define NAME_BYTES_MAX  4096

static const char *const kind_texts[] = {
#define TEXT(name, text, shown) text,
    TR_KIND_MAP(TEXT)
#undef TEXT
};
static const char *const kind_names[] = {
#define SHOWN(name, text, shown) shown,
    TR_KIND_MAP(SHOWN)
#undef SHOWN
};

/** Columns besides the counters: X(name, whether a trace must have it). */
#define COLUMNS(X)                                                                                 \
    X(kind, true)                                                                                  \
    X(name, true)                                                                                  \
    X(client, false)                                                                               \
    X(stream, false)                                                                               \
    X(start_ns, true)                                                                              \
    X(end_ns, true)                                                                                \
    X(bytes, false)                                                                                \
    X(grid, false)                                                                                 \
    X(block, false)                                                                                \
    X(registers, false)                                                                            \
    X(static_shared_bytes, false)                                                                  \
    X(dynamic_shared_bytes, false)                                                                 \
    X(occupancy, false)                                                                            \
    X(error, false)                                                                                \
    X(symbol, false)                                                                               \
    X(host_memory, false)                                                                          \
    X(dram_bytes, false)                                                                           \
    X(l2_read_bytes, false)                                                                        \
    X(l2_write_bytes, false)                                                                       \
    X(l1_wavefronts, false)                                                                        \
    X(shared_config_bytes, false)                                                                  \
    X(correlation, false)                                                                          \
    X(thread, false)                                                                               \
    X(device, false)                                                                               \
    X(serial, false)

/* Indices of the columns, -1 for those that are absent. */
struct columns {
#define INDEX(name, needed) int name;
    COLUMNS(INDEX)
#undef INDEX
    struct {
#define INDEX(name) int name;
        TR_COUNTER_MAP(INDEX)
#undef INDEX
    } counters;
    struct {
#define INDEX(name) int name;
        TR_HARDWARE_MAP(INDEX)
#undef INDEX
    } hardware;
    int term_ns[VG_TERMS];
};

static enum st_code find_columns(const struct tsv *table, const char *path, struct columns *at,
                                 struct st_error *err)
{
#define FIND(column, needed)                                                                       \
    at->column = tsv_column(table, #column);                                                       \
    if (needed && at->column < 0) {                                                                \
        st_fail(err, ST_BAD_FORMAT, "this is no trace: it has no column %s", #column);             \
        st_detail(err, ST_HINT, "vprof -o FILE and vgpu-run --trace FILE write traces");           \
        return st_detail(err, ST_WHERE, "%s", path);                                               \
    }
    COLUMNS(FIND)
#undef FIND
#define FIND(counter) at->counters.counter = tsv_column(table, #counter);
    TR_COUNTER_MAP(FIND)
#undef FIND
#define FIND(counter) at->hardware.counter = tsv_column(table, #counter);
    TR_HARDWARE_MAP(FIND)
#undef FIND
#define FIND(name, text, group) at->term_ns[VG_TERM_##name] = tsv_column(table, "ns_" #text);
    VG_TERM_MAP(FIND)
#undef FIND
    return ST_OK;
}

static const char *text_at(const struct tsv *table, size_t row, int column)
{
    return column < 0 ? "" : tsv_cell(table, row, column);
}

/* What no trace can have (negative, not a number, beyond `most`) reads as 0. */
static double number_up_to(const struct tsv *table, size_t row, int column, double most)
{
    const double value = strtod(text_at(table, row, column), NULL);
    return value >= 0 && value <= most ? value : 0;
}

static double number_at(const struct tsv *table, size_t row, int column)
{
    return number_up_to(table, row, column, 1e18);
}

/* A number that need not be known: then -1. */
static double known_at(const struct tsv *table, size_t row, int column)
{
    return *text_at(table, row, column) ? number_at(table, row, column) : -1;
}

static int int_at(const struct tsv *table, size_t row, int column)
{
    return (int)number_up_to(table, row, column, INT_MAX);
}

/* "8x4x1"; what is missing is 1. */
static void dim_at(const struct tsv *table, size_t row, int column, uint32_t dim[3])
{
    const char *at = text_at(table, row, column);
    for (int i = 0; i < 3; i++) {
        char *end;
        unsigned long value = strtoul(at, &end, 10);
        dim[i] = end > at ? (uint32_t)value : 1;
        at = *end == 'x' ? end + 1 : end;
    }
}

/* How much of a name is left without a mark of versions or of the kind of default stream. */
static size_t without_mark(const char *name, size_t length)
{
    size_t at = length;
    while (at > 0 && name[at - 1] != '_')
        at--;
    const char *mark = name + at;
    const size_t n = length - at;
    if (at < 2 || n < 2)
        return length;
    if ((n == 4 && (strncmp(mark, "ptsz", 4) == 0 || strncmp(mark, "ptds", 4) == 0)) ||
        (mark[0] == 'v' && strspn(mark + 1, "0123456789") >= n - 1))
        return at - 1;
    return length;
}

/* API functions as nvprof prints them: cudaMemcpyAsync_ptsz_v7000 is cudaMemcpyAsync. */
static const char *api_name(struct tr_trace *t, const char *name)
{
    const char *start = strncmp(name, "__cuda", 6) == 0 ? name + 2 : name;
    size_t length = strlen(start), shorter;
    while ((shorter = without_mark(start, length)) < length)
        length = shorter;
    if (length == strlen(start))
        return start;
    char *copy = strndup(start, length);
    return copy ? t->names[t->name_count++] = copy : start;
}

static const char *kernel_name(struct tr_trace *t, const char *name, const char *symbol)
{
    char shown[NAME_BYTES_MAX];
    if (!demangle(symbol, shown, sizeof shown) && !demangle_by_library(symbol, shown, sizeof shown))
        return name;
    if (t->name_count && strcmp(t->names[t->name_count - 1], shown) == 0)
        return t->names[t->name_count - 1];
    char *copy = strdup(shown);
    return copy ? t->names[t->name_count++] = copy : name;
}

static void read_work(const struct tsv *table, size_t i, const struct columns *at,
                      struct tr_row *row)
{
    row->bytes = known_at(table, i, at->bytes);
    row->host_memory = text_at(table, i, at->host_memory);
    if (row->kind != TR_KERNEL)
        return;
    dim_at(table, i, at->grid, row->grid);
    dim_at(table, i, at->block, row->block);
    row->registers = int_at(table, i, at->registers);
    row->static_shared_bytes = number_at(table, i, at->static_shared_bytes);
    row->dynamic_shared_bytes = number_at(table, i, at->dynamic_shared_bytes);
    row->occupancy = known_at(table, i, at->occupancy);
#define READ(counter)                                                                              \
    row->counters.counter = number_at(table, i, at->counters.counter);                             \
    row->counted = row->counted || *text_at(table, i, at->counters.counter);
    TR_COUNTER_MAP(READ)
#undef READ
#define READ(counter)                                                                              \
    row->hardware.counter = number_at(table, i, at->hardware.counter);                             \
    row->counted = row->counted || *text_at(table, i, at->hardware.counter);
    TR_HARDWARE_MAP(READ)
#undef READ
    row->serial = int_at(table, i, at->serial) == 1;
    row->shared_config_bytes = number_at(table, i, at->shared_config_bytes);
    row->dram_bytes = known_at(table, i, at->dram_bytes);
    row->l2_read_bytes = known_at(table, i, at->l2_read_bytes);
    row->l2_write_bytes = known_at(table, i, at->l2_write_bytes);
    row->l1_wavefronts = known_at(table, i, at->l1_wavefronts);
    row->modelled = *text_at(table, i, at->term_ns[VG_TERM_ISSUE]) != '\0';
    for (int k = 0; k < VG_TERMS; k++)
        row->term_ns[k] = number_at(table, i, at->term_ns[k]);
}

/* Every call gets the next number; work gets that of the next call of its client. */
static bool correlate(struct tr_trace *t)
{
    uint64_t number = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->rows[i].kind == TR_API)
            t->rows[i].correlation = ++number;
    const size_t clients = trace_clients(t);
    uint64_t *next = calloc(clients, sizeof *next);
    for (size_t i = t->n; next && i-- > 0;) {
        struct tr_row *row = &t->rows[i];
        if (row->client < 0 || (size_t)row->client >= clients)
            continue;
        if (row->kind == TR_API)
            next[row->client] = row->correlation;
        else
            row->correlation = next[row->client];
    }
    free(next);
    return next != NULL;
}

/* A row that is no activity. */
static void read_fact(struct tr_trace *t, const struct columns *at, size_t i, const char *kind)
{
    const char *name = tsv_cell(&t->table, i, at->name);
    const double number = number_at(&t->table, i, at->bytes);
    if (strcmp(kind, "device") == 0 && *name)
        t->device = name;
    if (strcmp(kind, "command") == 0) {
        t->command = name;
        t->pid = int_at(&t->table, i, at->client);
    }
    if (strcmp(kind, "process") == 0)
        t->real = true;
    if (strcmp(kind, "limit") == 0 && t->limit_count < TR_LIMITS_MAX && !tr_limit(t, name))
        t->limits[t->limit_count++] = (struct tr_limit){name, number};
    if (strcmp(kind, "note") == 0)
        t->notes[t->note_count++] = name;
    if (strcmp(kind, "switch") == 0)
        t->switches[t->switch_count++] =
            (struct tr_row){.kind = TR_KINDS,
                            .name = name,
                            .client = int_at(&t->table, i, at->client),
                            .start_ns = strtoull(text_at(&t->table, i, at->start_ns), NULL, 10)};
    char *text = NULL;
    if (strcmp(kind, "lost") == 0 && asprintf(&text, "%.0f %s are missing", number, name) > 0) {
        t->names[t->name_count++] = text;
        t->notes[t->note_count++] = text;
    }
}

static void read_row(struct tr_trace *t, const struct columns *at, size_t i, enum tr_kind kind)
{
    const char *name = tsv_cell(&t->table, i, at->name);
    struct tr_row row = {.kind = kind, .client = int_at(&t->table, i, at->client)};
    row.device = int_at(&t->table, i, at->device);
    row.stream = strtoull(text_at(&t->table, i, at->stream), NULL, 10);
    row.thread = strtoull(text_at(&t->table, i, at->thread), NULL, 10);
    row.correlation = strtoull(text_at(&t->table, i, at->correlation), NULL, 10);
    row.start_ns = strtoull(tsv_cell(&t->table, i, at->start_ns), NULL, 10);
    row.end_ns = strtoull(tsv_cell(&t->table, i, at->end_ns), NULL, 10);
    if (row.end_ns < row.start_ns)
        row.end_ns = row.start_ns;
    row.error = int_at(&t->table, i, at->error);
    read_work(&t->table, i, at, &row);
    row.name = row.kind == TR_API      ? api_name(t, name)
               : row.kind == TR_KERNEL ? kernel_name(t, name, text_at(&t->table, i, at->symbol))
                                       : kind_names[row.kind];
    row.symbol = text_at(&t->table, i, at->symbol);
    t->rows[t->n++] = row;
}

/* On a real GPU the profiled program could write into its trace itself: nothing in a name may steer
 * a terminal or break a table. */
static void make_harmless(const struct tsv *table, size_t row, int column)
{
    char *text = column < 0 ? NULL : (char *)tsv_cell(table, row, column); /* the trace's own */
    for (; text && *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

static enum st_code read_rows(struct tr_trace *t, const struct columns *at, struct st_error *err)
{
    t->rows = calloc(t->table.rows + 1, sizeof *t->rows);
    t->names = calloc(t->table.rows + 1, sizeof *t->names);
    t->notes = calloc(t->table.rows + 1, sizeof *t->notes);
    t->switches = calloc(t->table.rows + 1, sizeof *t->switches);
    if (!t->rows || !t->names || !t->notes || !t->switches)
        return st_fail(err, ST_NO_MEMORY, "no memory for a trace of %zu rows", t->table.rows);
    for (size_t i = 0; i < t->table.rows; i++) {
        const char *kind = tsv_cell(&t->table, i, at->kind);
        int k = 0;
        make_harmless(&t->table, i, at->name);
        make_harmless(&t->table, i, at->symbol);
        while (k < TR_KINDS && strcmp(kind, kind_texts[k]) != 0)
            k++;
        if (strcmp(text_at(&t->table, i, at->host_memory), "variable") == 0)
            continue;
        if (k < TR_KINDS)
            read_row(t, at, i, (enum tr_kind)k);
        else
            read_fact(t, at, i, kind); /* or one of a later version */
    }
    if ((at->correlation < 0 && !correlate(t)) || !trace_complete(t))
        return st_fail(err, ST_NO_MEMORY, "no memory for a trace of %zu rows", t->table.rows);
    return ST_OK;
}

/* Cuts the text before the first row that is not whole. @return its line number, 0 if all are. */
static size_t cut(char *text, size_t *bytes)
{
    size_t columns = 0, line = 1;
    for (char *at = text, *end; at < text + *bytes; at = end + 1, line++) {
        size_t fields = 1;
        for (end = at; end < text + *bytes && *end != '\n' && *end; end++)
            fields += *end == '\t';
        if (line == 1)
            columns = fields;
        if (end == text + *bytes || !*end || fields != columns) {
            *at = '\0';
            *bytes = (size_t)(at - text);
            return line;
        }
    }
    return 0;
}

enum st_code tr_parse(char *text, size_t bytes, const char *path, struct tr_trace *t,
                      struct st_error *err)
{
    *t = (struct tr_trace){.device = "", .command = ""};
    if (bytes == 0) {
        free(text);
        st_fail(err, ST_TRUNCATED, "the trace is empty");
        st_detail(err, ST_HINT, "profile the program again");
        return st_detail(err, ST_WHERE, "%s", path);
    }
    size_t damaged = cut(text, &bytes);
    if (damaged == 1) {
        free(text);
        st_fail(err, ST_BAD_FORMAT, "this is no trace, or one that ends in its first line");
        st_detail(err, ST_HINT, "vprof -o FILE and vgpu-run --trace FILE write traces");
        return st_detail(err, ST_WHERE, "%s", path);
    }
    if (damaged)
        snprintf(t->truncated, sizeof t->truncated,
                 "the trace is damaged or cut off in line %zu: what was recorded before is shown",
                 damaged);
    enum st_code code = tsv_parse(text, bytes, path, &t->table, err);
    struct columns at = {0};
    if (!code)
        code = find_columns(&t->table, path, &at, err);
    if (!code)
        code = read_rows(t, &at, err);
    if (code)
        tr_free(t);
    return code;
}

enum st_code tr_read(const char *path, struct tr_trace *trace, struct st_error *err)
{
    char *text;
    size_t bytes;
    *trace = (struct tr_trace){0};
    enum st_code code = file_read(path, TRACE_BYTES_MAX, &text, &bytes, err);
    return code ? code : tr_parse(text, bytes, path, trace, err);
}

static void write_extra(FILE *out, const struct tr_trace *t, const char *kind, const char *name,
                        int client)
{
    const char *fields[t->table.columns];
    char number[16];
    snprintf(number, sizeof number, "%d", client);
    for (size_t i = 0; i < t->table.columns; i++)
        fields[i] = strcmp(t->table.header[i], "kind") == 0     ? kind
                    : strcmp(t->table.header[i], "name") == 0   ? name
                    : strcmp(t->table.header[i], "client") == 0 ? number
                                                                : "";
    tsv_write_row(out, t->table.columns, fields);
}

enum st_code tr_write(const struct tr_trace *t, const char *path, struct st_error *err)
{
    struct file_out out;
    enum st_code code = file_out_open(&out, path, err);
    if (code)
        return code;
    const struct tsv *table = &t->table;
    int kind = tsv_column(table, "kind");
    tsv_write_row(out.f, table->columns, (const char *const *)table->header);
    write_extra(out.f, t, "device", t->device, 0);
    write_extra(out.f, t, "command", t->command, t->pid);
    for (size_t i = 0; i < table->rows; i++) {
        const char *text = tsv_cell(table, i, kind);
        if (strcmp(text, "device") != 0 && strcmp(text, "command") != 0)
            tsv_write_row(out.f, table->columns,
                          (const char *const *)&table->cells[i * table->columns]);
    }
    return file_out_commit(&out, err);
}

void tr_free(struct tr_trace *t)
{
    for (size_t i = 0; i < t->name_count; i++)
        free(t->names[i]);
    free(t->names);
    free(t->notes);
    free(t->switches);
    free(t->rows);
    tsv_free(&t->table);
    *t = (struct tr_trace){0};
}
