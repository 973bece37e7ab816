#include "vgpu/probe/race_words.h"

#include <stdlib.h>
#include <string.h>

/* The arrays of words, one after the other: the table's, then the marks. */
enum { WORD_ARRAYS = RACE_ARRAYS + 3 };

bool race_open(struct race_shadow *s, size_t bytes)
{
    memset(s, 0, offsetof(struct race_shadow, log));
    const size_t n = race_array_elems(bytes);
    uint32_t *at = calloc(WORD_ARRAYS * n, sizeof *at);
    if (!at)
        return false;
    s->bytes = bytes;
    s->epoch = 1;
    s->room = RACE_LOG;
    s->read_at = at;
    s->written_at = at + n;
    s->narrow_at = at + 2 * n;
    race_table_place(&s->words, at + 3 * n, n);
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
    if (s->keeps_log)
        race_replay(s);
    s->logged = 0;
    if (++s->epoch == RACE_EPOCHS) { /* the epochs are used up: clear all marks */
        memset(s->read_at, 0, WORD_ARRAYS * race_array_elems(s->bytes) * sizeof *s->read_at);
        free(s->parted_at);
        s->parted_at = NULL;
        s->parted = s->atomics = s->narrow = 0;
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

static bool is_strand(const struct race_entry *e)
{
    return e->insn == RACE_STRAND;
}

/* Inserts an entry into a list that is sorted by step. */
static void insert(struct race_entry *sorted, int n, struct race_entry e)
{
    for (; n > 0 && sorted[n - 1].step > e.step; n--)
        sorted[n] = sorted[n - 1];
    sorted[n] = e;
}

/* Enters the reads of all strands that begin at the same step, in the order of their execution.
 * @return the number of these strands */
static int enter_strands(struct race_shadow *s, const struct race_entry *first, int most)
{
    struct race_entry all[RACE_MEMBERS];
    int strands = 0, n = 0;
    const struct race_entry *e = first;
    for (; strands < most && is_strand(e) && e->warp == first->warp && e->step == first->step;
         strands++, e++)
        for (uint32_t k = 0; k < e->strand->count && n < RACE_MEMBERS; k++) {
            const struct race_member *m = &e->strand->of[k];
            struct race_entry one = *e;
            one.insn = m->insn;
            one.step += m->step;
            for (int g = 0; g < 4; g++) {
                one.base[g] += m->offset;
                one.stride[g] = (uint16_t)(e->steps >> g & 1 ? e->bytes : 0);
            }
            if (e->is_scattered)
                one.relative = race_relative(s, e);
            insert(all, n++, one);
        }
    race_words_enter_warps(s, all, n);
    return strands;
}

void race_replay(struct race_shadow *s)
{
    for (int i = 0; i < s->logged;) {
        int end = i;
        while (end < s->logged && !is_strand(&s->log[end]))
            end++;
        if (end > i)
            race_words_enter_warps(s, &s->log[i], end - i);
        i = end;
        if (i < s->logged)
            i += enter_strands(s, &s->log[i], s->logged - i);
    }
    s->logged = 0;
}

bool race_enter_atomics(struct race_shadow *s, const struct race_entry *warp,
                        const uint32_t address[32])
{
    race_replay(s);
    return race_words_enter_atomics(s, warp, address);
}

bool race_settle_last(struct race_shadow *s, int count)
{
    const struct race_entry *const last = &s->log[s->logged -= count];
    race_replay(s);
    for (int i = 0; i < count; i++)
        if (race_words_conflict(s, &last[i]))
            return false;
    race_words_enter_warps(s, last, count);
    for (int i = 0; i < count && s->narrow == s->epoch; i++)
        race_words_forget_bytes(s, &last[i]);
    return true;
}

bool race_settle_strong_read(struct race_shadow *s)
{
    const struct race_entry *last = &s->log[--s->logged];
    race_replay(s);
    return !race_words_conflict_strongly(s, last);
}
