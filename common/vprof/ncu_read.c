/* Makes a trace from ncu's output. */
#include "vprof/ncu_parts.h"

#include "base/csv.h"
#include "base/files.h"
#include "base/tsv.h"
#include "vprof/ncu.h"
#include "vgpu/probe/names.h"

#include <stdlib.h>
#include <string.h>

#define CSV_BYTES_MAX ((size_t)1 << 30)

/** Facts about the GPU, which ncu adds automatically. */
static const struct {
    const char *limit, *attribute;
} limits[] = {
    {"multiprocessors", "device__attribute_multiprocessor_count"},
    {"clock_khz", "device__attribute_max_gpu_frequency_khz"},
    {"l2_bytes", "device__attribute_l2_cache_size"},
    {"warps_per_multiprocessor", "device__attribute_max_warps_per_multiprocessor"},
    {"blocks_per_multiprocessor", "device__attribute_max_blocks_per_multiprocessor"},
    {"shared_per_multiprocessor_bytes", "device__attribute_max_shared_memory_per_multiprocessor"},
    {"registers_per_multiprocessor", "device__attribute_max_registers_per_multiprocessor"},
    {"registers_per_block", "device__attribute_max_registers_per_block"},
    {"threads_per_block", "device__attribute_max_threads_per_block"}};

#define LENGTH(a) (sizeof(a) / sizeof *(a))

/* ---- its output ----------------------------------------------------------------------------- */

/* Keeps only the lines of the table, which start with a quote; other lines are ncu's messages.
 * @return the remaining number of bytes */
static size_t keep_table(char *text)
{
    char *to = text;
    for (char *line = text, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        next += *next == '\n';
        if (*line == '"') {
            memmove(to, line, (size_t)(next - line));
            to += next - line;
        }
    }
    *to = '\0';
    return (size_t)(to - text);
}

/* Drops a row that was cut off. */
static void drop_cut_rows(struct csv *csv)
{
    size_t kept = 0;
    for (size_t i = 0; i < csv->rows; i++)
        if (csv->row[i].fields == csv->row[0].fields)
            csv->row[kept++] = csv->row[i];
    csv->rows = kept;
}

/* The rows after the header: first the units, then the kernels. */
static size_t rows_of(const struct csv *csv)
{
    return csv->rows ? csv->rows - 1 : 0;
}

static const char *field(const struct csv *csv, size_t row, const char *column)
{
    return csv_field(&csv->row[row + 1], csv_column(csv, column));
}

/* Parses "1,980,000" and "12.5"; unknown values are "(!) n/a" or empty. */
static bool number(const char *text, double *value)
{
    char digits[64];
    size_t n = 0;
    for (; *text && n + 1 < sizeof digits; text++)
        if (*text != ',')
            digits[n++] = *text;
    digits[n] = '\0';
    char *end;
    *value = strtod(digits, &end);
    return end > digits && !*end;
}

static double number_or_0(const struct csv *csv, size_t row, const char *column)
{
    double value;
    return number(field(csv, row, column), &value) ? value : 0;
}

/* @return whether all terms are known */
static bool sum(const struct csv *csv, size_t row, const char *text, double *total)
{
    char metric[128];
    double factor, value;
    *total = 0;
    while (ncu_next_term(&text, &factor, metric)) {
        if (!number(field(csv, row, metric), &value))
            return false;
        *total += factor * value;
    }
    return true;
}

static void put(struct tsv_row *r, size_t column, double value)
{
    tsv_row_set(r, column, value == (double)(long long)value ? "%.0f" : "%.6f", value);
}

/* "(8, 1, 1)" becomes 8x1x1. */
static void put_size(struct tsv_row *r, size_t column, const char *text)
{
    int x = 1, y = 1, z = 1;
    sscanf(text, "(%d , %d , %d", &x, &y, &z);
    tsv_row_set(r, column, "%dx%dx%d", x, y, z);
}

/* Finds the metrics of ncu's sections that ncu measured; their columns follow the other columns. A
 * name in two sections has one column. @return their number */
static size_t sections(const struct csv *csv, char metric[TSV_ROW_MAX][128])
{
    size_t n = 0;
    for (const char *const *m = ncu_metrics; *m; m++)
        for (const char *at = *m; ncu_next_name(&at, metric[n]);) {
            size_t again = 0;
            while (strcmp(metric[again], metric[n]) != 0)
                again++;
            n += again == n && csv_column(csv, metric[n]) >= 0;
        }
    return n;
}

/* Appends the metrics of the sections: numbers without commas, words ("CachePreferNone") unchanged,
 * unknown values as empty fields. */
static void add_sections(struct tsv_row *r, const struct csv *csv, size_t row)
{
    char metric[TSV_ROW_MAX][128];
    double value;
    for (size_t i = 0, n = sections(csv, metric); i < n; i++) {
        const char *text = field(csv, row, metric[i]);
        const bool is_number = number(text, &value);
        tsv_row_set_text(r, NCU_COLUMNS + i, is_number || strstr(text, "n/a") ? "" : text);
        if (is_number)
            tsv_row_set(r, NCU_COLUMNS + i, value == (double)(long long)value ? "%.0f" : "%.9g",
                        value);
    }
}

