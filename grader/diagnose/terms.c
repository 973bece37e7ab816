/** @file
 * Checks whether the outputs are the right sums, except that some products are missing or occur
 * several times. A loop that ends early, a last tile that is used twice, and a forgotten slice of
 * the input maps all have this effect, whatever the tiles are.
 *
 *   1. An output is the sum of terms: one per input map, per filter element, or per product. For
 *      one case, find how often each term occurs in the outputs: the least squares solution of
 *      y[o] = sum over t of times[t] * term[t][o].
 *   2. The solution counts only if every times[t] is a whole number, not all are 1, and they
 *      explain every output of the case.
 *   3. Cases with the least work come first; the first cases that are large enough must all have a
 *      solution of the same kind. At least two such cases are needed, unless only one case is
 *      wrong.
 */
#include "grader/diagnose/clues.h"
#include "grader/compare/element.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TERMS_MAX = 64, /* a case with more terms is skipped */
    MARGIN = 2,     /* minimum number of outputs per term */
    CASES_LOOKED_AT = 5,
    CASES_NEEDED = 2,
};

/* A grouping of products into terms. */
struct kind {
    const char *name; /* plural name of the terms */
    int (*count)(const struct conv_shape *s);
    int (*of)(const struct conv_shape *s, int c, int p, int q);
    void (*write)(const struct conv_shape *s, int term, char *to, size_t room);
};

static int maps(const struct conv_shape *s)
{
    return s->C;
}

static int map_of(const struct conv_shape *s, int c, int p, int q)
{
    (void)s, (void)p, (void)q;
    return c;
}

static void write_map(const struct conv_shape *s, int term, char *to, size_t room)
{
    (void)s;
    snprintf(to, room, "c=%d", term);
}

static int taps(const struct conv_shape *s)
{
    return s->K * s->K;
}

static int tap_of(const struct conv_shape *s, int c, int p, int q)
{
    (void)c;
    return p * s->K + q;
}

static void write_tap(const struct conv_shape *s, int term, char *to, size_t room)
{
    snprintf(to, room, "(p,q)=(%d,%d)", term / s->K, term % s->K);
}

static int products(const struct conv_shape *s)
{
    return s->C * s->K * s->K;
}

static int product_of(const struct conv_shape *s, int c, int p, int q)
{
    return (c * s->K + p) * s->K + q;
}

static void write_product(const struct conv_shape *s, int term, char *to, size_t room)
{
    snprintf(to, room, "number %d (c=%d, p=%d, q=%d)", term, term / (s->K * s->K),
             term / s->K % s->K, term % s->K);
}

static const struct kind kinds[] = {
    {"input maps", maps, map_of, write_map},
    {"filter elements", taps, tap_of, write_tap},
    {"products", products, product_of, write_product},
};

/* ---- 1. and 2. one case --------------------------------------------------------------------- */

/* Computes the terms of output (b, m, h, w). */
static void terms_of(const struct gr_case *c, const struct kind *kind, const int at[4], double *to)
{
    const struct conv_shape *s = &c->spec.shape;
    for (int t = 0; t < kind->count(s); t++)
        to[t] = 0;
    for (int i = 0; i < s->C; i++)
        for (int p = 0; p < s->K; p++)
            for (int q = 0; q < s->K; q++)
                to[kind->of(s, i, p, q)] +=
                    (double)
                        c->x[(((size_t)at[0] * s->C + i) * s->H + at[2] + p) * s->W + at[3] + q] *
                    c->k[(((size_t)at[1] * s->C + i) * s->K + p) * s->K + q];
}

/* Moves to the next output. */
static void advance(const struct conv_shape *s, int at[4])
{
    const int size[4] = {s->B, s->M, s->H - s->K + 1, s->W - s->K + 1};
    for (int d = 3; d >= 0 && ++at[d] == size[d]; d--)
        at[d] = 0;
}

/* Solves a[n][n] * x = b in place, by elimination with pivots on the diagonal (a is symmetric and
 * positive). @return false if there is no unique solution. */
