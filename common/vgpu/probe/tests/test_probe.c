/* Tests of races, names and the clock's model, without any kernel. */
#include "vgpu/probe/model.h"
#include "vgpu/probe/names.h"
#include "vgpu/probe/race.h"

#include "base/rng.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct race_shadow shadow;

static struct race_access by(uint16_t thread, uint32_t step)
{
    return (struct race_access){.insn = step, .step = step, .thread = thread};
}

static void open_shadow(void)
{
    cr_assert(race_open(&shadow, 256));
}

static void close_shadow(void)
{
    race_close(&shadow);
}

TestSuite(race, .init = open_shadow, .fini = close_shadow);

Test(race, a_read_of_what_another_thread_wrote_is_raw)
{
    cr_assert_eq(race_enter(&shadow, 16, 4, by(0, 1), RACE_WRITE).kind, RACE_NONE);
    struct race_hit hit = race_enter(&shadow, 16, 4, by(40, 2), RACE_READ);
    cr_assert_eq(hit.kind, RACE_RAW);
    cr_assert_eq(hit.other_thread, 0);
    cr_assert_eq(hit.other_insn, 1);
}

Test(race, the_order_of_execution_does_not_change_the_kind)
{
    /* The program reads, then writes; a warp that runs first has already written. */
    race_enter(&shadow, 16, 4, by(0, 1), RACE_READ);
    race_enter(&shadow, 16, 4, by(0, 2), RACE_WRITE);
    cr_assert_eq(race_enter(&shadow, 16, 4, by(40, 1), RACE_READ).kind, RACE_WAR);
    /* The program writes, then reads; a warp that runs first has already read. */
    race_barrier(&shadow);
    race_enter(&shadow, 32, 4, by(0, 2), RACE_READ);
    cr_assert_eq(race_enter(&shadow, 32, 4, by(40, 1), RACE_WRITE).kind, RACE_RAW);
}

Test(race, a_barrier_orders_everything)
{
    race_enter(&shadow, 0, 8, by(0, 1), RACE_WRITE);
    race_barrier(&shadow);
    cr_assert_eq(race_enter(&shadow, 4, 4, by(99, 1), RACE_READ).kind, RACE_NONE);
    race_barrier(&shadow);
    cr_assert_eq(race_enter(&shadow, 4, 4, by(70, 1), RACE_WRITE).kind, RACE_NONE);
}

Test(race, atomics_race_with_plain_accesses_and_not_with_each_other)
{
    cr_assert_eq(race_enter(&shadow, 16, 4, by(0, 1), RACE_ATOMIC).kind, RACE_NONE);
    cr_assert_eq(race_enter(&shadow, 16, 4, by(40, 1), RACE_ATOMIC).kind, RACE_NONE);
    cr_assert_eq(race_enter(&shadow, 16, 4, by(80, 2), RACE_STRONG_READ).kind, RACE_NONE);
    cr_assert_eq(race_enter(&shadow, 16, 4, by(80, 2), RACE_READ).kind, RACE_RAW);
    race_barrier(&shadow);
    race_enter(&shadow, 16, 4, by(0, 1), RACE_READ);
    cr_assert_eq(race_enter(&shadow, 16, 4, by(40, 2), RACE_ATOMIC).kind, RACE_WAR);
    race_barrier(&shadow);
    race_enter(&shadow, 16, 4, by(0, 1),
               RACE_WRITE); /* an atomic operation of the same thread does not hide it */
    race_enter(&shadow, 16, 4, by(0, 2), RACE_ATOMIC);
    cr_assert_eq(race_enter(&shadow, 16, 4, by(40, 3), RACE_ATOMIC).kind, RACE_RAW);
}

Test(race, an_atomic_of_another_thread_is_what_can_be_acquired)
{
    race_enter(&shadow, 16, 4, by(0, 1), RACE_ATOMIC);
    cr_assert_not(race_is_released(&shadow, 16, by(0, 2)));
    cr_assert(race_is_released(&shadow, 16, by(40, 2)));
    race_enter(&shadow, 20, 4, by(0, 1), RACE_WRITE);
    cr_assert_not(race_is_released(&shadow, 20, by(40, 2)));
}

