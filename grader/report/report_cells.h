/** @file
 * Writes all tables, as Markdown or as a LaTeX tabular. First write the headings, then the cells
 * from left to right; a row that ends early is filled with empty cells.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { GR_COLUMNS = 24, GR_HEADING = 96 };

/** A table that is being written: set out and tex, and zero the rest. */
struct gr_cells {
    FILE *out;
    bool tex;
    size_t columns, at;
    char align[GR_COLUMNS];
    char heading[GR_COLUMNS][GR_HEADING];
};

/** Adds a column. @param align  'l', 'r', or 'p' for a paragraph of half the line */
void gr_column(struct gr_cells *t, char align, const char *heading, ...)
    __attribute__((format(printf, 3, 4)));
/** Writes the headings. */
void gr_columns_end(struct gr_cells *t);

/** Writes a cell of text (or of monospaced text), which is shown literally. */
void gr_cell(struct gr_cells *t, const char *text);
void gr_cell_code(struct gr_cells *t, const char *text);
/** Like gr_cell(), but bold. */
void gr_cell_strong(struct gr_cells *t, const char *text);
/** Writes a cell of formatted text. */
void gr_cell_print(struct gr_cells *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Writes a number with this many digits; NaN and infinity become a dash. */
void gr_cell_number(struct gr_cells *t, double value, int digits);
/** Begins a cell whose text the caller writes to out. End it with gr_cell_end(). */
FILE *gr_cell_begin(struct gr_cells *t);
void gr_cell_end(struct gr_cells *t);
void gr_row_end(struct gr_cells *t);

/** Ends a table in LaTeX; writes nothing in Markdown. */
void gr_cells_end(struct gr_cells *t);
