/** @file
 * Calls a test's comparison for each instruction set that this machine has.
 */
#pragma once

#include "vgpu/exec/handlers.h"

static inline void each_target(void (*compare)(const struct vg_handlers *handlers,
                                               const char *name))
{
    compare(&vg_handlers_base, "base");
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        compare(&vg_handlers_avx2, "AVX2");
    if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        compare(&vg_handlers_avx512, "AVX-512");
#endif
}
