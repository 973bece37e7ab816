#include "vgpu/probe/race_words.h"

#include <stdlib.h>
#include <string.h>

/* The arrays of words, one after the other: those of the table, and the marks. */
enum { WORD_ARRAYS = RACE_ARRAYS + 2 };

bool race_open(struct race_shadow *s, size_t bytes)
{
    memset(s, 0, offsetof(struct race_shadow, log));
    const size_t n = race_array_elems(bytes);
    uint32_t *at = calloc(WORD_ARRAYS * n, sizeof *at);
    if (!at)
        return false;
    s->bytes = bytes;
    s->epoch = 1;
    s->read_at = at;
    s->written_at = at + n;
    race_table_place(&s->words, at + 2 * n, n);
    return true;
}

void race_close(struct race_shadow *s)
{
    free(s->read_at);
    free(s->parted_at);
    s->read_at = s->parted_at = NULL;
}

void race_barrier(struct race_shadow *s)
{
    s->logged = 0;
    if (++s->epoch == RACE_EPOCHS) { /* the epochs are used up: clear all marks */
        memset(s->read_at, 0, WORD_ARRAYS * race_array_elems(s->bytes) * sizeof *s->read_at);
        free(s->parted_at);
        s->parted_at = NULL;
        s->parted = s->atomics = 0;
        s->epoch = 1;
    }
}

void race_reset(struct race_shadow *s)
{
    race_barrier(s);
}

struct race_hit race_enter(struct race_shadow *s, uint32_t address, uint32_t bytes,
                           struct race_access who, enum race_access_kind kind)
{
    race_replay(s);
    return race_words_enter(s, address, bytes, who, kind);
}

bool race_is_released(struct race_shadow *s, uint32_t address, struct race_access who)
{
    race_replay(s);
    return race_words_are_released(s, address, who);
}

void race_replay(struct race_shadow *s)
{
    if (s->logged)
        race_words_enter_warps(s, s->log, s->logged);
    s->logged = 0;
}

bool race_enter_atomics(struct race_shadow *s, const struct race_entry *warp,
                        const uint32_t address[32])
{
    race_replay(s);
    return race_words_enter_atomics(s, warp, address);
}

bool race_settle_last(struct race_shadow *s)
{
    const struct race_entry *last = &s->log[--s->logged];
    race_replay(s);
    if (race_words_conflict(s, last))
        return false;
    race_words_enter_warps(s, last, 1);
    return true;
}
