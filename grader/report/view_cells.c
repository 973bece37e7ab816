#include "grader/report/view.h"

#include <stdlib.h>

const char *gr_view_text(const struct tsv *t, size_t row, const char *column)
{
    const int at = tsv_column(t, column);
    return at < 0 ? "" : tsv_cell(t, row, at);
}

double gr_view_number(const struct tsv *t, size_t row, const char *column)
{
    return strtod(gr_view_text(t, row, column), NULL);
}
