/** @file
 * Checks whether a fault explains the outputs: runs the seven loops with this fault on the same
 * inputs, and compares the result with the submission's, element by element.
 *
 *   1. Compute the sum for every iteration of the outer loops, [b][m][h][w] of the loops' ranges.
 *      For one (b, h, w), the elements of x are looked up once for all maps m.
 *   2. Chain the sums that the fault does not reset to zero.
 *   3. Store the sums in the loops' order at the fault's indices. A later sum replaces an earlier
 *      sum or adds to it, because a student's program may do either.
 *   4. Compare. The first element that does not fit ends the check; since the cases with the least
 *      work come first, a wrong hypothesis costs almost nothing.
 *
 * Values from outside a tensor are unknown, and so are results computed from them.
 */
#include "grader/diagnose/clues.h"
#include "grader/compare/element.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdlib.h>

/* Most products that a case may have with a fault. */
#define MOST_WORK 50e6

enum state { UNWRITTEN, KNOWN, UNKNOWN };

/* A value, if it is known; `room` is what its rounding adds to the tolerance. */
struct predicted {
    float value, room;
    uint8_t state;
};

/* A term of a sum, after its lookup. */
struct term {
    double value;
    bool known;
};

struct play {
    const struct gr_fault *fault;
    const struct gr_case *c;
    struct conv_shape s;
    struct gr_loops l;
    size_t terms, h_range, w_range;
    struct term *weights;   /* [M][terms] */
    struct term *window;    /* [terms] */
    struct predicted *sums; /* [B][M][h_range][w_range] */
    struct predicted *y;    /* [B][M][H_out][W_out] */
};

static size_t range(int from, int to)
{
    return to > from ? (size_t)(to - from) : 0;
}

/* ---- 1. the sums ---------------------------------------------------------------------------- */

static ptrdiff_t right_x(const struct conv_shape *s, const struct gr_iteration *t)
{
    return ((t->b * s->C + t->c) * s->H + t->h + t->p) * s->W + t->w + t->q;
}

static ptrdiff_t right_k(const struct conv_shape *s, const struct gr_iteration *t)
{
    return ((t->m * s->C + t->c) * s->K + t->p) * s->K + t->q;
}

static ptrdiff_t right_y(const struct conv_shape *s, const struct gr_iteration *t)
{
    return ((t->b * s->M + t->m) * (s->H - s->K + 1) + t->h) * (s->W - s->K + 1) + t->w;
}

/* Looks up the terms of all (c, p, q) for the given rest of the iteration. */
static void look_up(const struct play *play, gr_index *index, struct gr_iteration at,
                    const float *tensor, size_t elems, struct term *to)
{
    const struct gr_loops *l = &play->l;
    for (at.c = l->c0; at.c < l->c1; at.c++) {
        for (at.p = l->p0; at.p < l->p1; at.p++) {
            for (at.q = l->q0; at.q < l->q1; at.q++) {
                ptrdiff_t i = index(&play->s, &at);
                bool inside = i >= 0 && (size_t)i < elems;
                to->value = inside ? tensor[i] : 0;
                to->known = inside || i == GR_ADDS_NOTHING;
                to++;
            }
        }
    }
}

static bool all_known(const struct term *terms, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!terms[i].known)
            return false;
    return true;
}

static double sum_of_terms(enum gr_term term, const struct term *a, const struct term *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum = term == GR_LARGEST       ? fmax(sum, a[i].value * b[i].value)
              : term == GR_SUM_OF_BOTH ? sum + a[i].value + b[i].value
                                       : sum + a[i].value * b[i].value;
    return sum;
}

static void compute_sums(struct play *play)
{
    const struct conv_shape *s = &play->s;
    const struct gr_fault *fault = play->fault;
    const struct gr_loops *l = &play->l;
    gr_index *x_index = fault->x ? fault->x : right_x, *k_index = fault->k ? fault->k : right_k;
    const float *x = play->c->x, *k = play->c->k;
    size_t x_elems = nn_conv_x_elems(s), k_elems = nn_conv_k_elems(s);
    if (fault->swapped) {
        const float *image = x;
        size_t elems = x_elems;
        x = k, x_elems = k_elems;
        k = image, k_elems = elems;
    }
    struct gr_iteration at = {.n = fault->n};
    bool *weights_known = malloc(s->M * sizeof *weights_known);
    for (at.m = 0; at.m < s->M; at.m++) {
        struct term *row = play->weights + at.m * play->terms;
        look_up(play, k_index, at, k, k_elems, row);
        if (weights_known)
            weights_known[at.m] = all_known(row, play->terms);
    }
    size_t plane = play->h_range * play->w_range;
    for (at.b = 0; at.b < s->B; at.b++) {
        struct predicted *sum = play->sums + at.b * s->M * plane;
        for (at.h = l->h0; at.h < l->h1; at.h++) {
            for (at.w = l->w0; at.w < l->w1; at.w++, sum++) {
                look_up(play, x_index, at, x, x_elems, play->window);
                bool known = weights_known && all_known(play->window, play->terms);
                for (int m = 0; m < s->M; m++) {
                    struct predicted *to = &sum[m * plane];
                    to->room = 0;
                    to->state = known && weights_known[m] ? KNOWN : UNKNOWN;
                    if (to->state == UNKNOWN)
                        continue;
                    double value = sum_of_terms(fault->term, play->window,
                                                play->weights + m * play->terms, play->terms);
                    to->value = (float)(fault->finish ? fault->finish(s, value) : value);
                }
            }
        }
    }
    free(weights_known);
}

