/** @file
 * Running the profiled program: on the virtual GPU, on a real GPU with CUPTI, or under ncu.
 */
#pragma once

#include "vgpu/device/program_run.h"
#include "vprof/vprof_show.h"

/** How a program is run, and its result. */
struct vprof_session {
    const struct vprof_options *options;
    struct vprof_report *report;
    struct program_run run;
    char *trace;       /**< path of the program's trace; "": no trace */
    char product[128]; /**< the virtual GPU's name; "" on a real GPU */
    int status;        /**< exit status of the program */
};

/** Runs the program. @return 0, or the exit status of a reported error */
int vprof_run(struct vprof_session *s);

/** Creates an empty file for vprof itself. @param path  a template for mkstemp(); becomes the
 * file's path */
enum st_code vprof_scratch_file(char *path, struct st_error *err);

/** Prints an error. @return the exit status for it */
int vprof_complain(const struct st_error *err);
