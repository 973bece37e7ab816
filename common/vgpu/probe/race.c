#include "vgpu/probe/race_words.h"

#include <stdlib.h>
#include <string.h>

/* The arrays, one after the other: of the marks, of the last reads, of the last writes. */
enum { ARRAYS = 10 };

static size_t array_elems(size_t bytes)
{
    return (bytes / 4 + 1 + RACE_MARKS_PAST_END + 15) / 16 * 16;
}

bool race_open(struct race_shadow *s, size_t bytes)
{
    memset(s, 0, offsetof(struct race_shadow, log));
    const size_t n = array_elems(bytes);
    uint32_t *at = calloc(ARRAYS * n, sizeof *at);
    if (!at)
        return false;
    s->bytes = bytes;
    s->epoch = 1;
    uint32_t **const arrays[ARRAYS] = {
        &s->read_at,    &s->written_at,   &s->reads.state, &s->reads.who,   &s->reads.insn,
        &s->reads.step, &s->writes.state, &s->writes.who,  &s->writes.insn, &s->writes.step};
    for (int i = 0; i < ARRAYS; i++)
        *arrays[i] = at + (size_t)i * n;
    return true;
}

void race_close(struct race_shadow *s)
{
    free(s->read_at);
    s->read_at = NULL;
}

void race_barrier(struct race_shadow *s)
{
    s->logged = 0;
    if (++s->epoch == RACE_EPOCHS) { /* after 16 million barriers: forget what is old */
        memset(s->read_at, 0, ARRAYS * array_elems(s->bytes) * sizeof *s->read_at);
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
    return race_words_are_released(s, address / 4, who);
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
