/* One word at a time, and then 16 words of a warp's access at a time: the same rules, without
 * branches. */
#include "vgpu/probe/race_words.h"

#include <string.h>

enum { WHOLE_WORD = 0xf, STRIP = 16 };

/* ---- one word -------------------------------------------------------------------------------- */

static uint32_t who_of(struct race_access a)
{
    return (uint32_t)a.thread << 16 | a.warp_epoch;
}

static uint32_t thread_of(uint32_t who)
{
    return who >> 16;
}

static uint32_t warp_of(uint32_t who)
{
    return who >> 21;
}

static uint32_t warp_epoch_of(uint32_t who)
{
    return who & 0xffff;
}

static uint32_t state_of(const struct race_shadow *s, uint32_t flags, uint32_t mask)
{
    return s->epoch << RACE_EPOCH_SHIFT | flags << RACE_FLAGS_SHIFT | mask;
}

static bool is_current(const struct race_shadow *s, uint32_t state)
{
    return state >> RACE_EPOCH_SHIFT == s->epoch;
}

static uint32_t flags_of(uint32_t state)
{
    return state >> RACE_FLAGS_SHIFT & 0xf;
}

/* Whether two accesses of this epoch are unordered. */
static bool unordered(uint32_t a, uint32_t b)
{
    if (thread_of(a) == thread_of(b))
        return false;
    return warp_of(a) != warp_of(b) || warp_epoch_of(a) == warp_epoch_of(b);
}

static uint8_t byte_mask(uint32_t address, uint32_t bytes)
{
    return (uint8_t)(((1u << bytes) - 1) << (address & 3));
}

/* Several readers fit no single field: the last is noted, and how the others are ordered. Those of its
 * warp that read before the last __syncwarp are as it is: before whatever it is before. */
static uint32_t readers_with(uint32_t readers, uint32_t last, uint32_t who)
{
    if (warp_of(last) != warp_of(who) || readers == RACE_SEVERAL_WARPS)
        return RACE_SEVERAL_WARPS;
    if (warp_epoch_of(last) != warp_epoch_of(who))
        return RACE_ONE_READER;
    return thread_of(last) == thread_of(who) ? readers : RACE_ONE_WARP;
}

static void enter_read(struct race_shadow *s, uint32_t word, uint32_t mask, struct race_access a)
{
    const struct race_last *r = &s->reads;
    const uint32_t state = r->state[word], last = r->who[word], who = who_of(a);
    const bool current = is_current(s, state);
    r->state[word] =
        current ? state_of(s, readers_with(flags_of(state), last, who), (state & WHOLE_WORD) | mask)
                : state_of(s, RACE_ONE_READER, mask);
    r->who[word] = who;
    if (current && thread_of(last) == thread_of(who))
        return;
    r->insn[word] = a.insn;
    r->step[word] = a.step;
}

/* Whether somebody's read is unordered with a write by `who`. */
static bool read_unordered(uint32_t readers, uint32_t last, uint32_t who)
{
    if (readers == RACE_SEVERAL_WARPS)
        return true;
    if (readers == RACE_ONE_WARP)
        return warp_of(last) != warp_of(who) || warp_epoch_of(last) == warp_epoch_of(who);
    return unordered(last, who);
}

static void enter_write(struct race_shadow *s, uint32_t word, uint32_t mask, struct race_access a,
                        bool is_atomic)
{
    const struct race_last *w = &s->writes;
    const uint32_t state = w->state[word], who = who_of(a);
    const bool fresh = !is_current(s, state);
    /* An atomic behind the same thread's own plain write does not hide that one. */
    is_atomic = is_atomic && (fresh || flags_of(state) || thread_of(w->who[word]) != a.thread);
    w->state[word] = state_of(s, is_atomic, fresh ? mask : (state & WHOLE_WORD) | mask);
    w->who[word] = who;
    w->insn[word] = a.insn;
    w->step[word] = a.step;
}

/* The earlier access to a word that one of `who` races with. Atomics only conflict with what is not
 * atomic. */
