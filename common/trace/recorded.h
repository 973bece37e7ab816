/** @file
 * How our programs that print an Op Time behave under a profiler.
 *
 * Recording a launch takes a few microseconds, which would be part of the Op Time. So a recorded
 * program measures the time while recording is off:
 *
 *     recorded_attach(0)
 *     the convolution                            a trial, recorded in case it crashes
 *     cudaProfilerStop()                         no crash: drops the trial, detaches CUPTI
 *     the convolution                            timed
 *     recorded_attach(1), cudaProfilerStart()
 *     the convolution                            again, recorded
 *
 * Other programs can only call cudaProfilerStop(): CUPTI then stays attached and, once it has
 * recorded something, still costs up to a microsecond per call.
 *
 * On a real GPU, vprof sets an environment variable when it records. The virtual GPU's times are
 * modelled, so a profiler does not change them.
 */
#pragma once

#include <dlfcn.h>
#include <stdlib.h>

#define RECORDED_VARIABLE "CONVLAB_RECORDED"

/** Whether this program is recorded from its start. */
static inline int recorded_now(void)
{
    return getenv(RECORDED_VARIABLE) != NULL;
}

/** Call this with 0 before cudaProfilerStop(), which then detaches CUPTI. Work between these two
 * calls is dropped, unless the program ends there. Call it with 1, to attach CUPTI again, before
 * cudaProfilerStart(). The library that implements it (cupti/cupti_inject.c) is preloaded by
 * vprof. */
static inline void recorded_attach(int on)
{
    void (*attach)(int) = NULL;
    *(void **)&attach = dlsym(RTLD_DEFAULT, "convlab_cupti_attach");
    if (attach)
        attach(on);
}