static void write_fact(FILE *out, const struct csv *csv, struct tsv_row *r, const char *kind,
                       const char *name, double number)
{
    char metric[TSV_ROW_MAX][128];
    tsv_row_start(r, NCU_COLUMNS + sections(csv, metric));
    tsv_row_set_text(r, NCU_kind, kind);
    tsv_row_set_text(r, NCU_name, name);
    put(r, NCU_bytes, number);
    tsv_row_write(r, out);
}

static void write_facts(FILE *out, const struct csv *csv, struct tsv_row *r)
{
    write_fact(out, csv, r, "device", field(csv, 1, "device__attribute_display_name"), 0);
    write_fact(out, csv, r, "process", field(csv, 1, "Process Name"),
               number_or_0(csv, 1, "Process ID"));
    write_fact(out, csv, r, "limit", "compute_capability", 10 * number_or_0(csv, 1, "CC"));
    for (size_t i = 0; i < LENGTH(limits); i++)
        write_fact(out, csv, r, "limit", limits[i].limit, number_or_0(csv, 1, limits[i].attribute));
}

static void write_kernel(FILE *out, const struct csv *csv, size_t i, struct tsv_row *r,
                         double *clock_ns)
{
    char name[1024];
    double value;
    name_demangle(field(csv, i, "Kernel Name"), name, sizeof name);
    char metric[TSV_ROW_MAX][128];
    tsv_row_start(r, NCU_COLUMNS + sections(csv, metric));
    tsv_row_set_text(r, NCU_kind, "kernel");
    tsv_row_set_text(r, NCU_name, name);
    tsv_row_set_text(r, NCU_symbol, field(csv, i, "Kernel Name"));
    put(r, NCU_client, number_or_0(csv, i, "Context"));
    put(r, NCU_stream, number_or_0(csv, i, "Stream"));
    put(r, NCU_start_ns, *clock_ns);
    put(r, NCU_end_ns, *clock_ns += number_or_0(csv, i, "gpu__time_duration.sum"));
    put_size(r, NCU_grid, field(csv, i, "Grid Size"));
    put_size(r, NCU_block, field(csv, i, "Block Size"));
    for (size_t k = 0; k < NCU_COLUMNS; k++)
        if (ncu_columns[k].sum[0] && sum(csv, i, ncu_columns[k].sum, &value))
            put(r, k, value);
    add_sections(r, csv, i);
    tsv_row_write(r, out);
}

/* The first row of values has the units; the kernels follow. */
static enum st_code write_trace(const struct csv *csv, const char *path, struct st_error *err)
{
    struct file_out out;
    struct tsv_row r;
    char metric[TSV_ROW_MAX][128];
    double clock_ns = 0;
    enum st_code code = file_out_open(&out, path, err);
    if (code)
        return code;
    tsv_row_start(&r, NCU_COLUMNS);
    for (size_t i = 0; i < NCU_COLUMNS; i++)
        tsv_row_set_text(&r, i, ncu_columns[i].name);
    for (size_t i = 0, n = sections(csv, metric); i < n; i++)
        tsv_row_add_text(&r, metric[i]);
    tsv_row_write(&r, out.f);
    if (rows_of(csv) > 1)
        write_facts(out.f, csv, &r);
    for (size_t i = 1; i < rows_of(csv); i++)
        write_kernel(out.f, csv, i, &r, &clock_ns);
    return file_out_commit(&out, err);
}

/* Looks for ncu's own messages: "==ERROR== ...". */
static enum st_code look_for_errors(const char *text, int *error_code, struct st_error *err)
{
    static const char returned[] = "The application returned an error code (";
    const char *at = strstr(text, returned);
    *error_code = at ? atoi(at + sizeof returned - 1) : 0;
    if (strstr(text, "ERR_NVGPUCTRPERM")) {
        st_fail(err, ST_CHILD,
                "the driver does not permit this user to read the GPU's counters "
                "(ERR_NVGPUCTRPERM)");
        return st_detail(err, ST_HINT,
                         "run it as root, or have the administrator load the driver with "
                         "NVreg_RestrictProfilingToAdminUsers=0, or use --device virtual");
    }
    at = strstr(text, "==ERROR== ");
    if (!at || strncmp(at + 10, returned, sizeof returned - 1) == 0)
        return ST_OK;
    return st_fail(err, ST_CHILD, "ncu: %.*s", (int)strcspn(at + 10, "\n"), at + 10);
}

enum st_code ncu_read(const char *path, const char *trace, int *error_code, struct st_error *err)
{
    char *text;
    size_t bytes;
    struct csv csv;
    *error_code = 0;
    enum st_code code = file_read(path, CSV_BYTES_MAX, &text, &bytes, err);
    if (code)
        return code;
    struct st_error why;
    const enum st_code said = look_for_errors(text, error_code, &why);
    if ((code = csv_parse(&csv, text, keep_table(text), err)))
        return code;
    drop_cut_rows(&csv);
    code = write_trace(&csv, trace, err);
    if (!code && said && rows_of(&csv) < 2) { /* errors after kernels are the program's */
        code = said;
        if (err)
            *err = why;
    }
    csv_free(&csv);
    return code;
}
