/* What the benchmark says: tables for programs (TSV), and one to read. */
#include "base/files.h"
#include "base/tsv.h"
#include "grader/gpubench/gpubench.h"

#include <string.h>

static bool is_measured(const struct bench_row *row)
{
    return strcmp(row->status, "ok") == 0;
}

static bool is_same_layer(const struct bench_row *a, const struct bench_row *b)
{
    return a->layer == b->layer && a->images == b->images;
}

/* cuDNN's float32 time of a row's layer and size; 0 if it has none. */
static double cudnn_s(const struct bench_row *rows, size_t n, const struct bench_row *of)
{
    for (size_t i = 0; i < n; i++)
        if (is_same_layer(&rows[i], of) && strcmp(rows[i].subject, "cudnn") == 0)
            return is_measured(&rows[i]) ? rows[i].s.median : 0;
    return 0;
}

/* ---- TSV ------------------------------------------------------------------------------------ */

enum { CELL = 48, MAX_CELLS = 20 };

/* A row of the table being written: fields are appended, then the row is. */
struct cells {
    size_t n;
    const char *field[MAX_CELLS];
    char text[MAX_CELLS][CELL];
};

static void cell_text(struct cells *c, const char *text)
{
    c->field[c->n++] = text;
}

static void cell_number(struct cells *c, const char *format, double value)
{
    snprintf(c->text[c->n], CELL, format, value);
    c->field[c->n] = c->text[c->n];
    c->n++;
}

static void cell_count(struct cells *c, size_t value)
{
    snprintf(c->text[c->n], CELL, "%zu", value);
    c->field[c->n] = c->text[c->n];
    c->n++;
}

static void write_row(FILE *out, const char *device, const struct bench_row *r)
{
    struct cells c = {0};
    const bool measured = is_measured(r);
    cell_text(&c, device);
    cell_text(&c, r->layer->model);
    cell_count(&c, (size_t)r->layer->layer);
    cell_count(&c, (size_t)r->images);
    cell_text(&c, r->subject);
    cell_text(&c, r->status);
    cell_count(&c, r->s.n);
    cell_number(&c, measured ? "%.6f" : "", r->s.median * 1e3);
    cell_number(&c, measured ? "%.6f" : "", r->s.low * 1e3);
    cell_number(&c, measured ? "%.6f" : "", r->s.high * 1e3);
    cell_number(&c, "%.6f", r->floor_s * 1e3);
    cell_text(&c, r->floor_is_memory ? "memory" : "arithmetic");
    cell_number(&c, measured ? "%.4f" : "", 2e-12 * r->macs / r->s.median);
    cell_number(&c, measured ? "%.2f" : "", 1e-9 * r->bytes / r->s.median);
    cell_number(&c, "%.6f", r->macs * 1e-9);
    cell_number(&c, strcmp(r->status, "skip") == 0 ? "" : "%.4f", r->error);
    cell_text(&c, r->note);
    tsv_write_row(out, c.n, c.field);
}

static enum st_code write_bench(const char *folder, const char *device,
                                const struct bench_row *rows, size_t n, struct st_error *err)
{
    static const char *const header[] = {
        "device",      "model",    "layer",    "images",
        "subject",     "status",   "rounds",   "median_ms",
        "low_ms",      "high_ms",  "floor_ms", "floor_of",
        "tflop_per_s", "gb_per_s", "gmac",     "error_to_tolerance",
        "note"};
    char path[PATH_MAX];
    struct file_out file;
    path_format(path, sizeof path, "%s/bench.tsv", folder);
    enum st_code code = file_out_open(&file, path, err);
    if (code)
        return code;
    tsv_write_row(file.f, sizeof header / sizeof *header, header);
    for (size_t i = 0; i < n; i++)
        write_row(file.f, device, &rows[i]);
    return file_out_commit(&file, err);
}

