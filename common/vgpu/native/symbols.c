#include "vgpu/exec/rounding.h"
#include "vgpu/native/lane_functions.h"

#include <math.h>

#define SYMBOL(name, function)                                                                     \
    {                                                                                              \
        name, (void *)(uintptr_t)(function)                                                        \
    }
#define MATH(name) SYMBOL("native_" #name, name),
const struct native_symbol native_symbols[] = {
    NATIVE_MATH(MATH) SYMBOL("round_f32", round_f32),
    SYMBOL("round_f64", round_f64),
    {NULL, NULL},
};
