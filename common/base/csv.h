/** @file
 * CSV (RFC 4180): reads files as spreadsheets write them, with quotes, CRLF and a byte order mark;
 * writes quoted fields.
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** A row; fields are NUL-terminated. */
struct csv_row {
    size_t line; /**< its first line, from 1 */
    size_t fields;
    char **field;
};

/** A whole file in memory; the first row is row[0]. Free with csv_free(). */
struct csv {
    size_t rows;
    struct csv_row *row;
    char *storage;
    char **cells;
    size_t unclosed_line; /**< line of a quote that is never closed (its row is skipped), or 0 */
};

/** Splits a text in place and takes ownership of it. @param text  malloc'd, with a NUL after its
 * @p bytes. Empty lines are skipped. A separator of ';' or tab is recognised in the first line. */
enum st_code csv_parse(struct csv *csv, char *text, size_t bytes, struct st_error *err);

/** Reads a file and parses it; rejects UTF-16. */
enum st_code csv_read(const char *path, struct csv *csv, struct st_error *err);

/** @return whether a row is UTF-8. */
bool csv_row_is_utf8(const struct csv_row *row);

/** @return the index of the first row's field with this name, ignoring case, or -1. */
int csv_column(const struct csv *csv, const char *name);

/** @return a field, or "" if the row is too short or the column is -1. */
const char *csv_field(const struct csv_row *row, int column);

/** Writes a field in quotes. */
void csv_quote(FILE *out, const char *text);

/** Frees the memory; harmless on a zeroed struct. */
void csv_free(struct csv *csv);
