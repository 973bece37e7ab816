/** @file
 * Prints tables like Nsight: columns are as wide as their widest cell, and kernels have Nsight's
 * style of names.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { NSIGHT_COLUMNS_MAX = 24 };

/** The cells row by row, all malloc'd. Start with {.columns = n}. */
struct nsight_table {
    size_t columns, cells;
    char **cell;
    bool no_memory;
};

/** Appends a cell, printf style. */
void nsight_cell(struct nsight_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Writes a number with its digits in groups of three: "61,148.53". */
void nsight_number(char *to, size_t room, int decimals, double value);
/** Computes the widths of the columns. */
void nsight_widths(const struct nsight_table *table, size_t width[NSIGHT_COLUMNS_MAX]);
/** Writes a row as CSV. @param quoted  all fields in quotes; otherwise only fields that need quotes
 * @param end  the text after the last field */
void nsight_csv_row(FILE *out, const struct nsight_table *table, size_t row, bool quoted,
                    const char *end);
void nsight_table_free(struct nsight_table *table);

/** Writes a kernel's name in Nsight's style, from nvprof's: "f(float const *, int*)" becomes
 * "f(const float *, int *)". */
void nsight_name(char *to, size_t room, const char *name);
/** Writes a kernel's name without parameters, types and template arguments: "f". */
void nsight_short_name(char *to, size_t room, const char *name);
