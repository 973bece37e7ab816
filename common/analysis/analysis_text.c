/* The analysis for people at a terminal, and as CSV. */
#include "analysis/analysis.h"

#include "base/files.h"
#include "base/printable.h"
#include "base/shown_path.h"
#include "trace/figures.h"
#include "trace/trace_cells.h"

#include <string.h>

enum { LINES_SHOWN = 10 };

/* Names come from the program: they must not be able to control a terminal. */
static void put_harmless(FILE *out, const char *text)
{
    char shown[4096];
    for (const char *at = text_printable(shown, sizeof shown, text); *at; at++)
        fputc(*at == '\n' || *at == '\t' ? '?' : *at, out);
}

static void print_figures(FILE *out, const struct an_verdict *v)
{
    char text[AN_FIGURES_TEXT];
    an_figures_text(text, v);
    fprintf(out, "%26s%s\n", "", text);
}

static void print_advice(FILE *out, const struct an_verdict *v, const struct an_line *l)
{
    fprintf(out, "%26s", "");
    if (l) {
        put_harmless(out, path_base(l->file));
        fprintf(out, ":%d: ", l->line);
    }
    fputs(v->advice, out);
    if (v->saved > 0)
        fprintf(out, " Without it the kernel would take up to %.0f%% less time.", 100 * v->saved);
    if (v->second != AN_UNKNOWN)
        fprintf(out, " Next limiter: %s.", an_limiter_title(v->second));
    fputc('\n', out);
}

static uint64_t longest_ns(const struct an_analysis *a)
{
    uint64_t longest = 0;
    for (size_t i = 0; i < a->launches.n; i++)
        if (a->launches.group[i].total_ns > longest)
            longest = a->launches.group[i].total_ns;
    return longest;
}

static double share(const struct an_analysis *a, const struct an_kernel *k)
{
    const double all_ns = (double)a->activities.total_ns;
    return all_ns > 0 ? 100 * (double)k->total_ns / all_ns : 0;
}

static void print_kernels(FILE *out, const struct an_analysis *a, size_t most)
{
    const struct figure_unit unit = figure_time_unit(longest_ns(a));
    const int width = figure_time_width();
    uint64_t rest_ns = 0;
    fprintf(out, "%8s  %*s  %6s  %-40s  %s\n", "Time(%)", width, "Time", "Calls", "Limited by",
            "Kernel");
    for (size_t i = 0; i < a->launches.n; i++) {
        const struct an_kernel *k = &a->launches.group[i];
        const struct tr_row *r = k->longest;
        const struct an_verdict *v = &a->verdict[i];
        char percent[FIGURE_MAX], time[FIGURE_MAX];
        if (most && i >= most) {
            rest_ns += k->total_ns;
            continue;
        }
        figure_percent(percent, share(a, k));
        figure_time_in(time, k->total_ns, unit);
        fprintf(out, "%8s  %*s  %6llu  %-40s  ", percent, width, time, (unsigned long long)k->calls,
                an_limiter_title(v->limiter));
        put_harmless(out, r->name);
        fprintf(out, ", %ux%ux%u blocks of %ux%ux%u\n", r->grid[0], r->grid[1], r->grid[2],
                r->block[0], r->block[1], r->block[2]);
        print_figures(out, v);
        print_advice(out, v, an_line_of(&a->lines, r->name, v->limiter));
    }
    if (most && a->launches.n > most) {
        char time[FIGURE_MAX];
        figure_time_in(time, rest_ns, unit);
        fprintf(out, "%8s  %*s  all %zu others\n", "", width, time, a->launches.n - most);
    }
}

