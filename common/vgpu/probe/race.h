/** @file
 * Races on shared memory, found per byte, from the reads, writes and atomics since the last
 * barrier.
 *
 * Two accesses by different threads race when one of them writes and no barrier separates them.
 * Tiles are mostly written in one interval between barriers (an epoch) and read in the next, by
 * whole warps. So there are two levels:
 *
 *     marks   per word: the epochs of the last read and the last write. A read cannot race if its
 *             words have no write of this epoch, a write if they have no access of it; such
 *             accesses only go to the log.
 *     words   per word: the threads that read, wrote, did atomics. Filled from the log, in order,
 *             before an access that may race is entered, or when the log is full. A barrier drops
 *             the log.
 *     parts   the same per byte, of words that were accessed in part since the barrier: the state
 *             of the word is copied to its four bytes, which count from then on.
 *
 * Threads of one warp are also ordered by __syncwarp and other warp-wide instructions, counted per
 * warp (warp_epoch).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Readers of a place since the barrier: only the stored thread; it and others of its warp since
 * their last __syncwarp; threads of several warps. */
enum race_readers { RACE_ONE_READER, RACE_ONE_WARP, RACE_SEVERAL_WARPS };

/** The last access of a kind to each place. */
struct race_by {
    uint32_t *who; /**< thread << 16 | warp_epoch */
    uint32_t *insn, *step;
};

/** The last accesses of each kind to each place, a word or a byte of shared memory. A warp mostly
 * accesses consecutive words: they are entered 16 at a time, hence an array for each field. */
struct race_table {
    uint32_t *read;              /**< epoch << RACE_EPOCH_SHIFT | enum race_readers */
    uint32_t *written, *changed; /**< epoch of the last plain write; of atomics after it, or 0 */
    struct race_by reader, writer, changer;
    struct race_by
        other; /**< another reader: another lane if all are of one warp, else of another warp */
};
enum {
    RACE_EPOCH_SHIFT = 2,
    RACE_EPOCHS = 1 << (31 - RACE_EPOCH_SHIFT),
    RACE_ARRAYS = sizeof(struct race_table) / sizeof(uint32_t *)
};

/** Atomics race with plain accesses, not with each other. A strong read (volatile, relaxed,
 * acquire) does not race with atomics and is not stored: threads wait for each other by strong
 * reads. */
enum race_access_kind { RACE_READ, RACE_STRONG_READ, RACE_WRITE, RACE_ATOMIC };

enum race_kind { RACE_NONE, RACE_RAW, RACE_WAR, RACE_WAW };

/** A finding: the instruction that made the earlier access, by its number in the module. The order
 * in which a read and a write were executed means nothing, since threads run in any order. The
 * order in the program counts, that is, in the steps of their warps since the barrier: a read
 * before a write is a WAR hazard, the reverse a RAW hazard. */
struct race_hit {
    enum race_kind kind;
    uint32_t other_insn;
    uint16_t other_thread;
    bool other_writes;
    bool is_copy; /**< the other access is an asynchronous copy that was not waited for, */
    bool is_bulk; /**< ... and completes on a barrier object */
};

/** Reads of a warp that are one entry of the log: the differences between them. */
struct race_strand {
    uint32_t count;
    struct race_member {
        uint32_t insn;
        uint32_t step, offset; /**< beyond the entry's step and addresses */
    } of[];
};
enum { RACE_STRAND = UINT32_MAX }; /**< entry.insn: it is a strand */
enum { RACE_MEMBERS = 64 };        /**< limit for all strands that begin at the same step */

/** A warp's access that is not yet entered in the words. Each group of eight lanes has a constant
 * stride, unless the access is scattered: see race_addresses(). */
struct race_entry {
    uint32_t insn, mask, step;
    uint16_t warp, warp_epoch;
    uint8_t bytes; /**< of a lane */
    uint8_t steps; /**< of a strand: a bit for each eight lanes that are not at the same address */
    bool is_write, is_scattered;
    uint32_t base[4]; /**< address of lane 0, 8, 16, 24, extrapolated if inactive */
    union {
        uint16_t stride[4]; /**< bytes from one lane of the eight to the next */
        const struct race_strand *strand;
    };
};

enum { RACE_LOG = 8192, RACE_MARKS_PAST_END = 64 };

struct race_shadow {
    uint32_t *read_at, *written_at; /**< [words + RACE_MARKS_PAST_END] epochs */
    struct race_table words;        /**< one for each word */
    struct race_table parts;        /**< of each byte; NULL until a word is accessed in part */
    uint32_t *parted_at; /**< of each word: the epoch in which its bytes began to count */
    size_t bytes;        /**< of shared memory covered */
    uint32_t epoch;
    uint32_t parted,
        atomics;    /**< last epoch in which any word was split into bytes, changed by an atomic */
    bool keeps_log; /**< a barrier enters what is in the log, instead of dropping it */
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
/** Starts a new block: accesses of the last one no longer count. */
void race_reset(struct race_shadow *shadow);
/** Records a barrier of the whole block. */
void race_barrier(struct race_shadow *shadow);

/** Enters one thread's access to @p bytes at @p address (inside shared memory). @return its race,
 * if any. */
struct race_hit race_enter(struct race_shadow *shadow, uint32_t address, uint32_t bytes,
                           struct race_access who, enum race_access_kind kind);
/** @return whether another thread's atomic was the last to write a place in this epoch, and no
 * plain write races with it: a thread that acquires the place is ordered after that thread. */
bool race_is_released(struct race_shadow *shadow, uint32_t address, struct race_access who);
/** Enters the accesses in the log. */
void race_replay(struct race_shadow *shadow);
/** Removes the last access from the log, whose marks say that it may race, and enters it unless it
 * races. The lanes of a write do not overlap.
 * @return whether it was entered; if not, race_enter() for each lane reports the race */
bool race_settle_last(struct race_shadow *shadow);

/** Enters a warp's atomics, if since the barrier none of the words has been read, written except by
 * atomics, or accessed in part. @param address  of each lane in the mask of @p warp
 * @return whether they were entered; if not, race_enter() for each lane reports the race */
bool race_enter_atomics(struct race_shadow *shadow, const struct race_entry *warp,
                        const uint32_t address[32]);

/** @return the addresses of the lanes of a scattered access in the log. */
static inline uint32_t *race_addresses(struct race_shadow *shadow, const struct race_entry *entry)
{
    return shadow->scattered[entry - shadow->log];
}

/** @return an entry in the log for an access that cannot race according to the marks of its words;
 * the caller fills it and sets the marks. If the marks say that it may race, race_settle_last()
 * follows. */
static inline struct race_entry *race_log(struct race_shadow *shadow)
{
    if (shadow->logged == RACE_LOG)
        race_replay(shadow);
    return &shadow->log[shadow->logged++];
}
