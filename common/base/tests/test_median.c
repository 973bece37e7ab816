#include "base/median.h"
#include "base/rng.h"

#include <criterion/criterion.h>

Test(median, of_an_even_number_is_between_the_middle_two)
{
    double even[] = {4, 1, 3, 2}, odd[] = {5, 1, 9};
    cr_expect_eq(median_of(even, 4).median, 2.5);
    cr_expect_eq(median_of(odd, 3).median, 5);
}

/* Ranks from published tables of the 95% interval of a median. */
Test(median, interval_has_the_ranks_of_the_tables)
{
    static const struct {
        size_t n, low, high;
    } table[] = {{1, 1, 1},   {5, 1, 5},   {6, 1, 6},   {8, 1, 8},    {9, 2, 8},
                 {15, 4, 12}, {20, 6, 15}, {25, 8, 18}, {51, 19, 33}, {100, 40, 61}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        double samples[100];
        for (size_t rank = 1; rank <= table[i].n; rank++)
            samples[table[i].n - rank] = (double)rank; /* largest first: it must sort */
        struct median m = median_of(samples, table[i].n);
        cr_expect_eq(m.n, table[i].n);
        cr_expect_eq(m.low, (double)table[i].low, "n = %zu: low rank %g", m.n, m.low);
        cr_expect_eq(m.high, (double)table[i].high, "n = %zu: high rank %g", m.n, m.high);
    }
}

/* A skewed distribution, like that of times: squares of uniform numbers, whose median is 0.25. */
Test(median, interval_holds_the_true_median_as_often_as_it_says)
{
    enum { TRIALS = 2000, N = 15 };
    struct rng r = rng_make(5, 0);
    int held = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double samples[N];
        for (int i = 0; i < N; i++) {
            const double u = rng_float(&r, 0, 1);
            samples[i] = u * u;
        }
        const struct median m = median_of(samples, N);
        held += m.low <= 0.25 && 0.25 <= m.high;
    }
    /* 1 - 2 * P(at most 3 of 15) = 96.5%; three standard deviations are 1.3%. */
    cr_expect_geq(held, TRIALS * 0.950, "%d of %d", held, TRIALS);
    cr_expect_leq(held, TRIALS * 0.980, "%d of %d", held, TRIALS);
}