static struct race_hit find_hit(const struct race_shadow *s, uint32_t word, uint32_t mask,
                                struct race_access a, enum race_access_kind kind)
{
    const struct race_last *r = &s->reads, *w = &s->writes;
    const uint32_t who = who_of(a), read = r->state[word], written = w->state[word];
    const bool is_atomic = kind == RACE_ATOMIC || kind == RACE_STRONG_READ;
    if (is_current(s, written) && written & mask && unordered(w->who[word], who) &&
        !(is_atomic && flags_of(written)))
        return (struct race_hit){kind == RACE_WRITE       ? RACE_WAW
                                 : a.step < w->step[word] ? RACE_WAR
                                                          : RACE_RAW,
                                 w->insn[word], (uint16_t)thread_of(w->who[word]), true, false};
    if ((kind == RACE_WRITE || kind == RACE_ATOMIC) && is_current(s, read) && read & mask &&
        read_unordered(flags_of(read), r->who[word], who))
        return (struct race_hit){a.step < r->step[word] ? RACE_RAW : RACE_WAR, r->insn[word],
                                 (uint16_t)thread_of(r->who[word]), false, false};
    return (struct race_hit){.kind = RACE_NONE};
}

static void enter_word(struct race_shadow *s, uint32_t word, uint32_t mask, struct race_access a,
                       enum race_access_kind kind)
{
    if (kind == RACE_READ)
        enter_read(s, word, mask, a);
    else if (kind != RACE_STRONG_READ)
        enter_write(s, word, mask, a, kind == RACE_ATOMIC);
}

/* Calls BODY for the part of an access in each of its words. */
#define EACH_WORD(address, bytes, word, mask, BODY)                                                \
    for (uint32_t at_ = (address), end_ = at_ + (bytes); at_ < end_; at_ = (at_ | 3) + 1) {        \
        const uint32_t next_ = (at_ | 3) + 1;                                                      \
        const uint32_t word = at_ / 4, mask = byte_mask(at_, (end_ < next_ ? end_ : next_) - at_); \
        BODY;                                                                                      \
    }

struct race_hit race_words_enter(struct race_shadow *s, uint32_t address, uint32_t bytes,
                                 struct race_access who, enum race_access_kind kind)
{
    struct race_hit hit = {.kind = RACE_NONE};
    uint32_t *const marks = kind == RACE_READ ? s->read_at : s->written_at;
    EACH_WORD(address, bytes, word, mask, {
        const struct race_hit one = find_hit(s, word, mask, who, kind);
        if (one.kind != RACE_NONE)
            hit = one;
        enter_word(s, word, mask, who, kind);
        if (kind != RACE_STRONG_READ)
            marks[word] = s->epoch;
    })
    return hit;
}

bool race_words_are_released(const struct race_shadow *s, uint32_t word, struct race_access who)
{
    const uint32_t state = s->writes.state[word];
    return is_current(s, state) && flags_of(state) && thread_of(s->writes.who[word]) != who.thread;
}

/* ---- 16 words -------------------------------------------------------------------------------- */

/* What is compiled for the instruction sets that make it faster, too, and chosen at run time. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FOR_EACH_TARGET __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_TARGET
#endif
#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define WORDS _Pragma("clang loop vectorize(assume_safety)") for (int i = 0; i < STRIP; i++)
#else
#define WORDS _Pragma("GCC ivdep") for (int i = 0; i < STRIP; i++)
#endif

/* 16 words in a row, of which some are part of an access. */
struct strip {
    _Alignas(64) uint32_t in[STRIP]; /* all ones, or 0 */
    uint32_t who[STRIP];
    uint32_t word, insn, step;
};

/* a where the mask is set, b elsewhere. */
INLINE uint32_t choose(uint32_t mask, uint32_t a, uint32_t b)
{
    return (a & mask) | (b & ~mask);
}

/* All ones or 0. */
INLINE uint32_t all_ones(bool condition)
{
    return 0u - (uint32_t)condition;
}

