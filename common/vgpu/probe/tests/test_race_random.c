/* Tests of races with random accesses: entering a whole warp is compared with entering its lanes
 * one by one, and accesses to bytes with accesses to words. */
#include "race_fixture.h"

#include "base/rng.h"

#include <criterion/criterion.h>
#include <stdio.h>

/* ---- a warp at a time against a lane at a time ----------------------------------------------- */

enum { TWIN_BYTES = 1024, TWIN_WARPS = 3 };
static struct race_shadow twin;

/* @return the address of a lane of a random access: rows, groups, one location, rows that wrap
 * around or overlap, or anywhere. */
static uint32_t random_address(struct rng *r, uint32_t how, uint32_t lane, uint32_t bytes,
                               uint32_t start)
{
    const uint32_t places = TWIN_BYTES / bytes, wrap = 5 + start % 11;
    const uint32_t place = how == 0   ? start + lane
                           : how == 1 ? start + lane % 16
                           : how == 2 ? start
                           : how == 3 ? start + lane / 8
                           : how == 4 ? start + lane % wrap + 40 * (lane / wrap)
                           : how == 5 ? start + 3 * lane
                           : how == 6 ? start + lane % 8 + 4 * (lane / 8)
                                      : (uint32_t)(rng_u64(r) % places);
    return place % places * bytes;
}

static bool lanes_overlap(const uint32_t *address, uint32_t mask)
{
    for (uint32_t i = 0; i < 32; i++)
        for (uint32_t k = 0; k < i; k++)
            if (mask >> i & mask >> k & 1 && address[i] == address[k])
                return true;
    return false;
}

/* Describes the lanes by strides if possible. */
static void describe(struct race_entry *e, const uint32_t *address, uint32_t *relative)
{
    for (int g = 0; g < 4; g++) {
        const uint32_t stride = address[8 * g + 1] - address[8 * g];
        e->base[g] = address[8 * g];
        e->stride[g] = (uint16_t)stride;
        for (uint32_t i = 0; i < 8; i++)
            e->is_scattered |= address[8 * (uint32_t)g + i] != e->base[g] + i * e->stride[g];
    }
    for (uint32_t i = 0; i < 32; i++)
        relative[i] = address[i] - address[0];
    if (e->is_scattered)
        e->relative = relative;
}

/* Enters each lane of an access. @return whether any lane had a race */
static bool enter_lanes(struct race_shadow *to, const struct race_entry *e, const uint32_t *address,
                        enum race_access_kind kind)
{
    bool hit = false;
    for (uint32_t i = 0; i < 32; i++) {
        const struct race_access a = {e->insn, e->step, (uint16_t)(e->warp * 32 + i),
                                      e->warp_epoch};
        if (e->mask >> i & 1)
            hit |= race_enter(to, address[i], e->bytes, a, kind).kind != RACE_NONE;
    }
    return hit;
}

static bool is_narrow(const struct race_entry *e)
{
    return e->is_write && e->bytes < 4;
}

static uint32_t bytes_of(const struct race_entry *e, uint32_t address)
{
    return ((1u << e->bytes) - 1) << address % 4;
}

static bool marks_are_clear(const struct race_entry *e, const uint32_t *address)
{
    for (uint32_t i = 0; i < 32; i++)
        for (uint32_t word = address[i] / 4;
             e->mask >> i & 1 && word <= (address[i] + e->bytes - 1) / 4; word++) {
            const bool is_free =
                is_narrow(e) && race_bytes_are_free(&shadow, word, bytes_of(e, address[i]));
            if ((shadow.written_at[word] == shadow.epoch && !is_free) ||
                (e->is_write && shadow.read_at[word] == shadow.epoch))
                return false;
        }
    return true;
}

/* @return whether a word of the access was written in this epoch */
static bool are_written(const struct race_entry *e, const uint32_t *address)
{
    for (uint32_t i = 0; i < 32; i++)
        if (e->mask >> i & 1 && shadow.written_at[address[i] / 4] == shadow.epoch)
            return true;
    return false;
}

static void mark(const struct race_entry *e, const uint32_t *address, bool was_clear)
{
    for (uint32_t i = 0; i < 32; i++)
        for (uint32_t word = address[i] / 4;
             e->mask >> i & 1 && word <= (address[i] + e->bytes - 1) / 4; word++) {
            (e->is_write ? shadow.written_at : shadow.read_at)[word] = shadow.epoch;
            if (was_clear && is_narrow(e))
                race_mark_bytes(&shadow, word, bytes_of(e, address[i]));
        }
}

