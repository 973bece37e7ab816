/** @file
 * Unwritten bytes in local memory: those that nothing has written since the warp started, and those
 * that were copied there (see unset_copies.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ir_insn;
struct unset_source;
struct vg_warp;

/** Called when a warp starts: nothing has written its local memory. Only the beginning of its
 * execution is followed. */
void unset_local_start(struct vg_warp *w, size_t bytes);
/** Ends the following: from now on, bytes count as written that nothing has written so far. */
void unset_local_end(struct vg_warp *w);
/** Called when local memory is copied by a call, or set. */
void unset_local_copied(const struct vg_warp *w, uint32_t lanes, size_t to, size_t from,
                        size_t bytes);
void unset_local_set(const struct vg_warp *w, uint32_t lanes, size_t at, size_t bytes);

/** @return whether an instruction accesses local memory. @param at  the address in it */
bool unset_is_local(const struct ir_insn *in, uint64_t address, uint64_t *at);
/** Called before a load: holds the unwritten bytes that lanes load from local memory. */
void unset_local_load(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes);
/** Called before a store of a lane. @param bytes  a bit for each of @p size bytes: unwritten */
void unset_local_store(struct vg_warp *w, uint32_t lane, uint64_t at, uint32_t bytes, uint32_t size,
                       const struct unset_source *from);
