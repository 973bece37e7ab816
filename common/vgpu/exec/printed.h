/** @file
 * Output of kernels. Each block's output is kept, so that it appears in the order of the blocks.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct vg_block;
struct vg_device;
struct vg_worker;

/** Adds text to a block's output; text beyond VG_PRINT_BYTES_MAX is dropped. */
void vg_print(struct vg_block *block, const char *text, size_t bytes);
/** Called after a block: its worker takes over its output. */
void vg_printed_keep(struct vg_worker *worker, struct vg_block *block);
/** Called after a launch: the device takes over the output of the blocks up to @p fault_block. */
void vg_printed_collect(struct vg_device *device, uint64_t fault_block);
