/** @file
 * Races between a block and the grids that it has launched. Their accesses are unordered: a grid
 * may begin as soon as it is launched, and its launcher cannot wait for it. (Tail launches run
 * after the whole grid.)
 *
 * 1. After one of the first blocks of a grid has launched a grid, note its plain accesses to global
 *    memory for each word, up to a limit, with the number of launches before each access.
 * 2. The first blocks of the launched grids look up their own accesses in these notes: if one side
 *    writes a byte and the other reads it, and the launching block's access came after the launch,
 *    this is a finding. (Two writes may store the same value.)
 *
 * Atomics and volatile accesses are omitted, since programs use them to agree on an order. The
 * interpreter executes blocks that record or look up; the findings do not depend on the number of
 * cores.
 */
#pragma once

#include "vgpu/api/vgpu.h"

#include <stdlib.h>

struct ir_insn;
struct vg_block;
struct vg_warp;

/** A grid's first blocks only: notes take memory, look-ups take time. */
enum { CHILD_WATCHED_BLOCKS = 32 };

struct child_access {
    uint32_t insn;
    uint32_t launches; /**< launches before the access; 0: not recorded */
    uint16_t thread;
    uint8_t bytes; /**< of the word, one bit for each */
};

struct child_word {
    uint64_t address; /**< 0: none */
    struct child_access read, write;
};

/** A block's accesses after its launches, shared by the grids that it launched. */
struct child_watch {
    int users;
    uint32_t id[3]; /**< of the block */
    struct vg_dim size;
    const struct vg_kernel *kernel;
    size_t count;
    struct child_word words[]; /**< hashed */
};

/** @return whether a block of a launch must look up its accesses in its launcher's notes. */
bool child_watch_applies(const struct vg_block *b);
/** Drops one user; the last one frees the notes. */
static inline void child_watch_drop(struct child_watch *watch)
{
    if (watch && !--watch->users)
        free(watch);
}
/** Called before a watched warp executes a memory instruction. */
void child_races_access(struct vg_warp *w, const struct ir_insn *in);
