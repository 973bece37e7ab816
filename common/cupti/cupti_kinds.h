/** @file
 * Which kinds of activity CUPTI records, and when.
 *
 * Between cudaProfilerStop() and cudaProfilerStart() all of them are off, so that what a program
 * does there takes the time that it takes without a profiler.
 */
#pragma once

#include "cupti/cupti_api.h"

#include <stdatomic.h>
#include <stdbool.h>

struct cupti_kinds {
    const struct cupti_api *api;
    void (*complain)(CUptiResult result, const char *what);
    atomic_bool on;
    /* Kernels are recorded in one of two ways. Where they may run at the same time, CUPTI adds code
     * to each block that reads the clock. Many small blocks take some percent longer with it, so
     * kernels that cannot overlap are recorded without. */
    atomic_int kernels;
};

/** Begins to record. @param complain  gets what could not be recorded
 * @param concurrent  how kernels are recorded @param on  whether all of it is on from now on; facts
 * of the GPU are recorded either way */
void cupti_kinds_begin(struct cupti_kinds *kinds, const struct cupti_api *api,
                       void (*complain)(CUptiResult result, const char *what), bool concurrent,
                       bool on);

/** Kernels may run at the same time from now on. */
void cupti_kinds_concurrent(struct cupti_kinds *kinds);

/** Switches all of it off, or on again; harmless if it is so already. May be called by several
 * threads, in CUPTI's callbacks: nothing here waits for another thread. */
void cupti_kinds_switch(struct cupti_kinds *kinds, bool on);
