/* The plots of a profile's kernels.tsv: roofline and kernel-shares. */
#include "grader/course/floor.h"
#include "grader/plots/plot_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KERNELS = PLOT_STYLES, MAX_SIZES = 8, NAME_CHARS = 44 };

/* Total time of the kernel in a row; 0 for copies and fills. */
static double kernel_ns(const struct tsv *t, size_t row)
{
    const char *kind = plot_cell(t, row, "kind");
    double ns = !kind[0] || strcmp(kind, "kernel") == 0 ? plot_number(t, row, "total_ns") : 0;
    return ns > 0 ? ns : 0;
}

static double largest_size(const struct tsv *t)
{
    double most = 0;
    for (size_t row = 0; row < t->rows; row++)
        most = fmax(most, plot_number(t, row, "images"));
    return most;
}

/* Writes the kernels that a script's key names. */
static void put_kernels(const struct plot_job *job, size_t n)
{
    fprintf(job->values, "kernels = %zu\n", n);
    plot_list(job, "kernel", n);
}

/* @return the kernel's name as shown in the key, valid until the next call. */
static const char *put_kernel(const struct plot_job *job, size_t i, const char *kernel)
{
    static char name[96];
    plot_kernel(name, sizeof name, kernel, NAME_CHARS);
    fprintf(job->values, "kernel[%zu] = '%s'\n", i + 1, name);
    return name;
}

/* ---- roofline ------------------------------------------------------------------------------- */

struct point {
    const char *kernel;
    double intensity, tflop_per_s, share;
};

static int by_share(const void *a, const void *b)
{
    double x = ((const struct point *)a)->share, y = ((const struct point *)b)->share;
    return (x < y) - (x > y);
}

/* The memory that limits a roof: DRAM, or L2 if a kernel's data stays in it. */
struct memory {
    const char *name, *bytes;
    double bytes_per_s;
};

/* Whether all computing kernels of the largest size have a number of bytes for a memory. */
static bool have_bytes(const struct tsv *t, const char *column)
{
    const double images = largest_size(t);
    for (size_t row = 0; row < t->rows; row++)
        if (plot_number(t, row, "images") == images && kernel_ns(t, row) > 0 &&
            plot_number(t, row, "flop") > 0 && !(plot_number(t, row, column) > 0))
            return false;
    return true;
}

static struct memory memory_of(const struct tsv *t, const struct vg_profile *gpu)
{
    if (!have_bytes(t, "dram_bytes") && have_bytes(t, "l2_bytes") && gpu->l2_bytes_per_s > 0)
        return (struct memory){"L2", "l2_bytes", gpu->l2_bytes_per_s};
    return (struct memory){"DRAM", "dram_bytes", gpu->dram_bytes_per_s};
}

/* Finds the kernels of the largest size that have all data for a point, the longest first. */
static size_t find_points(const struct tsv *t, const char *bytes_column, struct point **points)
{
    double images = largest_size(t);
    size_t n = 0;
    *points = calloc(t->rows + 1, sizeof **points);
    for (size_t row = 0; *points && row < t->rows; row++) {
        double flop = plot_number(t, row, "flop"), bytes = plot_number(t, row, bytes_column);
        double ns = kernel_ns(t, row);
        if (plot_number(t, row, "images") == images && flop > 0 && bytes > 0 && ns > 0)
            (*points)[n++] =
                (struct point){plot_cell(t, row, "kernel"), flop / bytes, 1e-3 * flop / ns, ns};
    }
    if (n)
        qsort(*points, n, sizeof **points, by_share);
    return n < MAX_KERNELS ? n : MAX_KERNELS;
}

