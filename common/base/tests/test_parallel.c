#include "base/parallel.h"
#include "base/patience.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct tally {
    atomic_int *calls;
    atomic_size_t last;
};

static void count(void *context, size_t piece)
{
    struct tally *t = context;
    atomic_fetch_add(&t->calls[piece], 1);
    atomic_store(&t->last, piece);
}

Test(parallel, every_piece_is_done_exactly_once_for_any_number_of_pieces)
{
    static const size_t sizes[] = {0, 1, 2, 3, 7, 255, 256, 257, 100003};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct tally t = {.calls = calloc(sizes[s] + 1, sizeof *t.calls)};
        parallel_for(sizes[s], count, &t);
        for (size_t i = 0; i < sizes[s]; i++)
            cr_assert_eq(atomic_load(&t.calls[i]), 1, "piece %zu of %zu", i, sizes[s]);
        cr_expect_eq(atomic_load(&t.calls[sizes[s]]), 0, "a piece beyond the last");
        free(t.calls);
    }
}

Test(parallel, a_single_core_does_all_pieces_in_order)
{
    cpu_set_t all, one;
    cr_assert_eq(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
    cr_expect_eq(parallel_cores(), 1);
    atomic_int calls[10] = {0};
    struct tally t = {.calls = calls};
    parallel_for(10, count, &t);
    cr_expect_eq(atomic_load(&t.last), 9);
}

Test(parallel, there_is_at_least_one_core)
{
    cr_expect_geq(parallel_cores(), 1);
}

static void nested(void *context, size_t piece)
{
    (void)piece;
    atomic_int calls[5] = {0};
    struct tally t = {.calls = calls};
    parallel_for(5, count, &t);
    for (int i = 0; i < 5; i++)
        atomic_fetch_add((atomic_int *)context, atomic_load(&calls[i]));
}

Test(parallel, loops_may_be_nested)
{
    atomic_int sum = 0;
    parallel_for(4, nested, &sum);
    cr_expect_eq(atomic_load(&sum), 20);
}

Test(parallel, crowding_is_the_number_of_runnable_tasks_per_core_and_at_least_one)
{
    cr_expect_eq(parallel_crowding("14.37 15.84 11.83 17/200 17100\n", 2), 8);
    cr_expect_eq(parallel_crowding("0.00 0.01 0.05 1/150 812\n", 8), 1);
    cr_expect_eq(parallel_crowding("3.00 3.01 3.05 3/150 812\n", 2), 1, "two workers, two cores");
    cr_expect_eq(parallel_crowding("3.00 3.01 3.05 4/150 812\n", 2), 1.5);
    cr_expect_eq(parallel_crowding("", 2), 1);
    cr_expect_eq(parallel_crowding("no such numbers", 2), 1);
    cr_expect_geq(parallel_crowding_now(), 1);
}

/* Looks once a second. @return whether any is left at the end */
static bool lasts(struct patience *p, int seconds, double crowding)
{
    bool any = true;
    for (int i = 0; i < seconds && any; i++)
        any = patience_takes(p, p->looked_s + 1, crowding);
    return any;
}

Test(patience, counts_time_on_a_crowded_machine_less)
{
    struct patience p = {.left_s = 10, .looked_s = 100};
    cr_expect(lasts(&p, 9, 1));
    cr_expect(lasts(&p, 1, 2), "1 s counts half");
    cr_expect_not(lasts(&p, 1, 2));
}

Test(patience, is_four_times_the_limit_at_most)
{
    struct patience p = {.left_s = 10, .looked_s = 0};
    cr_expect(lasts(&p, 39, 50));
    cr_expect_not(lasts(&p, 1, 50));
}

Test(patience, a_gap_in_which_the_caller_did_not_run_counts_little)
{
    struct patience p = {.left_s = 10, .looked_s = 0};
    cr_expect(patience_takes(&p, 1000, 1));
    cr_expect(lasts(&p, 8, 1));
    cr_expect_not(lasts(&p, 1, 1));
}
