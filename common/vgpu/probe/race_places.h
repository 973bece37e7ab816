/** @file
 * The rules: the state of one location (a word or a byte of shared memory) after an access, and the
 * states with which an access races. race_words.c repeats them for 16 words at a time.
 */
#pragma once

#include "vgpu/probe/race.h"

#include <stddef.h>

enum { WORD_BYTES = 4 };

/* ---- one location ---------------------------------------------------------------------------- */

static inline uint32_t who_of(struct race_access a)
{
    return (uint32_t)a.thread << 16 | a.warp_epoch;
}

static inline uint32_t thread_of(uint32_t who)
{
    return who >> 16;
}

static inline uint32_t warp_of(uint32_t who)
{
    return who >> 21;
}

static inline uint32_t warp_epoch_of(uint32_t who)
{
    return who & 0xffff;
}

static inline uint32_t read_state(const struct race_shadow *s, enum race_readers readers)
{
    return s->epoch << RACE_EPOCH_SHIFT | readers;
}

static inline bool is_read(const struct race_shadow *s, uint32_t state)
{
    return state >> RACE_EPOCH_SHIFT == s->epoch;
}

static inline enum race_readers readers_of(uint32_t state)
{
    return (enum race_readers)(state & ((1 << RACE_EPOCH_SHIFT) - 1));
}

/* @return whether two accesses of this epoch are unordered. */
static inline bool unordered(uint32_t a, uint32_t b)
{
    if (thread_of(a) == thread_of(b))
        return false;
    return warp_of(a) != warp_of(b) || warp_epoch_of(a) == warp_epoch_of(b);
}

static inline void note(const struct race_by *by, uint32_t i, struct race_access a)
{
    by->who[i] = who_of(a);
    by->insn[i] = a.insn;
    by->step[i] = a.step;
}

/* The last reader is stored, with its order relative to the other readers. Readers of its warp
 * before the last __syncwarp need not be stored: what the last reader precedes, they also
 * precede. */
static inline enum race_readers readers_with(enum race_readers readers, uint32_t last, uint32_t who)
{
    if (warp_of(last) != warp_of(who) || readers == RACE_SEVERAL_WARPS)
        return RACE_SEVERAL_WARPS;
    if (warp_epoch_of(last) != warp_epoch_of(who))
        return RACE_ONE_READER;
    return thread_of(last) == thread_of(who) ? readers : RACE_ONE_WARP;
}

/* `other` is in another lane or another warp than the last reader. @return whether the last reader
 * must be stored as `other`. */
static inline bool becomes_other(enum race_readers before, enum race_readers now, uint32_t other,
                                 uint32_t who)
{
    if (now == RACE_ONE_READER || now != before)
        return now != RACE_ONE_READER;
    return now == RACE_ONE_WARP ? thread_of(other) == thread_of(who)
                                : warp_of(other) == warp_of(who);
}

static inline void enter_read(const struct race_shadow *s, const struct race_table *t, uint32_t i,
                              struct race_access a)
{
    const uint32_t state = t->read[i], last = t->reader.who[i], who = who_of(a);
    const bool current = is_read(s, state);
    const enum race_readers before = readers_of(state),
                            now = current ? readers_with(before, last, who) : RACE_ONE_READER;
    if (current && becomes_other(before, now, t->other.who[i], who)) {
        t->other.who[i] = last;
        t->other.insn[i] = t->reader.insn[i];
        t->other.step[i] = t->reader.step[i];
    }
    t->read[i] = read_state(s, now);
    if (current && thread_of(last) == thread_of(who))
        t->reader.who[i] = who;
    else
        note(&t->reader, i, a);
}

/* @return a reader whose read is unordered with a write by @p who, or NULL. */
static inline const struct race_by *unordered_reader(const struct race_table *t, uint32_t i,
                                                     uint32_t who)
{
    const enum race_readers readers = readers_of(t->read[i]);
    if (unordered(t->reader.who[i], who))
        return &t->reader;
    return readers != RACE_ONE_READER && unordered(t->other.who[i], who) ? &t->other : NULL;
}

static inline struct race_hit hit_of(const struct race_by *by, uint32_t i, enum race_kind kind,
                                     bool writes)
{
    return (struct race_hit){kind,   by->insn[i], (uint16_t)thread_of(by->who[i]),
                             writes, false,       false};
}

/* @return the earlier access to a location with which an access by @p who races. Atomics race only
 * with accesses that are not atomic. */
static inline struct race_hit find_hit(const struct race_shadow *s, const struct race_table *t,
                                       uint32_t i, struct race_access a, enum race_access_kind kind)
{
    const uint32_t who = who_of(a);
    const bool is_plain = kind == RACE_READ || kind == RACE_WRITE;
    const struct race_by *by = NULL;
    if (is_plain && t->changed[i] == s->epoch && unordered(t->changer.who[i], who))
        by = &t->changer;
    else if (t->written[i] == s->epoch && unordered(t->writer.who[i], who))
        by = &t->writer;
    if (by)
        return hit_of(by, i,
                      kind == RACE_WRITE     ? RACE_WAW
                      : a.step < by->step[i] ? RACE_WAR
                                             : RACE_RAW,
                      true);
    if ((kind == RACE_WRITE || kind == RACE_ATOMIC) && is_read(s, t->read[i]) &&
        (by = unordered_reader(t, i, who)))
        return hit_of(by, i, a.step < by->step[i] ? RACE_RAW : RACE_WAR, false);
    return (struct race_hit){.kind = RACE_NONE};
}

static inline void enter_place(struct race_shadow *s, const struct race_table *t, uint32_t i,
                               struct race_access a, enum race_access_kind kind)
{
    if (kind == RACE_READ) {
        enter_read(s, t, i, a);
    } else if (kind == RACE_WRITE) {
        t->written[i] = s->epoch;
        t->changed[i] = 0;
        note(&t->writer, i, a);
    } else if (kind == RACE_ATOMIC) {
        t->changed[i] = s->atomics = s->epoch;
        note(&t->changer, i, a);
    }
}

/* ---- words and their parts ------------------------------------------------------------------- */

static inline bool is_parted(const struct race_shadow *s, uint32_t word)
{
    return s->parted == s->epoch && s->parted_at[word] == s->epoch;
}

/** Splits a word: from now on its bytes count separately. @return false: out of memory; parts are
 * then not checked. */
bool race_part(struct race_shadow *shadow, uint32_t word);

/* Executes BODY for each location of an access: a whole word, or a byte of a split word. */
#define EACH_PLACE(s, address, bytes, table, i, BODY)                                              \
    for (uint32_t at_ = (address), end_ = at_ + (bytes), next_; at_ < end_; at_ = next_) {         \
        const uint32_t word_ = at_ / WORD_BYTES;                                                   \
        const bool whole_ = at_ % WORD_BYTES == 0 && end_ - at_ >= WORD_BYTES;                     \
        const bool by_word_ = whole_ && !is_parted(s, word_);                                      \
        const struct race_table *const table = by_word_ ? &(s)->words : &(s)->parts;               \
        const uint32_t i = by_word_ ? word_ : at_;                                                 \
        next_ = at_ + (by_word_ ? WORD_BYTES : 1);                                                 \
        if (by_word_ || race_part(s, word_))                                                       \
            BODY;                                                                                  \
    }