Test(race, bytes_of_one_word_are_kept_apart)
{
    race_enter(&shadow, 8, 1, by(0, 1), RACE_WRITE);
    cr_assert_eq(race_enter(&shadow, 9, 1, by(50, 1), RACE_WRITE).kind, RACE_NONE);
    cr_assert_eq(race_enter(&shadow, 8, 1, by(0, 2), RACE_READ).kind, RACE_NONE);
    cr_assert_eq(race_enter(&shadow, 9, 1, by(50, 2), RACE_READ).kind, RACE_NONE);
    struct race_hit hit = race_enter(&shadow, 8, 4, by(0, 3), RACE_READ);
    cr_assert_eq(hit.kind, RACE_RAW);
    cr_assert_eq(hit.other_thread, 50);
    cr_assert_eq(race_enter(&shadow, 8, 2, by(60, 1), RACE_WRITE).kind, RACE_WAW);
    race_barrier(&shadow);
    cr_assert_eq(race_enter(&shadow, 8, 4, by(60, 1), RACE_WRITE).kind, RACE_NONE);
}

Test(race, what_was_known_of_a_word_is_known_of_its_bytes)
{
    race_enter(&shadow, 8, 4, by(0, 1), RACE_WRITE);
    race_enter(&shadow, 11, 1, by(0, 2), RACE_WRITE);
    cr_assert_eq(race_enter(&shadow, 9, 1, by(50, 2), RACE_READ).kind, RACE_RAW);
    cr_assert_eq(race_enter(&shadow, 12, 1, by(50, 2), RACE_READ).kind, RACE_NONE);
}

Test(race, a_write_is_over_at_the_next_syncwarp_whatever_atomics_follow)
{
    struct race_access first = by(0, 2), second = by(1, 2);
    first.warp_epoch = second.warp_epoch = 1;
    race_enter(&shadow, 0, 4, by(0, 1), RACE_WRITE);
    cr_assert_eq(race_enter(&shadow, 0, 4, first, RACE_ATOMIC).kind, RACE_NONE);
    cr_assert_eq(race_enter(&shadow, 0, 4, second, RACE_ATOMIC).kind, RACE_NONE);
    /* This does not order other warps, and the atomics are still unordered. */
    cr_assert_eq(race_enter(&shadow, 0, 4, by(40, 1), RACE_ATOMIC).kind, RACE_RAW);
    cr_assert_eq(race_enter(&shadow, 0, 4, first, RACE_READ).kind, RACE_RAW);
}

Test(race, a_hit_names_another_thread)
{
    race_enter(&shadow, 16, 4, by(5, 1), RACE_READ);
    race_enter(&shadow, 16, 4, by(40, 2), RACE_READ);
    race_enter(&shadow, 16, 4, by(5, 3), RACE_READ);
    struct race_hit hit = race_enter(&shadow, 16, 4, by(5, 4), RACE_WRITE);
    cr_assert_eq(hit.kind, RACE_WAR);
    cr_assert_eq(hit.other_thread, 40);
    cr_assert_eq(hit.other_insn, 2);

    race_enter(&shadow, 20, 4, by(6, 1), RACE_READ);
    race_enter(&shadow, 20, 4, by(7, 2), RACE_READ);
    cr_assert_eq(race_enter(&shadow, 20, 4, by(7, 3), RACE_WRITE).other_thread, 6);
}

Test(race, threads_of_a_warp_are_ordered_by_syncwarp)
{
    struct race_access later = by(1, 2);
    race_enter(&shadow, 0, 4, by(0, 1), RACE_WRITE);
    later.warp_epoch = 1;
    cr_assert_eq(race_enter(&shadow, 0, 4, later, RACE_READ).kind, RACE_NONE);
    race_enter(&shadow, 4, 4, by(0, 1), RACE_WRITE);
    cr_assert_eq(race_enter(&shadow, 4, 4, by(1, 2), RACE_READ).kind, RACE_RAW);
}

