/* LaTeX fragments: the page's tables as tabulars for \input. They need only the package
 * booktabs. */
#include "grader/report/report_parts.h"

/* Writes the beginning of a fragment. */
static struct gr_cells begin(FILE *out, const char *name, const char *caption)
{
    fprintf(out,
            "%% Written by the grader. In the preamble: \\usepackage{booktabs}\n"
            "%%   \\begin{table} \\centering \\caption{%s}\n"
            "%%   \\input{%s} \\end{table}\n",
            caption, name);
    return (struct gr_cells){.out = out, .tex = true};
}

/* Ends a table that may have no rows. */
static void end(struct gr_cells *t, bool any, const char *otherwise)
{
    if (!any) {
        gr_cell(t, otherwise);
        gr_row_end(t);
    }
    gr_cells_end(t);
}

void gr_op_times_tex(FILE *out, const struct gr_result *result)
{
    struct gr_cells t = begin(out, "op-times.tex", "Op Time (median) of each convolution.");
    end(&t, gr_op_times_cells(&t, result), "nothing was timed");
}

void gr_speed_up_tex(FILE *out, const struct gr_result *result)
{
    struct gr_cells t =
        begin(out, "speed-up.tex", "Op Times and, in brackets, their ratios, from one run.");
    end(&t, gr_ratios_cells(&t, result, true), "no other code was timed");
}

void gr_checks_tex(FILE *out, const struct gr_result *result)
{
    struct gr_cells t = begin(out, "checks.tex", "Automatic checks and items for the instructor.");
    gr_column(&t, 'p', "Check");
    gr_column(&t, 'l', "Result");
    gr_column(&t, 'r', "Points");
    gr_columns_end(&t);
    for (size_t i = 0; i < result->checks; i++) {
        gr_check_cells(&t, &result->check[i]);
        gr_row_end(&t);
    }
    for (size_t i = 0; i < result->manuals; i++) {
        gr_manual_cells(&t, &result->manual[i], "instructor");
        gr_row_end(&t);
    }
    gr_cells_end(&t);
}
