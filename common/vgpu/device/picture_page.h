/** @file
 * Pages of recorded blocks, "see it run": one for each kernel, self-contained, below 1 MB.
 */
#pragma once

#include "base/status.h"
#include "conv.h"

/** The sources that may be opened. The recording names files as the program's debugging information
 * does, and its author can make it name any file: judging others' code must not open those. */
struct picture_source {
    const char *name;                /**< lines of files of this name, without folders, ... */
    const char *path;                /**< ... get their text from this file; all others none */
    const struct conv_shape *layers; /**< what the program computes, in this order, ... */
    size_t layer_count; /**< with an allocation each for x, k and y, one after the other */
};

/** Called for each page. @param symbol  the kernel's mangled name @param name  the page's, without
 * folders */
struct picture_listener {
    void (*page)(void *context, const char *symbol, const char *name);
    void *context;
};

/** Makes the pages: FILE.html for the first kernel that was launched, FILE-2.html for the next.
 * @param recordings  what a device process wrote (struct vg_process_options)
 * @param source  NULL: files are read where the recording says
 * @param listener  may be NULL
 * @return ST_BAD_FORMAT if that is not a recording, or has no kernel */
enum st_code picture_pages_write(const char *file, const char *recordings,
                                 const struct picture_source *source,
                                 const struct picture_listener *listener, struct st_error *err);
