/* What ncu writes, and the trace that it becomes. */
#include "vprof/ncu_parts.h"

#include "base/files.h"
#include "base/tsv.h"
#include "vprof/ncu.h"
#include "vgpu/probe/names.h"

#include <stdlib.h>
#include <string.h>

#define CSV_BYTES_MAX ((size_t)1 << 30)

/** Facts of the GPU, which ncu adds by itself. */
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

/** A table of comma-separated values in quotes; all strings point into the text. */
struct csv {
    char **fields;
    size_t columns, rows;
};

/* Splits a line in place. @return the number of fields; those beyond `most` are not kept */
static size_t split(char *line, char **fields, size_t most)
{
    size_t n = 0;
    for (char *at = line; at;) {
        char *to = at, *from = at;
        const bool quoted = *from == '"';
        from += quoted;
        if (n < most)
            fields[n] = to;
        n++;
        while (*from && (quoted ? *from != '"' || from[1] == '"' : *from != ',')) {
            from += quoted && *from == '"';
            *to++ = *from++;
        }
        from += quoted && *from == '"';
        at = *from == ',' ? from + 1 : NULL;
        *to = '\0';
    }
    return n;
}

/* Lines that start with a quote are the table's; others are ncu's messages. */
static bool csv_parse(struct csv *csv, char *text)
{
    *csv = (struct csv){.fields = NULL};
    size_t lines = 0;
    for (const char *at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        lines += *at == '"';
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (*line != '"')
            continue;
        if (!csv->fields) {
            size_t commas = 1;
            for (const char *at = line; *at; at++)
                commas += *at == ',';
            csv->fields = calloc(lines * commas, sizeof *csv->fields);
            if (!csv->fields)
                return false;
            csv->columns = split(line, csv->fields, commas);
            continue;
        }
        char **row = csv->fields + (csv->rows + 1) * csv->columns;
        if (split(line, row, csv->columns) == csv->columns)
            csv->rows++; /* (one that was cut off is left out) */
    }
    return true;
}

static const char *field(const struct csv *csv, size_t row, const char *column)
{
    for (size_t i = 0; i < csv->columns; i++)
        if (strcmp(csv->fields[i], column) == 0)
            return csv->fields[(row + 1) * csv->columns + i];
    return "";
}

/* "1,980,000" and "12.5"; what is not known is "(!) n/a" or empty. */
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

static const char *const first_columns[] = {"kind",
                                            "name",
                                            "client",
                                            "stream",
                                            "start_ns",
                                            "end_ns",
                                            "bytes",
                                            "grid",
                                            "block",
                                            "registers",
                                            "static_shared_bytes",
                                            "dynamic_shared_bytes",
                                            "shared_config_bytes",
                                            "symbol",
                                            "correlation"};

/* A row under construction. */
struct row {
    const char *fields[LENGTH(first_columns) + NCU_COLUMNS];
    char text[LENGTH(first_columns) + NCU_COLUMNS][48];
};

static void row_clear(struct row *r)
{
    for (size_t i = 0; i < LENGTH(r->fields); i++)
        r->fields[i] = "";
}

static void put_text(struct row *r, const char *column, const char *text)
{
    for (size_t i = 0; i < LENGTH(first_columns); i++)
        if (strcmp(first_columns[i], column) == 0)
            r->fields[i] = text;
    for (size_t i = 0; i < NCU_COLUMNS; i++)
        if (strcmp(ncu_columns[i].column, column) == 0)
            r->fields[LENGTH(first_columns) + i] = text;
}

static void put(struct row *r, const char *column, double value)
{
    for (size_t i = 0; i < LENGTH(r->fields); i++)
        if (strcmp(i < LENGTH(first_columns) ? first_columns[i]
                                             : ncu_columns[i - LENGTH(first_columns)].column,
                   column) == 0) {
            snprintf(r->text[i], sizeof r->text[i],
                     value == (double)(long long)value ? "%.0f" : "%.6f", value);
            r->fields[i] = r->text[i];
        }
}

/* "(8, 1, 1)" is 8x1x1. */
static void put_size(struct row *r, const char *column, const char *text, char to[48])
{
    int x = 1, y = 1, z = 1;
    sscanf(text, "(%d , %d , %d", &x, &y, &z);
    snprintf(to, 48, "%dx%dx%d", x, y, z);
    put_text(r, column, to);
}

