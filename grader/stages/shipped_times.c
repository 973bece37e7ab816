#include "grader/stages/shipped_times.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/sha256.h"
#include "base/toolkit.h"
#include "vgpu/probe/model.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { PROFILE, MILESTONE, SHAPE, OP_TIME = SHAPE + 6, CUDA, VERSION, COLUMNS };

static const char *const columns[COLUMNS] = {
    "profile", "milestone", "images", "M", "C", "H", "W", "K", "op_time_s", "cuda", "version"};

enum st_code gr_shipped_times_read(struct gr_shipped_times *times, const char *path,
                                   struct st_error *err)
{
    char own[PATH_MAX];
    const char *root = checkout_root(err);
    *times = (struct gr_shipped_times){0};
    if (!root)
        return err->code;
    if (!path_format(own, sizeof own, "%s/data/modelled-times.tsv", root) ||
        (!path && !file_exists(own)))
        return ST_OK;
    path = path ? path : own;
    enum st_code code = tsv_read(path, &times->table, err);
    for (int i = 0; !code && i < COLUMNS; i++)
        if (tsv_column(&times->table, columns[i]) != i) {
            st_fail(err, ST_BAD_FORMAT, "the table of modelled times has the wrong columns");
            st_detail(err, ST_EXPECTED, "column %d: %s", i + 1, columns[i]);
            code = st_detail(err, ST_WHERE, "%s", path);
        }
    times->rows = code ? 0 : times->table.rows;
    return code;
}

bool gr_shipped_time_row(const struct gr_shipped_times *times, size_t row,
                         struct gr_shipped_time *to)
{
    int n[6];
    for (int i = 0; i < 6; i++)
        n[i] = atoi(tsv_cell(&times->table, row, SHAPE + i));
    *to = (struct gr_shipped_time){.profile = tsv_cell(&times->table, row, PROFILE),
                                   .milestone = tsv_cell(&times->table, row, MILESTONE),
                                   .shape = {n[0], n[1], n[2], n[3], n[4], n[5]},
                                   .op_time_s = strtod(tsv_cell(&times->table, row, OP_TIME), NULL),
                                   .cuda = tsv_cell(&times->table, row, CUDA),
                                   .version = tsv_cell(&times->table, row, VERSION)};
    return to->op_time_s > 0;
}

bool gr_shipped_time_find(const struct gr_shipped_times *times, const char *profile,
                          const char *milestone, const struct conv_shape *shape,
                          struct gr_shipped_time *to)
{
    for (size_t row = 0; row < times->rows; row++)
        if (gr_shipped_time_row(times, row, to) && strcmp(to->profile, profile) == 0 &&
            strcmp(to->milestone, milestone) == 0 && memcmp(&to->shape, shape, sizeof *shape) == 0)
            return true;
    return false;
}

void gr_shipped_times_head(FILE *out)
{
    tsv_write_row(out, COLUMNS, columns);
}

void gr_shipped_time_write(FILE *out, const struct gr_shipped_time *time)
{
    const struct conv_shape *s = &time->shape;
    const int n[6] = {s->B, s->M, s->C, s->H, s->W, s->K};
    struct tsv_row row;
    tsv_row_start(&row, 0);
    tsv_row_add_text(&row, time->profile);
    tsv_row_add_text(&row, time->milestone);
    for (int i = 0; i < 6; i++)
        tsv_row_add(&row, "%d", n[i]);
    tsv_row_add(&row, "%.9g", time->op_time_s);
    tsv_row_add_text(&row, time->cuda);
    tsv_row_add_text(&row, time->version);
    tsv_row_write(&row, out);
}

void gr_cuda_name(char to[16])
{
    const char *home = toolkit_find();
    const int version = home ? toolkit_version(home) : 0;
    snprintf(to, 16, "%d.%d", version / 1000, version % 1000 / 10);
}

bool gr_shipped_version(const char *source, const char *cuda, char version[GR_VERSION_CHARS])
{
    char *text, hex[SHA256_HEX], clock[16];
    size_t bytes;
    struct sha256 hash;
    struct st_error ignored;
    if (file_read(source, 1 << 20, &text, &bytes, &ignored))
        return false;
    const int n = snprintf(clock, sizeof clock, "%d", VG_CLOCK_VERSION);
    sha256_begin(&hash);
    sha256_add(&hash, text, bytes);
    sha256_add(&hash, cuda, strlen(cuda));
    sha256_add(&hash, clock, (size_t)n);
    sha256_end_hex(&hash, hex);
    free(text);
    snprintf(version, GR_VERSION_CHARS, "%s", hex);
    return true;
}
