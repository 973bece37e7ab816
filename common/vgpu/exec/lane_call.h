/** @file
 * For functions called by device code that are not PTX: arguments, the caller's memory and the
 * result of one lane.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

/** @return host memory of one lane's bytes at a generic address; NULL after a finding. */
char *lane_memory(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                  size_t bytes, bool is_write);
/** Reads the bytes of argument @p i of a call; zeros if it is missing. */
void call_argument_read(const struct vg_warp *w, const struct ir_insn *in, int lane, uint32_t i,
                        void *to, size_t bytes);
/** @return an argument of up to 8 bytes. */
uint64_t call_argument(const struct vg_warp *w, const struct ir_insn *in, int lane, uint32_t i,
                       size_t bytes);
void call_result_set(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t v,
                     size_t bytes);
/** malloc() in a kernel: an address, 0 without memory. */
uint64_t heap_take(struct vg_warp *w, uint64_t bytes);
/** free() in a kernel. */
void heap_free(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address);
