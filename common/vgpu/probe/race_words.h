/** @file
 * The state of each word of shared memory, and the rules by which an access races with it. race.c
 * uses them; it decides when an access is entered.
 */
#pragma once

#include "vgpu/probe/race.h"

/** @return the length of an array with an element for each word of @p bytes bytes of shared memory,
 * and for rows that are read past the end. */
static inline size_t race_array_elems(size_t bytes)
{
    return (bytes / 4 + 1 + RACE_MARKS_PAST_END + 15) / 16 * 16;
}

/** Sets a table's arrays to consecutive parts of one allocation. */
static inline void race_table_place(struct race_table *table, uint32_t *at, size_t elems)
{
    uint32_t **const arrays = (uint32_t **)table;
    for (int i = 0; i < RACE_ARRAYS; i++)
        arrays[i] = at + (size_t)i * elems;
}

/** Enters one thread's access and marks its words. @return its race, if any. */
struct race_hit race_words_enter(struct race_shadow *shadow, uint32_t address, uint32_t bytes,
                                 struct race_access who, enum race_access_kind kind);
/** See race_is_released(). */
bool race_words_are_released(const struct race_shadow *shadow, uint32_t address,
                             struct race_access who);
/** The marks of narrow writes no longer count for the words of a write. */
void race_words_forget_bytes(struct race_shadow *shadow, const struct race_entry *access);
/** Enters plain accesses of warps. Does the same as race_words_enter() for each lane in ascending
 * order, but does not search for races or set marks. */
void race_words_enter_warps(struct race_shadow *shadow, const struct race_entry *access, int count);
/** See race_enter_atomics(). */
bool race_words_enter_atomics(struct race_shadow *shadow, const struct race_entry *warp,
                              const uint32_t address[32]);
/** @return whether any lane of a plain access would race with an earlier one. */
bool race_words_conflict(struct race_shadow *shadow, const struct race_entry *access);
/** As race_words_conflict(), for a strong read. */
bool race_words_conflict_strongly(struct race_shadow *shadow, const struct race_entry *read);
