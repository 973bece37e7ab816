/** @file
 * How much of a launch's work each of its blocks did, for the clock: the busiest multiprocessor
 * decides how long a launch takes.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"
#include "vgpu/probe/model.h"

/** Before the blocks run. Without memory, or with very many blocks, they count as equal. */
void block_work_start(struct vg_launch *launch);
/** After a block has had a turn: what its worker has counted since the last call is its work. */
void block_work_add(struct vg_worker *worker, const struct vg_block *block);
/** Afterwards: fills in the shares of the facts, and frees what was noted.
 * @param resident  blocks that fit a multiprocessor at a time */
void block_work_end(struct vg_launch *launch, int resident, struct vg_clock_facts *facts);
