/* Handles words that are accessed in part, accesses of one thread, and accesses of a warp: for
 * these it applies the rules of race_places.h without branches, to 16 words at a time. */
#include "vgpu/probe/race_words.h"

#include "base/clones.h"
#include "vgpu/probe/race_places.h"

#include <stdlib.h>
#include <string.h>

static bool parts_make(struct race_shadow *s)
{
    const size_t words = race_array_elems(s->bytes), n = words * WORD_BYTES;
    uint32_t *at = s->parted_at ? NULL : calloc(words + RACE_ARRAYS * n, sizeof *at);
    if (at) {
        s->parted_at = at;
        race_table_place(&s->parts, at + words, n);
    }
    return s->parted_at != NULL;
}

static void copy_to_bytes(const struct race_by *to, uint32_t first, const struct race_by *from,
                          uint32_t word)
{
    for (uint32_t i = first; i < first + WORD_BYTES; i++) {
        to->who[i] = from->who[word];
        to->insn[i] = from->insn[word];
        to->step[i] = from->step[word];
    }
}

bool race_part(struct race_shadow *s, uint32_t word)
{
    if (is_parted(s, word))
        return true;
    if (!parts_make(s))
        return false;
    const struct race_table *const from = &s->words, *const to = &s->parts;
    const uint32_t first = word * WORD_BYTES;
    for (uint32_t i = first; i < first + WORD_BYTES; i++) {
        to->read[i] = from->read[word];
        to->written[i] = from->written[word];
        to->changed[i] = from->changed[word];
    }
    if (is_read(s, from->read[word])) {
        copy_to_bytes(&to->reader, first, &from->reader, word);
        copy_to_bytes(&to->other, first, &from->other, word);
    }
    if (from->written[word] == s->epoch)
        copy_to_bytes(&to->writer, first, &from->writer, word);
    if (from->changed[word] == s->epoch)
        copy_to_bytes(&to->changer, first, &from->changer, word);
    s->parted_at[word] = s->parted = s->epoch;
    return true;
}

struct race_hit race_words_enter(struct race_shadow *s, uint32_t address, uint32_t bytes,
                                 struct race_access who, enum race_access_kind kind)
{
    struct race_hit hit = {.kind = RACE_NONE};
    uint32_t *const marks = kind == RACE_READ ? s->read_at : s->written_at;
    EACH_PLACE(s, address, bytes, table, i, {
        const struct race_hit one = find_hit(s, table, i, who, kind);
        if (one.kind != RACE_NONE)
            hit = one;
        enter_place(s, table, i, who, kind);
    })
    for (uint32_t word = address / WORD_BYTES;
         kind != RACE_STRONG_READ && word * WORD_BYTES < address + bytes; word++) {
        marks[word] = s->epoch;
        if (kind != RACE_READ)
            s->narrow_at[word] = 0;
    }
    return hit;
}

bool race_words_are_released(const struct race_shadow *s, uint32_t address, struct race_access who)
{
    const bool by_word = !is_parted(s, address / WORD_BYTES);
    const struct race_table *const t = by_word ? &s->words : &s->parts;
    const uint32_t i = by_word ? address / WORD_BYTES : address;
    return t->changed[i] == s->epoch && thread_of(t->changer.who[i]) != who.thread &&
           !(t->written[i] == s->epoch && unordered(t->writer.who[i], who_of(who)));
}

/* ---- 16 locations ----------------------------------------------------------------------------- */

#define INLINE static inline __attribute__((always_inline))
enum { STRIP = 16 };
#ifdef __clang__
#define WORDS _Pragma("clang loop vectorize(assume_safety)") for (int i = 0; i < STRIP; i++)
#else
#define WORDS _Pragma("GCC ivdep") for (int i = 0; i < STRIP; i++)
#endif

/* 16 consecutive locations of a table; an access contains some of them. */
struct strip {
    _Alignas(64) uint32_t in[STRIP]; /* all ones: the access contains the location; otherwise 0 */
    uint32_t who[STRIP];
    const struct race_table *table;
    uint32_t at, insn, step;
};

/* @return a where the mask is set, b in the other bits. */
INLINE uint32_t choose(uint32_t mask, uint32_t a, uint32_t b)
{
    return (a & mask) | (b & ~mask);
}

