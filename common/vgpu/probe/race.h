/** @file
 * Races on shared memory, found per byte: who wrote and who read since the last barrier.
 *
 * Two accesses by different threads race when one writes and no barrier stands between them. An
 * interval between barriers (an epoch) in which nobody writes cannot have a race, and tiles are
 * mostly read in such intervals. So reads only go to a log; a write replays the log into the shadow
 * words first, and a barrier drops it.
 *
 * Threads of one warp are also ordered by __syncwarp and other warp-wide instructions, counted per
 * warp (warp_epoch).
 */
#ifndef CONVLAB_VGPU_RACE_H
#define CONVLAB_VGPU_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One 4-byte word of shared memory. */
struct race_word {
    uint32_t write_epoch, write_insn, read_epoch, read_insn;
    uint32_t write_step, read_step;
    uint16_t write_thread, read_thread;
    uint16_t write_warp_epoch, read_warp_epoch;
    uint8_t write_bytes, read_bytes;
    uint8_t read_by_many, padding;
};

enum race_kind { RACE_NONE, RACE_RAW, RACE_WAR, RACE_WAW };

/** A finding: the instruction that made the earlier access, by its number in the module. Which of a
 * read and a write happened to come first says nothing, since threads run in any order; what counts
 * is which comes first in the program, that is, in its own warp's steps since the barrier: a read
 * before a write is a WAR hazard, the reverse a RAW hazard. */
struct race_hit {
    enum race_kind kind;
    uint32_t other_insn;
    uint16_t other_thread;
};

struct race_read {
    uint32_t insn, mask, step;
    uint16_t warp, warp_epoch;
    uint16_t bytes;
    uint32_t address[32];
};

enum { RACE_LOG = 512 };

struct race_shadow {
    struct race_word *words;
    size_t bytes; /**< of shared memory covered */
    uint32_t epoch;
    bool written; /**< somebody wrote in this epoch: reads are entered at once */
    int logged;
    struct race_read log[RACE_LOG];
};

/** Who accesses. */
struct race_access {
    uint32_t insn; /**< number of the instruction in the module */
    uint32_t step; /**< number of the warp's access since the last barrier */
    uint16_t thread, warp_epoch;
};

bool race_open(struct race_shadow *shadow, size_t bytes);
void race_close(struct race_shadow *shadow);
/** A new block starts: nothing of the last one counts. */
void race_reset(struct race_shadow *shadow);
/** A barrier of the whole block. */
void race_barrier(struct race_shadow *shadow);

/** Enters one thread's read of @p bytes at @p address (inside). @return the race it makes, if any.
 */
struct race_hit race_read(struct race_shadow *shadow, uint32_t address, uint32_t bytes,
                          struct race_access who);
/** The same for a write. */
struct race_hit race_write(struct race_shadow *shadow, uint32_t address, uint32_t bytes,
                           struct race_access who);
/** @return whether nobody touched a word since the last barrier. */
static inline bool race_is_fresh(const struct race_shadow *shadow, uint32_t address)
{
    const struct race_word *w = &shadow->words[address / 4];
    return w->write_epoch != shadow->epoch && w->read_epoch != shadow->epoch;
}

/** Enters a write of a whole fresh word: there is nothing to race with. */
static inline void race_enter_write(struct race_shadow *shadow, uint32_t address,
                                    struct race_access who)
{
    struct race_word *w = &shadow->words[address / 4];
    w->write_epoch = shadow->epoch;
    w->write_insn = who.insn;
    w->write_step = who.step;
    w->write_thread = who.thread;
    w->write_warp_epoch = who.warp_epoch;
    w->write_bytes = 0xf;
}

/** Before the first write of an epoch: enters what is in the log. Reads in it cannot race with
 * writes of this epoch, because there are none yet. */
void race_replay(struct race_shadow *shadow);

#endif
