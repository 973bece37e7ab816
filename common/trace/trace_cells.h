/** @file
 * The cells of nvprof's tables: a row is written cell by cell, as text in columns or as CSV.
 */
#pragma once

#include "trace/figures.h"

#include <stdbool.h>
#include <stdio.h>

struct cells {
    FILE *out;
    bool csv;
    bool begun; /**< the row has at least one cell */
};

/** Writes a cell, printf style. @param width  the column's width in text; 0: the last column,
 * negative: left-aligned */
void cell(struct cells *c, int width, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** Writes a word, which is quoted in CSV. */
void cell_named(struct cells *c, int width, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** Like cell(), but writes an empty cell for an unknown value. */
void cell_if(struct cells *c, bool known, int width, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/** Writes a time in the column's unit. */
void cell_time(struct cells *c, uint64_t ns, struct figure_unit column);
/** Writes cells without a value: "-" in text, empty in CSV. @param widths  of the columns in text,
 * 0 at the end @param csv_cells  the number of cells in CSV */
void cells_empty(struct cells *c, const int *widths, int csv_cells);
/** Ends the row. */
void cells_end(struct cells *c);
