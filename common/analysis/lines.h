/** @file
 * Source lines by cost, from the virtual GPU's counters per line (vgpu-run --counters).
 *
 * A kernel's time is divided among the terms of the model (an_term_shares()), and each term among
 * the lines by their use of that resource: instructions, wavefronts, sectors, ... So a line's share
 * is approximately how much the kernel's time would shrink if the line did less.
 */
#pragma once

#include "analysis/kernels.h"
#include "analysis/limiter.h"

/** A line of a kernel. */
struct an_line {
    const char *kernel; /**< as nvprof prints it, with parameters */
    const char *file;
    int line;
    char source[160];  /**< its text, "" if the file does not exist */
    double share;      /**< share of the kernel's time, 0 to 1 */
    enum vg_term term; /**< the term with the largest part of this share */
    double warp_instructions;
    double sectors, all_wavefronts;     /**< sectors: global and local; wavefronts: shared */
    double load_sectors, store_sectors; /**< per request; 0: no such access */
    double wavefronts;                  /**< per request to shared memory; 0: none */
    double divergence;                  /**< share of divergent branches; 0: none */
    double lanes;                       /**< share of active lanes, 0 to 1 */
    double wasted_wavefronts, wasted_sectors, divergent_branches;
};

/** The sources that may be opened. A table's file names come from the program's debugging
 * information, in which its author can name any file. When the code of others is judged, such files
 * must not be opened. */
struct an_source {
    const char *name; /**< only lines of files with this name (in any folder) get a text, ... */
    const char *path; /**< ... which is read from this file; "": no line gets a text */
};

struct an_lines {
    struct an_line *line; /**< sorted by kernel (longest first), then by share */
    size_t n;
};

/** Ranks the lines of all kernels of a trace. @param counters  the table; both must outlive the
 * lines. @param source  NULL: files are read at the table's paths. Free with an_lines_free().
 * @return ST_BAD_FORMAT if @p counters is not a table of counters. */
enum st_code an_lines_rank(struct an_lines *lines, const struct tr_trace *trace,
                           const struct tsv *counters, const struct an_source *source,
                           struct st_error *err);

/** @return the line that contributes most to a kernel's limiter, or NULL. */
const struct an_line *an_line_of(const struct an_lines *lines, const char *kernel,
                                 enum an_limiter limiter);

/** Releases the lines; harmless on a zeroed struct. */
void an_lines_free(struct an_lines *lines);