INLINE void strip_read(const struct race_shadow *s, const struct strip *p)
{
    uint32_t *const state = s->reads.state + p->word, *const last = s->reads.who + p->word;
    uint32_t *const insn = s->reads.insn + p->word, *const step = s->reads.step + p->word;
    const uint32_t fresh_state = state_of(s, RACE_ONE_READER, WHOLE_WORD), epoch = s->epoch;
    WORDS
    {
        const uint32_t current = all_ones(state[i] >> RACE_EPOCH_SHIFT == epoch);
        const uint32_t differ = last[i] ^ p->who[i], readers = state[i] >> RACE_FLAGS_SHIFT & 0xf;
        const uint32_t other_warp = all_ones(differ >> 21 != 0),
                       other_thread = all_ones(differ >> 16 != 0);
        const uint32_t several = other_warp | all_ones(readers == RACE_SEVERAL_WARPS);
        const uint32_t later = all_ones((differ & 0xffff) != 0);
        const uint32_t with =
            choose(several, RACE_SEVERAL_WARPS,
                   choose(later, RACE_ONE_READER, choose(other_thread, RACE_ONE_WARP, readers)));
        const uint32_t now = fresh_state | (with << RACE_FLAGS_SHIFT & current);
        const uint32_t news = p->in[i] & (~current | other_thread);
        state[i] = choose(p->in[i], now, state[i]);
        last[i] = choose(p->in[i], p->who[i], last[i]);
        insn[i] = choose(news, p->insn, insn[i]);
        step[i] = choose(news, p->step, step[i]);
    }
}

INLINE void strip_write(const struct race_shadow *s, const struct strip *p)
{
    uint32_t *const state = s->writes.state + p->word, *const last = s->writes.who + p->word;
    uint32_t *const insn = s->writes.insn + p->word, *const step = s->writes.step + p->word;
    const uint32_t now = state_of(s, false, WHOLE_WORD);
    WORDS
    {
        state[i] = choose(p->in[i], now, state[i]);
        last[i] = choose(p->in[i], p->who[i], last[i]);
        insn[i] = choose(p->in[i], p->insn, insn[i]);
        step[i] = choose(p->in[i], p->step, step[i]);
    }
}

/* As find_hit(): whether there is one. */
INLINE bool strip_conflicts(const struct race_shadow *s, const struct strip *p, bool is_write)
{
    const uint32_t *const written = s->writes.state + p->word, *const writer =
                                                                   s->writes.who + p->word;
    const uint32_t *const read = s->reads.state + p->word, *const reader = s->reads.who + p->word;
    const uint32_t epoch = s->epoch;
    uint32_t odd[STRIP];
    WORDS
    {
        const uint32_t by = writer[i] ^ p->who[i], from = reader[i] ^ p->who[i];
        const uint32_t w = all_ones(written[i] >> RACE_EPOCH_SHIFT == epoch) &
                           all_ones(by >> 16 != 0) &
                           (all_ones(by >> 21 != 0) | all_ones((by & 0xffff) == 0));
        const uint32_t readers = read[i] >> RACE_FLAGS_SHIFT & 0xf;
        const uint32_t unordered_warp = all_ones(from >> 21 != 0) | all_ones((from & 0xffff) == 0);
        const uint32_t alone = all_ones(readers == RACE_ONE_READER);
        const uint32_t r = all_ones(read[i] >> RACE_EPOCH_SHIFT == epoch) &
                           (all_ones(readers == RACE_SEVERAL_WARPS) |
                            (unordered_warp & (~alone | all_ones(from >> 16 != 0))));
        odd[i] = p->in[i] & (w | (r & all_ones(is_write)));
    }
    uint32_t any = 0;
    for (int i = 0; i < STRIP; i++)
        any |= odd[i];
    return any != 0;
}

enum strip_work { ENTER, LOOK };

INLINE bool strip_do(const struct race_shadow *s, const struct strip *p, bool is_write,
                     enum strip_work work)
{
    if (work == LOOK)
        return strip_conflicts(s, p, is_write);
    if (is_write)
        strip_write(s, p);
    else
        strip_read(s, p);
    return false;
}

/* ---- a warp ---------------------------------------------------------------------------------- */

