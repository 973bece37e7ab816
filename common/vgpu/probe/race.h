/** @file
 * Finds races on shared memory, byte by byte, from the reads, writes and atomics since the last
 * barrier.
 *
 * Two accesses by different threads race when one of them writes and no barrier separates them.
 * Tiles are mostly written in one interval between barriers (an epoch) and read in the next, by
 * whole warps. So the state has three levels:
 *
 *     marks   per word: the epochs of the last read and the last write. A read cannot race if its
 *             words were not written in this epoch, a write if they were not accessed; such
 *             accesses are only logged. Narrow writes also mark the bytes of a word, so that two
 *             of them may write different bytes.
 *     words   per word: the threads that read, wrote, or executed atomics. Filled from the log, in
 *             order, before an access that may race is entered, or when the log is full. A barrier
 *             drops the log.
 *     parts   as words, but per byte, for words that were accessed in part since the barrier: the
 *             word's state is copied to its four bytes, which replace it from then on.
 *
 * Threads of one warp are also ordered by __syncwarp and other warp-wide instructions, counted per
 * warp (warp_epoch).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Readers of a location since the barrier: the stored thread only; also others of its warp, since
 * their last __syncwarp; threads of several warps. */
enum race_readers { RACE_ONE_READER, RACE_ONE_WARP, RACE_SEVERAL_WARPS };

/** Per location, the last access of a kind. */
struct race_by {
    uint32_t *who; /**< per location: thread << 16 | warp_epoch */
    uint32_t *insn, *step;
};

/** Per location, a word or a byte of shared memory, the last access of each kind. A warp mostly
 * accesses consecutive words: they are entered 16 at a time, so each field is an array. */
struct race_table {
    uint32_t *read;              /**< epoch << RACE_EPOCH_SHIFT | enum race_readers */
    uint32_t *written, *changed; /**< epoch of the last plain write; of atomics after it, or 0 */
    struct race_by reader, writer, changer;
    struct race_by other; /**< another reader: in another warp if there is one, else another lane */
};
enum {
    RACE_EPOCH_SHIFT = 2,
    RACE_EPOCHS = 1 << 28, /* so that an epoch fits beside four bits for the bytes of a word */
    RACE_ARRAYS = sizeof(struct race_table) / sizeof(uint32_t *)
};

/** Atomics race with plain accesses, not with each other. A strong read (volatile, relaxed,
 * acquire) does not race with atomics and is not stored: threads wait for each other by strong
 * reads. */
enum race_access_kind { RACE_READ, RACE_STRONG_READ, RACE_WRITE, RACE_ATOMIC };

enum race_kind { RACE_NONE, RACE_RAW, RACE_WAR, RACE_WAW };

/** A race: the instruction that made the earlier access, by its number in the module. The order in
 * which a read and a write were executed does not matter, since threads run in any order. The order
 * in the program decides, in steps of their warps since the barrier. If the read comes first, it is
 * a WAR hazard, otherwise a RAW hazard. */
struct race_hit {
    enum race_kind kind;
    uint32_t other_insn;
    uint16_t other_thread;
    bool other_writes;
    bool is_copy; /**< the other access is an asynchronous copy that nobody has waited for, */
    bool is_bulk; /**< ... and completes on a barrier object */
};

/** A strand: several reads by a warp that share one log entry, and how each differs from the
 * entry. */
struct race_strand {
    uint32_t count;
    struct race_member {
        uint32_t insn;
        uint32_t step, offset; /**< to be added to the entry's step and addresses */
    } of[];
};
enum { RACE_STRAND = UINT32_MAX }; /**< value of race_entry.insn for a strand */
enum { RACE_MEMBERS = 64 };        /**< limit for all strands that begin at one step */

/** A warp's access that has not been entered in the words yet. The addresses of each group of eight
 * lanes have a constant stride, unless the access is scattered: then they are base[0] and the lane's
 * element of race_relative(). */
struct race_entry {
    uint32_t insn, mask, step;
    uint16_t warp, warp_epoch;
    uint8_t bytes; /**< per lane */
    uint8_t steps; /**< of a strand: a bit for each eight lanes; 0: they name one address */
    bool is_write, is_scattered;
    uint32_t base[4]; /**< address of lane 0, 8, 16, 24; extrapolated if inactive */
    union {
        uint16_t stride[4]; /**< distance in bytes between adjacent lanes of each eight */
        const struct race_strand *strand;
        const uint32_t *relative; /**< of a scattered access that is not a strand */
    };
};

/** Limits of a log: of a block that has its core for itself, and of a block that shares its core.
 * Hundreds of blocks may share one, so their logs must be short. */
enum { RACE_LOG = 32768, RACE_LOG_BESIDE = 8192, RACE_MARKS_PAST_END = 64 };