static void write_row(FILE *out, const struct row *r)
{
    tsv_write_row(out, LENGTH(r->fields), r->fields);
}

static void write_facts(FILE *out, const struct csv *csv, struct row *r)
{
    row_clear(r);
    put_text(r, "kind", "device");
    put_text(r, "name", field(csv, 1, "device__attribute_display_name"));
    write_row(out, r);
    row_clear(r);
    put_text(r, "kind", "process");
    put_text(r, "name", field(csv, 1, "Process Name"));
    put(r, "bytes", number_or_0(csv, 1, "Process ID"));
    write_row(out, r);
    for (size_t i = 0; i < LENGTH(limits); i++) {
        row_clear(r);
        put_text(r, "kind", "limit");
        put_text(r, "name", limits[i].limit);
        put(r, "bytes", number_or_0(csv, 1, limits[i].attribute));
        write_row(out, r);
    }
}

static void write_kernel(FILE *out, const struct csv *csv, size_t i, struct row *r,
                         double *clock_ns)
{
    char grid[48], block[48], name[1024];
    double value;
    name_demangle(field(csv, i, "Kernel Name"), name, sizeof name);
    row_clear(r);
    put_text(r, "kind", "kernel");
    put_text(r, "name", name);
    put_text(r, "symbol", field(csv, i, "Kernel Name"));
    put(r, "client", number_or_0(csv, i, "Context"));
    put(r, "stream", number_or_0(csv, i, "Stream"));
    put(r, "start_ns", *clock_ns);
    put(r, "end_ns", *clock_ns += number_or_0(csv, i, "gpu__time_duration.sum"));
    put_size(r, "grid", field(csv, i, "Grid Size"), grid);
    put_size(r, "block", field(csv, i, "Block Size"), block);
    put(r, "registers", number_or_0(csv, i, "launch__registers_per_thread"));
    put(r, "static_shared_bytes", number_or_0(csv, i, "launch__shared_mem_per_block_static"));
    put(r, "dynamic_shared_bytes", number_or_0(csv, i, "launch__shared_mem_per_block_dynamic"));
    put(r, "shared_config_bytes", number_or_0(csv, i, "launch__shared_mem_config_size"));
    for (size_t k = 0; k < NCU_COLUMNS; k++)
        if (sum(csv, i, ncu_columns[k].sum, &value))
            put(r, ncu_columns[k].column, value);
    write_row(out, r);
}

/* The first row of values has the units; the kernels come behind it. */
static enum st_code write_trace(const struct csv *csv, const char *path, struct st_error *err)
{
    struct file_out out;
    struct row *r = calloc(1, sizeof *r);
    double clock_ns = 0;
    enum st_code code =
        r ? file_out_open(&out, path, err) : st_fail(err, ST_NO_MEMORY, "no memory for a trace");
    if (!code) {
        for (size_t i = 0; i < LENGTH(first_columns); i++)
            r->fields[i] = first_columns[i];
        for (size_t i = 0; i < NCU_COLUMNS; i++)
            r->fields[LENGTH(first_columns) + i] = ncu_columns[i].column;
        write_row(out.f, r);
        if (csv->rows > 1)
            write_facts(out.f, csv, r);
        for (size_t i = 1; i < csv->rows; i++)
            write_kernel(out.f, csv, i, r, &clock_ns);
        code = file_out_commit(&out, err);
    }
    free(r);
    return code;
}

/* What ncu says of itself: "==ERROR== ...". */
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
                         "NVreg_RestrictProfilingToAdminUsers=0; or --device virtual");
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
    struct csv csv = {.fields = NULL};
    *error_code = 0;
    enum st_code code = file_read(path, CSV_BYTES_MAX, &text, &bytes, err);
    if (code)
        return code;
    struct st_error why;
    const enum st_code said = look_for_errors(text, error_code, &why);
    if (!csv_parse(&csv, text))
        code = st_fail(err, ST_NO_MEMORY, "no memory for what ncu wrote");
    if (!code)
        code = write_trace(&csv, trace, err);
    if (!code && said && csv.rows < 2) { /* (errors after kernels were seen are the program's) */
        code = said;
        if (err)
            *err = why;
    }
    free(csv.fields);
    free(text);
    return code;
}
