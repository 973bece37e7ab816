/** @file
 * Pages of recorded blocks, "see it run": one for each kernel, self-contained, below 1 MB.
 */
#pragma once

#include "base/status.h"
#include "conv.h"

/** The sources that may be opened. The recording has the file names of the program's debugging
 * information, which its author can set to any file: a grading must not open such files. */
struct picture_source {
    const char *name;                /**< lines of files with this name (in any folder) ... */
    const char *path;                /**< ... get their text from this file; other lines get none */
    const struct conv_shape *layers; /**< the program's layers, in this order ... */
    size_t layer_count; /**< ... with three consecutive allocations per layer: x, k, y */
};

/** Called for each page. @param symbol  the kernel's mangled name @param name  the page's name,
 * without folders */
struct picture_listener {
    void (*page)(void *context, const char *symbol, const char *name);
    void *context;
};

/** Writes the pages: FILE.html for the first launched kernel, FILE-2.html for the next.
 * @param recordings  output of a device process (struct vg_process_options)
 * @param source  NULL: files are read at the paths in the recording
 * @param listener  may be NULL
 * @return ST_BAD_FORMAT if @p recordings is invalid, or has no kernel */
enum st_code picture_pages_write(const char *file, const char *recordings,
                                 const struct picture_source *source,
                                 const struct picture_listener *listener, struct st_error *err);
