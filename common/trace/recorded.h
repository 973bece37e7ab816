/** @file
 * The behaviour under a profiler of our programs that print an Op Time.
 *
 * Recording a launch takes a few microseconds, which would count in an Op Time. So a recorded
 * program measures the time while recording is off:
 *
 *     recorded_attach(0)
 *     the convolution                            a trial: recorded in case it crashes
 *     cudaProfilerStop()                         no crash: the trial is dropped, CUPTI is detached
 *     the convolution                            timed
 *     recorded_attach(1), cudaProfilerStart()
 *     the convolution                            again, for the record
 *
 * Every program can call only cudaProfilerStop(). Then CUPTI stays attached and, after it has
 * recorded something, still costs up to a microsecond per call.
 *
 * On a real GPU, vprof sets an environment variable when it records; the virtual GPU's times are
 * modelled, and do not change under a profiler.
 */
#pragma once

#include <dlfcn.h>
#include <stdlib.h>

#define RECORDED_VARIABLE "CONVLAB_RECORDED"

/** Whether this program has been recorded from its start. */
static inline int recorded_now(void)
{
    return getenv(RECORDED_VARIABLE) != NULL;
}

/** Call it with 0 before cudaProfilerStop(): work between the two calls is recorded, and counts
 * only if the program ends before the second. Call it with 1 before cudaProfilerStart(). vprof has
 * preloaded the library that implements it (cupti/cupti_inject.c). */
static inline void recorded_attach(int on)
{
    void (*attach)(int) = NULL;
    *(void **)&attach = dlsym(RTLD_DEFAULT, "convlab_cupti_attach");
    if (attach)
        attach(on);
}
