/** @file
 * The argument of __cudaRegisterFatBinary(), and the header of the image to which it points.
 */
#pragma once

#include <stdint.h>

#define FATBIN_WRAPPER_MAGIC UINT32_C(0x466243B1)
/** Version in a program that nvcc -rdc=true made: `images` has the PTX, `data` is machine code. */
#define FATBIN_WRAPPER_LINKED 2
/** Magic number of a container. */
#define FATBIN_MAGIC UINT32_C(0xBA55ED50)

/** Argument of __cudaRegisterFatBinary(). */
struct fatbin_wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *images; /**< version 2: ends with NULL */
};

/** The header of an image. */
struct fatbin_container {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
};
