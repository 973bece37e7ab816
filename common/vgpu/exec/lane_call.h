/** @file
 * One lane's arguments, memory and result, for the functions of device_functions.c and
 * device_runtime.c, which are not PTX.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ir_insn;
struct vg_warp;

/** @return host memory for a lane's @p bytes bytes at a generic address; NULL after a finding. */
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
/** malloc() in a kernel. @return an address; 0: out of memory. */
uint64_t heap_take(struct vg_warp *w, uint64_t bytes);
/** free() in a kernel. */
void heap_free(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address);