/* ---- 2. and 3. the values stored to y ------------------------------------------------------- */

/* Lets each sum start from the previous sum, and from 0 every `length` sums. Rounding to float32
 * after each product then costs up to about the largest intermediate value * 2^-24; as in the
 * oracle's tolerance, the square root of the number of roundings counts. */
/* Adds to each of n sums, a step apart, all sums before it. */
static void chain(struct play *play, size_t first, size_t step, size_t n)
{
    double sum = 0, largest = 0;
    bool known = true;
    for (size_t i = 0; i < n; i++) {
        struct predicted *at = &play->sums[first + i * step];
        known = known && at->state == KNOWN;
        at->state = known ? KNOWN : UNKNOWN;
        if (!known)
            continue;
        sum += at->value;
        largest = fmax(largest, fabs(sum));
        at->value = (float)sum;
        at->room = (float)(6 * sqrt((double)(i + 1) * play->terms) * 0x1p-24 * largest);
    }
}

static void chain_sums(struct play *play)
{
    const size_t row = play->w_range, map = row * play->h_range, M = play->s.M, image = map * M,
                 B = play->s.B, all = image * B;
    size_t length = all;
    switch (play->fault->chain) {
    case GR_EACH_OUTPUT:
        return;
    case GR_EACH_ROW:
        length = row;
        break;
    case GR_EACH_MAP:
        length = map;
        break;
    case GR_EACH_IMAGE:
        length = image;
        break;
    case GR_NEVER:
        break;
    case GR_OVER_IMAGES:
        for (size_t i = 0; i < image; i++)
            chain(play, i, image, B);
        return;
    case GR_OVER_MAPS:
        for (size_t i = 0; i < map * B; i++)
            chain(play, i / map * image + i % map, map, M);
        return;
    }
    for (size_t i = 0; i < all; i += length)
        chain(play, i, 1, length);
}

static void store_sums(struct play *play, bool adds)
{
    const struct conv_shape *s = &play->s;
    gr_index *index = play->fault->y ? play->fault->y : right_y;
    size_t elems = nn_conv_y_elems(s);
    for (size_t i = 0; i < elems; i++)
        play->y[i].state = UNWRITTEN;

    const struct predicted *sum = play->sums;
    struct gr_iteration at = {.n = play->fault->n};
    for (at.b = 0; at.b < s->B; at.b++) {
        for (at.m = 0; at.m < s->M; at.m++) {
            for (at.h = play->l.h0; at.h < play->l.h1; at.h++) {
                for (at.w = play->l.w0; at.w < play->l.w1; at.w++, sum++) {
                    ptrdiff_t i = index(s, &at);
                    if (i < 0 || (size_t)i >= elems)
                        continue;
                    struct predicted *to = &play->y[i];
                    if (!adds || to->state == UNWRITTEN)
                        *to = *sum;
                    else if (to->state == KNOWN && sum->state == KNOWN)
                        to->value += sum->value;
                    else
                        to->state = UNKNOWN;
                }
            }
        }
    }
}

/* ---- 4. the comparison ---------------------------------------------------------------------- */

/* The evidence for a fault so far: the explained wrong elements, the cases with such elements, and
 * the cases whose wrong elements mostly neither support nor contradict the fault. */
struct fit {
    size_t explained, cases_explained, cases_unknown;
    size_t numbers; /* explained elements that are not merely 0 or missing */
};

/* Whether an element equals its prediction: within a few tolerances, and closer to the prediction
 * than to the right value. (Otherwise, an output that is only slightly wrong would fit
 * anything.) */
static bool element_fits(const struct predicted *y, float got, float ref, bool wrong, float atol)
{
    if (y->state == UNKNOWN)
        return true;
    if (y->state == UNWRITTEN)
        return gr_is_unwritten(got) || got == 0;
    float tolerance = 4 * (atol + NN_RTOL * fabsf(y->value)) + y->room;
    float distance = fabsf(got - y->value);
    float nearer = fabsf(got - ref) / 2 + y->room;
    return isfinite(got) && distance <= tolerance && (!wrong || distance < nearer);
}

