#include "base/rng.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <string.h>

/* A state whose next rng_u64() is @p wanted: inverts rotl(s1 * 5, 7) * 9, with the inverses of 5
 * and 9 modulo 2^64. */
static struct rng about_to_give(uint64_t wanted)
{
    uint64_t x = wanted * 0x8e38e38e38e38e39u;
    x = x >> 7 | x << 57;
    return (struct rng){{1, x * 0xcccccccccccccccdu, 2, 3}};
}

Test(rng, is_xoshiro256_starstar)
{
    /* The first outputs of the authors' generator for the state 1, 2, 3, 4. */
    static const uint64_t expected[] = {11520u, 0u, 1509978240u, 1215971899390074240u};
    struct rng r = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        cr_expect_eq(rng_u64(&r), expected[i]);
}

Test(rng, the_same_seed_and_stream_give_the_same_numbers)
{
    struct rng a = rng_make(7, 3), b = rng_make(7, 3);
    for (int i = 0; i < 1000; i++)
        cr_assert_eq(rng_u64(&a), rng_u64(&b));
}

Test(rng, seeds_and_streams_are_separate)
{
    enum { SEEDS = 8, STREAMS = 8, N = SEEDS * STREAMS };
    uint64_t first[N];
    for (int i = 0; i < N; i++) {
        struct rng r = rng_make((uint64_t)(i / STREAMS), (uint64_t)(i % STREAMS));
        first[i] = rng_u64(&r);
        for (int j = 0; j < i; j++)
            cr_expect_neq(first[i], first[j], "streams %d and %d", i, j);
    }
}

Test(rng, a_copy_continues_like_the_original)
{
    struct rng a = rng_make(1, 0);
    rng_u64(&a);
    struct rng b = a;
    cr_expect_eq(rng_u64(&a), rng_u64(&b));
}

Test(rng, a_range_reaches_both_ends_and_nothing_beyond)
{
    struct rng r = rng_make(1, 0);
    int count[5] = {0};
    for (int i = 0; i < 10000; i++) {
        int x = rng_range(&r, -2, 2);
        cr_assert(x >= -2 && x <= 2);
        count[x + 2]++;
    }
    for (int i = 0; i < 5; i++)
        cr_expect(count[i] > 1800 && count[i] < 2200, "%d: %d of 10000", i - 2, count[i]);
}

Test(rng, a_range_may_be_one_number_or_all_of_int)
{
    struct rng r = rng_make(1, 0);
    cr_expect_eq(rng_range(&r, 5, 5), 5);
    r = about_to_give(0);
    cr_expect_eq(rng_range(&r, INT_MIN, INT_MAX), INT_MIN);
    r = about_to_give(UINT64_MAX);
    cr_expect_eq(rng_range(&r, INT_MIN, INT_MAX), INT_MAX);
}

Test(rng, every_draw_advances_the_stream_by_one)
{
    struct rng a = rng_make(9, 0), b = a;
    rng_range(&a, 0, 2), rng_float(&a, 0, 1), rng_range(&a, INT_MIN, INT_MAX);
    for (int i = 0; i < 3; i++)
        rng_u64(&b);
    cr_expect_eq(memcmp(&a, &b, sizeof a), 0);
}

Test(rng, a_float_is_between_lo_included_and_hi_excluded)
{
    struct rng r = about_to_give(0);
    cr_expect_eq(rng_float(&r, -3, 5), -3.0f);
    /* The largest draw: lo + (hi - lo) * (1 - 2^-24) rounds to hi for 1 and 2. */
    r = about_to_give(UINT64_MAX);
    cr_expect_lt(rng_float(&r, 1, 2), 2.0f);
    r = about_to_give(UINT64_MAX);
    cr_expect_lt(rng_float(&r, 0, 1), 1.0f);
    cr_expect_eq(rng_float(&r, 4, 4), 4.0f);
}

Test(rng, floats_are_spread_evenly)
{
    struct rng r = rng_make(2, 0);
    double sum = 0, squares = 0;
    enum { N = 100000 };
    for (int i = 0; i < N; i++) {
        double x = rng_float(&r, 0, 1);
        sum += x, squares += x * x;
    }
    cr_expect_float_eq(sum / N, 1.0 / 2, 0.005);
    cr_expect_float_eq(squares / N, 1.0 / 3, 0.005);
}

Test(rng, filling_is_drawing_one_by_one_and_stops_at_n)
{
    float some[6] = {0};
    struct rng a = rng_make(3, 0), b = a;
    some[5] = 42;
    rng_fill(&a, some, 5, -1, 1);
    for (int i = 0; i < 5; i++)
        cr_expect_eq(some[i], rng_float(&b, -1, 1));
    cr_expect_eq(some[5], 42.0f);
}

Test(rng, a_fresh_seed_is_short_enough_to_type_and_rarely_repeats)
{
    int same = 0;
    for (int i = 0; i < 100; i++) {
        uint64_t a = rng_fresh_seed(), b = rng_fresh_seed();
        cr_expect(a < 1000000000u && b < 1000000000u);
        same += a == b;
    }
    cr_expect(same < 3);
}
