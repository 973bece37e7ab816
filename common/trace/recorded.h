/** @file
 * How our programs that print an Op Time behave under a profiler.
 *
 * Recording a launch takes some microseconds, which would be part of an Op Time. So a program that
 * is being recorded takes the time while it is not:
 *
 *     recorded_attach(0)
 *     the convolution                            a trial: recorded in case that it crashes
 *     cudaProfilerStop()                         it did not: the trial is forgotten, CUPTI is gone
 *     the convolution                            timed
 *     recorded_attach(1), cudaProfilerStart()
 *     the convolution                            again, for the record
 *
 * cudaProfilerStop() alone is what any program can do. CUPTI stays attached then and, once it has
 * recorded something, still costs up to a microsecond in each call.
 *
 * vprof says by a variable of the environment that it records, on a real GPU: the virtual GPU's
 * times are modelled, and the same with a profiler.
 */
#pragma once

#include <dlfcn.h>
#include <stdlib.h>

#define RECORDED_VARIABLE "CONVLAB_RECORDED"

/** Whether this program is being recorded, from its start on. */
static inline int recorded_now(void)
{
    return getenv(RECORDED_VARIABLE) != NULL;
}

/** Before cudaProfilerStop() with 0: what comes between the two is recorded, and only counts if the
 * program ends before it gets there. Before cudaProfilerStart() with 1. vprof has preloaded the
 * library that does it (cupti/cupti_inject.c). */
static inline void recorded_attach(int on)
{
    void (*attach)(int) = NULL;
    *(void **)&attach = dlsym(RTLD_DEFAULT, "convlab_cupti_attach");
    if (attach)
        attach(on);
}
