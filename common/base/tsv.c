#include "base/tsv.h"

#include "base/files.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void tsv_write_row(FILE *out, size_t n, const char *const *fields)
{
    for (size_t i = 0; i < n; i++) {
        if (i)
            fputc('\t', out);
        for (const char *p = fields[i]; *p; p++) {
            switch (*p) {
            case '\t':
                fputs("\\t", out);
                break;
            case '\n':
                fputs("\\n", out);
                break;
            case '\r':
                fputs("\\r", out);
                break;
            case '\\':
                fputs("\\\\", out);
                break;
            default:
                fputc(*p, out);
            }
        }
    }
    fputc('\n', out);
}

void tsv_row_start(struct tsv_row *row, size_t n)
{
    assert(n <= TSV_ROW_MAX);
    row->n = n;
    for (size_t i = 0; i < n; i++)
        row->field[i] = "";
}

static void set(struct tsv_row *row, size_t at, const char *format, va_list args)
{
    assert(at < TSV_ROW_MAX);
    vsnprintf(row->text[at], sizeof row->text[at], format, args);
    row->field[at] = row->text[at];
}

void tsv_row_set(struct tsv_row *row, size_t at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(row, at, format, args);
    va_end(args);
}

void tsv_row_add(struct tsv_row *row, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(row, row->n++, format, args);
    va_end(args);
}

void tsv_row_add_if(struct tsv_row *row, int known, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(row, row->n++, known ? format : "", args);
    va_end(args);
}

void tsv_row_set_text(struct tsv_row *row, size_t at, const char *text)
{
    assert(at < TSV_ROW_MAX);
    row->field[at] = text ? text : "";
}

void tsv_row_add_text(struct tsv_row *row, const char *text)
{
    tsv_row_set_text(row, row->n++, text);
}

void tsv_row_write(struct tsv_row *row, FILE *out)
{
    tsv_write_row(out, row->n, row->field);
    row->n = 0;
}

/* Unescapes in place; the result is never longer. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from != '\\' || !from[1]) {
            *to++ = *from;
            continue;
        }
        from++;
        *to++ = *from == 't' ? '\t' : *from == 'n' ? '\n' : *from == 'r' ? '\r' : *from;
    }
    *to = '\0';
}

static size_t count_char(const char *text, char c)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == c;
    return n;
}

enum st_code tsv_read(const char *path, struct tsv *table, struct st_error *err)
{
    char *text;
    size_t bytes;
    memset(table, 0, sizeof *table);
    enum st_code code = file_read(path, (size_t)1 << 30, &text, &bytes, err);
    return code ? code : tsv_parse(text, bytes, path, table, err);
}

enum st_code tsv_parse(char *text, size_t bytes, const char *path, struct tsv *table,
                       struct st_error *err)
{
    memset(table, 0, sizeof *table);
    table->storage = text;
    if (strlen(table->storage) != bytes) {
        st_fail(err, ST_BAD_FORMAT, "table holds a NUL byte");
        st_detail(err, ST_WHERE, "%s, byte %zu", path, strlen(table->storage));
        tsv_free(table);
        return ST_BAD_FORMAT;
    }
    size_t lines = count_char(table->storage, '\n');
    if (bytes == 0 || table->storage[bytes - 1] != '\n') {
        tsv_free(table);
        st_fail(err, ST_TRUNCATED, "table does not end with a newline");
        st_detail(err, ST_WHERE, "%s", path);
        return ST_TRUNCATED;
    }
    char *line = table->storage, *end = strchr(line, '\n');
    *end = '\0';
    table->columns = count_char(line, '\t') + 1;
    *end = '\n';
    char **fields = calloc(lines * table->columns, sizeof *fields);
    if (!fields) {
        tsv_free(table);
        return st_fail(err, ST_NO_MEMORY, "not enough memory for the table");
    }
    table->header = fields;
    table->cells = fields + table->columns;
    for (size_t row = 0; row < lines; row++) {
        end = strchr(line, '\n');
        *end = '\0';
        size_t n = count_char(line, '\t') + 1;
        if (n != table->columns) {
            st_fail(err, ST_BAD_FORMAT, "wrong number of fields");
            st_detail(err, ST_WHERE, "%s:%zu", path, row + 1);
            st_detail(err, ST_EXPECTED, "%zu", table->columns);
            st_detail(err, ST_GOT, "%zu", n);
            tsv_free(table);
            return ST_BAD_FORMAT;
        }
        char *field = line;
        for (size_t i = 0; i < n; i++) {
            char *next = strchr(field, '\t');
            if (next)
                *next = '\0';
            unescape(field);
            fields[row * n + i] = field;
            if (next)
                field = next + 1;
        }
        line = end + 1;
    }
    table->rows = lines - 1;
    return ST_OK;
}

int tsv_column(const struct tsv *table, const char *name)
{
    for (size_t i = 0; i < table->columns; i++)
        if (strcmp(table->header[i], name) == 0)
            return (int)i;
    return -1;
}

const char *tsv_cell(const struct tsv *table, size_t row, int column)
{
    assert(row < table->rows && column >= 0 && (size_t)column < table->columns);
    return table->cells[row * table->columns + (size_t)column];
}

const char *tsv_text(const struct tsv *table, size_t row, const char *column)
{
    const int at = tsv_column(table, column);
    return at < 0 ? "" : tsv_cell(table, row, at);
}

void tsv_free(struct tsv *table)
{
    free(table->header);
    free(table->storage);
    memset(table, 0, sizeof *table);
}
