/** @file
 * The bitcode of lane_functions.c, and the functions that it calls.
 */
#pragma once

#include <stddef.h>

/** Flag in a row's mode: the row's expression may use x instead of lane_nan_f32(x). */
#define NATIVE_ANY_NAN 0x80000000u

/** LLVM bitcode of the functions in lane_functions.c. */
extern const unsigned char lane_functions_bc[];
extern const size_t lane_functions_bc_bytes;
/** LLVM bitcode of the functions in access_functions.c. */
extern const unsigned char access_functions_bc[];
extern const size_t access_functions_bc_bytes;

/** The functions of libm that rows of opcodes.def use. The bitcode names each of them
 * native_NAME(): if a compiler recognised them, it would evaluate the sine of a constant itself,
 * with other bits than libm. */
#define NATIVE_MATH(X) X(sinf) X(cosf) X(tanhf)

struct native_symbol {
    const char *name; /**< NULL: the end of the list */
    void *address;
};

/** All functions that the bitcode calls, except intrinsics. */
extern const struct native_symbol native_symbols[];
