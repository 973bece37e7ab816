/** @file
 * The output of vprof: its own lines, and the requested parts of a trace.
 */
#pragma once

#include "vprof/vprof_options.h"

#include <stdio.h>

/** Where the output goes, and which process it is about. */
struct vprof_report {
    FILE *out;
    bool quiet, replays, on_gpu;
    int pid; /**< the program's process ID; 0: imported trace */
    char command[4096];
    void (*pipe_handler)(int); /**< the handler of SIGPIPE when vprof was started */
};

/** "==PID== text", like nvprof's own lines; without a process, "======== text". */
void vprof_note(const struct vprof_report *r, const char *text, ...)
    __attribute__((format(printf, 2, 3)));

/** Reports the end of the program, in nvprof's words: for a signal, prints the exit status that a
 * shell would return. */
void vprof_note_end(const struct vprof_report *r, int status);

/** Reads a trace, and prints the requested parts. @param product  the GPU's name; NULL: use the
 * trace's */
enum st_code vprof_show(const struct vprof_options *o, struct vprof_report *r, const char *path,
                        const char *product, struct st_error *err);
