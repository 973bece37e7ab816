/** @file
 * What a program passes to __cudaRegisterFatBinary(), and the head of the image it points to.
 */
#ifndef CONVLAB_VGPU_FATBIN_WRAPPER_H
#define CONVLAB_VGPU_FATBIN_WRAPPER_H

#include <stdint.h>

#define FATBIN_WRAPPER_MAGIC   UINT32_C(0x466243B1)
#define FATBIN_CONTAINER_MAGIC UINT32_C(0xBA55ED50)
#define FATBIN_WRAPPER_LINKED                                                                      \
    2 /**< from nvcc -rdc=true: the PTX is in images, data is machine code */

struct fatbin_wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *images; /**< version 2: ends with NULL */
};

struct fatbin_container {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
};

#endif
