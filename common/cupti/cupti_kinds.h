/** @file
 * Controls which kinds of activity CUPTI records, and when.
 *
 * Between cudaProfilerStop() and cudaProfilerStart() all kinds are off, so that a program's work
 * takes the same time as without a profiler.
 */
#pragma once

#include "cupti/cupti_api.h"

#include <stdatomic.h>
#include <stdbool.h>

struct cupti_kinds {
    const struct cupti_api *api;
    void (*complain)(CUptiResult result, const char *what);
    atomic_bool on;
    /* Kernels are recorded in one of two ways. If they may run at the same time, CUPTI adds code to
     * each block that reads the clock. This code slows many small blocks by a few percent, so
     * kernels that cannot overlap are recorded without it. */
    atomic_int kernels;
};

/** Begins to record. @param complain reports kinds that could not be recorded @param concurrent how
 * kernels are recorded @param on  whether recording is on from now on; facts about the GPU are
 * always recorded */
void cupti_kinds_begin(struct cupti_kinds *kinds, const struct cupti_api *api,
                       void (*complain)(CUptiResult result, const char *what), bool concurrent,
                       bool on);

/** From now on, kernels may run at the same time. */
void cupti_kinds_concurrent(struct cupti_kinds *kinds);

/** Switches all recording off or on; harmless if already done. Several threads may call it in
 * CUPTI's callbacks: it does not wait for another thread. */
void cupti_kinds_switch(struct cupti_kinds *kinds, bool on);
