/** @file
 * Intervals between barriers in which a block only reads its shared memory, as in the inner loops of
 * most kernels with tiles. Such reads cannot race, so they are neither marked nor logged for
 * probe/race.h.
 */
#pragma once

#include "vgpu/ptx/ptx_ir.h"

struct vg_block;

/** Sets in->read_only for each barrier of a kernel: whether no thread that waits there can write to
 * shared memory before the next barrier. */
void vg_read_only_barriers(struct ir_function *f);
/** Begins an interval. @param none_writes  whether all threads of the block have waited at barriers with
 * in->read_only */
void vg_interval_begin(struct vg_block *b, bool none_writes);
