/** @file
 * What a program passes to __cudaRegisterFatBinary(), and the head of the image it points to.
 */
#pragma once

#include <stdint.h>

#define FATBIN_WRAPPER_MAGIC UINT32_C(0x466243B1)
/** Of a program made by nvcc -rdc=true: the PTX is in images, data is machine code. */
#define FATBIN_WRAPPER_LINKED 2
/** Of a container. */
#define FATBIN_MAGIC UINT32_C(0xBA55ED50)

/** Argument of __cudaRegisterFatBinary(). */
struct fatbin_wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *images; /**< version 2: ends with NULL */
};

/** The head of an image. */
struct fatbin_container {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
};
