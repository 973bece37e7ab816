/* Tests of races between single accesses: their kinds, what orders two accesses, and the threads
 * that a hit names. */
#include "race_fixture.h"

#include <criterion/criterion.h>

static struct race_access by(uint16_t thread, uint32_t step)
{
    return (struct race_access){.insn = step, .step = step, .thread = thread};
}

Test(race, a_read_after_another_threads_write_is_raw)
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
    /* The __syncwarp does not order other warps, and the atomics are unordered with a plain
     * read. */
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

/* Enters four reads by two lanes of a warp, in separate log entries or in two interleaved strands,
 * and then a write by another warp. @param apart  distance of the lanes in every other read, which
 * is scattered if this is not 4; the lanes of the other reads have one address
 * @return the write's race */
static struct race_hit after_reads(bool in_strands, uint32_t apart, uint32_t at)
{
    static const struct read {
        uint32_t insn, address;
    } reads[] = {{7, 16}, {8, 16}, {9, 144}, {6, 16}};
    static const struct race_strand same = {2, {{8, 1, 0}, {6, 3, 0}}},
                                    other = {2, {{7, 0, 0}, {9, 2, 128}}};
    race_barrier(&shadow);
    for (uint32_t i = 0; i < (in_strands ? 2 : 4); i++) {
        const bool is_same = in_strands ? i == 0 : i % 2;
        struct race_entry *e = race_log(&shadow);
        *e = (struct race_entry){.insn = in_strands ? RACE_STRAND : reads[i].insn,
                                 .mask = 3,
                                 .step = 5 + (in_strands ? 0 : i),
                                 .warp = 3,
                                 .bytes = 4,
                                 .steps = !is_same,
                                 .is_scattered = !is_same && apart != 4};
        e->base[0] = in_strands ? 16 : reads[i].address;
        e->stride[0] = is_same ? 0 : 4;
        uint32_t *const relative = race_relative(&shadow, e);
        relative[0] = 0;
        relative[1] = apart;
        if (e->is_scattered)
            e->relative = relative;
        if (in_strands)
            e->strand = is_same ? &same : &other;
    }
    return race_enter(&shadow, at, 4, by(5, 12), RACE_WRITE);
}

static void expect_strands_as_reads(uint32_t apart)
{
    static const uint32_t at[] = {16, 20, 24, 28, 140, 144, 148, 152};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        const struct race_hit want = after_reads(false, apart, at[i]),
                              hit = after_reads(true, apart, at[i]);
        const bool is_read =
            at[i] == 16 || at[i] == 16 + apart || at[i] == 144 || at[i] == 144 + apart;
        cr_assert_eq(want.kind, is_read ? RACE_WAR : RACE_NONE);
        cr_assert_eq(hit.kind, want.kind);
        cr_assert_eq(hit.other_insn, want.other_insn, "at %u: %u, not %u", at[i], hit.other_insn,
                     want.other_insn);
        cr_assert_eq(hit.other_thread, want.other_thread);
    }
}

Test(race, strands_count_as_each_of_their_reads)
{
    expect_strands_as_reads(4);
    expect_strands_as_reads(8);
}
