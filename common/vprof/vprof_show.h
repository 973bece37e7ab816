/** @file
 * What vprof prints: the lines of its own, and what a trace has of what was requested.
 */
#pragma once

#include "vprof/vprof_options.h"

#include <stdio.h>

/** Where it goes, and what it is of. */
struct vprof_report {
    FILE *out;
    bool quiet, replays, on_gpu;
    int pid; /**< 0: imported */
    char command[4096];
    void (*pipe_handler)(int); /**< what a closed pipe did when vprof was started; the program's */
};

/** "==PID== text", as nvprof marks its own lines; without a process "======== text". */
void vprof_note(const struct vprof_report *r, const char *text, ...)
    __attribute__((format(printf, 2, 3)));

/** The end of the program, in nvprof's words: signals are counted as the shell does. */
void vprof_note_end(const struct vprof_report *r, int status);

/** Reads a trace, and prints what was requested. @param product  the GPU; NULL: the trace says it */
enum st_code vprof_show(const struct vprof_options *o, struct vprof_report *r, const char *path,
                        const char *product, struct st_error *err);
