/* The tables of a profile's sections. */
#include "base/files.h"
#include "grader/report/profile_parts.h"
#include "grader/report/profile_sections.h"
#include "grader/report/report_parts.h"
#include "trace/figures.h"

#include <stdlib.h>
#include <string.h>

enum { LINES_SHOWN = 10, TEXT_MAX = 1 << 20 };

static void caption(FILE *out, int *tables, const char *text)
{
    fprintf(out, "**Table %d.** %s\n\n", ++*tables, text);
}

static const char *time_text(char to[FIGURE_MAX], double ns)
{
    figure_time(to, ns > 0 ? (uint64_t)ns : 0, 8);
    return to;
}

static void put_time(FILE *out, const struct tsv *t, size_t row, const char *column)
{
    char text[FIGURE_MAX];
    fprintf(out, " %s |", time_text(text, gr_profile_number(t, row, column)));
}

/* ---- more than 90% -------------------------------------------------------------------------- */

/* Whether a row is among those of its size that together exceed 90%; of kernels also those that
 * exceed 90% of the time in kernels, which copies may hide. The rows fall. */
static bool is_of_ninety(const struct tsv *t, size_t row)
{
    const bool kernel = strcmp(gr_profile_text(t, row, "kind"), "kernel") == 0;
    double before = 0, kernels = 0, kernels_before = 0;
    for (size_t i = 0; i < t->rows; i++) {
        if (gr_profile_images(t, i) != gr_profile_images(t, row))
            continue;
        const bool is_kernel = strcmp(gr_profile_text(t, i, "kind"), "kernel") == 0;
        const double share = gr_profile_number(t, i, "share");
        before += i < row ? share : 0;
        kernels += is_kernel ? share : 0;
        kernels_before += is_kernel && i < row ? share : 0;
    }
    return before <= 0.9 || (kernel && kernels_before <= 0.9 * kernels);
}

static void put_ninety(FILE *out, const struct tsv *t, unsigned long images, const char *name)
{
    fputs("| Time (%) | Time | Calls | Avg | Min | Max | Name |\n"
          "|---:|---:|---:|---:|---:|---:|---|\n",
          out);
    for (size_t i = 0; i < t->rows; i++) {
        if (gr_profile_images(t, i) != images || !is_of_ninety(t, i))
            continue;
        fprintf(out, "| %.2f |", 100 * gr_profile_number(t, i, "share"));
        put_time(out, t, i, "total_ns");
        fprintf(out, " %s |", gr_profile_text(t, i, "calls"));
        put_time(out, t, i, "average_ns");
        put_time(out, t, i, "min_ns");
        put_time(out, t, i, "max_ns");
        fputc(' ', out);
        gr_put_markdown_code(out, gr_profile_text(t, i, name));
        fputs(" |\n", out);
    }
    fputc('\n', out);
}

static void put_kernels(FILE *out, const struct gr_profile *p, int *tables)
{
    char text[240];
    const unsigned long images = gr_profile_largest(&p->kernels);
    snprintf(text, sizeof text,
             "Kernels and copies that together take more than 90%% of the GPU's time, and kernels "
             "that take more than 90%% of the time in kernels; %lu images.",
             images);
    caption(out, tables, text);
    put_ninety(out, &p->kernels, images, "kernel");
}

static void put_calls(FILE *out, const struct gr_profile *p, int *tables)
{
    char text[160];
    const unsigned long images = gr_profile_largest(&p->calls);
    snprintf(
        text, sizeof text,
        "Calls of the CUDA runtime that together take more than 90%% of the time in calls, %lu "
        "images.",
        images);
    caption(out, tables, text);
    put_ninety(out, &p->calls, images, "call");
}

/* ---- files that are shown as they are ------------------------------------------------------- */

static char *file_text(const struct gr_profile *p, const char *kind, unsigned long images)
{
    char path[PATH_MAX], *text;
    size_t bytes;
    if (!path_format(path, sizeof path, "%s/%s-%lu.txt", p->folder, kind, images) ||
        file_read(path, TEXT_MAX, &text, &bytes, NULL))
        return NULL;
    return text;
}

static void put_summary(FILE *out, const struct gr_profile *p)
{
    char *text = file_text(p, "summary", gr_profile_largest(&p->kernels));
    if (text)
        gr_put_markdown_block(out, text);
    else
        fputs("The file of the summary is not there.\n", out);
    fputc('\n', out);
    free(text);
}

static void put_times(FILE *out, const struct gr_profile *p)
{
    static const struct {
        const char *kind, *title;
    } times[] = {{"time-cpu", "with oneDNN on the CPU"}, {"time", ""}};
    if (p->modelled)
        fputs("The program's own time on this machine; the elapsed time includes what it takes to "
              "simulate the GPU.\n\n",
              out);
    for (size_t k = 0; k < sizeof times / sizeof *times; k++)
        for (size_t i = 0; i < p->sizes; i++) {
            char *text = file_text(p, times[k].kind, p->images[i]);
            if (!text)
                continue;
            fprintf(out, "%lu images%s%s:\n\n", p->images[i], times[k].title[0] ? ", " : "",
                    times[k].title);
            gr_put_markdown_block(out, text);
            fputc('\n', out);
            free(text);
        }
}