/* A broadcast: all lanes read a word and synchronise; then one of them writes the word. */
Test(race, a_broadcast_read_is_ordered_by_syncwarp_too)
{
    struct race_access writer = by(7, 2);
    for (uint16_t lane = 0; lane < 32; lane++)
        race_enter(&shadow, 16, 4, by(lane, 1), RACE_READ);
    cr_assert_eq(race_enter(&shadow, 16, 4, writer, RACE_WRITE).kind, RACE_WAR);

    race_barrier(&shadow);
    for (uint16_t lane = 0; lane < 32; lane++)
        race_enter(&shadow, 16, 4, by(lane, 1), RACE_READ);
    writer.warp_epoch = 1;
    cr_assert_eq(race_enter(&shadow, 16, 4, writer, RACE_WRITE).kind, RACE_NONE);

    race_barrier(&shadow); /* next: the writer also reads the word again */
    for (uint16_t lane = 0; lane < 32; lane++)
        race_enter(&shadow, 16, 4, by(lane, 1), RACE_READ);
    race_enter(&shadow, 16, 4, writer, RACE_READ);
    cr_assert_eq(race_enter(&shadow, 16, 4, writer, RACE_WRITE).kind, RACE_NONE);

    race_barrier(&shadow); /* next: __syncwarp does not order readers of another warp */
    race_enter(&shadow, 16, 4, by(40, 1), RACE_READ);
    for (uint16_t lane = 0; lane < 32; lane++)
        race_enter(&shadow, 16, 4, by(lane, 1), RACE_READ);
    cr_assert_eq(race_enter(&shadow, 16, 4, writer, RACE_WRITE).kind, RACE_WAR);

    race_barrier(&shadow); /* next: the writer's own read does not hide another lane's */
    race_enter(&shadow, 16, 4, by(6, 1), RACE_READ);
    race_enter(&shadow, 16, 4, by(7, 1), RACE_READ);
    cr_assert_eq(race_enter(&shadow, 16, 4, by(7, 2), RACE_WRITE).kind, RACE_WAR);
}

Test(race, reads_from_the_log_count_when_somebody_writes)
{
    shadow.log[0] = (struct race_entry){.insn = 7, .mask = 2, .step = 1, .warp = 3, .bytes = 4};
    shadow.log[0].base[0] = 16;
    shadow.log[0].stride[0] = 4;
    shadow.logged = 1;
    struct race_hit hit = race_enter(&shadow, 20, 4, by(5, 2), RACE_WRITE);
    cr_assert_eq(hit.kind, RACE_WAR);
    cr_assert_eq(hit.other_thread, 97);
    cr_assert_eq(hit.other_insn, 7);
}

Test(race, more_accesses_than_the_log_holds_still_count)
{
    for (uint32_t i = 0; i < RACE_LOG + 1; i++) {
        struct race_entry *e = race_log(&shadow);
        *e = (struct race_entry){.insn = i, .mask = 1, .step = i, .warp = 2, .bytes = 4};
        e->is_write = i == 0;
        e->base[0] = i == 0 ? 4 : 8;
    }
    cr_assert_eq(race_enter(&shadow, 4, 4, by(0, 1), RACE_READ).kind, RACE_RAW);
    cr_assert_eq(race_enter(&shadow, 8, 4, by(0, RACE_LOG + 2), RACE_WRITE).kind, RACE_WAR);
}

/* Enters four reads by a warp, in separate log entries or in two interleaved strands, and then a
 * write by another warp.
 * @return the write's race */
static struct race_hit after_reads(bool in_strands, uint32_t at)
{
    static const struct read {
        uint32_t insn, address;
    } reads[] = {{7, 16}, {8, 16}, {9, 144}, {6, 16}};
    static const struct race_strand odd = {2, {{8, 1, 0}, {6, 3, 0}}},
                                    even = {2, {{7, 0, 0}, {9, 2, 128}}};
    race_barrier(&shadow);
    for (uint32_t i = 0; i < (in_strands ? 2 : 4); i++) {
        struct race_entry *e = race_log(&shadow);
        *e = (struct race_entry){.insn = in_strands ? RACE_STRAND : reads[i].insn,
                                 .mask = 3,
                                 .step = 5 + (in_strands ? 0 : i),
                                 .warp = 3,
                                 .bytes = 4,
                                 .steps = i > 0};
        e->base[0] = in_strands ? 16 : reads[i].address;
        if (in_strands)
            e->strand = i == 0 ? &odd : &even;
        else
            e->stride[0] = i % 2 ? 0 : 4; /* the other strand's lanes read one word */
    }
    return race_enter(&shadow, at, 4, by(5, 12), RACE_WRITE);
}

