#include "grader/course/cases.h"

#include "nn/oracle.h"

#include <criterion/criterion.h>
#include <string.h>

static struct gr_case_shape shapes[GR_MAX_CASES];

static bool is_valid(const struct conv_shape *s)
{
    return s->B >= 1 && s->M >= 1 && s->C >= 1 && s->K >= 1 && s->H >= s->K && s->W >= s->K;
}

Test(cases, are_valid_and_cheap_for_any_seed)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        size_t n = gr_case_shapes(exercise_at(0), shapes, seed, 0);
        double macs = 0;
        cr_assert(n > 0 && n <= GR_MAX_CASES);
        for (size_t i = 0; i < n; i++) {
            cr_assert(is_valid(&shapes[i].shape), "seed %zu, case %zu", (size_t)seed, i);
            cr_assert(shapes[i].label[0]);
            macs += nn_conv_macs(&shapes[i].shape);
        }
        cr_assert(macs < 0.15e9, "seed %zu: %g multiply-adds", (size_t)seed, macs);
    }
}

Test(cases, repeat_for_a_seed_and_change_with_it)
{
    struct gr_case_shape again[GR_MAX_CASES], other[GR_MAX_CASES];
    memset(shapes, 0, sizeof shapes);
    memset(again, 0, sizeof again);
    memset(other, 0, sizeof other);
    size_t n = gr_case_shapes(exercise_at(0), shapes, 7, 0);
    cr_assert_eq(gr_case_shapes(exercise_at(0), again, 7, 0), n);
    cr_assert_eq(gr_case_shapes(exercise_at(0), other, 8, 0), n);
    cr_assert_arr_eq(shapes, again, sizeof shapes);
    cr_assert_neq(memcmp(shapes, other, sizeof shapes), 0);
}

Test(cases, quick_is_a_beginning_of_all)
{
    struct gr_case_shape quick[GR_MAX_CASES];
    memset(shapes, 0, sizeof shapes);
    memset(quick, 0, sizeof quick);
    size_t n = gr_case_shapes(exercise_at(0), quick, 3, 1);
    cr_assert_lt(n, gr_case_shapes(exercise_at(0), shapes, 3, 0));
    cr_assert_arr_eq(quick, shapes, n * sizeof quick[0]);
}

static bool some_shape(size_t n, bool (*holds)(const struct conv_shape *))
{
    for (size_t i = 0; i < n; i++)
        if (holds(&shapes[i].shape))
            return true;
    return false;
}

static bool one_by_one(const struct conv_shape *s)
{
    return s->B * s->M * s->C * s->H * s->W * s->K == 1;
}

static bool filter_is_input(const struct conv_shape *s)
{
    return s->K > 1 && s->K == s->H && s->K == s->W;
}

static bool filter_is_height(const struct conv_shape *s)
{
    return s->K > 1 && s->K == s->H && s->W > s->K;
}

static bool wide(const struct conv_shape *s)
{
    return s->W > s->H && s->H > s->K;
}

static bool high(const struct conv_shape *s)
{
    return s->H > s->W && s->W > s->K;
}

static bool even_filter(const struct conv_shape *s)
{
    return s->K % 2 == 0 && s->H > s->K;
}

static bool swappable(const struct conv_shape *s)
{
    return s->B == s->M && s->B > 1 && s->K > 1 && s->H == s->K && s->W == s->K;
}

Test(cases, hold_the_edges)
{
    size_t n = gr_case_shapes(exercise_at(0), shapes, 1, 1);
    cr_expect(some_shape(n, one_by_one));
    cr_expect(some_shape(n, filter_is_input));
    cr_expect(some_shape(n, filter_is_height));
    cr_expect(some_shape(n, wide));
    cr_expect(some_shape(n, high));
    cr_expect(some_shape(n, even_filter));
    cr_expect(some_shape(n, swappable));
}

Test(cases, hold_tile_sizes_and_their_neighbours)
{
    size_t n = gr_case_shapes(exercise_at(0), shapes, 1, 1);
    static const int sides[] = {7, 8, 9, 15, 16, 17, 31, 32, 33};
    for (size_t j = 0; j < sizeof sides / sizeof sides[0]; j++) {
        bool found = false;
        for (size_t i = 0; i < n; i++) {
            const struct conv_shape *s = &shapes[i].shape;
            found |= s->H - s->K + 1 == sides[j] && s->W - s->K + 1 == sides[j];
        }
        cr_expect(found, "no shape with %d x %d outputs", sides[j], sides[j]);
    }
}
