/** @file
 * The command line of vprof: the options of nvprof that vprof supports; for the others, a line with
 * the replacement.
 */
#pragma once

#include "base/status.h"
#include "vprof/metrics.h"

#include <stdbool.h>

/** The profiler whose tables are printed. */
enum vprof_style { STYLE_NVPROF, STYLE_NSYS, STYLE_NCU };

enum vprof_device { VPROF_AUTO, VPROF_GPU, VPROF_VIRTUAL };

struct vprof_options {
    bool gpu_trace, api_trace, gpu_summary, api_summary, csv, force, quiet, chrome, analysis;
    bool query_metrics, query_events, version, mangled;
    bool serial, concurrent; /**< --concurrent-kernels off, on */
    bool range_only;         /**< --profile-from-start off */
    enum vprof_style style;
    bool page;                          /**< --page was given */
    const char *baseline, *sqlite_path; /**< sqlite_path: NULL: no database */
    const char *log, *kernels, *keep, *import, *chrome_path, *cores, *engine, *counters, *time,
        *recordings;
    const char *wrapper; /**< a program that starts the profiled program (vprof/wrapper.h), or
                              NULL */
    enum vprof_device device;
    const char *profile; /**< profile of the virtual GPU; NULL: the default */
    unsigned timeout_s;  /**< 0: no limit */
    int progress;        /**< descriptor of inherited memory for counts of blocks (base/progress.h),
                              or 0 */
    struct metrics metrics, events;
    char **program;
    struct st_error err; /**< the error in an option */
};

/** Reads the command line. --help and unknown options end the process. A wrong value of an option
 * is stored in `err`. */
void vprof_options_read(struct vprof_options *o, int argc, char **argv);