/* ---- sizes side by side --------------------------------------------------------------------- */

static bool same_layer(const struct tsv *t, size_t a, size_t b)
{
    return strcmp(gr_profile_text(t, a, "layer"), gr_profile_text(t, b, "layer")) == 0 &&
           strcmp(gr_profile_text(t, a, "device"), gr_profile_text(t, b, "device")) == 0;
}

static bool same_kernel(const struct tsv *t, size_t a, size_t b)
{
    return strcmp(gr_profile_text(t, a, "kernel"), gr_profile_text(t, b, "kernel")) == 0;
}

static void put_size_head(FILE *out, const struct gr_profile *p, const char *first)
{
    fprintf(out, "| %s |", first);
    for (size_t i = 0; i < p->sizes; i++)
        fprintf(out, " %lu images |", p->images[i]);
    fputs("\n|---|", out);
    for (size_t i = 0; i < p->sizes; i++)
        fputs("---:|", out);
    fputc('\n', out);
}

/* A row for each thing of a table, a column for each size. @param scale  of the value to ns */
static void put_by_size(FILE *out, const struct gr_profile *p, const struct tsv *t,
                        bool (*same)(const struct tsv *t, size_t a, size_t b),
                        void (*put_name)(FILE *out, const struct tsv *t, size_t row),
                        const char *value, double scale)
{
    for (size_t i = 0; i < t->rows; i++) {
        bool done = false;
        for (size_t k = 0; k < i && !done; k++)
            done = same(t, i, k);
        if (done)
            continue;
        fputs("| ", out);
        put_name(out, t, i);
        fputs(" |", out);
        for (size_t s = 0; s < p->sizes; s++) {
            char text[FIGURE_MAX] = "–";
            for (size_t k = 0; k < t->rows; k++)
                if (same(t, i, k) && gr_profile_images(t, k) == p->images[s])
                    time_text(text, scale * gr_profile_number(t, k, value));
            fprintf(out, " %s |", text);
        }
        fputc('\n', out);
    }
}

static void put_layer_name(FILE *out, const struct tsv *t, size_t row)
{
    fprintf(out, "Op Time of layer %s", gr_profile_text(t, row, "layer"));
    if (strcmp(gr_profile_text(t, row, "device"), "cpu") == 0)
        fputs(" (CPU)", out);
}

static bool same_device(const struct tsv *t, size_t a, size_t b)
{
    return strcmp(gr_profile_text(t, a, "device"), gr_profile_text(t, b, "device")) == 0;
}

static void put_program_name(FILE *out, const struct tsv *t, size_t row)
{
    fprintf(out, "Whole program, elapsed%s",
            strcmp(gr_profile_text(t, row, "device"), "cpu") == 0 ? " (CPU)" : "");
}

static void put_kernel_name(FILE *out, const struct tsv *t, size_t row)
{
    gr_put_markdown_code(out, gr_profile_text(t, row, "kernel"));
}

static void put_sizes(FILE *out, const struct gr_profile *p, int *tables)
{
    caption(out, tables,
            p->modelled
                ? "Times by data-set size: the Op Time of each convolution, and what kernels "
                  "and copies took in sum."
                : "Times by data-set size: the Op Time of each convolution, the whole "
                  "program, and what kernels and copies took in sum.");
    put_size_head(out, p, "");
    put_by_size(out, p, &p->layers, same_layer, put_layer_name, "op_time_s", 1e9);
    if (!p->modelled) /* there it is mostly the simulation */
        put_by_size(out, p, &p->layers, same_device, put_program_name, "elapsed_s", 1e9);
    put_by_size(out, p, &p->kernels, same_kernel, put_kernel_name, "total_ns", 1);
    fputc('\n', out);
}

/* ---- limits and lines ----------------------------------------------------------------------- */

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void put_place(FILE *out, const struct tsv *t, size_t row)
{
    char place[320];
    snprintf(place, sizeof place, "%.200s:%s", file_name(gr_profile_text(t, row, "file")),
             gr_profile_text(t, row, "line"));
    gr_put_markdown_code(out, place);
}