/* @return all ones if the condition is true, otherwise 0. */
INLINE uint32_t all_ones(bool condition)
{
    return 0u - (uint32_t)condition;
}

INLINE void strip_read(const struct race_shadow *s, const struct strip *p)
{
    const struct race_table *const t = p->table;
    uint32_t *const state = t->read + p->at, *const last = t->reader.who + p->at;
    uint32_t *const insn = t->reader.insn + p->at, *const step = t->reader.step + p->at;
    uint32_t *const other = t->other.who + p->at;
    const uint32_t epoch = s->epoch, several_warps = RACE_SEVERAL_WARPS;
    uint32_t readers[STRIP], becomes[STRIP], any = 0;
    WORDS
    {
        const uint32_t current = all_ones(state[i] >> RACE_EPOCH_SHIFT == epoch);
        const uint32_t differ = last[i] ^ p->who[i], from = other[i] ^ p->who[i];
        const uint32_t before = state[i] & ((1 << RACE_EPOCH_SHIFT) - 1);
        const uint32_t several = all_ones(differ >> 21 != 0) | all_ones(before == several_warps);
        const uint32_t later = all_ones((differ & 0xffff) != 0),
                       other_thread = all_ones(differ >> 16 != 0);
        const uint32_t now =
            choose(several, several_warps,
                   choose(later, RACE_ONE_READER, choose(other_thread, RACE_ONE_WARP, before)));
        const uint32_t same = choose(several, all_ones(from >> 21 == 0), all_ones(from >> 16 == 0));
        readers[i] = now & current;
        becomes[i] = p->in[i] & current & all_ones(now != RACE_ONE_READER) &
                     (all_ones(now != before) | same);
    }
    for (int i = 0; i < STRIP; i++)
        any |= becomes[i];
    if (any) {
        uint32_t *const other_insn = t->other.insn + p->at;
        uint32_t *const other_step = t->other.step + p->at;
        WORDS
        {
            other[i] = choose(becomes[i], last[i], other[i]);
            other_insn[i] = choose(becomes[i], insn[i], other_insn[i]);
            other_step[i] = choose(becomes[i], step[i], other_step[i]);
        }
    }
    WORDS
    {
        const uint32_t current = all_ones(state[i] >> RACE_EPOCH_SHIFT == epoch);
        const uint32_t news = p->in[i] & (~current | all_ones((last[i] ^ p->who[i]) >> 16 != 0));
        state[i] = choose(p->in[i], epoch << RACE_EPOCH_SHIFT | readers[i], state[i]);
        last[i] = choose(p->in[i], p->who[i], last[i]);
        insn[i] = choose(news, p->insn, insn[i]);
        step[i] = choose(news, p->step, step[i]);
    }
}

INLINE void strip_write(const struct race_shadow *s, const struct strip *p)
{
    const struct race_table *const t = p->table;
    uint32_t *const written = t->written + p->at, *const last = t->writer.who + p->at;
    uint32_t *const insn = t->writer.insn + p->at, *const step = t->writer.step + p->at;
    uint32_t *const changed = t->changed + p->at;
    const uint32_t epoch = s->epoch;
    WORDS
    {
        written[i] = choose(p->in[i], epoch, written[i]);
        last[i] = choose(p->in[i], p->who[i], last[i]);
        insn[i] = choose(p->in[i], p->insn, insn[i]);
        step[i] = choose(p->in[i], p->step, step[i]);
    }
    if (s->atomics == epoch) {
        WORDS
        {
            changed[i] = choose(p->in[i], 0, changed[i]);
        }
    }
}

/* Finds the locations whose last accesses, if in this epoch, are unordered with the strip's. */
INLINE void strip_unordered(uint32_t *odd, const struct strip *p, const uint32_t *when,
                            uint32_t epoch, const uint32_t *last)
{
    WORDS
    {
        const uint32_t by = last[i] ^ p->who[i];
        odd[i] |= all_ones(when[i] == epoch) & all_ones(by >> 16 != 0) &
                  (all_ones(by >> 21 != 0) | all_ones((by & 0xffff) == 0));
    }
}

