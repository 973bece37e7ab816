/** @file
 * The order in which the blocks of a launch run.
 *
 * With a seed the blocks run one after the other, in an order that only the seed determines: the
 * position advances by a step that is coprime to the number of blocks.
 */
#pragma once

#include <stdint.h>

struct vg_launch;

/** Mixes the bits of a number (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", 2014). */
static inline uint64_t vg_scramble(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/** Chooses the order of a launch, from the device's seed and the launch's number. */
void vg_block_order(struct vg_launch *launch);
/** @return the index in the grid of the block that starts as number @p number.
 * @param id  becomes its coordinates */
uint64_t vg_block_place(const struct vg_launch *launch, uint64_t number, uint32_t id[3]);
