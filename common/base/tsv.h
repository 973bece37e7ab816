/** @file
 * Tab-separated tables, the interface between stages: grader, report, gnuplot, students and tests
 * read the same files. First row: column names. A tab, newline, carriage return or backslash
 * inside a field is written as \\t, \\n, \\r or \\\\.
 */
#ifndef CONVLAB_BASE_TSV_H
#define CONVLAB_BASE_TSV_H

#include "base/status.h"

#include <stddef.h>

/** Writes one row: @p n fields, escaped, and a newline. */
void tsv_write_row(FILE *out, size_t n, const char *const *fields);

/** A whole table in memory; free with tsv_free(). */
struct tsv {
    size_t rows, columns; /**< rows without the header */
    char **header;        /**< [columns] */
    char **cells;         /**< [rows * columns], row-major, unescaped */
    char *storage;        /**< what the strings point into */
};

/** Reads a table. A row with a wrong number of fields is ST_BAD_FORMAT with file and line. */
enum st_code tsv_read(const char *path, struct tsv *table, struct st_error *err);

/** The same from memory. @param text  malloc'd, @p bytes long with a NUL behind; the table's from
 * now on, also after an error. @param name  where it came from, for the report. */
enum st_code tsv_parse(char *text, size_t bytes, const char *name, struct tsv *table,
                       struct st_error *err);

/** @return the index of a column, or -1. */
int tsv_column(const struct tsv *table, const char *name);

/** @return a field, by row and column index. */
const char *tsv_cell(const struct tsv *table, size_t row, int column);

/** Releases a table; harmless on a zeroed one. */
void tsv_free(struct tsv *table);

#endif