/* @return whether find_hit() would find a race. */
INLINE bool strip_conflicts(const struct race_shadow *s, const struct strip *p, bool is_write,
                            bool is_strong)
{
    const struct race_table *const t = p->table;
    const uint32_t *const read = t->read + p->at, *const reader = t->reader.who + p->at;
    const uint32_t epoch = s->epoch;
    uint32_t odd[STRIP] = {0};
    strip_unordered(odd, p, t->written + p->at, epoch, t->writer.who + p->at);
    if (s->atomics == epoch && !is_strong)
        strip_unordered(odd, p, t->changed + p->at, epoch, t->changer.who + p->at);
    if (is_write) {
        WORDS
        {
            const uint32_t from = reader[i] ^ p->who[i];
            const uint32_t readers = read[i] & ((1 << RACE_EPOCH_SHIFT) - 1);
            const uint32_t unordered_warp =
                all_ones(from >> 21 != 0) | all_ones((from & 0xffff) == 0);
            const uint32_t alone = all_ones(readers == RACE_ONE_READER);
            odd[i] |= all_ones(read[i] >> RACE_EPOCH_SHIFT == epoch) &
                      (all_ones(readers == RACE_SEVERAL_WARPS) |
                       (unordered_warp & (~alone | all_ones(from >> 16 != 0))));
        }
    }
    uint32_t any = 0;
    for (int i = 0; i < STRIP; i++)
        any |= odd[i] & p->in[i];
    return any != 0;
}

enum strip_work { ENTER, LOOK, LOOK_STRONGLY };

INLINE bool strip_do(const struct race_shadow *s, const struct strip *p, bool is_write,
                     enum strip_work work)
{
    if (work != ENTER)
        return strip_conflicts(s, p, is_write, work == LOOK_STRONGLY);
    if (is_write)
        strip_write(s, p);
    else
        strip_read(s, p);
    return false;
}

/* ---- a warp ---------------------------------------------------------------------------------- */

/* The locations of a warp's access: words, or bytes of words that are all split. */
struct places {
    const struct race_table *table;
    uint32_t size, shift; /* of one location in bytes; a lane has 1 << shift locations */
};

static struct race_access lane_access(const struct race_entry *r, uint32_t lane)
{
    return (struct race_access){r->insn, r->step, (uint16_t)(r->warp * 32u + lane), r->warp_epoch};
}

static uint32_t lane_address(const struct race_entry *r, uint32_t lane)
{
    return r->is_scattered ? r->base[0] + r->relative[lane]
                           : r->base[lane / 8] + lane % 8 * r->stride[lane / 8];
}

void race_words_forget_bytes(struct race_shadow *s, const struct race_entry *access)
{
    for (uint32_t lanes = access->is_write ? access->mask : 0; lanes; lanes &= lanes - 1) {
        const uint32_t at = lane_address(access, (uint32_t)__builtin_ctz(lanes));
        for (uint32_t word = at / WORD_BYTES; word * WORD_BYTES < at + access->bytes; word++)
            s->narrow_at[word] = 0;
    }
}

/* Handles the lanes one by one. */
static bool lanes_do(struct race_shadow *s, const struct race_entry *r, enum strip_work work)
{
    const enum race_access_kind kind = r->is_write             ? RACE_WRITE
                                       : work == LOOK_STRONGLY ? RACE_STRONG_READ
                                                               : RACE_READ;
    for (uint32_t lanes = r->mask; lanes; lanes &= lanes - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        const struct race_access a = lane_access(r, lane);
        EACH_PLACE(s, lane_address(r, lane), r->bytes, table, i, {
            if (work == ENTER)
                enter_place(s, table, i, a, kind);
            else if (find_hit(s, table, i, a, kind).kind != RACE_NONE)
                return true;
        })
    }
    return false;
}

/* Finds the locations of an access, and splits the words of one with smaller elements. @return false
 * if only some of its words are split. */
INLINE bool places_find(struct race_shadow *s, const struct race_entry *r, struct places *p)
{
    const bool is_narrow = r->bytes < WORD_BYTES;
    bool all = true, none = !is_narrow;
    for (uint32_t lanes = is_narrow || s->parted == s->epoch ? r->mask : 0; lanes;
         lanes &= lanes - 1) {
        const uint32_t at = lane_address(r, (uint32_t)__builtin_ctz(lanes));
        for (uint32_t word = at / WORD_BYTES; word <= (at + r->bytes - 1) / WORD_BYTES; word++) {
            const bool parted = is_narrow ? race_part(s, word) : is_parted(s, word);
            all &= parted;
            none &= !parted;
        }
    }
    *p = none ? (struct places){&s->words, WORD_BYTES, r->bytes / 8u}
              : (struct places){&s->parts, 1, (uint32_t)__builtin_ctz(r->bytes)};
    return all || none;
}

