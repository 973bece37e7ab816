/** @file
 * Races on shared memory, found per byte: who read, wrote or did atomics since the last barrier.
 *
 * Two accesses by different threads race when one writes and no barrier stands between them. Tiles
 * are mostly written in one interval between barriers (an epoch) and read in the next, by whole
 * warps. So there are two levels:
 *
 *     marks   per word: the epochs of the last read and the last write. An access that finds no
 *             write (a write: nothing at all) of this epoch in its words cannot race, and only goes
 *             to the log.
 *     words   per word: who read, who wrote, who did atomics. Filled from the log, in order, before an
 *             access is entered that may race, or when the log is full. A barrier drops the log.
 *     parts   the same per byte, of words that somebody accessed in part since the barrier: what was
 *             known of the word is copied to its four bytes, and counts there from then on.
 *
 * Threads of one warp are also ordered by __syncwarp and other warp-wide instructions, counted per
 * warp (warp_epoch).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Readers of a place since the barrier: the thread that is noted; it and others of its warp since
 * their last __syncwarp; threads of several warps. */
enum race_readers { RACE_ONE_READER, RACE_ONE_WARP, RACE_SEVERAL_WARPS };

/** An access to each place. */
struct race_by {
    uint32_t *who; /**< thread << 16 | warp_epoch */
    uint32_t *insn, *step;
};

/** The last accesses of each kind to each place, a word or a byte of shared memory. A warp's accesses are
 * mostly to words in a row: they are entered 16 at a time, hence an array for each field. */
struct race_table {
    uint32_t *read;              /**< epoch << RACE_EPOCH_SHIFT | enum race_readers */
    uint32_t *written, *changed; /**< epoch of the last plain write; of atomics after it, or 0 */
    struct race_by reader, writer, changer;
    struct race_by
        other; /**< of several readers, another one: of one warp another lane, else of another warp */
};
enum {
    RACE_EPOCH_SHIFT = 2,
    RACE_EPOCHS = 1 << (31 - RACE_EPOCH_SHIFT),
    RACE_ARRAYS = sizeof(struct race_table) / sizeof(uint32_t *)
};

/** Atomics race with plain accesses, not with each other. A strong read (volatile, relaxed,
 * acquire) does not race with atomics and is not remembered: that is how threads wait for each
 * other. */
enum race_access_kind { RACE_READ, RACE_STRONG_READ, RACE_WRITE, RACE_ATOMIC };

enum race_kind { RACE_NONE, RACE_RAW, RACE_WAR, RACE_WAW };

/** A finding: the instruction that made the earlier access, by its number in the module. Which of a
 * read and a write happened to come first says nothing, since threads run in any order; what counts
 * is which comes first in the program, that is, in its own warp's steps since the barrier: a read
 * before a write is a WAR hazard, the reverse a RAW hazard. */
struct race_hit {
    enum race_kind kind;
    uint32_t other_insn;
    uint16_t other_thread;
    bool other_writes;
    bool is_copy; /**< the other is an asynchronous copy that was not waited for */
};

/** A warp's access that is not entered in the words yet. The lanes of each eight are in steps, or,
 * if it is scattered, anywhere: see race_addresses(). */
struct race_entry {
    uint32_t insn, mask, step;
    uint16_t warp, warp_epoch;
    uint16_t bytes; /**< of a lane */
    bool is_write, is_scattered;
    uint32_t base[4];   /**< address of lane 0, 8, 16, 24, or where it would be if it took part */
    uint16_t stride[4]; /**< bytes from one lane of the eight to the next */
};

enum { RACE_LOG = 1024, RACE_MARKS_PAST_END = 64 };

struct race_shadow {
    uint32_t *read_at, *written_at; /**< [words + RACE_MARKS_PAST_END] epochs */
    struct race_table words;        /**< as many */
    struct race_table parts; /**< of each byte; NULL until somebody accesses a word in part */
    uint32_t *parted_at;     /**< of each word: the epoch in which its bytes began to count */
    size_t bytes;            /**< of shared memory covered */
    uint32_t epoch;
    uint32_t parted,
        atomics; /**< the last epochs in which a word was parted, changed by an atomic */
    int logged;
    struct race_entry log[RACE_LOG];
    uint32_t scattered[RACE_LOG][32];
};

/** The accessing thread. */
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

/** Enters one thread's access to @p bytes at @p address (inside). @return the race it makes, if any. */
struct race_hit race_enter(struct race_shadow *shadow, uint32_t address, uint32_t bytes,
                           struct race_access who, enum race_access_kind kind);
/** @return whether another thread's atomic was the last to write a place in this epoch, and no plain write
 * races with it: who acquires it is ordered after that thread. */
bool race_is_released(struct race_shadow *shadow, uint32_t address, struct race_access who);
/** Enters what is in the log. */
void race_replay(struct race_shadow *shadow);
/** Takes the last access out of the log, whose marks say that it may race, and enters it unless it
 * does. The lanes of a write do not overlap.
 * @return whether it was entered; if not, race_enter() for each lane says what is wrong */
bool race_settle_last(struct race_shadow *shadow);

/** Enters a warp's atomics, if all words are ones that nobody has read since the barrier, written but
 * with atomics, or accessed in part. @param warp  the access, without its addresses: those are beside it, of each lane in
 * the mask. @return whether they were entered; if not, race_enter() for each lane says what is wrong */
bool race_enter_atomics(struct race_shadow *shadow, const struct race_entry *warp,
                        const uint32_t address[32]);

/** Room for the address of each lane of a scattered access in the log. */
static inline uint32_t *race_addresses(struct race_shadow *shadow, const struct race_entry *entry)
{
    return shadow->scattered[entry - shadow->log];
}

/** A place in the log for an access whose words' marks say that it cannot race; the caller fills it
 * and sets the marks. If they say that it may, race_settle_last() follows. */
static inline struct race_entry *race_log(struct race_shadow *shadow)
{
    if (shadow->logged == RACE_LOG)
        race_replay(shadow);
    return &shadow->log[shadow->logged++];
}