static enum st_code draw_roofline(struct plot_stage *stage, struct plot_job *job,
                                  const struct tsv *t, const struct point *p, size_t n,
                                  const struct vg_profile *gpu, const struct memory *memory,
                                  struct st_error *err)
{
    char title[96], text[2][NUMBER_CHARS];
    const double peak = 2e-12 * gr_floor_macs_per_s(gpu);
    snprintf(title, sizeof title, "Roofline of the kernels, %.0f images", largest_size(t));
    if (plot_begin(stage, job, title, stage->origin, err))
        return err->code;
    fprintf(job->values,
            "peak = %.9g\npeak_text = '%s'\nmemory = '%s'\nslope = %.9g\nslope_text = '%s'\n", peak,
            number_short(text[0], peak, 3), memory->name, memory->bytes_per_s * 1e-12,
            number_short(text[1], memory->bytes_per_s * 1e-9, 4));
    fputs("kernel\tflop_per_byte\ttflop_per_s\n", job->table);
    put_kernels(job, n);
    for (size_t i = 0; i < n; i++)
        plot_row(job->table, "sgg", put_kernel(job, i, p[i].kernel), p[i].intensity,
                 p[i].tflop_per_s);
    plot_caption(
        job,
        "Each kernel at %.0f images: float32 operations per byte that passed %s, and operations per second, below the limits of %s and of the float32 units of this GPU; %s.",
        largest_size(t), memory->name, memory->name, stage->origin);
    if (strcmp(memory->name, "L2") == 0)
        plot_caption(job,
                     "At this size a kernel's data stays in the L2 cache and does not pass DRAM.");
    return plot_end(job, roofline_gp, err);
}

enum st_code plot_roofline(struct plot_stage *stage, struct st_error *err)
{
    struct plot_job *job = plot_add(stage, "roofline");
    struct tsv t;
    struct vg_profile gpu;
    struct point *points = NULL;
    char folder[PATH_MAX], why[256];
    enum st_code code = ST_OK;
    path_format(folder, sizeof folder, "%s/profile", stage->folder);
    if (!plot_table(&t, folder, "kernels.tsv", why, sizeof why)) {
        plot_skip(job, "Roofline skipped: no profile (%s).", why);
        return ST_OK;
    }
    const bool known = plot_profile(&gpu, stage->result.profile);
    const struct memory memory =
        known ? memory_of(&t, &gpu) : (struct memory){"DRAM", "dram_bytes", 0};
    const size_t n = find_points(&t, memory.bytes, &points);
    if (!n)
        plot_skip(
            job,
            "Roofline skipped: for no kernel does the profile have both the operations and the bytes that passed DRAM or L2. The virtual GPU counts them.");
    else if (!known)
        plot_skip(job, "Roofline skipped: the GPU, %s, has no profile with its peak rates.",
                  stage->result.profile[0] ? stage->result.profile : "whose name is not known");
    else
        code = draw_roofline(stage, job, &t, points, n, &gpu, &memory, err);
    free(points);
    tsv_free(&t);
    return code;
}

/* ---- kernel-shares -------------------------------------------------------------------------- */

struct shares {
    size_t sizes, kernels;
    double images[MAX_SIZES], total[MAX_SIZES];
    const char *kernel[MAX_KERNELS]; /* the last element combines all other kernels */
    double ns[MAX_SIZES][MAX_KERNELS];
};

/* The kernel with the largest share over all sizes that is not in the list yet. */
static const char *next_kernel(const struct tsv *t, const struct shares *s)
{
    const char *longest = NULL;
    double most = 0;
    for (size_t row = 0; row < t->rows; row++) {
        const char *kernel = plot_cell(t, row, "kernel");
        double share = 0;
        bool known = false;
        for (size_t i = 0; i < s->kernels; i++)
            known = known || strcmp(s->kernel[i], kernel) == 0;
        for (size_t other = 0; !known && other < t->rows; other++)
            for (size_t i = 0; i < s->sizes; i++)
                if (plot_number(t, other, "images") == s->images[i] &&
                    strcmp(plot_cell(t, other, "kernel"), kernel) == 0)
                    share += kernel_ns(t, other) / s->total[i];
        if (share > most)
            most = share, longest = kernel;
    }
    return longest;
}

