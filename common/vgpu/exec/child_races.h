/** @file
 * Races between a block and the grids that it has launched. They are unordered: a grid may begin as
 * soon as it is launched, and its launcher cannot wait for it. (Tail launches run after the whole
 * grid.)
 *
 * 1. Once one of the first blocks of a grid has launched, its plain accesses to global memory are noted by the
 *    word, up to a limit, with the number of launches before them.
 * 2. The first blocks of the grids that it launched look up their own accesses: a byte that one
 *    side writes and the other reads, after that launch, is a finding. (Two writes may store the
 *    same value.)
 *
 * Atomics and volatile accesses are omitted, since programs agree on an order by them. The
 * interpreter executes blocks that record or look up; the findings do not depend on the cores.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

#include <stdlib.h>

/** Of a grid, the first ones: notes take memory, and looking up takes time. */
enum { CHILD_WATCHED_BLOCKS = 32 };

struct child_access {
    uint32_t insn;
    uint32_t launches; /**< before it; 0: not recorded */
    uint16_t thread;
    uint8_t bytes; /**< of the word, one bit each */
};

struct child_word {
    uint64_t address; /**< 0: none */
    struct child_access read, write;
};

/** The accesses of a block after its launches, shared by its children. */
struct child_watch {
    int users;
    uint32_t id[3]; /**< of the block */
    struct vg_dim size;
    const struct vg_kernel *kernel;
    size_t count;
    struct child_word words[]; /**< hashed */
};

/** @return whether a block of a launch has to look up its accesses. */
bool child_watch_applies(const struct vg_block *b);
/** Drops one user. */
static inline void child_watch_drop(struct child_watch *watch)
{
    if (watch && !--watch->users)
        free(watch);
}
/** Called before a watched warp executes a memory instruction. */
void child_races_access(struct vg_warp *w, const struct ir_insn *in);
