/** @file
 * Tensor maps (CUtensorMap): 128 bytes that describe an array in global memory, and the box of it
 * that an instruction copies. A program creates them with cuTensorMapEncodeTiled() and passes them
 * to kernels; programs treat maps as opaque, so ours need not have NVIDIA's layout.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { TENSOR_MAP_DIMENSIONS = 5, TENSOR_MAP_BYTES = 128, TENSOR_MAP_TYPES = 13 };

struct tensor_map {
    uint32_t magic;
    uint8_t dimensions, type, element_bytes; /**< type: CUtensorMapDataType */
    uint8_t swizzle;                         /**< 0: none, or bytes of a row: 32, 64, 128 */
    uint64_t address;
    uint64_t stride[TENSOR_MAP_DIMENSIONS - 1]; /**< in bytes, for dimensions 1 and up */
    uint32_t last[TENSOR_MAP_DIMENSIONS];       /**< the largest index of each dimension */
    uint16_t box[TENSOR_MAP_DIMENSIONS];        /**< elements that are copied */
    uint8_t step[TENSOR_MAP_DIMENSIONS];        /**< distance in the array between neighbours in the
                                                     box */
    uint8_t fills_nan;                          /**< elements outside the array become NaN; else
                                                     zeros */
};
_Static_assert(sizeof(struct tensor_map) <= TENSOR_MAP_BYTES, "it fits");

#define TENSOR_MAP_MAGIC UINT32_C(0x70a37e25)

/** @return whether the virtual GPU made a map. Its bytes come from a program, so all are
 * checked. */
static inline bool tensor_map_is_valid(const struct tensor_map *m)
{
    const uint32_t element = m->element_bytes, swizzle = m->swizzle;
    bool valid = m->magic == TENSOR_MAP_MAGIC && m->dimensions >= 1 &&
                 m->dimensions <= TENSOR_MAP_DIMENSIONS && m->type < TENSOR_MAP_TYPES &&
                 (element == 1 || element == 2 || element == 4 || element == 8) &&
                 (swizzle == 0 || swizzle == 32 || swizzle == 64 || swizzle == 128) &&
                 m->box[0] * element % 16 == 0;
    for (int i = 0; valid && i < m->dimensions; i++)
        valid = m->box[i] >= 1 && m->box[i] <= 256 && m->step[i] >= 1;
    return valid;
}

/** @return the bytes of a box in shared memory. */
static inline uint64_t tensor_map_box_bytes(const struct tensor_map *m)
{
    uint64_t bytes = m->element_bytes;
    for (int i = 0; i < m->dimensions; i++)
        bytes *= m->box[i];
    return bytes;
}

/** @return the swizzled address of a byte of a box: the row's number permutes the row's 16-byte
 * units. */
static inline uint32_t tensor_map_swizzle(uint32_t address, uint32_t row_bytes)
{
    return row_bytes ? address ^ (address >> 3 & (row_bytes - 16)) : address;
}
