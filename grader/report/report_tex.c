/* LaTeX fragments: tabulars for \input, with nothing but the package booktabs. */
#include "grader/report/report_parts.h"

#include <math.h>

/* What every fragment opens with. */
static void begin(FILE *out, const char *name, const char *caption, const char *columns)
{
    fprintf(out,
            "%% Written by the grader. In the preamble: \\usepackage{booktabs}\n"
            "%%   \\begin{table} \\centering \\caption{%s}\n"
            "%%   \\input{%s} \\end{table}\n"
            "\\begin{tabular}{%s}\n\\toprule\n",
            caption, name, columns);
}

static void end(FILE *out)
{
    fputs("\\bottomrule\n\\end{tabular}%\n", out);
}

static void put_number(FILE *out, double value, int digits)
{
    char text[NUMBER_CHARS];
    fputs(isfinite(value) ? number_short(text, value, digits) : "--", out);
}

void gr_op_times_tex(FILE *out, const struct gr_summary *summary)
{
    begin(out, "op-times.tex", "Op Time (median) of each convolution.", "lrrlrr");
    fputs("Model & Images & Layer & Shape & Op Time (ms) & GMAC/s \\\\\n\\midrule\n", out);
    for (size_t i = 0; i < summary->op_rows; i++) {
        const struct gr_op_row *row = &summary->op[i];
        char shape[64];
        gr_put_latex(out, row->model);
        fprintf(out, " & %zu & %d & %s & ", row->images, row->layer,
                gr_shape_text(shape, &row->shape, "$\\times$"));
        if (row->passed) {
            put_number(out, row->op_time_s * 1e3, 4);
            fputs(" & ", out);
            put_number(out, row->gmac_per_s, 3);
        } else {
            fputs("\\multicolumn{2}{c}{outputs wrong}", out);
        }
        fputs(" \\\\\n", out);
    }
    if (!summary->op_rows)
        fputs("\\multicolumn{6}{c}{nothing was timed} \\\\\n", out);
    end(out);
}

void gr_speed_up_tex(FILE *out, const struct gr_summary *summary)
{
    begin(out, "speed-up.tex", "Op Times and their ratios, from one run.", "lrrrrrr");
    fputs(" & & & \\multicolumn{3}{c}{Op Time (ms)} & \\\\\n\\cmidrule(lr){4-6}\n"
          "Model & Images & Layer & plain loops & graded & reference & Speed-up \\\\\n\\midrule\n",
          out);
    for (size_t i = 0; i < summary->speed_rows; i++) {
        const struct gr_speed_row *row = &summary->speed[i];
        const double cells[] = {row->plain_s * 1e3, row->graded_s * 1e3, row->reference_s * 1e3};
        gr_put_latex(out, row->model);
        fprintf(out, " & %zu & %d", row->images, row->layer);
        for (int c = 0; c < 3; c++) {
            fputs(" & ", out);
            put_number(out, cells[c], 4);
        }
        fputs(" & ", out);
        put_number(out, row->plain_s / row->graded_s, 3);
        fputs(" \\\\\n", out);
    }
    if (!summary->speed_rows)
        fputs("\\multicolumn{7}{c}{nothing to compare with was timed} \\\\\n", out);
    end(out);
}

void gr_checks_tex(FILE *out, const struct gr_result *result)
{
    begin(out, "checks.tex", "Automatic checks and items for the instructor.",
          "p{.55\\linewidth}lr");
    fputs("Check & Result & Points \\\\\n\\midrule\n", out);
    for (size_t i = 0; i < result->checks; i++) {
        const struct gr_check *c = &result->check[i];
        char points[NUMBER_CHARS], max_points[NUMBER_CHARS];
        gr_put_latex(out, c->text[0] ? c->text : c->name);
        fprintf(out, " & %s & %s / %s \\\\\n", gr_status_name(c->status),
                number_exact(points, c->points), number_exact(max_points, c->max_points));
    }
    for (size_t i = 0; i < result->manuals; i++) {
        const struct gr_manual *m = &result->manual[i];
        char max_points[NUMBER_CHARS];
        gr_put_latex(out, m->text[0] ? m->text : m->name);
        fprintf(out, " & instructor & \\underline{\\hspace{2em}} / %s \\\\\n",
                number_exact(max_points, m->max_points));
    }
    end(out);
}
