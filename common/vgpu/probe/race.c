#include "vgpu/probe/race.h"

#include <stdlib.h>
#include <string.h>

bool race_open(struct race_shadow *s, size_t bytes)
{
    memset(s, 0, offsetof(struct race_shadow, log));
    size_t words = bytes / 4 + 1;
    s->bytes = bytes;
    s->epoch = 1;
    s->words = calloc(words, sizeof *s->words);
    s->read_at = calloc(words + RACE_MARKS_PAST_END, sizeof *s->read_at);
    s->written_at = calloc(words + RACE_MARKS_PAST_END, sizeof *s->written_at);
    if (s->words && s->read_at && s->written_at)
        return true;
    race_close(s);
    return false;
}

void race_close(struct race_shadow *s)
{
    free(s->words);
    free(s->read_at);
    free(s->written_at);
    s->words = NULL;
    s->read_at = s->written_at = NULL;
}

void race_barrier(struct race_shadow *s)
{
    s->logged = 0;
    if (++s->epoch == 0) { /* after 4 billion barriers: forget what is old */
        size_t words = s->bytes / 4 + 1;
        memset(s->words, 0, words * sizeof *s->words);
        memset(s->read_at, 0, words * sizeof *s->read_at);
        memset(s->written_at, 0, words * sizeof *s->written_at);
        s->epoch = 1;
    }
}

void race_reset(struct race_shadow *s)
{
    race_barrier(s);
}

/* Whether an earlier access by `thread` in this epoch is unordered with one by `who`. */
static bool unordered(uint16_t thread, uint16_t warp_epoch, struct race_access who)
{
    if (thread == who.thread)
        return false;
    return thread / 32 != who.thread / 32 || warp_epoch == who.warp_epoch;
}

static uint8_t byte_mask(uint32_t address, uint32_t bytes)
{
    return bytes >= 4 ? 0xf : (uint8_t)(((1u << bytes) - 1) << (address & 3));
}

static void enter_read(struct race_word *w, uint32_t epoch, uint8_t mask, struct race_access who)
{
    if (w->read_epoch != epoch) {
        w->read_epoch = epoch;
        w->readers = RACE_ONE_READER;
        w->read_bytes = mask;
        w->read_thread = who.thread;
        w->read_warp_epoch = who.warp_epoch;
        w->read_insn = who.insn;
        w->read_step = who.step;
        return;
    }
    w->read_bytes |= mask;
    /* Several readers fit no single field: note the last, and how the others are ordered. Those of
     * its warp that read before the last __syncwarp are as it is: before whatever it is before. */
    if (w->read_thread / 32 != who.thread / 32)
        w->readers = RACE_SEVERAL_WARPS;
    else if (w->readers != RACE_SEVERAL_WARPS && w->read_warp_epoch != who.warp_epoch)
        w->readers = RACE_ONE_READER;
    else if (w->readers == RACE_ONE_READER && w->read_thread != who.thread)
        w->readers = RACE_ONE_WARP;
    const bool again = w->read_thread == who.thread;
    w->read_warp_epoch = who.warp_epoch;
    if (again)
        return;
    w->read_thread = who.thread;
    w->read_insn = who.insn;
    w->read_step = who.step;
}

/* Whether somebody's read is unordered with a write by `who`. */
static bool read_unordered(const struct race_word *w, struct race_access who)
{
    if (w->readers == RACE_SEVERAL_WARPS)
        return true;
    if (w->readers == RACE_ONE_WARP)
        return w->read_thread / 32 != who.thread / 32 || w->read_warp_epoch == who.warp_epoch;
    return unordered(w->read_thread, w->read_warp_epoch, who);
}

static void enter_write(struct race_word *w, uint32_t epoch, uint8_t mask, struct race_access who,
                        bool is_atomic)
{
    bool fresh = w->write_epoch != epoch;
    if (fresh)
        w->write_bytes = 0;
    /* An atomic behind the same thread's own plain write does not hide that one. */
    w->write_is_atomic =
        is_atomic && (fresh || w->write_is_atomic || w->write_thread != who.thread);
    w->write_epoch = epoch;
    w->write_bytes |= mask;
    w->write_thread = who.thread;
    w->write_warp_epoch = who.warp_epoch;
    w->write_insn = who.insn;
    w->write_step = who.step;
}

/* One word. Atomics only conflict with what is not atomic. */
static struct race_hit enter_word(struct race_shadow *s, uint32_t word, uint8_t mask,
                                  struct race_access who, enum race_access_kind kind)
{
    struct race_hit hit = {.kind = RACE_NONE};
    struct race_word *w = &s->words[word];
    const bool is_atomic = kind == RACE_ATOMIC || kind == RACE_STRONG_READ;
    const bool written = w->write_epoch == s->epoch && w->write_bytes & mask &&
                         unordered(w->write_thread, w->write_warp_epoch, who) &&
                         !(is_atomic && w->write_is_atomic);
    const bool read = w->read_epoch == s->epoch && w->read_bytes & mask;
    if (written && kind == RACE_WRITE)
        hit = (struct race_hit){RACE_WAW, w->write_insn, w->write_thread, true, false};
    else if (written)
        hit = (struct race_hit){who.step < w->write_step ? RACE_WAR : RACE_RAW, w->write_insn,
                                w->write_thread, true, false};
    else if ((kind == RACE_WRITE || kind == RACE_ATOMIC) && read && read_unordered(w, who))
        hit = (struct race_hit){who.step < w->read_step ? RACE_RAW : RACE_WAR, w->read_insn,
                                w->read_thread, false, false};
    if (kind == RACE_READ) {
        s->read_at[word] = s->epoch;
        enter_read(w, s->epoch, mask, who);
    } else if (kind != RACE_STRONG_READ) {
        s->written_at[word] = s->epoch;
        enter_write(w, s->epoch, mask, who, kind == RACE_ATOMIC);
    }
    return hit;
}

static struct race_hit enter_access(struct race_shadow *s, uint32_t address, uint32_t bytes,
                                    struct race_access who, enum race_access_kind kind)
{
    struct race_hit hit = {.kind = RACE_NONE};
    for (uint32_t end = address + bytes; address < end; address = (address | 3) + 1) {
        uint32_t left = end - address < 4 - (address & 3) ? end - address : 4 - (address & 3);
        struct race_hit one = enter_word(s, address / 4, byte_mask(address, left), who, kind);
        if (one.kind != RACE_NONE)
            hit = one;
    }
    return hit;
}

struct race_hit race_enter(struct race_shadow *s, uint32_t address, uint32_t bytes,
                           struct race_access who, enum race_access_kind kind)
{
    race_replay(s);
    return enter_access(s, address, bytes, who, kind);
}

bool race_is_released(struct race_shadow *s, uint32_t address, struct race_access who)
{
    const struct race_word *w = &s->words[address / 4];
    race_replay(s);
    return w->write_epoch == s->epoch && w->write_is_atomic && w->write_thread != who.thread;
}

void race_replay(struct race_shadow *s)
{
    for (int i = 0; i < s->logged; i++) {
        const struct race_entry *r = &s->log[i];
        for (uint32_t left = r->mask; left; left &= left - 1) {
            int lane = __builtin_ctz(left);
            struct race_access who = {r->insn, r->step, (uint16_t)(r->warp * 32 + lane),
                                      r->warp_epoch};
            enter_access(s, r->address[lane], r->bytes, who, r->is_write ? RACE_WRITE : RACE_READ);
        }
    }
    s->logged = 0;
}
