/** @file
 * Global memory in bulk copies. See bulk_memory.c.
 */
#pragma once

#include "vgpu/exec/bulk_copies.h"

enum { BULK_UNIT = 16 }; /**< bytes that a bulk copy moves at once */

/** @return whether a value is a multiple of @p unit; otherwise reports it as @p what. */
bool bulk_is_aligned(struct vg_warp *w, const struct ir_insn *in, int lane, const char *what,
                     uint64_t value, uint32_t unit);
/** Checks a global access. @return its address on the host; NULL after a finding. */
char *bulk_global(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t at,
                  uint32_t bytes, bool is_write);
/** Stores bytes of a copy to memory, unchanged or by an operation on each element. */
void bulk_put(const struct vg_bulk *c, char *to, const char *from, uint32_t bytes);
/** Reads the box of a copy into its data. @return false after a finding */
bool bulk_load_box(struct vg_bulk *c);
void bulk_store_box(struct vg_bulk *c);
/** Reads the tensor map at an address. @return false after a finding */
bool bulk_read_map(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t at,
                   struct tensor_map *to);
