/** @file
 * What kernels print: kept per block, so that it comes in the order of the blocks.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

/** Adds to what a block has printed; dropped beyond VG_PRINT_BYTES_MAX. */
void vg_print(struct vg_block *block, const char *text, size_t bytes);
/** A block has ended: the worker takes over what it printed. */
void vg_printed_keep(struct vg_worker *worker, struct vg_block *block);
/** After a launch: the device takes over what the blocks up to @p fault_block printed. */
void vg_printed_collect(struct vg_device *device, uint64_t fault_block);
