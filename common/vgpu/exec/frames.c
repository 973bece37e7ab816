/* A frame holds the registers of the function that a fragment executes, with the function's
 * constants filled in. */
#include "vgpu/exec/proof.h"

#include <stdlib.h>
#include <string.h>

struct vg_frame *vg_frame_new(struct vg_worker *worker, struct ir_function *f)
{
    struct vg_frame **at = &worker->free_frames, *frame;
    while (*at && (*at)->room < f->frame_bytes)
        at = &(*at)->next_free;
    frame = *at;
    if (frame) {
        *at = frame->next_free;
    } else {
        frame = calloc(1, sizeof *frame);
        if (!frame)
            abort();
        frame->room = f->frame_bytes;
        frame->regs = aligned_alloc(64, f->frame_bytes);
        if (!frame->regs)
            abort();
    }
    memset(frame->regs, 0, f->frame_bytes);
    if (!proof_frame_new(worker, frame))
        abort();
    frame->function = f;
    frame->caller = NULL;
    frame->local_base = frame->local_top = 0;
    return frame;
}

void vg_frame_free(struct vg_worker *worker, struct vg_frame *frame)
{
    frame->next_free = worker->free_frames;
    worker->free_frames = frame;
}

static uint64_t constant_bits(const struct ir_constant *c, const struct vg_launch *launch)
{
    if (!c->is_param)
        return c->bits;
    uint64_t v = 0;
    memcpy(&v, launch->parameter_copy + c->bits, c->param_bytes);
    if (c->param_signed && c->param_bytes < 8)
        v = (uint64_t)((int64_t)(v << (64 - 8 * c->param_bytes)) >> (64 - 8 * c->param_bytes));
    return v;
}

void vg_frame_fill(struct vg_frame *frame, const struct vg_launch *launch)
{
    const struct ir_function *f = frame->function;
    for (size_t i = 0; i < f->constant_count; i++) {
        const struct ir_constant *c = &f->constants[i];
        const uint64_t v = constant_bits(c, launch);
        uint64_t *const to = (uint64_t *)(void *)(frame->regs + c->offset);
        const uint64_t both = c->wide ? v : (v & 0xffffffff) | v << 32;
        for (int k = 0; k < (c->wide ? VG_LANES : VG_LANES / 2); k++)
            to[k] = both;
    }
    proof_frame_fill(frame, launch);
}
