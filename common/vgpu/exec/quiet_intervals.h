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
void vg_quiet_barriers(struct ir_function *f);
/** Begins an interval. @param waited  number of threads that have waited at the barrier
 * @param all_read_only  whether in->read_only is set for the barriers of all of them */
void vg_interval_begin(struct vg_block *b, uint32_t waited, bool all_read_only);