/* Handles lanes whose locations are consecutive. @param lanes  mask of the lanes that take part;
 * bit 0 is the first of them */
INLINE bool row_do(const struct race_shadow *s, const struct places *at, const struct race_entry *r,
                   uint32_t first, uint32_t lanes, uint32_t address, enum strip_work work)
{
    struct strip p = {
        .table = at->table, .at = address / at->size, .insn = r->insn, .step = r->step};
    for (; lanes; lanes >>= STRIP >> at->shift) {
        const uint32_t who = (r->warp * 32u + first) << 16 | r->warp_epoch;
        WORDS
        {
            const uint32_t lane = (uint32_t)i >> at->shift;
            p.in[i] = all_ones(lanes >> lane & 1);
            p.who[i] = who + (lane << 16);
        }
        if (strip_do(s, &p, r->is_write, work))
            return true;
        first += STRIP >> at->shift;
        p.at += STRIP;
    }
    return false;
}

/* Handles lanes one by one. */
INLINE bool each_do(struct race_shadow *s, const struct places *p, const struct race_entry *r,
                    uint32_t lanes, enum race_access_kind kind, enum strip_work work)
{
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        const struct race_access a = lane_access(r, lane);
        const uint32_t first = lane_address(r, lane) / p->size;
        for (uint32_t i = first; i < first + (1u << p->shift); i++) {
            if (work == ENTER)
                enter_place(s, p->table, i, a, kind);
            else if (find_hit(s, p->table, i, a, kind).kind != RACE_NONE)
                return true;
        }
    }
    return false;
}

/* (each_do() is compiled once for each kind) */
INLINE bool separate_do(struct race_shadow *s, const struct places *p, const struct race_entry *r,
                        uint32_t lanes, enum strip_work work)
{
    return r->is_write ? each_do(s, p, r, lanes, RACE_WRITE, work)
                       : each_do(s, p, r, lanes,
                                 work == LOOK_STRONGLY ? RACE_STRONG_READ : RACE_READ, work);
}

/* Handles lanes that access the same locations. If they read, only the first and the last lane are
 * stored. */
INLINE bool same_do(struct race_shadow *s, const struct places *at, const struct race_entry *r,
                    uint32_t lanes, uint32_t address, enum strip_work work)
{
    const uint32_t first = lanes & -lanes, last = 0x80000000u >> __builtin_clz(lanes);
    if (work != ENTER || r->is_write)
        return separate_do(s, at, r, lanes, work);
    if (at->shift == 0)
        return separate_do(s, at, r, first | last, work);
    struct strip p = {
        .table = at->table, .at = address / at->size, .insn = r->insn, .step = r->step};
    for (uint32_t ends = first | last; ends; ends &= ends - 1) {
        const uint32_t who = who_of(lane_access(r, (uint32_t)__builtin_ctz(ends)));
        WORDS
        {
            p.in[i] = all_ones((uint32_t)i < 1u << at->shift);
            p.who[i] = who;
        }
        strip_read(s, &p);
    }
    return false;
}

/* @return how many groups of eight lanes, including the first, continue the first one's pattern. */
INLINE int groups_in_row(const struct race_entry *r, int group)
{
    int n = 1;
    while (group + n < 4 && r->mask >> 8 * (group + n) & 0xff &&
           r->stride[group + n] == r->stride[group] &&
           r->base[group + n] == r->base[group] + 8u * (uint32_t)n * r->stride[group])
        n++;
    return n;
}

/* @return a mask of the lanes whose next lane is `step` bytes further. */
INLINE uint32_t followed(const uint32_t *address, uint32_t step)
{
    uint32_t next[32], mask = 0;
    memcpy(next, address + 1, 31 * sizeof *next);
    next[31] = address[31] + step + 1;
    for (int i = 0; i < 32; i++)
        mask |= all_ones(next[i] - address[i] == step) & 1u << i;
    return mask;
}

/* @return the lanes from `first` up to and including the first that is not in the mask. */
INLINE uint32_t run_from(uint32_t mask, uint32_t first)
{
    const uint32_t ends = ~mask >> first << first;
    return ((ends & -ends) << 1) - (1u << first);
}