Test(race, strands_count_as_each_of_their_reads)
{
    static const uint32_t at[] = {16, 20, 24, 140, 144, 148, 152};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        const struct race_hit want = after_reads(false, at[i]), hit = after_reads(true, at[i]);
        const bool is_read = at[i] < 24 || (at[i] >= 144 && at[i] < 152);
        cr_assert_eq(want.kind, is_read ? RACE_WAR : RACE_NONE);
        cr_assert_eq(hit.kind, want.kind);
        cr_assert_eq(hit.other_insn, want.other_insn, "at %u: %u, not %u", at[i], hit.other_insn,
                     want.other_insn);
        cr_assert_eq(hit.other_thread, want.other_thread);
    }
}

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
static void describe(struct race_entry *e, const uint32_t *address, uint32_t *scattered)
{
    memcpy(scattered, address, 32 * sizeof *address);
    for (int g = 0; g < 4; g++) {
        const uint32_t stride = address[8 * g + 1] - address[8 * g];
        e->base[g] = address[8 * g];
        e->stride[g] = (uint16_t)stride;
        for (uint32_t i = 0; i < 8; i++)
            e->is_scattered |= address[8 * (uint32_t)g + i] != e->base[g] + i * e->stride[g];
    }
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

static bool marks_are_clear(const struct race_entry *e, const uint32_t *address)
{
    for (uint32_t i = 0; i < 32; i++)
        for (uint32_t word = address[i] / 4; e->mask >> i & 1 && word < (address[i] + e->bytes) / 4;
             word++)
            if (twin.written_at[word] == twin.epoch ||
                (e->is_write && twin.read_at[word] == twin.epoch))
                return false;
    return true;
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

/* Checks that both shadows know the same about this epoch. */
static void expect_same_words(void)
{
    const struct race_table *a = &shadow.words, *b = &twin.words;
    race_replay(&shadow);
    cr_assert_eq(shadow.epoch, twin.epoch);
    for (uint32_t word = 0; word < TWIN_BYTES / 4; word++) {
        const bool is_read = b->read[word] >> RACE_EPOCH_SHIFT == twin.epoch;
        cr_assert_eq(a->read[word] >> RACE_EPOCH_SHIFT == shadow.epoch, is_read);
        cr_assert_eq(a->written[word] == shadow.epoch, b->written[word] == twin.epoch);
        cr_assert_eq(a->changed[word] == shadow.epoch, b->changed[word] == twin.epoch);
        if (is_read) {
            cr_assert_eq(a->read[word], b->read[word]);
            expect_same(&a->reader, &b->reader, word);
            expect_other_reader(a, word);
            expect_other_reader(b, word);
        }
        if (b->written[word] == twin.epoch)
            expect_same(&a->writer, &b->writer, word);
        if (b->changed[word] == twin.epoch)
            expect_same(&a->changer, &b->changer, word);
    }
}

/* How many accesses that might have raced were entered as a whole, and how many were not. */
static int settled, refused;

static void enter_plain(const struct race_entry *e, const uint32_t *address)
{
    const enum race_access_kind kind = e->is_write ? RACE_WRITE : RACE_READ;
    if (e->is_write && lanes_overlap(address, e->mask))
        return;
    struct race_entry *to = race_log(&shadow);
    *to = *e;
    describe(to, address, race_addresses(&shadow, to));
    const bool clear = marks_are_clear(e, address), hit = enter_lanes(&twin, e, address, kind);
    if (clear) {
        cr_assert_not(hit);
    } else if (race_settle_last(&shadow)) {
        cr_assert_not(hit);
        settled++;
    } else {
        cr_assert(hit);
        enter_lanes(&shadow, e, address, kind);
        refused++;
    }
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

static struct race_entry random_access(struct rng *r, uint32_t round, uint32_t address[32])
{
    static uint16_t warp_epoch[TWIN_WARPS];
    const uint64_t dice = rng_u64(r);
    const uint32_t how = dice % 8, bytes = 4u << (dice >> 8) % 3;
    const uint32_t start = (dice >> 16) % (TWIN_BYTES / bytes), warp = (dice >> 32) % TWIN_WARPS;
    for (uint32_t i = 0; i < 32; i++)
        address[i] = random_address(r, how, i, bytes, start);
    warp_epoch[warp] += (dice >> 48) % 4 == 0;
    return (struct race_entry){.insn = round % 50,
                               .step = round / 3,
                               .warp = (uint16_t)warp,
                               .warp_epoch = warp_epoch[warp],
                               .bytes = (uint16_t)bytes,
                               .is_write = (dice >> 40) % 4 == 0,
                               .mask = (dice >> 44) % 2 ? ~0u : (uint32_t)rng_u64(r) | 1};
}

Test(race, a_warp_at_a_time_is_a_lane_at_a_time)
{
    const uint64_t seed = rng_fresh_seed();
    struct rng r = rng_make(seed, 0);
    printf("seed %llu\n", (unsigned long long)seed);
    race_close(&shadow);
    cr_assert(race_open(&twin, TWIN_BYTES) && race_open(&shadow, TWIN_BYTES));
    for (uint32_t round = 0; round < 30000; round++) {
        uint32_t address[32];
        const struct race_entry e = random_access(&r, round, address);
        const uint64_t dice = rng_u64(&r);
        if (dice % 8 == 0)
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
}

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

Test(names, kernels_have_their_written_names)
{
    static const char *const pairs[][2] = {{"_Z4convPKfS0_Pf", "conv"},
                                           {"_ZN3lab4convEPKf", "lab::conv"},
                                           {"conv", "conv"},
                                           {"_ZN3cub6detail1kIfEEvT_", "cub::detail::k"},
                                           {"_Z", "_Z"},
                                           {"_Z99x", "_Z99x"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char to[256];
        name_demangle(pairs[i][0], to, sizeof to);
        cr_assert_str_eq(to, pairs[i][1]);
    }
}

static const struct vg_profile gpu = {.multiprocessors = 100,
                                      .max_threads_per_multiprocessor = 2048,
                                      .max_blocks_per_multiprocessor = 32,
                                      .registers_per_multiprocessor = 65536,
                                      .shared_per_multiprocessor_bytes = 228 << 10,
                                      .shared_reserved_bytes = 1024,
                                      .clock_hz = 1e9,
                                      .issue_slots = 4,
                                      .fp32_lanes = 128,
                                      .fp64_lanes = 64,
                                      .fp16_lanes = 256,
                                      .special_lanes = 16,
                                      .int_lanes = 64,
                                      .l2_bytes_per_s = 5e12,
                                      .dram_bytes_per_s = 4e12,
                                      .alu_latency_clocks = 4,
                                      .dram_latency_clocks = 500};

Test(model, resident_blocks_follow_the_scarcest_resource)
{
    const char *why;
    cr_assert_eq(vg_clock_resident(&gpu, 256, 32, 0, &why), 8);
    cr_assert_eq(vg_clock_resident(&gpu, 256, 64, 0, &why), 4);
    cr_assert_str_eq(why, "registers");
    cr_assert_eq(vg_clock_resident(&gpu, 32, 16, 0, &why), 32);
    cr_assert_str_eq(why, "blocks");
    cr_assert_eq(vg_clock_resident(&gpu, 128, 16, 100 << 10, &why), 2);
    cr_assert_str_eq(why, "shared memory");
}

Test(model, the_limiter_is_what_the_kernel_does_most)
{
    struct vg_counters c = {0};
    struct vg_clock_facts f = {
        .blocks = 10000, .threads = 256, .registers = 32, .issue_slots = 1e8};
    f.slots[IR_CLASS_FP32] = 9e7;
    cr_assert_str_eq(vg_clock_kernel(&gpu, &c, &f).limiter, "issue");
    f.slots[IR_CLASS_FP64] = 8e7;
    cr_assert_str_eq(vg_clock_kernel(&gpu, &c, &f).limiter, "fp64");
    f.dram_bytes = 1e11;
    c.global_load_sectors = (uint64_t)(1e11 / 32);
    struct vg_clock_result r = vg_clock_kernel(&gpu, &c, &f);
    cr_assert_str_eq(r.limiter, "dram");
    cr_assert(r.ns > 24e6 && r.ns < 26e6);
    cr_assert_float_eq(vg_clock_combine(r.term_ns), r.ns, 1e-6 * r.ns);
    r.term_ns[VG_TERM_DRAM] /= 100;
    cr_assert(vg_clock_combine(r.term_ns) < r.ns / 2, "shorter terms make a shorter time");
    cr_assert_str_eq(vg_clock_term_name(vg_clock_limiter(r.term_ns)), "fp64");
    cr_assert(r.occupancy == 1);
}