/* Lanes whose words follow one another. @param lanes  the mask of those that take part, from the
 * first on */
INLINE bool row_do(const struct race_shadow *s, const struct race_entry *r, uint32_t first,
                   uint32_t lanes, uint32_t address, enum strip_work work)
{
    const uint32_t shift = r->bytes / 8; /* 4, 8, 16 bytes: 1, 2, 4 words */
    struct strip p = {.word = address / 4, .insn = r->insn, .step = r->step};
    for (; lanes; lanes >>= STRIP >> shift) {
        const uint32_t who = (r->warp * 32u + first) << 16 | r->warp_epoch;
        WORDS
        {
            const uint32_t lane = (uint32_t)i >> shift;
            p.in[i] = all_ones(lanes >> lane & 1);
            p.who[i] = who + (lane << 16);
        }
        if (strip_do(s, &p, r->is_write, work))
            return true;
        first += STRIP >> shift;
        p.word += STRIP;
    }
    return false;
}

static struct race_access lane_access(const struct race_entry *r, uint32_t lane)
{
    return (struct race_access){r->insn, r->step, (uint16_t)(r->warp * 32u + lane), r->warp_epoch};
}

static uint32_t lane_address(const struct race_shadow *s, const struct race_entry *r, uint32_t lane)
{
    return r->is_scattered ? s->scattered[r - s->log][lane]
                           : r->base[lane / 8] + lane % 8 * r->stride[lane / 8];
}

/* One lane after the other. */
static bool lanes_do(struct race_shadow *s, const struct race_entry *r, uint32_t lanes,
                     enum strip_work work)
{
    const enum race_access_kind kind = r->is_write ? RACE_WRITE : RACE_READ;
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        const struct race_access a = lane_access(r, lane);
        EACH_WORD(lane_address(s, r, lane), r->bytes, word, mask, {
            if (work == ENTER)
                enter_word(s, word, mask, a, kind);
            else if (find_hit(s, word, mask, a, kind).kind != RACE_NONE)
                return true;
        })
    }
    return false;
}

/* Lanes that name the same words. Of those that read, the ones between the first and the last leave no
 * trace. */
INLINE bool same_do(struct race_shadow *s, const struct race_entry *r, uint32_t lanes,
                    uint32_t address, enum strip_work work)
{
    const uint32_t first = lanes & -lanes, last = 0x80000000u >> __builtin_clz(lanes);
    if (work == LOOK || r->is_write)
        return lanes_do(s, r, lanes, work);
    if (r->bytes == 4)
        return lanes_do(s, r, first | last, work);
    struct strip p = {.word = address / 4, .insn = r->insn, .step = r->step};
    for (uint32_t ends = first | last; ends; ends &= ends - 1) {
        const uint32_t who = who_of(lane_access(r, (uint32_t)__builtin_ctz(ends)));
        WORDS
        {
            p.in[i] = all_ones((uint32_t)i < r->bytes / 4u);
            p.who[i] = who;
        }
        strip_read(s, &p);
    }
    return false;
}

/* How many of the groups of eight lanes from one on go on as it does. */
INLINE int groups_in_row(const struct race_entry *r, int group)
{
    int n = 1;
    while (group + n < 4 && r->mask >> 8 * (group + n) & 0xff &&
           r->stride[group + n] == r->stride[group] &&
           r->base[group + n] == r->base[group] + 8u * (uint32_t)n * r->stride[group])
        n++;
    return n;
}

/* Of 32 lanes, those after which the next one comes, `step` bytes further. */
INLINE uint32_t followed(const uint32_t *address, uint32_t step)
{
    uint32_t next[32], mask = 0;
    memcpy(next, address + 1, 31 * sizeof *next);
    next[31] = address[31] + step + 1;
    for (int i = 0; i < 32; i++)
        mask |= all_ones(next[i] - address[i] == step) & 1u << i;
    return mask;
}

/* The lanes from one on, of which each but the last is in a mask. */
INLINE uint32_t run_from(uint32_t mask, uint32_t first)
{
    const uint32_t ends = ~mask >> first << first;
    return ((ends & -ends) << 1) - (1u << first);
}

