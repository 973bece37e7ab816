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

/* The columns, and their indices in a table: -1 for a missing column. */
enum {
#define COLUMN(name, ...) AT_##name,
#include "vgpu/api/trace_columns.def"
    COLUMNS
};
static const char *const column_names[COLUMNS] = {
#define COLUMN(name, ...) #name,
#include "vgpu/api/trace_columns.def"
};

static enum st_code find_columns(const struct tsv *table, const char *path, int at[COLUMNS],
                                 struct st_error *err)
{
    static const bool needed[COLUMNS] = {
        [AT_kind] = true, [AT_name] = true, [AT_start_ns] = true, [AT_end_ns] = true};
    for (int i = 0; i < COLUMNS; i++) {
        at[i] = tsv_column(table, column_names[i]);
        if (at[i] >= 0 || !needed[i])
            continue;
        st_fail(err, ST_BAD_FORMAT, "not a trace: it has no column %s", column_names[i]);
        st_detail(err, ST_HINT, "vprof -o FILE and vgpu-run --trace FILE write traces");
        return st_detail(err, ST_WHERE, "%s", path);
    }
    return ST_OK;
}

static const char *text_at(const struct tsv *table, size_t row, int column)
{
    return column < 0 ? "" : tsv_cell(table, row, column);
}

/* Impossible values (negative, not a number, beyond `most`) read as 0. */
static double number_up_to(const char *cell, double most)
{
    const double value = strtod(cell, NULL);
    return value >= 0 && value <= most ? value : 0;
}

/* ---- fields, by the types of trace_columns.def ---------------------------------------------- */

/* Sets TR_KINDS if the row is not an activity. */
static void read_KIND(const char *cell, enum tr_kind *to)
{
    for (*to = 0; *to < TR_KINDS && strcmp(cell, kind_texts[*to]) != 0;)
        ++*to;
}

static void read_TEXT(const char *cell, const char **to)
{
    *to = cell;
}

static void read_INT(const char *cell, int *to)
{
    *to = (int)number_up_to(cell, INT_MAX);
}

static void read_NUMBER(const char *cell, uint64_t *to)
{
    *to = strtoull(cell, NULL, 10);
}

static void read_FLAG(const char *cell, bool *to)
{
    *to = number_up_to(cell, INT_MAX) == 1;
}

static void read_AMOUNT(const char *cell, double *to)
{
    *to = number_up_to(cell, 1e18);
}

static void read_KNOWN(const char *cell, double *to)
{
    *to = *cell ? number_up_to(cell, 1e18) : -1;
}

/* Reads "8x4x1"; missing sizes are 1. */
static void read_SIZE(const char *cell, uint32_t (*to)[3])
{
    for (int i = 0; i < 3; i++) {
        char *end;
        unsigned long value = strtoul(cell, &end, 10);
        (*to)[i] = end > cell ? (uint32_t)value : 1;
        cell = *end == 'x' ? end + 1 : end;
    }
}

