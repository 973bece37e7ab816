#include "grader/report/report_cells.h"

#include "grader/report/report_parts.h"

#include <math.h>
#include <stdarg.h>

/* A row in Markdown is "| a | b |", in LaTeX "a & b \\". */

static void put_text(struct gr_cells *t, const char *text)
{
    (t->tex ? gr_put_latex : gr_put_markdown)(t->out, text);
}

void gr_column(struct gr_cells *t, char align, const char *heading, ...)
{
    if (t->columns == GR_COLUMNS)
        return;
    va_list args;
    va_start(args, heading);
    vsnprintf(t->heading[t->columns], GR_HEADING, heading, args);
    va_end(args);
    t->align[t->columns++] = align;
}

void gr_columns_end(struct gr_cells *t)
{
    if (t->tex)
        fputs("\\begin{tabular}{", t->out);
    for (size_t c = 0; t->tex && c < t->columns; c++)
        fprintf(t->out, t->align[c] == 'p' ? "p{.55\\linewidth}" : "%c", t->align[c]);
    if (t->tex)
        fputs("}\n\\toprule\n", t->out);
    for (size_t c = 0; c < t->columns; c++)
        gr_cell(t, t->heading[c]);
    gr_row_end(t);
    for (size_t c = 0; !t->tex && c < t->columns; c++)
        fputs(t->align[c] == 'r' ? "|---:" : "|---", t->out);
    fputs(t->tex ? "\\midrule\n" : "|\n", t->out);
}

FILE *gr_cell_begin(struct gr_cells *t)
{
    if (!t->tex)
        fputs("| ", t->out);
    else if (t->at)
        fputs("& ", t->out);
    return t->out;
}

void gr_cell_end(struct gr_cells *t)
{
    fputc(' ', t->out);
    t->at++;
}

void gr_cell(struct gr_cells *t, const char *text)
{
    gr_cell_begin(t);
    put_text(t, text);
    if (*text || t->tex)
        gr_cell_end(t);
    else
        t->at++;
}

void gr_cell_code(struct gr_cells *t, const char *text)
{
    gr_cell_begin(t);
    (t->tex ? gr_put_latex : gr_put_markdown_code)(t->out, text);
    gr_cell_end(t);
}

void gr_cell_strong(struct gr_cells *t, const char *text)
{
    gr_cell_begin(t);
    fputs(t->tex ? "\\textbf{" : "**", t->out);
    put_text(t, text);
    fputs(t->tex ? "}" : "**", t->out);
    gr_cell_end(t);
}

void gr_cell_print(struct gr_cells *t, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    gr_cell(t, text);
}

void gr_cell_number(struct gr_cells *t, double value, int digits)
{
    char text[NUMBER_CHARS];
    if (isfinite(value))
        gr_cell(t, number_short(text, value, digits));
    else
        gr_cell(t, "–");
}

void gr_row_end(struct gr_cells *t)
{
    while (t->at < t->columns)
        gr_cell(t, "");
    fputs(t->tex ? "\\\\\n" : "|\n", t->out);
    t->at = 0;
}

void gr_cells_end(struct gr_cells *t)
{
    if (t->tex)
        fputs("\\bottomrule\n\\end{tabular}%\n", t->out);
}
