/** @file
 * The references' modelled Op Times as shipped: data/modelled-times.tsv. Without the references, as
 * in a hand-out and on platforms, a grading on the virtual GPU is compared with these times.
 *
 *     profile  milestone  images  M  C  H  W  K  op_time_s  cuda  version
 *
 * `make modelled-times` writes the table (model-times_main.c). version is a hash of the reference's
 * source, the toolkit and the clock; a test measures some rows again.
 */
#pragma once

#include "base/tsv.h"
#include "conv.h"

#include <stdbool.h>
#include <stdio.h>

enum { GR_VERSION_CHARS = 17 };

/** Suffix of a milestone's id for its plain version, libconv-plain.so. */
#define GR_PLAIN_SUFFIX "-plain"

/** One row of the table. */
struct gr_shipped_time {
    const char *profile, *milestone;
    struct conv_shape shape;
    double op_time_s;
    const char *cuda, *version;
};

/** The table; zeroed if the file does not exist. */
struct gr_shipped_times {
    struct tsv table;
    size_t rows;
};

/** Reads the table. Free it with tsv_free(&times->table). @param path  NULL: the table of the
 * checkout
 * @return ST_OK even if the file does not exist */
enum st_code gr_shipped_times_read(struct gr_shipped_times *times, const char *path,
                                   struct st_error *err);
/** Reads one row of the table. @return false if a cell is wrong */
bool gr_shipped_time_row(const struct gr_shipped_times *times, size_t row,
                         struct gr_shipped_time *to);
/** Finds a reference's time. @return false if the table lacks it */
bool gr_shipped_time_find(const struct gr_shipped_times *times, const char *profile,
                          const char *milestone, const struct conv_shape *shape,
                          struct gr_shipped_time *to);
/** Write the table's header, and one row. */
void gr_shipped_times_head(FILE *out);
void gr_shipped_time_write(FILE *out, const struct gr_shipped_time *time);

/** Writes the version of this machine's CUDA Toolkit: "13.0". */
void gr_cuda_name(char to[16]);
/** Computes the version of a reference's times on this machine. @return false if its source cannot
 * be read */
bool gr_shipped_version(const char *source, const char *cuda, char version[GR_VERSION_CHARS]);
