/** @file
 * Checks whether the mistake depends only on the shape: searches for the simplest condition on the
 * sizes that is true for all wrong cases and for no right case.
 */
#include "grader/diagnose/clues.h"

#include <stdio.h>

/* ---- sizes and conditions ------------------------------------------------------------------- */

#define SIZE(name, expression)                                                                     \
    static int name(const struct conv_shape *s)                                                    \
    {                                                                                              \
        return expression;                                                                         \
    }

SIZE(images, s->B)
SIZE(maps, s->M)
SIZE(channels, s->C)
SIZE(height, s->H)
SIZE(width, s->W)
SIZE(filter, s->K)
SIZE(out_height, s->H - s->K + 1)
SIZE(out_width, s->W - s->K + 1)
SIZE(map_outputs, (s->H - s->K + 1) * (s->W - s->K + 1))
SIZE(outputs, s->B * s->M * map_outputs(s))
SIZE(products, s->C * s->K * s->K)
SIZE(weights, s->M *products(s))
SIZE(image, s->C * s->H * s->W)
SIZE(multiply_adds, outputs(s) * products(s))

static const struct size {
    const char *name;
    int (*of)(const struct conv_shape *s);
} sizes[] = {
    {"C", channels}, {"B", images}, {"M", maps},           {"K", filter},
    {"H", height},   {"W", width},  {"H_out", out_height}, {"W_out", out_width},
};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* Amounts by which a program may choose a kernel or the size of an array. Only limits on them are
 * tried, no other conditions. */
static const struct size amounts[] = {
    {"C*H*W", image},    {"H_out*W_out", map_outputs}, {"M*C*K*K", weights},
    {"C*K*K", products}, {"outputs", outputs},         {"multiply-adds", multiply_adds},
};

#define CONDITION(name, expression)                                                                \
    static bool name(int a, int b)                                                                 \
    {                                                                                              \
        (void)b;                                                                                   \
        return expression;                                                                         \
    }

CONDITION(is_larger, a > b)
CONDITION(is_smaller, a < b)
CONDITION(is_other, a != b)
CONDITION(is_same, a == b)
CONDITION(is_odd, a % 2 == 1)
CONDITION(is_even, a % 2 == 0)
CONDITION(is_no_multiple, a % b != 0)

/* ---- the search ----------------------------------------------------------------------------- */

typedef bool condition(int a, int b);

/* Whether condition(size of the shape, number) holds in the wrong cases and in no others. */
static bool number_fits(const struct gr_clues *clues, const struct size *size, condition *holds,
                        int number)
{
    for (size_t i = 0; i < clues->n; i++) {
        bool wrong = clues->compared[i].wrong > 0;
        if (holds(size->of(&clues->cases[i].spec.shape), number) != wrong)
            return false;
    }
    return true;
}

static bool pair_fits(const struct gr_clues *clues, const struct size *a, const struct size *b,
                      condition *holds)
{
    for (size_t i = 0; i < clues->n; i++) {
        const struct conv_shape *s = &clues->cases[i].spec.shape;
        if (holds(a->of(s), b->of(s)) != (clues->compared[i].wrong > 0))
            return false;
    }
    return true;
}

/* Finds the smallest and the largest size of the right cases. */
static void right_sizes(const struct gr_clues *clues, const struct size *size, int *least,
                        int *most)
{
    *least = INT32_MAX, *most = 0;
    for (size_t i = 0; i < clues->n; i++) {
        int value = size->of(&clues->cases[i].spec.shape);
        if (clues->compared[i].wrong)
            continue;
        *least = value < *least ? value : *least;
        *most = value > *most ? value : *most;
    }
}

/* The size of the first wrong case. */
static int size_of_wrong(const struct gr_clues *clues, const struct size *size)
{
    size_t i = 0;
    while (clues->compared[i].wrong == 0)
        i++;
    return size->of(&clues->cases[i].spec.shape);
}

/* Writes "NAME > LIMIT" or "NAME < LIMIT" if one of these conditions holds. */
static bool limit_fits(const struct gr_clues *clues, const struct size *size, int least, int most,
                       char *to, size_t room)
{
    if (number_fits(clues, size, is_larger, most))
        return snprintf(to, room, "%s > %d", size->name, most) > 0;
    return number_fits(clues, size, is_smaller, least) &&
           snprintf(to, room, "%s < %d", size->name, least) > 0;
}

bool gr_find_condition(const struct gr_clues *clues, char *to, size_t room)
{
    static const struct {
        const char *sign;
        condition *holds;
    } comparisons[] = {{"!=", is_other}, {">", is_larger}, {"<", is_smaller}, {"=", is_same}};
    static const int groups[] = {3, 4, 8, 16, 32};

    to[0] = '\0';
    /* If few cases are wrong, or few are right, many conditions separate wrong from right cases;
     * and outputs of tiny shapes may be right by chance. */
    if (clues->wrong_cases < 2 || clues->n - clues->wrong_cases < 4)
        return false;
    for (size_t j = 0; j < sizeof comparisons / sizeof comparisons[0]; j++)
        if (pair_fits(clues, &sizes[4], &sizes[5], comparisons[j].holds))
            return snprintf(to, room, "H %s W", comparisons[j].sign) > 0;
    for (size_t i = 0; i < SIZES; i++) {
        const char *name = sizes[i].name;
        int least, most;
        right_sizes(clues, &sizes[i], &least, &most);
        if (limit_fits(clues, &sizes[i], least, most, to, room))
            return true;
        if (least == most && number_fits(clues, &sizes[i], is_other, least))
            return snprintf(to, room, "%s other than %d", name, least) > 0;
        if (number_fits(clues, &sizes[i], is_odd, 0))
            return snprintf(to, room, "odd %s", name) > 0;
        if (number_fits(clues, &sizes[i], is_even, 0))
            return snprintf(to, room, "even %s", name) > 0;
        for (size_t j = 0; j < sizeof groups / sizeof groups[0]; j++)
            if (number_fits(clues, &sizes[i], is_no_multiple, groups[j]))
                return snprintf(to, room, "%s not a multiple of %d", name, groups[j]) > 0;
    }
    for (size_t i = 0; i < SIZES; i++) {
        int value = size_of_wrong(clues, &sizes[i]);
        if (number_fits(clues, &sizes[i], is_same, value))
            return snprintf(to, room, "%s = %d", sizes[i].name, value) > 0;
    }
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++) {
        int least, most;
        right_sizes(clues, &amounts[i], &least, &most);
        if (limit_fits(clues, &amounts[i], least, most, to, room))
            return true;
    }
    for (size_t i = 0; i < SIZES; i++)
        for (size_t k = i + 1; k < SIZES; k++)
            for (size_t j = 0; j < sizeof comparisons / sizeof comparisons[0]; j++)
                if (pair_fits(clues, &sizes[i], &sizes[k], comparisons[j].holds))
                    return snprintf(to, room, "%s %s %s", sizes[i].name, comparisons[j].sign,
                                    sizes[k].name) > 0;
    return false;
}