static bool solve(double *a, double *b, int n)
{
    for (int i = 0; i < n; i++) {
        if (!(a[i * n + i] > 1e-6))
            return false;
        for (int row = i + 1; row < n; row++) {
            double factor = a[row * n + i] / a[i * n + i];
            for (int j = i; j < n; j++)
                a[row * n + j] -= factor * a[i * n + j];
            b[row] -= factor * b[i];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            b[i] -= a[i * n + j] * b[j];
        b[i] /= a[i * n + i];
    }
    return true;
}

static bool fits(const struct gr_case *c, const struct kind *kind, const double *times)
{
    const struct conv_shape *s = &c->spec.shape;
    const int n = kind->count(s);
    const size_t elems = nn_conv_y_elems(s);
    double term[TERMS_MAX];
    int at[4] = {0};
    for (size_t o = 0; o < elems; o++, advance(s, at)) {
        double y = 0, largest = 0;
        terms_of(c, kind, at, term);
        for (int t = 0; t < n; t++) {
            y += times[t] * term[t];
            largest = fmax(largest, fabs(times[t] * term[t]));
        }
        double room = 4 * (c->atol[at[1]] + NN_RTOL * fabs(y)) + 1e-5 * largest;
        if (!(fabs(c->y[o] - y) <= room))
            return false;
    }
    return true;
}

/* @param work  [TERMS_MAX * TERMS_MAX]  @param times  set to how often each term occurs
 * @return whether this explains the case. */
static bool explain(const struct gr_case *c, const struct kind *kind, double *work, double *times)
{
    const struct conv_shape *s = &c->spec.shape;
    const int n = kind->count(s);
    const size_t elems = nn_conv_y_elems(s);
    double term[TERMS_MAX];
    int at[4] = {0};
    for (int i = 0; i < n * n; i++)
        work[i] = 0;
    for (int i = 0; i < n; i++)
        times[i] = 0;
    for (size_t o = 0; o < elems; o++, advance(s, at)) {
        if (!isfinite(c->y[o]))
            return false;
        terms_of(c, kind, at, term);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++)
                work[i * n + j] += term[i] * term[j];
            times[i] += term[i] * c->y[o];
        }
    }
    bool any = false;
    if (!solve(work, times, n))
        return false;
    for (int i = 0; i < n; i++) {
        double whole = round(times[i]);
        if (!(fabs(times[i] - whole) < 0.05) || fabs(whole) > 1000)
            return false;
        times[i] = whole;
        any = any || whole != 1;
    }
    return any && fits(c, kind, times);
}

static bool can_tell(const struct gr_case *c, const struct kind *kind)
{
    const int n = kind->count(&c->spec.shape);
    return n >= 2 && n <= TERMS_MAX && nn_conv_y_elems(&c->spec.shape) >= (size_t)(MARGIN * n) &&
           nn_conv_macs(&c->spec.shape) < 1e6;
}

/* ---- 3. all cases --------------------------------------------------------------------------- */

/* Appends "VERB LIST" if some terms occur `wanted` times (-1: any number except 0 and 1). */
static void list(const struct kind *kind, const struct conv_shape *s, const double *times,
                 int wanted, const char *verb, char *to, size_t room)
{
    enum { SHOWN = 4 };
    int found = 0, n = kind->count(s);
    for (int t = 0; t < n; t++) {
        const bool is_wanted = wanted >= 0 ? times[t] == wanted : times[t] != 0 && times[t] != 1;
        if (!is_wanted)
            continue;
        char one[64];
        size_t used = strlen(to);
        kind->write(s, t, one, sizeof one);
        if (found < SHOWN)
            snprintf(to + used, room - used, "%s%s%s", found ? ", " : verb, found ? "" : " ", one);
        else if (found == SHOWN)
            snprintf(to + used, room - used, ", ...");
        found++;
    }
}

static void say(const struct gr_case *c, const struct kind *kind, const double *times,
                struct gr_terms_found *to)
{
    const struct conv_shape *s = &c->spec.shape;
    int n = kind->count(s), none = 0, several = 0, others = 0;
    for (int t = 0; t < n; t++) {
        none += times[t] == 0;
        several += times[t] > 1;
        others += times[t] != 0 && times[t] != 1;
    }
    to->id = none && !several   ? "terms_left_out"
             : several && !none ? "terms_repeated"
                                : "terms_wrong";
    snprintf(to->says, sizeof to->says, "in shape B=%d M=%d C=%d H=%d W=%d K=%d, of %d %s,", s->B,
             s->M, s->C, s->H, s->W, s->K, n, kind->name);
    list(kind, s, times, 0, " missing:", to->says, sizeof to->says);
    if (none && others)
        snprintf(to->says + strlen(to->says), sizeof to->says - strlen(to->says), ";");
    list(kind, s, times, -1, " not exactly once:", to->says, sizeof to->says);
}

bool gr_find_terms(const struct gr_clues *clues, struct gr_terms_found *to)
{
    double *work = malloc(sizeof *work * TERMS_MAX * TERMS_MAX), times[TERMS_MAX];
    bool found = false;
    for (size_t k = 0; work && k < sizeof kinds / sizeof kinds[0] && !found; k++) {
        size_t looked_at = 0, explained = 0;
        bool all = true;
        for (size_t i = 0; i < clues->n && looked_at < CASES_LOOKED_AT && all; i++) {
            size_t at = clues->by_work[i];
            if (!clues->compared[at].wrong || !can_tell(&clues->cases[at], &kinds[k]))
                continue;
            looked_at++;
            all = explain(&clues->cases[at], &kinds[k], work, times);
            if (all && explained++ == 0)
                say(&clues->cases[at], &kinds[k], times, to);
        }
        found = all && explained > 0 && (explained >= CASES_NEEDED || clues->wrong_cases == 1);
    }
    free(work);
    return found;
}
