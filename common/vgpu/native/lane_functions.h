/** @file
 * What lane_functions.c was compiled to, and what that calls.
 */
#pragma once

#include <stddef.h>

/** In a row's mode: where its expression gives lane_nan_f32(x), x will do. */
#define NATIVE_ANY_NAN 0x80000000u

/** LLVM bitcode of the functions that lane_functions.c lists. */
extern const unsigned char lane_functions_bc[];
extern const size_t lane_functions_bc_bytes;
/** The same of access_functions.c. */
extern const unsigned char access_functions_bc[];
extern const size_t access_functions_bc_bytes;

/** The functions of libm that rows of opcodes.def use, each called native_NAME() there: a compiler that
 *  knew them would compute a constant's sine by itself, and get other bits than libm. */
#define NATIVE_MATH(X) X(sinf) X(cosf) X(exp2f) X(log2f) X(tanhf)

struct native_symbol {
    const char *name; /**< NULL ends the list */
    void *address;
};

/** All that the bitcode calls but intrinsics. */
extern const struct native_symbol native_symbols[];
