/** @file
 * How native code keeps the registers that are live at a place: scalars, lanes, or both, each at its
 * home in the warp's room. They move between there and the frame where code is left and entered.
 */
#pragma once

#include "vgpu/exec/translator.h"

/** A register: where its parts are saved. */
struct saved_register {
    uint32_t offset; /**< in the frame */
    uint32_t base, lanes;
    uint8_t bits; /**< 1, 32, 64 as struct held */
    bool has_base, has_lanes, uniform;
    bool any_nan; /**< see struct held */
};

/** The begin of what code refers to: a list, which lives as long as the code. */
struct native_kept {
    struct native_kept *next;
};

/** All of a place in the code. */
struct native_saved {
    struct native_kept kept;
    uint32_t count;
    struct saved_register of[];
};

/** Writes what w->saved has, as w->saved_as says, to the frame, for the lanes of the running fragment;
 * nothing if that is NULL. */
void saved_settle(struct vg_warp *w);
/** The same, as @p as says, from @p room, which is w->saved; called by native code. */
void saved_settle_as(struct vg_warp *w, const struct native_saved *as, const char *room);
/** The way back. @return whether all that is uniform in @p as is so in the fragment's lanes; if not, the
 * room holds nothing. */
bool saved_enter(struct vg_warp *w, const struct native_saved *as, char *room);
