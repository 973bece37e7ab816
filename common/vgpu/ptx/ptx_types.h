/** @file
 * Types and state spaces of PTX.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** X(name, bytes, is_signed, is_float). Types from e4m3 on are only elements of matrices. */
#define PTX_TYPE_MAP(X)                                                                            \
    X(none, 0, 0, 0)                                                                               \
    X(b8, 1, 0, 0)                                                                                 \
    X(u8, 1, 0, 0)                                                                                 \
    X(s8, 1, 1, 0)                                                                                 \
    X(b16, 2, 0, 0)                                                                                \
    X(u16, 2, 0, 0)                                                                                \
    X(s16, 2, 1, 0)                                                                                \
    X(b32, 4, 0, 0)                                                                                \
    X(u32, 4, 0, 0)                                                                                \
    X(s32, 4, 1, 0)                                                                                \
    X(b64, 8, 0, 0)                                                                                \
    X(u64, 8, 0, 0)                                                                                \
    X(s64, 8, 1, 0)                                                                                \
    X(b128, 16, 0, 0)                                                                              \
    X(f16, 2, 0, 1)                                                                                \
    X(bf16, 2, 0, 1)                                                                               \
    X(f16x2, 4, 0, 1)                                                                              \
    X(bf16x2, 4, 0, 1)                                                                             \
    X(tf32, 4, 0, 1)                                                                               \
    X(f32, 4, 0, 1)                                                                                \
    X(f64, 8, 0, 1)                                                                                \
    X(e4m3x2, 2, 0, 1)                                                                             \
    X(e5m2x2, 2, 0, 1)                                                                             \
    X(e4m3, 1, 0, 1)                                                                               \
    X(e5m2, 1, 0, 1)                                                                               \
    X(b1, 0, 0, 0)                                                                                 \
    X(u4, 0, 0, 0)                                                                                 \
    X(s4, 0, 1, 0)                                                                                 \
    X(pred, 0, 0, 0)

enum ptx_type {
#define PTX_TYPE_ENUM(name, bytes, is_signed, is_float) PTX_TYPE_##name,
    PTX_TYPE_MAP(PTX_TYPE_ENUM)
#undef PTX_TYPE_ENUM
};

enum ptx_space {
    PTX_SPACE_GENERIC,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_SHARED,
    PTX_SPACE_LOCAL,
    PTX_SPACE_CONST,
    PTX_SPACE_PARAM,
    PTX_SPACE_REG,
};

size_t ptx_type_bytes(enum ptx_type type);
bool ptx_type_is_signed(enum ptx_type type);
bool ptx_type_is_float(enum ptx_type type);
/** @return how many matrix elements of a type fit a 4-byte register; 1 for f64, too. */
int ptx_type_per_register(enum ptx_type type);
/** @return whether values of a type occur only packed in fragments of matrices. */
bool ptx_type_is_element(enum ptx_type type);
/** @return the type whose name these n characters are (without the dot), or PTX_TYPE_none. */
enum ptx_type ptx_type_find(const char *name, size_t n);