static void expect_same(const struct race_by *a, const struct race_by *b, uint32_t word)
{
    cr_assert_eq(a->who[word], b->who[word]);
    cr_assert_eq(a->insn[word], b->insn[word]);
    cr_assert_eq(a->step[word], b->step[word]);
}

/* Checks that after several reads a shadow knows a reader other than the last one, in the same warp
 * or in another. (Both shadows may know different readers: if lanes read one word, only the first
 * and the last are entered.) */
static void expect_other_reader(const struct race_table *t, uint32_t word)
{
    const uint32_t readers = t->read[word] & ((1 << RACE_EPOCH_SHIFT) - 1);
    const uint32_t differ = t->reader.who[word] ^ t->other.who[word];
    if (readers == RACE_SEVERAL_WARPS)
        cr_assert(differ >> 21);
    else if (readers == RACE_ONE_WARP)
        cr_assert(differ >> 16 && !(differ >> 21) && !(differ & 0xffff));
}

/* Checks that both shadows know the same about a location in this epoch. */
static void expect_same_place(const struct race_table *a, const struct race_table *b, uint32_t i)
{
    const bool is_read = b->read[i] >> RACE_EPOCH_SHIFT == twin.epoch;
    cr_assert_eq(a->read[i] >> RACE_EPOCH_SHIFT == shadow.epoch, is_read);
    cr_assert_eq(a->written[i] == shadow.epoch, b->written[i] == twin.epoch);
    cr_assert_eq(a->changed[i] == shadow.epoch, b->changed[i] == twin.epoch);
    if (is_read) {
        cr_assert_eq(a->read[i], b->read[i]);
        expect_same(&a->reader, &b->reader, i);
        expect_other_reader(a, i);
        expect_other_reader(b, i);
    }
    if (b->written[i] == twin.epoch)
        expect_same(&a->writer, &b->writer, i);
    if (b->changed[i] == twin.epoch)
        expect_same(&a->changer, &b->changer, i);
}

static bool is_split(const struct race_shadow *s, uint32_t word)
{
    return s->parted == s->epoch && s->parted_at[word] == s->epoch;
}

static void expect_same_words(void)
{
    race_replay(&shadow);
    cr_assert_eq(shadow.epoch, twin.epoch);
    for (uint32_t word = 0; word < TWIN_BYTES / 4; word++) {
        cr_assert_eq(is_split(&shadow, word), is_split(&twin, word));
        if (!is_split(&twin, word))
            expect_same_place(&shadow.words, &twin.words, word);
        for (uint32_t byte = 4 * word; is_split(&twin, word) && byte < 4 * word + 4; byte++)
            expect_same_place(&shadow.parts, &twin.parts, byte);
    }
}

/* How many accesses that might have raced were entered as a whole, and how many were not. */
static int settled, refused, freed; /* freed: narrow writes beside others in one word */

static void enter_plain(const struct race_entry *e, const uint32_t *address)
{
    const enum race_access_kind kind = e->is_write ? RACE_WRITE : RACE_READ;
    if (e->is_write && lanes_overlap(address, e->mask))
        return;
    struct race_entry *to = race_log(&shadow);
    *to = *e;
    describe(to, address, race_relative(&shadow, to));
    const bool clear = marks_are_clear(e, address), was_written = are_written(e, address);
    const bool hit = enter_lanes(&twin, e, address, kind);
    if (clear) {
        cr_assert_not(hit);
    } else if (race_settle_last(&shadow, 1)) {
        cr_assert_not(hit);
        settled++;
    } else {
        cr_assert(hit);
        enter_lanes(&shadow, e, address, kind);
        refused++;
    }
    mark(e, address, clear);
    freed += clear && was_written;
}

static void enter_atomics(const struct race_entry *e, const uint32_t *address)
{
    const bool hit = enter_lanes(&twin, e, address, RACE_ATOMIC);
    if (race_enter_atomics(&shadow, e, address)) {
        cr_assert_not(hit);
        settled++;
    } else {
        enter_lanes(&shadow, e, address, RACE_ATOMIC);
        refused++;
    }
}

/* The accesses of a comparison: to words and more, to any bytes, or mostly writes of one or two bytes
 * by a few lanes. */
enum mixture { WORDS_ONLY, ANY_BYTES, NARROW_WRITES };