struct race_shadow {
    uint32_t *read_at, *written_at; /**< [words + RACE_MARKS_PAST_END] epochs: the marks */
    uint32_t *narrow_at;     /**< as these: epoch << 4 | the bytes that narrow writes wrote, if
                                         no other access has written the word; or 0 */
    struct race_table words; /**< one for each word */
    struct race_table parts; /**< of each byte; NULL until a word is accessed in part */
    uint32_t *parted_at;     /**< [words] epoch in which the word's bytes replaced it */
    size_t bytes;            /**< size of the shared memory */
    uint32_t epoch;
    uint32_t parted,
        atomics,      /**< last epoch in which a word was split into bytes; changed by an atomic; */
        narrow;       /**< ... in which narrow_at was set */
    bool keeps_log;   /**< a barrier enters the log's accesses instead of dropping them */
    int logged, room; /**< entries in the log; their limit, at most RACE_LOG */
    struct race_entry log[RACE_LOG];
    uint32_t scattered[RACE_LOG][32];
};

/** The thread that makes an access. */
struct race_access {
    uint32_t insn; /**< number of the instruction in the module */
    uint32_t step; /**< index of the warp's access since the last barrier */
    uint16_t thread, warp_epoch;
};

bool race_open(struct race_shadow *shadow, size_t bytes);
void race_close(struct race_shadow *shadow);
/** Starts a new block: the last block's accesses no longer count. */
void race_reset(struct race_shadow *shadow);
/** Records a barrier of the whole block. */
void race_barrier(struct race_shadow *shadow);

/** Enters one thread's access to @p bytes bytes at @p address, inside shared memory. @return its
 * race, if any. */
struct race_hit race_enter(struct race_shadow *shadow, uint32_t address, uint32_t bytes,
                           struct race_access who, enum race_access_kind kind);
/** @return whether another thread's atomic was the last write to a word in this epoch, and no plain
 * write races with it: a thread that acquires the word is ordered after that thread. */
bool race_is_released(struct race_shadow *shadow, uint32_t address, struct race_access who);
/** Enters the accesses that are in the log. */
void race_replay(struct race_shadow *shadow);
/** Takes the last access out of the log and enters it unless it races; call this if its marks say
 * that it may race. The lanes of a write must not overlap. An access can have several entries
 * (@p count) that do not overlap; before they are logged, make room for them.
 * @return whether it was entered; if not, race_enter() for each lane reports the race */
bool race_settle_last(struct race_shadow *shadow, int count);

/** As race_settle_last(), for a strong read: it races only with plain writes, and is not entered.
 * @return whether it does not race */
bool race_settle_strong_read(struct race_shadow *shadow);

/** Enters a warp's atomics, if since the barrier their words have not been read, plainly written,
 * or accessed in part. @param address  of each lane in the mask of @p warp
 * @return whether they were entered; if not, race_enter() for each lane reports the race */
bool race_enter_atomics(struct race_shadow *shadow, const struct race_entry *warp,
                        const uint32_t address[32]);

/** @return for a scattered access in the log, the addresses of its lanes minus base[0]. */
static inline uint32_t *race_relative(struct race_shadow *shadow, const struct race_entry *entry)
{
    return shadow->scattered[entry - shadow->log];
}

/** Enters the log's accesses if it does not have room for @p count more. */
static inline void race_make_room(struct race_shadow *shadow, int count)
{
    if (shadow->logged + count > shadow->room)
        race_replay(shadow);
}

/** @param bytes  mask of bytes of a word @return whether only narrow writes to other bytes have
 * written the word in this epoch; then a write to these bytes does not race with them */
static inline bool race_bytes_are_free(const struct race_shadow *shadow, uint32_t word,
                                       uint32_t bytes)
{
    const uint32_t written = shadow->narrow_at[word] ^ shadow->epoch << 4;
    return written < 16 && !(written & bytes);
}

/** Marks the bytes of a narrow write whose word was not written, or had these bytes free. */
static inline void race_mark_bytes(struct race_shadow *shadow, uint32_t word, uint32_t bytes)
{
    uint32_t *const at = &shadow->narrow_at[word];
    shadow->narrow = shadow->epoch;
    *at = ((*at ^ shadow->epoch << 4) < 16 ? *at : shadow->epoch << 4) | bytes;
}

/** Adds an access to the log. The caller fills the entry and sets the marks of its words. If the
 * marks said before that the access may race, the caller then calls race_settle_last(). @return the
 * entry */
static inline struct race_entry *race_log(struct race_shadow *shadow)
{
    if (shadow->logged >= shadow->room)
        race_replay(shadow);
    return &shadow->log[shadow->logged++];
}
