/** @file
 * Tab-separated tables, the interface between stages: grader, report, gnuplot, students and tests
 * read the same files. First row: column names. A tab, newline, carriage return or backslash
 * inside a field is written as \\t, \\n, \\r or \\\\.
 */
#pragma once

#include "base/status.h"

#include <stddef.h>

/** Writes one row: @p n fields, escaped, and a newline. */
void tsv_write_row(FILE *out, size_t n, const char *const *fields);

/** A row under construction; start it with tsv_row_start(). */
#define TSV_ROW_MAX 192
struct tsv_row {
    size_t n;
    const char *field[TSV_ROW_MAX];
    char text[TSV_ROW_MAX][64]; /**< text of the formatted fields */
};

/** Empties a row and gives it @p n empty fields. */
void tsv_row_start(struct tsv_row *row, size_t n);
/** Appends a field, printf style: a number or another short text. */
void tsv_row_add(struct tsv_row *row, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Like tsv_row_add(), but appends an empty field if the value is unknown. */
void tsv_row_add_if(struct tsv_row *row, int known, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** Appends a text, which must live until the row is written. NULL: an empty field. */
void tsv_row_add_text(struct tsv_row *row, const char *text);
/** Replaces field @p at of the row, printf style. */
void tsv_row_set(struct tsv_row *row, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tsv_row_set_text(struct tsv_row *row, size_t at, const char *text);
/** Writes the row and empties it. */
void tsv_row_write(struct tsv_row *row, FILE *out);

/** A whole table in memory; free with tsv_free(). */
struct tsv {
    size_t rows, columns; /**< number of rows without the header */
    char **header;        /**< [columns] */
    char **cells;         /**< [rows * columns], row-major, unescaped */
    char *storage;        /**< the memory of the strings */
};

/** Reads a table. A row with a wrong number of fields is ST_BAD_FORMAT with file and line. */
enum st_code tsv_read(const char *path, struct tsv *table, struct st_error *err);

/** Reads a table from memory. @param text  malloc'd, @p bytes long with a NUL at the end; the table
 * owns it, even after an error. @param name  its origin, for error messages. */
enum st_code tsv_parse(char *text, size_t bytes, const char *name, struct tsv *table,
                       struct st_error *err);

/** @return the index of a column, or -1. */
int tsv_column(const struct tsv *table, const char *name);

/** @return a field, by row and column index. */
const char *tsv_cell(const struct tsv *table, size_t row, int column);

/** @return the cell of a column by name, or "" if the column does not exist. */
const char *tsv_text(const struct tsv *table, size_t row, const char *column);

/** Releases a table; harmless on a zeroed one. */
void tsv_free(struct tsv *table);