/* Lanes that lie anywhere: mostly a few rows, where an index wraps around. */
INLINE bool scattered_do(struct race_shadow *s, const struct race_entry *r, enum strip_work work)
{
    const uint32_t *const address = s->scattered[r - s->log];
    const uint32_t pairs = r->mask & r->mask >> 1;
    const uint32_t rows = followed(address, r->bytes) & pairs, same = followed(address, 0) & pairs;
    for (uint32_t left = r->mask, lanes; left; left &= ~lanes) {
        const uint32_t first = (uint32_t)__builtin_ctz(left);
        lanes = run_from(same >> first & 1 ? same : rows, first);
        if (rows >> first & 1 ? row_do(s, r, first, lanes >> first, address[first], work)
                              : same_do(s, r, lanes, address[first], work))
            return true;
    }
    return false;
}

INLINE bool access_do(struct race_shadow *s, const struct race_entry *r, enum strip_work work)
{
    const bool whole = r->bytes == 4 || r->bytes == 8 || r->bytes == 16;
    if (!whole)
        return lanes_do(s, r, r->mask, work);
    if (r->is_scattered)
        return scattered_do(s, r, work);
    for (int group = 0, n; group < 4; group += n) {
        n = groups_in_row(r, group);
        const uint32_t lanes = r->mask & (n == 4 ? ~0u : ((1u << 8 * n) - 1) << 8 * group);
        if (!lanes)
            continue;
        const uint32_t first = (uint32_t)__builtin_ctz(lanes);
        if (r->stride[group] == r->bytes) {
            if (row_do(s, r, first, lanes >> first, lane_address(s, r, first), work))
                return true;
        } else if (r->stride[group] == 0) {
            if (same_do(s, r, lanes, r->base[group], work))
                return true;
        } else if (lanes_do(s, r, lanes, work)) {
            return true;
        }
    }
    return false;
}

FOR_EACH_TARGET
void race_words_enter_warps(struct race_shadow *s, const struct race_entry *access, int count)
{
    for (int i = 0; i < count; i++)
        access_do(s, &access[i], ENTER);
}

FOR_EACH_TARGET
bool race_words_conflict(struct race_shadow *s, const struct race_entry *access)
{
    return access_do(s, access, LOOK);
}

/* Whether nobody has read these words since the barrier, or written them but with atomics. */
static bool are_for_atomics(const struct race_shadow *s, const uint32_t *address, uint32_t mask,
                            uint32_t words)
{
    const uint32_t *const read = s->reads.state, *const written = s->writes.state;
    const uint32_t epoch = s->epoch, atomic = 1u << RACE_FLAGS_SHIFT;
    uint32_t odd = 0;
    for (; mask; mask &= mask - 1)
        for (uint32_t word = address[__builtin_ctz(mask)] / 4, end = word + words; word < end;
             word++) {
            const uint32_t plain = ~written[word] & atomic;
            odd |= (uint32_t)(read[word] >> RACE_EPOCH_SHIFT == epoch);
            odd |= written[word] >> RACE_EPOCH_SHIFT == epoch ? plain : 0;
        }
    return !odd;
}

bool race_words_enter_atomics(struct race_shadow *s, const struct race_entry *warp,
                              const uint32_t address[32])
{
    const uint32_t words = warp->bytes / 4, state = state_of(s, true, WHOLE_WORD), epoch = s->epoch;
    const uint32_t who = (warp->warp * 32u) << 16 | warp->warp_epoch;
    const struct race_last to = s->writes;
    uint32_t *const marks = s->written_at;
    if (!are_for_atomics(s, address, warp->mask, words))
        return false;
    /* After other atomics or none, what is left of an atomic does not depend on them. */
    for (uint32_t left = warp->mask; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        for (uint32_t word = address[lane] / 4, end = word + words; word < end; word++) {
            to.state[word] = state;
            to.who[word] = who + (lane << 16);
            to.insn[word] = warp->insn;
            to.step[word] = warp->step;
            marks[word] = epoch;
        }
    }
    return true;
}
