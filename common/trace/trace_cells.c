#include "trace/trace_cells.h"

#include "base/csv.h"

#include <stdarg.h>
#include <stdlib.h>

/* @param quoted  for CSV */
static void put(struct cells *c, int width, bool quoted, const char *format, va_list args)
{
    char *text = NULL;
    if (c->begun)
        fputs(c->csv ? "," : "  ", c->out);
    c->begun = true;
    if (vasprintf(&text, format, args) < 0)
        return;
    if (c->csv && quoted)
        csv_quote(c->out, text);
    else
        fprintf(c->out, "%*s", c->csv ? 0 : width, text);
    free(text);
}

void cell(struct cells *c, int width, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put(c, width, false, format, args);
    va_end(args);
}

void cell_if(struct cells *c, bool known, int width, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put(c, width, false, known ? format : "", args);
    va_end(args);
}

void cell_named(struct cells *c, int width, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put(c, width, true, format, args);
    va_end(args);
}

void cell_time(struct cells *c, uint64_t ns, struct figure_unit column)
{
    char text[FIGURE_MAX];
    if (c->csv) {
        cell(c, 0, "%.*f", figure_csv_decimals(column), (double)ns / column.scale);
        return;
    }
    figure_time_in(text, ns, column);
    cell(c, figure_time_width(), "%s", text);
}

void cells_empty(struct cells *c, const int *widths, int csv_cells)
{
    for (; !c->csv && *widths; widths++)
        cell(c, *widths, "-");
    for (; c->csv && csv_cells > 0; csv_cells--)
        cell(c, 0, "%s", "");
}

void cells_end(struct cells *c)
{
    fputc('\n', c->out);
    c->begun = false;
}
