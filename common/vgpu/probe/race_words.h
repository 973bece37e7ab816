/** @file
 * What is known of each word of shared memory, and the rules by which an access races with it. For
 * race.c, which says when an access is entered. */
#ifndef CONVLAB_VGPU_RACE_WORDS_H
#define CONVLAB_VGPU_RACE_WORDS_H

#include "vgpu/probe/race.h"

/** Enters one thread's access and marks its words. @return the race it makes, if any. */
struct race_hit race_words_enter(struct race_shadow *shadow, uint32_t address, uint32_t bytes,
                                 struct race_access who, enum race_access_kind kind);
/** @return whether an atomic of another thread was the last to write a word. */
bool race_words_are_released(const struct race_shadow *shadow, uint32_t word,
                             struct race_access who);
/** Enters plain accesses of warps: as race_words_enter() does for each lane in ascending order, but
 * without a look for races and without marks. */
void race_words_enter_warps(struct race_shadow *shadow, const struct race_entry *access, int count);
/** As race_enter_atomics(). */
bool race_words_enter_atomics(struct race_shadow *shadow, const struct race_entry *warp,
                              const uint32_t address[32]);
/** @return whether any lane of a plain access would race with an earlier one. */
bool race_words_conflict(struct race_shadow *shadow, const struct race_entry *access);

#endif
