/* The benchmark's output: tables for programs (TSV), and a table for people. */
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

/* cuDNN's float32 time for a row's layer and size; 0 if there is none. */
static double cudnn_s(const struct bench_row *rows, size_t n, const struct bench_row *of)
{
    for (size_t i = 0; i < n; i++)
        if (is_same_layer(&rows[i], of) && strcmp(rows[i].subject, "cudnn") == 0)
            return is_measured(&rows[i]) ? rows[i].s.median : 0;
    return 0;
}

/* ---- TSV ------------------------------------------------------------------------------------ */

static void write_row(FILE *out, const char *device, const struct bench_row *r)
{
    struct tsv_row row;
    const bool measured = is_measured(r);
    tsv_row_start(&row, 0);
    tsv_row_add_text(&row, device);
    tsv_row_add_text(&row, r->layer->model);
    tsv_row_add(&row, "%d", r->layer->layer);
    tsv_row_add(&row, "%d", r->images);
    tsv_row_add_text(&row, r->subject);
    tsv_row_add_text(&row, r->status);
    tsv_row_add(&row, "%zu", r->s.n);
    tsv_row_add_if(&row, measured, "%.6f", r->s.median * 1e3);
    tsv_row_add_if(&row, measured, "%.6f", r->s.low * 1e3);
    tsv_row_add_if(&row, measured, "%.6f", r->s.high * 1e3);
    tsv_row_add(&row, "%.6f", r->floor_s * 1e3);
    tsv_row_add_text(&row, r->floor_is_memory ? "memory" : "arithmetic");
    tsv_row_add_if(&row, measured, "%.4f", 2e-12 * r->macs / r->s.median);
    tsv_row_add_if(&row, measured, "%.2f", 1e-9 * r->bytes / r->s.median);
    tsv_row_add(&row, "%.6f", r->macs * 1e-9);
    tsv_row_add_if(&row, strcmp(r->status, "skip") != 0, "%.4f", r->error);
    tsv_row_add_text(&row, r->note);
    tsv_row_write(&row, out);
}

static enum st_code write_bench(const char *folder, const char *device,
                                const struct bench_row *rows, size_t n, struct st_error *err)
{
    char path[PATH_MAX];
    struct file_out file;
    path_format(path, sizeof path, "%s/bench.tsv", folder);
    enum st_code code = file_out_open(&file, path, err);
    if (code)
        return code;
    fputs(
        "device\tmodel\tlayer\timages\tsubject\tstatus\trounds\tmedian_ms\tlow_ms\thigh_ms\tfloor_ms\tfloor_of\ttflop_per_s\tgb_per_s\tgmac\terror_to_tolerance\tnote\n",
        file.f);
    for (size_t i = 0; i < n; i++)
        write_row(file.f, device, &rows[i]);
    return file_out_commit(&file, err);
}

static void write_peak(FILE *out, const char *device, const char *what, const char *unit,
                       const struct median *m, double scale)
{
    fprintf(out, "%s\t%s\t%s\t%zu\t%.4f\t%.4f\t%.4f\n", device, what, unit, m->n, m->median * scale,
            m->low * scale, m->high * scale);
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

/* ---- for people ----------------------------------------------------------------------------- */

void bench_print_peaks(FILE *out, const char *device, bool is_virtual,
                       const struct bench_peaks *peaks)
{
    fprintf(out, "%s%s: copies %.0f GB/s (read and written), multiplies and adds %.1f TFLOP/s\n",
            device, is_virtual ? ", modelled times" : "", peaks->copy_bytes_per_s.median * 1e-9,
            peaks->flops_per_s.median * 1e-12);
    fputs(
        "Medians with 95% intervals. GB/s counts x, k and y once each. The floor is the direct algorithm's on\n"
        "this device. The error is the largest, as a fraction of the tolerance (cudnn-tf32: of TF32's tolerance).\n",
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

/* Sums, over the layers of a model (NULL: over all layers), a subject's medians and cuDNN's.
 * @return false if the subject was not measured on every layer. */
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

/* Prints the sums of all subjects at all sizes. */
static void print_totals(FILE *out, const struct bench_row *rows, size_t n, const char *model)
{
    for (size_t size = 0; size < n; size++)
        for (size_t i = 0; i < n && is_first(rows, size, BY_SIZE); i++) {
            double sum_s, cudnn_sum_s;
            if (!is_first(rows, i, BY_SUBJECT) ||
                !total(rows, n, model, rows[size].images, rows[i].subject, &sum_s, &cudnn_sum_s))
                continue;
            fprintf(out, "  %-12s %6d  %-12s %10.4f ms", model ? model : "all", rows[size].images,
                    rows[i].subject, sum_s * 1e3);
            if (cudnn_sum_s > 0)
                fprintf(out, "  %6.2f times as fast as cuDNN float32", cudnn_sum_s / sum_s);
            fputc('\n', out);
        }
}

void bench_print_totals(FILE *out, const struct bench_row *rows, size_t n)
{
    size_t models = 0;
    fprintf(out, "\nSums of medians over the layers of each model, and over all layers\n");
    for (size_t i = 0; i < n; i++)
        if (is_first(rows, i, BY_MODEL)) {
            print_totals(out, rows, n, rows[i].layer->model);
            models++;
        }
    if (models > 1)
        print_totals(out, rows, n, NULL);
}
