/** @file
 * Each block's share of a launch's work, for the clock: the busiest multiprocessor determines the
 * time of a launch.
 */
#pragma once

#include "vgpu/probe/model.h"

struct vg_block;
struct vg_launch;
struct vg_worker;

/** Called before the blocks run. If memory runs out, or with very many blocks, all count as
 * equal. */
void block_work_start(struct vg_launch *launch);
/** Called after a turn of a block: what its worker has counted since the last call is the block's
 * work. */
void block_work_add(struct vg_worker *worker, const struct vg_block *block);
/** Called after the launch: sets the shares in the facts, and frees the records of the blocks'
 * work.
 * @param resident  blocks that a multiprocessor can hold */
void block_work_end(struct vg_launch *launch, int resident, struct vg_clock_facts *facts);