static void write_peak(FILE *out, const char *device, const char *what, const char *unit,
                       const struct median *m, double scale)
{
    struct cells c = {0};
    cell_text(&c, device);
    cell_text(&c, what);
    cell_text(&c, unit);
    cell_count(&c, m->n);
    cell_number(&c, "%.4f", m->median * scale);
    cell_number(&c, "%.4f", m->low * scale);
    cell_number(&c, "%.4f", m->high * scale);
    tsv_write_row(out, c.n, c.field);
}

enum st_code bench_write_tsv(const char *folder, const char *device,
                             const struct bench_peaks *peaks, const struct bench_row *rows,
                             size_t n, struct st_error *err)
{
    char path[PATH_MAX];
    struct file_out file;
    enum st_code code = dir_make(folder, err);
    if (!code)
        code = write_bench(folder, device, rows, n, err);
    path_format(path, sizeof path, "%s/peaks.tsv", folder);
    if (!code)
        code = file_out_open(&file, path, err);
    if (code)
        return code;
    fputs("device\twhat\tunit\truns\tmedian\tlow\thigh\n", file.f);
    write_peak(file.f, device, "copy", "GB/s", &peaks->copy_bytes_per_s, 1e-9);
    write_peak(file.f, device, "multiply-add", "TFLOP/s", &peaks->flops_per_s, 1e-12);
    return file_out_commit(&file, err);
}

/* ---- to read -------------------------------------------------------------------------------- */

void bench_print_peaks(FILE *out, const char *device, bool is_virtual,
                       const struct bench_peaks *peaks)
{
    fprintf(out, "%s%s: copies %.0f GB/s (read and written), multiplies and adds %.1f TFLOP/s\n",
            device, is_virtual ? ", modelled times" : "", peaks->copy_bytes_per_s.median * 1e-9,
            peaks->flops_per_s.median * 1e-12);
    fputs(
        "Medians with 95% intervals. GB/s: x, k and y once each; floor: that of the direct algorithm\n"
        "here; error: the largest one, as a part of the tolerance (cudnn-tf32: of the wider one for TF32).\n",
        out);
}

void bench_print_layer(FILE *out, const struct bench_row *rows, size_t n)
{
    if (!n)
        return;
    const struct conv_shape *s = &rows->layer->shape;
    fprintf(out,
            "\n%s conv%d, %dx%dx%d -> %d@%d, %d images: %.3f GMAC, %.1f MB, floor %.4f ms (%s)\n",
            rows->layer->model, rows->layer->layer, s->C, s->H, s->W, s->M, s->K, rows->images,
            rows->macs * 1e-9, rows->bytes * 1e-6, rows->floor_s * 1e3,
            rows->floor_is_memory ? "memory" : "arithmetic");
    fprintf(out, "  %-12s %10s %23s %8s %8s %8s %8s %7s\n", "", "median ms", "interval", "TFLOP/s",
            "GB/s", "x floor", "x cuDNN", "error");
    for (size_t i = 0; i < n; i++) {
        const struct bench_row *r = &rows[i];
        if (!is_measured(r)) {
            fprintf(out, "  %-12s %10s  %s\n", r->subject, r->status, r->note);
            continue;
        }
        const double cudnn = cudnn_s(rows, n, r);
        char ratio[16] = "-";
        if (cudnn > 0)
            snprintf(ratio, sizeof ratio, "%.2f", cudnn / r->s.median);
        fprintf(out, "  %-12s %10.4f  [%9.4f, %9.4f] %8.2f %8.0f %8.2f %8s %7.3f  %s\n", r->subject,
                r->s.median * 1e3, r->s.low * 1e3, r->s.high * 1e3, 2e-12 * r->macs / r->s.median,
                1e-9 * r->bytes / r->s.median, r->s.median / r->floor_s, ratio, r->error, r->note);
    }
}

/* ---- totals --------------------------------------------------------------------------------- */

/* Sum over the layers of a model (NULL: over all) of a subject's medians and of cuDNN's.
 * @return false if the subject has not been measured in every one of them. */