static void print_lines(FILE *out, const struct an_analysis *a)
{
    const char *kernel = "";
    int shown = 0;
    fprintf(out, "\n%8s  %9s  %9s  %9s  %9s  %s\n", "Time(%)", "Sectors", "Sectors", "Wavefr.",
            "Divergent", "Source line");
    fprintf(out, "%8s  %9s  %9s  %9s  %9s\n", "", "a load", "a store", "a shared", "branches");
    for (size_t i = 0; i < a->lines.n; i++) {
        const struct an_line *l = &a->lines.line[i];
        if (strcmp(kernel, l->kernel) != 0) {
            kernel = l->kernel;
            shown = 0;
            fputs("    Kernel: ", out);
            put_harmless(out, kernel);
            fputc('\n', out);
        }
        if (shown++ >= LINES_SHOWN || l->share < 0.005)
            continue;
        fprintf(out, "%7.2f%%", 100 * l->share);
        const double rates[] = {l->load_sectors, l->store_sectors, l->wavefronts, l->divergence};
        struct cells c = {.out = out, .begun = true};
        for (int k = 0; k < 4; k++)
            cell_if(&c, rates[k] > 0, 9, "%.2f", rates[k]);
        fputs("  ", out);
        put_harmless(out, path_base(l->file));
        fprintf(out, ":%d  ", l->line);
        put_harmless(out, l->source);
        fputc('\n', out);
    }
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static void csv_kernel(struct cells *c, const struct an_analysis *a, size_t i,
                       struct figure_unit unit)
{
    const struct an_kernel *k = &a->launches.group[i];
    const struct an_verdict *v = &a->verdict[i];
    const struct tr_row *r = k->longest;
    const struct an_line *l = an_line_of(&a->lines, r->name, v->limiter);
    char figures[AN_FIGURES_TEXT];
    an_figures_text(figures, v);
    cell(c, 0, "%.6f", share(a, k));
    cell(c, 0, "%.6f", (double)k->total_ns / unit.scale);
    cell(c, 0, "%llu", (unsigned long long)k->calls);
    cell_named(c, 0, "%s", an_limiter_title(v->limiter));
    cell_named(c, 0, "%s", r->name);
    cell_named(c, 0, "%ux%ux%u", r->grid[0], r->grid[1], r->grid[2]);
    cell_named(c, 0, "%ux%ux%u", r->block[0], r->block[1], r->block[2]);
    cell_named(c, 0, "%s", figures);
    cell_if(c, v->saved > 0, 0, "%.2f", 100 * v->saved);
    cell_named(c, 0, "%s", v->second != AN_UNKNOWN ? an_limiter_title(v->second) : "");
    cell_named(c, 0, "%s", l ? l->file : "");
    cell_if(c, l, 0, "%d", l ? l->line : 0);
    cell_named(c, 0, "%s", v->advice);
    cells_end(c);
}

static void csv_line(struct cells *c, const struct an_line *l)
{
    const double rates[] = {l->load_sectors, l->store_sectors, l->wavefronts, l->divergence};
    cell_named(c, 0, "%s", l->kernel);
    cell_named(c, 0, "%s", l->file);
    cell(c, 0, "%d", l->line);
    cell(c, 0, "%.4f", 100 * l->share);
    for (int i = 0; i < 4; i++)
        cell_if(c, rates[i] > 0, 0, "%.3f", rates[i]);
    cell_named(c, 0, "%s", l->source);
    cells_end(c);
}

void an_print_csv(FILE *out, const struct an_analysis *a)
{
    struct cells c = {.out = out, .csv = true};
    const struct figure_unit unit = figure_time_unit(longest_ns(a));
    if (a->launches.n == 0) {
        fprintf(out, "No kernels were profiled.\n");
        return;
    }
    fprintf(out, "\"Time(%%)\",\"Time\",\"Calls\",\"Limited by\",\"Kernel\",\"Grid\",\"Block\","
                 "\"Figures\",\"Waste\",\"Next\",\"File\",\"Line\",\"Advice\"\n");
    fprintf(out, "%%,%s,,,,,,,%%,,,,\n", unit.name);
    for (size_t i = 0; i < a->launches.n; i++)
        csv_kernel(&c, a, i, unit);
    if (!a->lines.n)
        return;
    fprintf(out, "\n\"Kernel\",\"File\",\"Line\",\"Time(%%)\",\"Sectors per load\","
                 "\"Sectors per store\",\"Wavefronts per shared access\",\"Divergent branches\","
                 "\"Source\"\n,,,%%,,,,,\n");
    for (size_t i = 0; i < a->lines.n; i++)
        csv_line(&c, &a->lines.line[i]);
}

/* ---- text ----------------------------------------------------------------------------------- */

void an_print(FILE *out, const struct an_analysis *a, size_t most)
{
    if (a->launches.n == 0) {
        fprintf(out, "No kernels were profiled.\n");
        return;
    }
    print_kernels(out, a, most);
    if (a->lines.n)
        print_lines(out, a);
    else if (a->counters.rows)
        fprintf(out, "\nNo source lines are known: compile with nvcc -lineinfo.\n");
}