/* Reads the columns of a row; KERNELS columns only if it is a kernel. */
static void read_fields(const struct tsv *table, size_t i, const int at[COLUMNS],
                        struct tr_row *row)
{
    enum { EVERY, WORK, COPIES, CALLS, KERNELS };
#define FIELD(column, type, rows, to)                                                              \
    if (row->kind == TR_KERNEL || rows != KERNELS)                                                 \
        read_##type(text_at(table, i, at[AT_##column]), to);
#define COUNTED(column, to)                                                                        \
    FIELD(column, AMOUNT, KERNELS, to)                                                             \
    row->counted = row->counted || *text_at(table, i, at[AT_##column]);
#define VIRTUAL(...)
#define COLUMN(name, type, rows, ...) FIELD(name, type, rows, &row->name)
#define COUNTER(name, ...)            COUNTED(name, &row->counters.name)
#define HARDWARE(name, ...)           COUNTED(name, &row->hardware.name)
#define TERM(NAME, name, text)        FIELD(name, AMOUNT, KERNELS, &row->term_ns[VG_TERM_##NAME])
#include "vgpu/api/trace_columns.def"
#undef FIELD
#undef COUNTED
    row->modelled = *text_at(table, i, at[AT_ns_issue]);
}

/* ---- names ---------------------------------------------------------------------------------- */

/* The length of a name without suffixes for a version or the kind of default stream. */
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

/* API functions as nvprof prints them: cudaMemcpyAsync_ptsz_v7000 becomes cudaMemcpyAsync. */
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

/* Each call gets the next number; work gets the number of its client's next call. */
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

/* Keeps a fact: a row that is not an activity. Ignores kinds that later versions may add. */
static void keep_fact(struct tr_trace *t, const struct tr_row *row, const char *kind)
{
    const double number = row->bytes > 0 ? row->bytes : 0;
    if (strcmp(kind, "device") == 0 && *row->name)
        t->device = row->name;
    if (strcmp(kind, "command") == 0) {
        t->command = row->name;
        t->pid = row->client;
    }
    if (strcmp(kind, "process") == 0)
        t->real = true;
    if (strcmp(kind, "limit") == 0 && t->limit_count < TR_LIMITS_MAX && !tr_limit(t, row->name))
        t->limits[t->limit_count++] = (struct tr_limit){row->name, number};
    if (strcmp(kind, "note") == 0)
        t->notes[t->note_count++] = row->name;
    if (strcmp(kind, "switch") == 0)
        t->switches[t->switch_count++] = *row;
    char *text = NULL;
    if (strcmp(kind, "lost") == 0 && asprintf(&text, "%.0f %s are missing", number, row->name) > 0)
        t->notes[t->note_count++] = t->names[t->name_count++] = text;
}

static void keep_activity(struct tr_trace *t, struct tr_row *row)
{
    if (row->end_ns < row->start_ns)
        row->end_ns = row->start_ns;
    row->name = row->kind == TR_API      ? api_name(t, row->name)
                : row->kind == TR_KERNEL ? kernel_name(t, row->name, row->symbol)
                                         : kind_names[row->kind];
    t->rows[t->n++] = *row;
}

/* On a real GPU, the profiled program could write into its own trace: a name must not control a
 * terminal or break a table. */
static void make_harmless(const struct tsv *table, size_t row, int column)
{
    char *text = column < 0 ? NULL : (char *)tsv_cell(table, row, column); /* the trace owns it */
    for (; text && *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

static enum st_code read_rows(struct tr_trace *t, const int at[COLUMNS], struct st_error *err)
{
    t->rows = calloc(t->table.rows + 1, sizeof *t->rows);
    t->names = calloc(t->table.rows + 1, sizeof *t->names);
    t->notes = calloc(t->table.rows + 1, sizeof *t->notes);
    t->switches = calloc(t->table.rows + 1, sizeof *t->switches);
    if (!t->rows || !t->names || !t->notes || !t->switches)
        return st_fail(err, ST_NO_MEMORY, "out of memory for a trace of %zu rows", t->table.rows);
    for (size_t i = 0; i < t->table.rows; i++) {
        struct tr_row row = {.symbol = "", .at = i};
        make_harmless(&t->table, i, at[AT_name]);
        make_harmless(&t->table, i, at[AT_symbol]);
        read_fields(&t->table, i, at, &row);
        if (row.kind == TR_KINDS)
            keep_fact(t, &row, tsv_cell(&t->table, i, at[AT_kind]));
        else if (strcmp(row.host_memory, "variable") != 0)
            keep_activity(t, &row);
    }
    if ((at[AT_correlation] < 0 && !correlate(t)) || !trace_complete(t))
        return st_fail(err, ST_NO_MEMORY, "out of memory for a trace of %zu rows", t->table.rows);
    return ST_OK;
}

/* Cuts the text before the first incomplete row. @return the row's line number; 0: all rows are
 * complete. */
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
        st_fail(err, ST_BAD_FORMAT, "not a trace, or a trace that is cut off in its first line");
        st_detail(err, ST_HINT, "vprof -o FILE and vgpu-run --trace FILE write traces");
        return st_detail(err, ST_WHERE, "%s", path);
    }
    if (damaged)
        snprintf(t->truncated, sizeof t->truncated,
                 "the trace is damaged or cut off in line %zu: only the rows before it are shown",
                 damaged);
    enum st_code code = tsv_parse(text, bytes, path, &t->table, err);
    int at[COLUMNS];
    if (!code)
        code = find_columns(&t->table, path, at, err);
    if (!code)
        code = read_rows(t, at, err);
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