static bool y_fits(const struct play *play, const uint8_t *is_wrong, bool written_only,
                   struct fit *fit)
{
    const struct gr_case *c = play->c;
    size_t elems = nn_conv_y_elems(&play->s), explained = fit->explained, unknown = 0;
    float atol = 0;
    for (int m = 0; m < play->s.M; m++)
        atol = fmaxf(atol, c->atol[m]);
    for (size_t i = 0; i < elems; i++) {
        const struct predicted *y = &play->y[i];
        if (written_only && gr_is_unwritten(c->y[i]))
            continue;
        if (!element_fits(y, c->y[i], c->ref[i], is_wrong[i], atol))
            return false;
        if (!is_wrong[i])
            continue;
        /* A read outside a tensor gives the NaN of its guard zone, which cannot be compared, but
         * counts as explained. */
        if (y->state != UNKNOWN) {
            fit->explained++;
            fit->numbers += y->state == KNOWN && y->value != 0;
        } else if (!gr_comes_from(c->y[i], GR_GUARD_BITS) && gr_bits(c->y[i]) != GR_GPU_NAN_BITS)
            unknown++;
    }
    fit->cases_explained += fit->explained > explained;
    fit->cases_unknown += unknown > fit->explained - explained;
    return true;
}

/* @return true without evidence in @p fit if this would take too long: with a filter of 100 x 100, a
 * padded convolution has several thousand times the work of the right one */
static bool case_fits(const struct gr_clues *clues, size_t at, const struct gr_fault *fault,
                      bool adds, bool written_only, struct fit *fit)
{
    const struct gr_case *c = &clues->cases[at];
    const struct conv_shape s = c->spec.shape;
    struct play play = {.fault = fault, .c = c, .s = s};
    play.l = (struct gr_loops){0, s.C, 0, s.H - s.K + 1, 0, s.W - s.K + 1, 0, s.K, 0, s.K};
    if (fault->loops)
        fault->loops(&s, fault->n, &play.l);
    play.terms =
        range(play.l.c0, play.l.c1) * range(play.l.p0, play.l.p1) * range(play.l.q0, play.l.q1);
    play.h_range = range(play.l.h0, play.l.h1);
    play.w_range = range(play.l.w0, play.l.w1);
    size_t sums = (size_t)s.B * s.M * play.h_range * play.w_range;
    if ((double)sums * (double)play.terms > MOST_WORK)
        return true;

    /* One element more than needed, so that the size is never 0. */
    play.weights = malloc((s.M * play.terms + 1) * sizeof *play.weights);
    play.window = malloc((play.terms + 1) * sizeof *play.window);
    play.sums = malloc((sums + 1) * sizeof *play.sums);
    play.y = malloc(nn_conv_y_elems(&s) * sizeof *play.y);
    bool fits = false;
    if (play.weights && play.window && play.sums && play.y) {
        if (sums)
            compute_sums(&play);
        if (sums)
            chain_sums(&play);
        store_sums(&play, adds);
        fits = y_fits(&play, clues->is_wrong[at], written_only, fit);
    }
    free(play.weights);
    free(play.window);
    free(play.sums);
    free(play.y);
    return fits;
}

/* Enough must be explained to exclude chance: at least 8 wrong elements, or all; more than one
 * case, if several are wrong; and at least as many cases as are unknown, except if x and k are
 * exchanged, because nearly all reads are then outside. */
static bool is_convincing(const struct gr_clues *clues, const struct gr_fault *fault,
                          const struct fit *fit)
{
    enum { ENOUGH = 8 };
    if (fit->explained < ENOUGH && fit->explained < clues->wrong)
        return false;
    if (fit->cases_explained < 2 && clues->wrong_cases > 1)
        return false;
    return fault->swapped || fit->cases_explained >= fit->cases_unknown;
}

/* @param exceptions  number of wrong cases that may differ: for example, larger filters may use
 * other code */
static bool fault_fits(const struct gr_clues *clues, const struct gr_fault *fault, bool adds,
                       bool written_only, size_t exceptions)
{
    struct fit fit = {0};
    const bool all = exceptions == 0;
    for (size_t i = 0; i < clues->n; i++) {
        size_t at = clues->by_work[i];
        const struct fit before = fit;
        if (case_fits(clues, at, fault, adds, written_only, &fit))
            continue;
        if (!clues->compared[at].wrong || exceptions-- == 0)
            return false;
        fit = before;
    }
    /* With exceptions, outputs of 0 would fit every fault that leaves out everything. */
    return is_convincing(clues, fault, &fit) && (all || fit.numbers * 2 > fit.explained);
}

const struct gr_fault *gr_find_fault(const struct gr_clues *clues, bool written_only,
                                     size_t exceptions)
{
    for (size_t i = 0; i < gr_fault_count; i++) {
        const struct gr_fault *fault = &gr_faults[i];
        /* Only a wrong index into y, or wrong ranges, store two sums in one element. */
        bool may_meet = fault->y || fault->loops;
        if (fault_fits(clues, fault, false, written_only, exceptions) ||
            (may_meet && fault_fits(clues, fault, true, written_only, exceptions)))
            return fault;
    }
    return NULL;
}