/* Handles scattered lanes. Mostly they form a few rows, where an index wraps around. */
INLINE bool scattered_do(struct race_shadow *s, const struct places *p, const struct race_entry *r,
                         enum strip_work work)
{
    const uint32_t pairs = r->mask & r->mask >> 1;
    const uint32_t rows = followed(r->relative, r->bytes) & pairs,
                   same = followed(r->relative, 0) & pairs;
    if (!(rows | same))
        return separate_do(s, p, r, r->mask, work);
    for (uint32_t left = r->mask, lanes; left; left &= ~lanes) {
        const uint32_t first = (uint32_t)__builtin_ctz(left);
        lanes = run_from(same >> first & 1 ? same : rows, first);
        const uint32_t at = r->base[0] + r->relative[first];
        if (rows >> first & 1 ? row_do(s, p, r, first, lanes >> first, at, work)
                              : same_do(s, p, r, lanes, at, work))
            return true;
    }
    return false;
}

INLINE bool access_do(struct race_shadow *s, const struct race_entry *r, enum strip_work work)
{
    struct places p;
    if (r->bytes & (r->bytes - 1) || !places_find(s, r, &p))
        return lanes_do(s, r, work);
    if (r->is_scattered)
        return scattered_do(s, &p, r, work);
    for (int group = 0, n; group < 4; group += n) {
        n = groups_in_row(r, group);
        const uint32_t lanes = r->mask & (n == 4 ? ~0u : ((1u << 8 * n) - 1) << 8 * group);
        if (!lanes)
            continue;
        const uint32_t first = (uint32_t)__builtin_ctz(lanes);
        if (r->stride[group] == r->bytes) {
            if (row_do(s, &p, r, first, lanes >> first, lane_address(r, first), work))
                return true;
        } else if (r->stride[group] == 0) {
            if (same_do(s, &p, r, lanes, r->base[group], work))
                return true;
        } else if (separate_do(s, &p, r, lanes, work)) {
            return true;
        }
    }
    return false;
}

EACH_TARGET
void race_words_enter_warps(struct race_shadow *s, const struct race_entry *access, int count)
{
    for (int i = 0; i < count; i++)
        access_do(s, &access[i], ENTER);
}

EACH_TARGET
bool race_words_conflict(struct race_shadow *s, const struct race_entry *access)
{
    return access_do(s, access, LOOK);
}

EACH_TARGET
bool race_words_conflict_strongly(struct race_shadow *s, const struct race_entry *read)
{
    return access_do(s, read, LOOK_STRONGLY);
}

/* @return whether since the barrier these words have not been read, and only atomics have written
 * them. */
static bool are_for_atomics(const struct race_shadow *s, const uint32_t *address, uint32_t mask,
                            uint32_t words)
{
    const uint32_t *const read = s->words.read, *const written = s->words.written;
    const uint32_t epoch = s->epoch;
    uint32_t odd = s->parted == epoch;
    for (; mask; mask &= mask - 1)
        for (uint32_t word = address[__builtin_ctz(mask)] / WORD_BYTES, end = word + words;
             word < end; word++) {
            odd |= (uint32_t)(read[word] >> RACE_EPOCH_SHIFT == epoch);
            odd |= (uint32_t)(written[word] == epoch);
        }
    return !odd;
}

bool race_words_enter_atomics(struct race_shadow *s, const struct race_entry *warp,
                              const uint32_t address[32])
{
    const uint32_t words = warp->bytes / WORD_BYTES, epoch = s->epoch;
    const uint32_t who = (warp->warp * 32u) << 16 | warp->warp_epoch;
    const struct race_by to = s->words.changer;
    uint32_t *const marks = s->written_at, *const changed = s->words.changed;
    if (!are_for_atomics(s, address, warp->mask, words))
        return false;
    s->atomics = epoch;
    /* If no or only other atomics came before, the state after an atomic does not depend on
     * them. */
    for (uint32_t left = warp->mask; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        for (uint32_t word = address[lane] / WORD_BYTES, end = word + words; word < end; word++) {
            changed[word] = marks[word] = epoch;
            to.who[word] = who + (lane << 16);
            to.insn[word] = warp->insn;
            to.step[word] = warp->step;
        }
    }
    return true;
}
