/* The analysis for a person at a terminal, and as CSV. */
#include "analysis/analysis.h"

#include "base/files.h"
#include "trace/figures.h"
#include "base/csv.h"

#include <string.h>

enum { LINES_SHOWN = 10 };

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Names come from the program: nothing in them may steer a terminal. */
static void put_harmless(FILE *out, const char *text)
{
    for (; *text; text++)
        fputc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, out);
}

static void print_figures(FILE *out, const struct an_verdict *v)
{
    fprintf(out, "%26s", "");
    for (size_t i = 0; i < v->figures; i++)
        fprintf(out, "%s%s %s", i ? ", " : "", v->figure[i].name, v->figure[i].value);
    fputc('\n', out);
}

static void print_advice(FILE *out, const struct an_verdict *v, const struct an_line *l)
{
    fprintf(out, "%26s", "");
    if (l) {
        put_harmless(out, file_name(l->file));
        fprintf(out, ":%d: ", l->line);
    }
    fputs(v->advice, out);
    if (v->saved > 0)
        fprintf(out, " Without it the kernel would take up to %.0f%% less time.", 100 * v->saved);
    if (v->second != AN_UNKNOWN)
        fprintf(out, " Next: %s.", an_limiter_title(v->second));
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
        char share[FIGURE_MAX], time[FIGURE_MAX];
        if (most && i >= most) {
            rest_ns += k->total_ns;
            continue;
        }
        figure_percent(share, a->activities.total_ns
                                  ? 100 * (double)k->total_ns / (double)a->activities.total_ns
                                  : 0);
        figure_time_in(time, k->total_ns, unit);
        fprintf(out, "%8s  %*s  %6llu  %-40s  ", share, width, time, (unsigned long long)k->calls,
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

static void print_rate(FILE *out, double value)
{
    if (value > 0)
        fprintf(out, "  %9.2f", value);
    else
        fprintf(out, "  %9s", "");
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
        print_rate(out, l->load_sectors);
        print_rate(out, l->store_sectors);
        print_rate(out, l->wavefronts);
        print_rate(out, l->divergence);
        fputs("  ", out);
        put_harmless(out, file_name(l->file));
        fprintf(out, ":%d  ", l->line);
        put_harmless(out, l->source);
        fputc('\n', out);
    }
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static void put_figures(FILE *out, const struct an_verdict *v)
{
    char text[1024] = "";
    size_t used = 0;
    for (size_t i = 0; i < v->figures && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", i ? ", " : "",
                                 v->figure[i].name, v->figure[i].value);
    csv_quote(out, text);
}

static void csv_kernel(FILE *out, const struct an_analysis *a, size_t i, struct figure_unit unit)
{
    const struct an_kernel *k = &a->launches.group[i];
    const struct an_verdict *v = &a->verdict[i];
    const struct tr_row *r = k->longest;
    const struct an_line *l = an_line_of(&a->lines, r->name, v->limiter);
    const double all_ns = (double)a->activities.total_ns;
    fprintf(out, "%.6f,%.6f,%llu,", all_ns > 0 ? 100 * (double)k->total_ns / all_ns : 0,
            (double)k->total_ns / unit.scale, (unsigned long long)k->calls);
    csv_quote(out, an_limiter_title(v->limiter));
    fputc(',', out);
    csv_quote(out, r->name);
    fprintf(out, ",\"%ux%ux%u\",\"%ux%ux%u\",", r->grid[0], r->grid[1], r->grid[2], r->block[0],
            r->block[1], r->block[2]);
    put_figures(out, v);
    fprintf(out, v->saved > 0 ? ",%.2f," : ",,", 100 * v->saved);
    csv_quote(out, v->second != AN_UNKNOWN ? an_limiter_title(v->second) : "");
    fputc(',', out);
    csv_quote(out, l ? l->file : "");
    fprintf(out, l ? ",%d," : ",,", l ? l->line : 0);
    csv_quote(out, v->advice);
    fputc('\n', out);
}

static void csv_rate(FILE *out, double value)
{
    fprintf(out, value > 0 ? ",%.3f" : ",", value);
}

static void csv_line(FILE *out, const struct an_line *l)
{
    csv_quote(out, l->kernel);
    fputc(',', out);
    csv_quote(out, l->file);
    fprintf(out, ",%d,%.4f", l->line, 100 * l->share);
    csv_rate(out, l->load_sectors);
    csv_rate(out, l->store_sectors);
    csv_rate(out, l->wavefronts);
    csv_rate(out, l->divergence);
    fputc(',', out);
    csv_quote(out, l->source);
    fputc('\n', out);
}

void an_print_csv(FILE *out, const struct an_analysis *a)
{
    const struct figure_unit unit = figure_time_unit(longest_ns(a));
    if (a->launches.n == 0) {
        fprintf(out, "No kernels were profiled.\n");
        return;
    }
    fprintf(out, "\"Time(%%)\",\"Time\",\"Calls\",\"Limited by\",\"Kernel\",\"Grid\",\"Block\","
                 "\"Figures\",\"Waste\",\"Next\",\"File\",\"Line\",\"Advice\"\n");
    fprintf(out, "%%,%s,,,,,,,%%,,,,\n", unit.name);
    for (size_t i = 0; i < a->launches.n; i++)
        csv_kernel(out, a, i, unit);
    if (!a->lines.n)
        return;
    fprintf(out, "\n\"Kernel\",\"File\",\"Line\",\"Time(%%)\",\"Sectors a load\","
                 "\"Sectors a store\",\"Wavefronts a shared access\",\"Divergent branches\","
                 "\"Source\"\n,,,%%,,,,,\n");
    for (size_t i = 0; i < a->lines.n; i++)
        csv_line(out, &a->lines.line[i]);
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