static void collect_shares(struct shares *s, const struct tsv *t)
{
    memset(s, 0, sizeof *s);
    for (size_t row = 0; row < t->rows; row++) {
        double images = plot_number(t, row, "images");
        size_t at = 0;
        while (at < s->sizes && s->images[at] != images)
            at++;
        if (at == MAX_SIZES || !(kernel_ns(t, row) > 0) || !(images > 0))
            continue;
        s->images[at] = images;
        s->total[at] += kernel_ns(t, row);
        s->sizes = at == s->sizes ? at + 1 : s->sizes;
    }
    const char *kernel;
    while (s->kernels + 1 < MAX_KERNELS && (kernel = next_kernel(t, s)))
        s->kernel[s->kernels++] = kernel;
    const bool more = next_kernel(t, s) != NULL;
    for (size_t i = 0; i < s->sizes; i++) {
        double rest = s->total[i];
        for (size_t k = 0; k < s->kernels; k++)
            for (size_t row = 0; row < t->rows; row++)
                if (plot_number(t, row, "images") == s->images[i] &&
                    strcmp(plot_cell(t, row, "kernel"), s->kernel[k]) == 0)
                    s->ns[i][k] += kernel_ns(t, row), rest -= kernel_ns(t, row);
        if (more)
            s->ns[i][s->kernels] = rest;
    }
    if (more)
        s->kernel[s->kernels++] = "all others";
}

/* Writes a bar for each size, from the shares of its kernels. */
static void put_shares(struct plot_job *job, const struct shares *s)
{
    fputs("images\trow\tnumber\tkernel\tbegin_percent\tend_percent\tms\tlabel\n", job->table);
    for (size_t i = 0; i < s->sizes; i++) {
        double begin = 0;
        for (size_t k = 0; k < s->kernels; k++) {
            double percent = 100 * s->ns[i][k] / s->total[i];
            char name[96], label[32] = "";
            if (percent >= 8)
                snprintf(label, sizeof label, "%.0f%%", percent);
            plot_row(job->table, "gzzsgggs", s->images[i], s->sizes - 1 - i, k,
                     plot_kernel(name, sizeof name, s->kernel[k], NAME_CHARS), begin,
                     begin + percent, s->ns[i][k] * 1e-6, label);
            begin += percent;
        }
    }
}

static enum st_code draw_shares(struct plot_stage *stage, struct plot_job *job,
                                const struct shares *s, struct st_error *err)
{
    if (plot_begin(stage, job, "Shares of the kernels in the GPU time", stage->origin, err))
        return err->code;
    put_shares(job, s);
    fprintf(job->values, "sizes = %zu\n", s->sizes);
    put_kernels(job, s->kernels);
    for (size_t k = 0; k < s->kernels; k++)
        put_kernel(job, k, s->kernel[k]);
    plot_caption(
        job, "Shares of the total time of all kernels, without copies, at each data-set size; %s.",
        stage->origin);
    return plot_end(job, kernel_shares_gp, err);
}

enum st_code plot_shares(struct plot_stage *stage, struct st_error *err)
{
    struct plot_job *job = plot_add(stage, "kernel-shares");
    struct tsv t;
    struct shares s;
    char folder[PATH_MAX], why[256];
    enum st_code code = ST_OK;
    path_format(folder, sizeof folder, "%s/profile", stage->folder);
    if (!plot_table(&t, folder, "kernels.tsv", why, sizeof why)) {
        plot_skip(job, "Plot of the kernels' shares skipped: no profile (%s).", why);
        return ST_OK;
    }
    collect_shares(&s, &t);
    if (!s.sizes)
        plot_skip(job, "Plot of the kernels' shares skipped: no kernel ran.");
    else if (s.kernels == 1)
        plot_skip(job, "Plot of the kernels' shares skipped: there is only one kernel.");
    else
        code = draw_shares(stage, job, &s, err);
    tsv_free(&t);
    return code;
}
