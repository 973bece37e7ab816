#include "vgpu/exec/fragments.h"

#include "vgpu/exec/proof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void vg_fragments_join(struct vg_warp *w)
{
    for (int i = 0; i < w->fragment_count; i++) {
        struct vg_fragment *f = &w->fragments[i];
        for (int k = w->fragment_count - 1; k > i && f->state == FRAGMENT_READY; k--) {
            const struct vg_fragment *other = &w->fragments[k];
            if (other->state != FRAGMENT_READY || other->pc != f->pc || other->frame != f->frame ||
                other->meeting != f->meeting)
                continue;
            f->mask |= other->mask;
            vg_fragment_remove(w, k);
        }
    }
}

int vg_meeting_new(struct vg_warp *w)
{
    int i = 0;
    while (i < w->meeting_room && w->meetings[i].used)
        i++;
    if (i == w->meeting_room) {
        int room = w->meeting_room ? w->meeting_room * 2 : 16;
        struct vg_meeting *more = realloc(w->meetings, (size_t)room * sizeof *more);
        if (!more)
            abort();
        memset(more + w->meeting_room, 0, (size_t)(room - w->meeting_room) * sizeof *more);
        w->meetings = more;
        w->meeting_room = room;
    }
    w->meetings_used++;
    w->meetings[i] = (struct vg_meeting){.used = true, .parent = w->meeting, .frame = w->frame};
    return i;
}

void vg_parameter_copy(const struct vg_warp *w, uint32_t lanes, size_t to, size_t from,
                       size_t bytes)
{
    const size_t room = w->block->launch->local_bytes, stride = w->block->launch->local_stride;
    if (to + bytes > room || from + bytes > room)
        return;
    char *lane = w->local;
    for (uint32_t left = lanes; left; left >>= 1, lane += stride)
        if (left & 1) {
            if (bytes == 4)
                memcpy(lane + to, lane + from, 4);
            else if (bytes == 8)
                memcpy(lane + to, lane + from, 8);
            else
                memmove(lane + to, lane + from, bytes);
        }
    if (w->copies_unset)
        unset_local_copied(w, lanes, to, from, bytes);
    if (w->worker->device->proof)
        for (uint32_t left = lanes; left; left &= left - 1)
            proof_local_copy(w, __builtin_ctz(left), to, from, bytes);
}

/* Copies the results from the callee's local memory to the caller's, and frees the frame. */
static void finish_call(struct vg_warp *w, struct vg_meeting *m)
{
    const struct ir_function *f = m->callee->function;
    const uint32_t *results = m->frame->function->extra + m->call->extra;
    for (uint32_t i = 0; i < results[0] && i < f->return_count; i++)
        vg_parameter_copy(w, m->expected, m->frame->local_base + results[1 + i],
                          m->callee->local_base + f->returns[i].offset, f->returns[i].bytes);
    vg_frame_free(w->worker, m->callee);
}

struct vg_fragment vg_meeting_complete(struct vg_warp *w, struct vg_meeting *m)
{
    struct vg_fragment f = {.pc = m->pc,
                            .frame = m->frame,
                            .mask = m->expected,
                            .meeting = m->parent,
                            .state = FRAGMENT_READY};
    if (m->is_call)
        finish_call(w, m);
    m->used = false;
    w->meetings_used--;
    return f;
}

bool vg_meeting_arrive(struct vg_warp *w, struct vg_meeting *m, uint32_t lanes)
{
    m->arrived |= lanes;
    if (m->arrived != m->expected)
        return false;
    const struct vg_fragment f = vg_meeting_complete(w, m);
    vg_fragment_load(w, &f);
    return true;
}

const char *vg_wait_place(const struct vg_warp *w, uint32_t lanes, char *to, size_t room)
{
    const struct ir_module *m = &w->block->launch->module->ir;
    const uint32_t first = lanes & -lanes;
    const struct ir_insn *pc = NULL;
    for (int k = 0; k < w->fragment_count; k++)
        if (w->fragments[k].mask & first)
            pc = w->fragments[k].pc;
    for (int k = 0; !pc && k < w->meeting_room; k++)
        if (w->meetings[k].used && w->meetings[k].arrived & first)
            pc = w->meetings[k].pc;
    if (pc && pc->location >= 0)
        snprintf(to, room, "line %d", m->locations[pc->location].line);
    else
        snprintf(to, room, "PTX line %d", pc ? pc->ptx_line : 0);
    return to;
}