static struct race_entry random_access(struct rng *r, uint32_t round, enum mixture mixture,
                                       uint32_t address[32])
{
    static const uint32_t sizes[] = {3, 5, 3}, smallest[] = {4, 1, 1};
    static uint16_t warp_epoch[TWIN_WARPS];
    const uint64_t dice = rng_u64(r);
    const uint32_t how = dice % 8, bytes = smallest[mixture] << (dice >> 8) % sizes[mixture];
    const uint32_t start = (dice >> 16) % (TWIN_BYTES / bytes), warp = (dice >> 32) % TWIN_WARPS;
    for (uint32_t i = 0; i < 32; i++)
        address[i] = random_address(r, how, i, bytes, start);
    warp_epoch[warp] += (dice >> 48) % 4 == 0;
    return (struct race_entry){.insn = round % 50,
                               .step = round / 3,
                               .warp = (uint16_t)warp,
                               .warp_epoch = warp_epoch[warp],
                               .bytes = (uint16_t)bytes,
                               .is_write = (dice >> 40) % 8 < (mixture == NARROW_WRITES ? 7 : 2),
                               .mask = mixture == NARROW_WRITES ? 1u << dice % 29 | 1u << dice % 31
                                       : (dice >> 44) % 2       ? ~0u
                                                                : (uint32_t)rng_u64(r) | 1};
}

static void compare_twins(struct rng *r, enum mixture mixture)
{
    settled = refused = freed = 0;
    race_close(&shadow);
    cr_assert(race_open(&twin, TWIN_BYTES) && race_open(&shadow, TWIN_BYTES));
    for (uint32_t round = 0; round < 30000; round++) {
        uint32_t address[32];
        const struct race_entry e = random_access(r, round, mixture, address);
        const uint64_t dice = rng_u64(r);
        if (dice % 8 == 0 && e.bytes >= 4)
            enter_atomics(&e, address);
        else
            enter_plain(&e, address);
        if (round % 97 == 0)
            expect_same_words();
        if ((dice >> 52) % 16 == 0) {
            race_barrier(&shadow);
            race_barrier(&twin);
        }
    }
    race_close(&twin);
    cr_assert(settled > 100 && refused > 100, "%d settled, %d refused", settled, refused);
    cr_assert(mixture != NARROW_WRITES || freed > 100, "%d freed", freed);
}

Test(race, a_warp_at_a_time_is_a_lane_at_a_time)
{
    const uint64_t seed = rng_fresh_seed();
    struct rng r = rng_make(seed, 0);
    printf("seed %llu\n", (unsigned long long)seed);
    compare_twins(&r, WORDS_ONLY);
    compare_twins(&r, ANY_BYTES);
    compare_twins(&r, NARROW_WRITES);
}

/* ---- bytes against words --------------------------------------------------------------------- */

/* An access to bytes must have the same races as an access to as many words. */
Test(race, bytes_have_the_races_that_words_have)
{
    const uint64_t seed = rng_fresh_seed();
    struct rng r = rng_make(seed, 0);
    int hits = 0;
    printf("seed %llu\n", (unsigned long long)seed);
    cr_assert(race_open(&twin, 4 * 256));
    for (uint32_t round = 0; round < 60000; round++) {
        const uint64_t dice = rng_u64(&r);
        const uint32_t bytes = 1u << dice % 4, at = (dice >> 8) % (64 / bytes) * bytes;
        const struct race_access who = {.insn = round % 50,
                                        .step = round / 3,
                                        .thread = (dice >> 16) % 80,
                                        .warp_epoch = (uint16_t)(round / 200)};
        const enum race_access_kind kind = (enum race_access_kind)((dice >> 32) % 4);
        const struct race_hit a = race_enter(&shadow, at, bytes, who, kind);
        const struct race_hit b = race_enter(&twin, 4 * at, 4 * bytes, who, kind);
        cr_assert_eq(a.kind, b.kind);
        hits += a.kind != RACE_NONE;
        if (a.kind != RACE_NONE) {
            cr_assert_eq(a.other_thread, b.other_thread);
            cr_assert_eq(a.other_insn, b.other_insn);
            cr_assert_neq(a.other_thread, who.thread);
        }
        if ((dice >> 52) % 16 == 0) {
            race_barrier(&shadow);
            race_barrier(&twin);
        }
    }
    race_close(&twin);
    cr_assert(hits > 1000 && hits < 55000, "%d", hits);
}