static bool total(const struct bench_row *rows, size_t n, const char *model, int images,
                  const char *subject, double *sum_s, double *cudnn_sum_s)
{
    size_t layers = 0;
    *sum_s = *cudnn_sum_s = 0;
    for (size_t i = 0; i < n; i++) {
        const struct bench_row *r = &rows[i];
        if (r->images != images || strcmp(r->subject, subject) != 0 ||
            (model && strcmp(r->layer->model, model) != 0))
            continue;
        if (!is_measured(r))
            return false;
        const double cudnn = cudnn_s(rows, n, r);
        *sum_s += r->s.median;
        *cudnn_sum_s = cudnn > 0 && *cudnn_sum_s >= 0 ? *cudnn_sum_s + cudnn : -1;
        layers++;
    }
    return layers > 0;
}

typedef void each_total(void *context, const char *model, int images, const char *subject,
                        double sum_s, double cudnn_sum_s);

enum key { BY_SUBJECT, BY_MODEL, BY_SIZE };

static bool is_alike(const struct bench_row *a, const struct bench_row *b, enum key key)
{
    return key == BY_SUBJECT ? strcmp(a->subject, b->subject) == 0
           : key == BY_MODEL ? strcmp(a->layer->model, b->layer->model) == 0
                             : a->images == b->images;
}

/* Whether a row is the first of its kind. */
static bool is_first(const struct bench_row *rows, size_t i, enum key key)
{
    for (size_t j = 0; j < i; j++)
        if (is_alike(&rows[j], &rows[i], key))
            return false;
    return true;
}

/* All subjects at all sizes. */
static void totals_of(const struct bench_row *rows, size_t n, const char *model, each_total *each,
                      void *context)
{
    for (size_t size = 0; size < n; size++)
        for (size_t i = 0; i < n && is_first(rows, size, BY_SIZE); i++) {
            double sum_s, cudnn_sum_s;
            if (is_first(rows, i, BY_SUBJECT) &&
                total(rows, n, model, rows[size].images, rows[i].subject, &sum_s, &cudnn_sum_s))
                each(context, model ? model : "all", rows[size].images, rows[i].subject, sum_s,
                     cudnn_sum_s);
        }
}

static void all_totals(const struct bench_row *rows, size_t n, each_total *each, void *context)
{
    size_t models = 0;
    for (size_t i = 0; i < n; i++)
        if (is_first(rows, i, BY_MODEL)) {
            totals_of(rows, n, rows[i].layer->model, each, context);
            models++;
        }
    if (models > 1)
        totals_of(rows, n, NULL, each, context);
}

static void print_total(void *context, const char *model, int images, const char *subject,
                        double sum_s, double cudnn_sum_s)
{
    FILE *out = context;
    fprintf(out, "  %-12s %6d  %-12s %10.4f ms", model, images, subject, sum_s * 1e3);
    if (cudnn_sum_s > 0)
        fprintf(out, "  %6.2f times as fast as cuDNN float32", cudnn_sum_s / sum_s);
    fputc('\n', out);
}

void bench_print_totals(FILE *out, const struct bench_row *rows, size_t n)
{
    fprintf(out, "\nSums of medians over the layers of each model, and over all layers\n");
    all_totals(rows, n, print_total, out);
}

static void write_total(void *context, const char *model, int images, const char *subject,
                        double sum_s, double cudnn_sum_s)
{
    struct cells c = {0};
    cell_text(&c, model);
    cell_count(&c, (size_t)images);
    cell_text(&c, subject);
    cell_number(&c, "%.6f", sum_s * 1e3);
    cell_number(&c, cudnn_sum_s > 0 ? "%.4f" : "", cudnn_sum_s / sum_s);
    tsv_write_row(context, c.n, c.field);
}

enum st_code bench_write_totals(const char *folder, const struct bench_row *rows, size_t n,
                                struct st_error *err)
{
    char path[PATH_MAX];
    struct file_out file;
    path_format(path, sizeof path, "%s/totals.tsv", folder);
    enum st_code code = file_out_open(&file, path, err);
    if (code)
        return code;
    fputs("model\timages\tsubject\tsum_ms\ttimes_cudnn\n", file.f);
    all_totals(rows, n, write_total, file.f);
    return file_out_commit(&file, err);
}
