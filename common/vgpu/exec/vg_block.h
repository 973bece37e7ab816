/** @file
 * Running one block; used by the workers in launch.c.
 */
#ifndef CONVLAB_VG_BLOCK_H
#define CONVLAB_VG_BLOCK_H

#include "vgpu/exec/vg_exec.h"

enum vg_block_state {
    VG_BLOCK_DONE,
    VG_BLOCK_MOVED, /**< goes on */
    VG_BLOCK_QUIET, /**< all its warps that can run only spin */
};

/** Mixes the bits of a number (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", 2014). */
static inline uint64_t vg_scramble(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/** Takes a block context for a launch, with registers, shared and local memory. NULL: no memory. */
struct vg_block *vg_block_prepare(struct vg_worker *worker, struct vg_launch *launch);
/** Where the block is that runs as number @p number. @param id  filled: its place in the grid.
 * @return its number there. */
uint64_t vg_block_place(const struct vg_launch *launch, uint64_t number, uint32_t id[3]);
void vg_block_start(struct vg_block *block, uint64_t number);
/** Gives each warp a turn. */
enum vg_block_state vg_block_round(struct vg_block *block);
/** Reports the first spinning warp. */
void vg_block_no_progress(struct vg_block *block);
void vg_block_free(struct vg_block *block);

#endif