/* Whether an earlier row of its size says the same of the same kernel. */
static bool same_advice(const struct tsv *t, size_t a, size_t b)
{
    static const char *const columns[] = {"images", "kernel", "advice", "line"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (strcmp(gr_profile_text(t, a, columns[i]), gr_profile_text(t, b, columns[i])) != 0)
            return false;
    return true;
}

static void put_advice(FILE *out, const struct tsv *t, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (same_advice(t, i, row))
            return;
    double saved = 0;
    fputs("- ", out);
    gr_put_markdown_code(out, gr_profile_text(t, row, "kernel"));
    for (size_t i = row; i < t->rows; i++)
        if (same_advice(t, i, row)) {
            fputs(i == row ? ", grid " : " and ", out);
            gr_put_markdown(out, gr_profile_text(t, i, "grid"));
            const double part = gr_profile_number(t, i, "saved");
            saved = part > saved ? part : saved;
        }
    if (gr_profile_text(t, row, "file")[0]) {
        fputs(", ", out);
        put_place(out, t, row);
        if (gr_profile_text(t, row, "source")[0]) {
            fputc(' ', out);
            gr_put_markdown_code(out, gr_profile_text(t, row, "source"));
        }
    }
    fputs(": ", out);
    gr_put_markdown(out, gr_profile_text(t, row, "advice"));
    if (saved > 0)
        fprintf(out, " Without it the kernel would take up to %.0f%% less time.", 100 * saved);
    fputc('\n', out);
}

static void put_limits(FILE *out, const struct gr_profile *p, int *tables)
{
    const struct tsv *t = &p->analysis;
    const unsigned long images = gr_profile_largest(t);
    char text[160];
    snprintf(text, sizeof text, "What limits each kernel, and the figures that say so, %lu images.",
             images);
    caption(out, tables, text);
    fputs("| Kernel | Grid | Block | Time | Limited by | Figures |\n|---|---|---|---:|---|---|\n",
          out);
    for (size_t i = 0; i < t->rows; i++) {
        if (gr_profile_images(t, i) != images)
            continue;
        fputs("| ", out);
        gr_put_markdown_code(out, gr_profile_text(t, i, "kernel"));
        fputs(" | ", out);
        gr_put_markdown(out, gr_profile_text(t, i, "grid"));
        fputs(" | ", out);
        gr_put_markdown(out, gr_profile_text(t, i, "block"));
        fputs(" |", out);
        put_time(out, t, i, "total_ns");
        fputc(' ', out);
        gr_put_markdown(out, gr_profile_text(t, i, "title"));
        fputs(" | ", out);
        gr_put_markdown(out, gr_profile_text(t, i, "figures"));
        fputs(" |\n", out);
    }
    fputc('\n', out);
    for (size_t i = 0; i < t->rows; i++)
        if (gr_profile_images(t, i) == images)
            put_advice(out, t, i);
    fputc('\n', out);
}

static void put_rate(FILE *out, const struct tsv *t, size_t row, const char *column)
{
    const double value = gr_profile_number(t, row, column);
    if (value > 0)
        fprintf(out, " %.2f |", value);
    else
        fputs(" |", out);
}

static void put_lines_head(FILE *out, int *tables, const char *kernel, unsigned long images)
{
    fprintf(out, "**Table %d.** Source lines by their share of the time of ", ++*tables);
    gr_put_markdown_code(out, kernel);
    fprintf(out,
            ", %lu images. A sector has 32 bytes; more than one wavefront means a bank conflict, "
            "or more than four bytes a thread.\n\n",
            images);
    fputs("| Time (%) | Sectors a load | Sectors a store | Wavefronts a shared access | Divergent "
          "branches | Line | Source |\n|---:|---:|---:|---:|---:|---|---|\n",
          out);
}

static void put_lines(FILE *out, const struct gr_profile *p, int *tables)
{
    const struct tsv *t = &p->lines;
    const unsigned long images = gr_profile_largest(t);
    const char *kernel = "";
    int shown = 0;
    for (size_t i = 0; i < t->rows; i++) {
        if (gr_profile_images(t, i) != images)
            continue;
        if (strcmp(kernel, gr_profile_text(t, i, "kernel")) != 0) {
            fputs(*kernel ? "\n" : "", out);
            kernel = gr_profile_text(t, i, "kernel");
            shown = 0;
            put_lines_head(out, tables, kernel, images);
        }
        if (shown++ >= LINES_SHOWN || gr_profile_number(t, i, "share") < 0.01)
            continue;
        fprintf(out, "| %.1f |", 100 * gr_profile_number(t, i, "share"));
        put_rate(out, t, i, "load_sectors_per_request");
        put_rate(out, t, i, "store_sectors_per_request");
        put_rate(out, t, i, "wavefronts_per_request");
        put_rate(out, t, i, "divergence");
        fputc(' ', out);
        put_place(out, t, i);
        fputs(" | ", out);
        gr_put_markdown_code(out, gr_profile_text(t, i, "source"));
        fputs(" |\n", out);
    }
    fputc('\n', out);
}

void gr_profile_put(FILE *out, const struct gr_profile *p, enum gr_profile_section section,
                    int *tables)
{
    switch (section) {
    case GR_PROFILE_KERNELS:
        put_kernels(out, p, tables);
        break;
    case GR_PROFILE_CALLS:
        put_calls(out, p, tables);
        break;
    case GR_PROFILE_SUMMARY:
        put_summary(out, p);
        break;
    case GR_PROFILE_SIZES:
        put_sizes(out, p, tables);
        break;
    case GR_PROFILE_TIME:
        put_times(out, p);
        break;
    case GR_PROFILE_LIMITS:
        put_limits(out, p, tables);
        break;
    case GR_PROFILE_LINES:
        put_lines(out, p, tables);
        break;
    default:
        break;
    }
}
