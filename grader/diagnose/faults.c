/* The table of faults.def, whose formulas (fault_formulas.def) become functions here. */
#include "grader/diagnose/faults.h"

#include <math.h>

#define NAMES                                                                                      \
    __attribute__((unused)) const ptrdiff_t B = s->B, M = s->M, C = s->C, H = s->H, W = s->W,      \
                                            K = s->K, H_out = H - K + 1, W_out = W - K + 1

#define INDEX(name, expression)                                                                    \
    static ptrdiff_t name(const struct conv_shape *s, const struct gr_iteration *at)               \
    {                                                                                              \
        NAMES;                                                                                     \
        __attribute__((unused)) const ptrdiff_t b = at->b, m = at->m, c = at->c, h = at->h,        \
                                                w = at->w, p = at->p, q = at->q, n = at->n;        \
        return expression;                                                                         \
    }

#define LOOPS(name, statements)                                                                    \
    static void name(const struct conv_shape *s, int n, struct gr_loops *l)                        \
    {                                                                                              \
        NAMES;                                                                                     \
        (void)n;                                                                                   \
        statements;                                                                                \
    }

#define FINISH(name, expression)                                                                   \
    static double name(const struct conv_shape *s, double sum)                                     \
    {                                                                                              \
        NAMES;                                                                                     \
        return expression;                                                                         \
    }

/* The index into an image with zeros around it. */
static ptrdiff_t padded(const struct conv_shape *s, const struct gr_iteration *at, ptrdiff_t pad)
{
    ptrdiff_t h = at->h + at->p - pad, w = at->w + at->q - pad;
    if (h < 0 || h >= s->H || w < 0 || w >= s->W)
        return GR_ADDS_NOTHING;
    return ((at->b * s->C + at->c) * s->H + h) * s->W + w;
}
#include "grader/diagnose/fault_formulas.def"

const struct gr_fault gr_faults[] = {
#define FAULT(pattern, hint_text, text, ...)                                                       \
    {.id = pattern, .says = text, .hint = hint_text, __VA_ARGS__},
#include "grader/diagnose/faults.def"
};

const size_t gr_fault_count = sizeof gr_faults / sizeof gr_faults[0];
