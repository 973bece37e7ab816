#include "grader/stages/kept_times.h"

#include "base/files.h"
#include "base/tsv.h"
#include "nn/oracle.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 29, MOST_ROWS = 100 };

static const char *const columns[] = {"key", "images", "C", "H", "W", "op_time_s"};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* ---- keys ------------------------------------------------------------------------------------ */

static bool add_file(struct sha256 *hash, const char *path)
{
    char *data;
    size_t bytes;
    struct st_error ignored;
    if (file_read(path, MOST_BYTES, &data, &bytes, &ignored))
        return false;
    sha256_add(hash, &bytes, sizeof bytes);
    sha256_add(hash, data, bytes);
    free(data);
    return true;
}

void gr_kept_times_open(struct gr_kept_times *kept, const struct gr_host *host, const char *library)
{
    char device[PATH_MAX], cudart[PATH_MAX], profile[PATH_MAX];
    path_format(device, sizeof device, "%s/vgpu-device", host->build);
    path_format(cudart, sizeof cudart, "%s/vgpu/libcudart.so.13", host->build);
    if (strchr(host->profile, '/'))
        path_format(profile, sizeof profile, "%s", host->profile);
    else
        path_format(profile, sizeof profile, "%s/vgpu/profiles/%s.yaml", host->build,
                    host->profile);
    const char *const files[] = {library, host->runner, device, cudart, profile};
    bool found = path_format(kept->path, sizeof kept->path, "%.*s/modelled-times.tsv",
                             (int)(strrchr(library, '/') - library), library);
    sha256_begin(&kept->origin);
    if (host->engine) /* only if requested: without a request, any engine's time is valid */
        sha256_add(&kept->origin, host->engine, strlen(host->engine));
    for (size_t i = 0; i < sizeof files / sizeof *files && found; i++)
        found = add_file(&kept->origin, files[i]);
    if (!found)
        kept->path[0] = '\0';
}

static void make_key(const struct gr_kept_times *kept, const struct gr_conv *conv,
                     char key[SHA256_HEX])
{
    struct sha256 hash = kept->origin;
    sha256_add(&hash, &conv->shape, sizeof conv->shape);
    sha256_add(&hash, conv->k, nn_conv_k_elems(&conv->shape) * sizeof *conv->k);
    sha256_end_hex(&hash, key);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* @return whether the table exists and has our columns; free the table in any case. */
static bool read_table(const struct gr_kept_times *kept, struct tsv *table)
{
    struct st_error ignored;
    *table = (struct tsv){0};
    if (!kept->path[0] || tsv_read(kept->path, table, &ignored) || table->columns != COLUMNS)
        return false;
    for (size_t i = 0; i < COLUMNS; i++)
        if (strcmp(table->header[i], columns[i]) != 0)
            return false;
    return true;
}

bool gr_kept_time_find(const struct gr_kept_times *kept, const struct gr_conv *conv,
                       double *op_time_s)
{
    struct tsv table;
    char key[SHA256_HEX];
    const bool readable = read_table(kept, &table);
    *op_time_s = 0;
    if (readable)
        make_key(kept, conv, key);
    for (size_t row = 0; readable && row < table.rows; row++)
        if (strcmp(tsv_cell(&table, row, 0), key) == 0)
            *op_time_s = strtod(tsv_cell(&table, row, COLUMNS - 1), NULL);
    tsv_free(&table);
    return *op_time_s > 0;
}

static void write_time(FILE *out, const char *key, const struct conv_shape *s, double op_time_s)
{
    struct tsv_row row;
    tsv_row_start(&row, 0);
    tsv_row_add_text(&row, key);
    tsv_row_add(&row, "%d", s->B);
    tsv_row_add(&row, "%d", s->C);
    tsv_row_add(&row, "%d", s->H);
    tsv_row_add(&row, "%d", s->W);
    tsv_row_add(&row, "%.17g", op_time_s);
    tsv_row_write(&row, out);
}

void gr_kept_time_add(const struct gr_kept_times *kept, const struct gr_conv *conv,
                      double op_time_s)
{
    struct tsv old;
    struct file_out out;
    struct st_error ignored;
    char key[SHA256_HEX];
    if (!kept->path[0] || file_out_open(&out, kept->path, &ignored))
        return;
    const bool readable = read_table(kept, &old);
    make_key(kept, conv, key);
    tsv_write_row(out.f, COLUMNS, columns);
    for (size_t row = readable && old.rows >= MOST_ROWS ? old.rows - MOST_ROWS + 1 : 0;
         readable && row < old.rows; row++)
        tsv_write_row(out.f, COLUMNS, (const char *const *)&old.cells[row * COLUMNS]);
    write_time(out.f, key, &conv->shape, op_time_s);
    tsv_free(&old);
    file_out_commit(&out, &ignored);
}
