/** @file
 * The fragments of a warp and the meetings where they wait for each other; see vg_warp.h.
 *
 * An operation that ends a fragment's turn returns NULL. Before it returns, it counts the
 * fragment's lanes in a meeting, ends them, or parks them with a state.
 */
#pragma once

#include "vgpu/exec/vg_warp.h"

/** The number of backward branches after which a fragment's turn ends: for the only fragment of a
 * warp, for one of several, and for one that changed nothing in its last turn. A warp's turn ends
 * after TURN_FRAGMENTS changes of the fragment, because those of a loop may meet before each
 * backward branch. */
enum { TURN_CONVERGED = 20000, TURN_DIVERGED = 1024, TURN_SPINNING = 64, TURN_FRAGMENTS = 1024 };

/** Makes a fragment the running one. */
static inline void vg_fragment_load(struct vg_warp *w, const struct vg_fragment *f)
{
    w->mask = f->mask;
    w->meeting = f->meeting;
    w->frame = f->frame;
    w->regs = f->frame->regs;
    w->insns = f->frame->function->insns;
}

/** Parks lanes of the running fragment, to resume at @p pc. */
static inline struct vg_fragment *vg_fragment_park(struct vg_warp *w, const struct ir_insn *pc,
                                                   uint32_t mask, int meeting,
                                                   enum vg_fragment_state state)
{
    struct vg_fragment *f = &w->fragments[w->fragment_count++];
    *f = (struct vg_fragment){
        .pc = pc, .frame = w->frame, .mask = mask, .meeting = meeting, .state = state};
    return f;
}

/** Removes a parked fragment from the list. */
static inline void vg_fragment_remove(struct vg_warp *w, int i)
{
    w->fragment_count--;
    memmove(&w->fragments[i], &w->fragments[i + 1],
            (size_t)(w->fragment_count - i) * sizeof *w->fragments);
}

/** Joins ready fragments that are at the same instruction of the same frame. */
void vg_fragments_join(struct vg_warp *w);
/** Writes the line where the first of some lanes waits. @return @p to */
const char *vg_wait_place(const struct vg_warp *w, uint32_t lanes, char *to, size_t room);
/** Creates a meeting in the running frame. @return its index in w->meetings. */
int vg_meeting_new(struct vg_warp *w);
/** Called when all expected lanes have arrived. @return their fragment after the meeting; after a
 * call, copies its results and frees its frame. */
struct vg_fragment vg_meeting_complete(struct vg_warp *w, struct vg_meeting *m);
/** Counts lanes that arrive at a meeting. @return whether all have arrived; then these become the
 * running fragment. */
bool vg_meeting_arrive(struct vg_warp *w, struct vg_meeting *m, uint32_t lanes);
/** Copies a parameter or a result inside the local memory of each of these lanes. Damaged PTX may
 * pass fewer bytes than the callee takes: nothing is copied from or to outside this memory. */
void vg_parameter_copy(const struct vg_warp *w, uint32_t lanes, size_t to, size_t from,
                       size_t bytes);
