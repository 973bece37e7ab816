/** @file
 * Frames: the registers of a function that lanes of a warp execute, one frame for each call.
 */
#pragma once

#include "vgpu/ptx/ptx_ir.h"

struct vg_launch;
struct vg_worker;

struct vg_frame {
    char *regs;
    struct ir_function *function;
    struct vg_frame *caller;
    uint32_t local_base, local_top;
    struct vg_frame *next_free;
    uint32_t room;
    struct origin *origins; /**< [room / 4] of the registers, during a proof */
    uint8_t *holds; /**< [room / 4] words per lane in the slot that begins there; 0: no origins */
};

/** @return a frame for a function, with all registers 0. It is one of the worker's free frames, if
 * one is large enough. */
struct vg_frame *vg_frame_new(struct vg_worker *worker, struct ir_function *f);
void vg_frame_free(struct vg_worker *worker, struct vg_frame *frame);
void vg_frame_fill(struct vg_frame *frame, const struct vg_launch *launch);
