/** @file
 * The unwritten bytes that a warp holds in registers and in its local memory; the state of
 * unset_copies.c (see unset_copies.h), unset_moves.c and unset_local.c.
 */
#pragma once

#include "vgpu/exec/unset_idle.h"
#include "vgpu/exec/vg_warp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The load that read a byte. */
struct unset_source {
    const struct ir_insn *in, *copied; /**< copied: if is_local, the load that read the byte before
                                            it was copied to local memory, or NULL */
    uint64_t address;
    uint8_t lane;
    bool whole; /**< nothing wrote the 32 bytes around it either */
    bool is_local;
    bool may_be_used; /**< not only copied */
    bool computed;    /**< the register does not contain the byte, but a result of it */
    bool masked;      /**< ... from which "and" has removed bits */
};

/** A byte of local memory: set, or unset since these bytes were stored there, or from the start. */
enum { LOCAL_SET, LOCAL_COPIED, LOCAL_COMPUTED, LOCAL_NEVER };

enum {
    UNSET_REGISTERS = 128, /**< of a warp; bytes in more registers are taken for written */
    UNSET_REPORTED = 8,    /**< loads of a warp */
};

/** Unwritten bytes in a register. */
struct unset_held {
    const struct vg_frame *frame;
    uint32_t slot, lanes;
    uint8_t bytes[VG_LANES]; /**< a bit for each byte of the lane */
    struct unset_source from[VG_LANES];
};

struct vg_unset {
    struct unset_held held[UNSET_REGISTERS];
    int count;
    uint64_t maybe; /**< a bit for each slot in `held`, see unset_slot_bit() */
    uint8_t
        *local; /**< LOCAL_... of each byte; the lanes one after the other, `stride` bytes each */
    size_t stride, local_room, local_count;
    struct unset_source local_from[LOCAL_NEVER]; /**< of the bytes stored last */
    uint32_t left;                               /**< instructions to follow; 0: all */
    const struct ir_insn *reported[UNSET_REPORTED];
    int reported_count;
    struct unset_judged judged;
    /* The running instruction's stores to shared and to global memory. */
    uint32_t stores; /**< lanes */
    uint64_t at[VG_LANES];
    uint32_t stored[VG_LANES]; /**< a bit for each byte */
    struct unset_source stored_from[VG_LANES];
};

/** @return the warp's state, which this function creates if there is none yet. */
struct vg_unset *unset_of(struct vg_warp *w);
/** @return the bit of a slot in vg_unset.maybe; several slots have the same. It shows quickly that
 * most instructions read none of them. */
uint64_t unset_slot_bit(uint32_t slot);
/** @return what a register holds, or NULL if all its bytes are written. */
struct unset_held *unset_find(struct vg_unset *u, const struct vg_frame *frame, uint32_t slot);
/** @return the unwritten bytes of a register, in one lane. @param h  may be NULL */
uint8_t unset_held_bytes(const struct unset_held *h, uint32_t lane);
/** @return those that the program may use, not only copy. */
uint8_t unset_usable_bytes(const struct unset_held *h, uint32_t lane);
/** @return the lanes with such bytes. */
uint32_t unset_usable_lanes(const struct unset_held *h);
/** Sets which bytes of a register of the current frame are unwritten. */
void unset_hold(struct vg_warp *w, uint32_t slot, uint32_t lane, uint8_t bytes,
                const struct unset_source *from);
/** The same for a result that is computed from the byte of a source. */
void unset_hold_result(struct vg_warp *w, uint32_t slot, uint32_t lane, uint8_t bytes,
                       const struct unset_source *of);
/** The same for the registers of a load. @param bytes  a bit for each byte of the access */
void unset_hold_elements(struct vg_warp *w, const struct ir_insn *in, uint32_t lane, uint32_t bytes,
                         const struct unset_source *from);
/** Drops the bytes that a load read for some lanes. */
void unset_drop_source(struct vg_warp *w, const struct ir_insn *load, uint32_t lanes);
/** Forgets registers without unwritten bytes, and sets vg_warp.copies_unset. */
void unset_tidy(struct vg_warp *w);
/** Records that some lanes of a register are written. */
void unset_drop(struct vg_warp *w, uint32_t slot, uint32_t lanes);
