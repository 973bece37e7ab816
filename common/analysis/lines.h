/** @file
 * Source lines by what they cost, from the virtual GPU's counters per line (vgpu-run --counters).
 *
 * A kernel's time is shared out over the terms of the model (an_term_shares()), and each term over
 * the lines by how much of that resource they use: instructions, wavefronts, sectors, ... So a
 * line's share says by how much the kernel's time would shrink, nearly, if the line did less.
 */
#pragma once

#include "analysis/kernels.h"
#include "analysis/limiter.h"

/** A line of a kernel. */
struct an_line {
    const char *kernel; /**< as nvprof shows it, with parameters */
    const char *file;
    int line;
    char source[160];  /**< its text, "" if the file is not there */
    double share;      /**< of the kernel's time, 0 to 1 */
    enum vg_term term; /**< where most of it goes */
    double warp_instructions;
    double sectors, all_wavefronts;     /**< of all its accesses: global, local; shared memory */
    double load_sectors, store_sectors; /**< a request; 0: no such access */
    double wavefronts;                  /**< a request to shared memory; 0: none */
    double divergence;                  /**< divergent branches in parts of all; 0: none */
    double lanes;                       /**< active, 0 to 1 */
    double wasted_wavefronts, wasted_sectors, divergent_branches;
};

/** The sources that may be opened. Tables name files as the program's debugging information does,
 * and its author can make it name any file: judging others' code must not open those. */
struct an_source {
    const char *name; /**< lines of files of this name, without folders, ... */
    const char *path; /**< ... get their text from this file; all others none. "": none at all */
};

struct an_lines {
    struct an_line *line; /**< by kernel (longest first), then by share */
    size_t n;
};

/** Ranks the lines of all kernels of a trace. @param counters  the table; both must outlive the
 * lines. @param source  NULL: files are read where the table says. Free with an_lines_free().
 * @return ST_BAD_FORMAT if the table is none of counters. */
enum st_code an_lines_rank(struct an_lines *lines, const struct tr_trace *trace,
                           const struct tsv *counters, const struct an_source *source,
                           struct st_error *err);

/** @return the line of a kernel that has most of what limits it, or NULL. */
const struct an_line *an_line_of(const struct an_lines *lines, const char *kernel,
                                 enum an_limiter limiter);

/** Releases the lines; harmless on zeroed ones. */
void an_lines_free(struct an_lines *lines);
