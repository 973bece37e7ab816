/** @file
 * Names the mistake. The most specific explanation wins, and each explanation must be true for all
 * cases. The order is:
 *
 *   1. facts that bits prove: y or scratch memory was used before it was set; every output is
 *      the same number
 *   2. a fault that predicts every output (hypothesis.c), or missing products (terms.c)
 *   3. a region that is wrong while everything else is right (region.c)
 *   4. properties of the wrong values: NaN and its origin, unwritten, low precision
 *   5. a condition on the shape (condition.c)
 *   6. numbers only, without a pattern
 *
 * A program may use different code for different layers, and only one of them may be wrong. So if
 * stages 1 to 3 find nothing, they run again on the wrong cases alone.
 */
#include "grader/diagnose/diagnose.h"

#include "grader/diagnose/clues.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---------------------------------------------------------------------------------- */

/* Appends to a text, printf style; leaves it unchanged if the addition does not fit. */
__attribute__((format(printf, 3, 4))) static void add(char *to, size_t room, const char *format,
                                                      ...)
{
    size_t used = strlen(to);
    va_list args;
    va_start(args, format);
    int length = vsnprintf(to + used, room - used, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= room - used)
        to[used] = '\0';
}

#define MESSAGE(to) (to)->message, sizeof(to)->message

static bool name(struct gr_diagnosis *to, const char *pattern, const char *hint)
{
    to->pattern = pattern;
    snprintf(to->hint, sizeof to->hint, "%s", hint);
    return true;
}

static void add_shapes(struct gr_diagnosis *to, const struct gr_clues *clues)
{
    add(MESSAGE(to), ", in %zu of %zu shapes.", clues->wrong_cases, clues->n);
}

static void add_condition(struct gr_diagnosis *to, const struct gr_clues *clues)
{
    char condition[48];
    if (gr_find_condition(clues, condition, sizeof condition))
        add(MESSAGE(to), " The wrong shapes are exactly those with %s.", condition);
}

/* Describes the position of the wrong elements in the smallest wrong case. */
static void add_box(struct gr_diagnosis *to, const struct gr_clues *clues)
{
    size_t at = 0;
    while (clues->compared[clues->by_work[at]].wrong == 0)
        at++;
    at = clues->by_work[at];
    const struct conv_shape *s = &clues->cases[at].spec.shape;
    size_t sizes[4] = {s->B, s->M, s->H - s->K + 1, s->W - s->K + 1};
    size_t low[4], high[4] = {0};
    memcpy(low, sizes, sizeof low);
    for (size_t i = 0; i < clues->compared[at].elems; i++) {
        if (!clues->is_wrong[at][i])
            continue;
        size_t rest = i;
        for (int d = 3; d >= 0; d--) {
            size_t coordinate = rest % sizes[d];
            rest /= sizes[d];
            low[d] = coordinate < low[d] ? coordinate : low[d];
            high[d] = coordinate > high[d] ? coordinate : high[d];
        }
    }
    add(MESSAGE(to),
        " In the smallest wrong shape (B=%d M=%d C=%d H=%d W=%d K=%d) %zu of %zu are wrong, within b %zu..%zu, m %zu..%zu, h %zu..%zu, w %zu..%zu.",
        s->B, s->M, s->C, s->H, s->W, s->K, clues->compared[at].wrong, clues->compared[at].elems,
        low[0], high[0], low[1], high[1], low[2], high[2], low[3], high[3]);
}

/* ---- 1. facts that bits prove --------------------------------------------------------------- */

#define HINT_CLEAR                                                                                 \
    "y holds garbage when conv_forward is called. Do you set each element before you add to it? If you compute the sum in a local variable and store it once, you need not clear y. If you clear y with memset, pass the number of bytes, not of elements; if you clear it with a kernel, start a thread for each element."

static bool say_not_cleared(const struct gr_clues *clues, size_t elems, struct gr_diagnosis *to)
{
    bool partly = false; /* a shape has right elements, too */
    for (size_t at = 0; at < clues->n; at++)
        partly |=
            clues->compared[at].wrong && clues->compared[at].wrong < clues->compared[at].elems;
    add(MESSAGE(to),
        "the code adds to %s without clearing it first: %zu of %zu wrong elements are NaN, computed from the values of y before the call",
        partly ? "a part of y" : "y", elems, clues->wrong);
    add_shapes(to, clues);
    return name(to, "not_cleared", HINT_CLEAR);
}

static bool find_constant(const struct gr_clues *clues, struct gr_diagnosis *to)
{
    float value = clues->cases[0].y[0];
    if (!isfinite(value) || clues->elems < 2)
        return false;
    for (size_t at = 0; at < clues->n; at++)
        for (size_t i = 0; i < clues->compared[at].elems; i++)
            if (clues->cases[at].y[i] != value)
                return false;
    if (value == 0) {
        add(MESSAGE(to), "Every output is 0, in all %zu shapes.", clues->n);
        return name(
            to, "all_zero",
            "Do you add each product to the sum, and store the sum after the loops, not before? Numbers between -1 and 1 become 0 in an int. If you clear y, clear it before the kernel that adds to it, not after.");
    }
    add(MESSAGE(to), "Every output is the same number, %g, in all %zu shapes.", (double)value,
        clues->n);
    return name(
        to, "constant_output",
        "Which variable do you store into y? Its value does not depend on x, k or the position.");
}

static bool say_unset_scratch(const struct gr_clues *clues, size_t elems, struct gr_diagnosis *to)
{
    add(MESSAGE(to),
        "The code reads scratch memory that it has not written: %zu of %zu wrong elements are NaN, computed from memory of conv_workspace()",
        elems, clues->wrong);
    add_shapes(to, clues);
    add_box(to, clues);
    return name(
        to, "unset_scratch",
        "Which elements of the scratch memory do you read, and which did you write before? Check the last row, column or vector that you copy into it.");
}

static bool look_at_bits(const struct gr_clues *clues, const struct gr_contents *c,
                         bool reads_checked, struct gr_diagnosis *to)
{
    if (c->old_y == clues->wrong)
        return say_not_cleared(clues, c->old_y, to);
    /* The bits do not show where a GPU's NaN came from; but the inputs are right, so if nearly all
     * wrong elements are NaN, only y can be the source: a sum that begins with garbage. */
    const bool nearly_all = c->gpu_nan && 10 * c->gpu_nan >= 9 * clues->wrong;
    if (c->gpu_nan == clues->elems || (nearly_all && reads_checked))
        return say_not_cleared(clues, c->gpu_nan, to);
    if (c->scratch)
        return say_unset_scratch(clues, c->scratch, to);
    return false;
}

/* ---- 2. and 3. faults and regions ----------------------------------------------------------- */

/* Whether got = factor * ref + offset holds for all elements. */
static bool is_line(const struct gr_clues *clues, double factor, double offset)
{
    double margin = 4 * fmax(1, fabs(factor));
    for (size_t at = 0; at < clues->n; at++) {
        const struct gr_case *c = &clues->cases[at];
        float atol = 0;
        for (int m = 0; m < c->spec.shape.M; m++)
            atol = fmaxf(atol, c->atol[m]);
        for (size_t i = 0; i < clues->compared[at].elems; i++) {
            double error = fabs(c->y[i] - (factor * c->ref[i] + offset));
            if (!(error <= margin * (atol + NN_RTOL * fabs(c->ref[i]))))
                return false;
        }
    }
    return true;
}

/* Checks whether every output is the right value times a number, or plus a number, for numbers that
 * are not in the table. */
static bool look_for_line(const struct gr_clues *clues, struct gr_diagnosis *to)
{
    double got_ref = 0, ref_ref = 0, difference = 0;
    for (size_t at = 0; at < clues->n; at++) {
        for (size_t i = 0; i < clues->compared[at].elems; i++) {
            double got = clues->cases[at].y[i], ref = clues->cases[at].ref[i];
            got_ref += got * ref;
            ref_ref += ref * ref;
            difference += got - ref;
        }
    }
    double factor = got_ref / ref_ref, offset = difference / (double)clues->elems;
    bool scaled = is_line(clues, factor, 0);
    if (!scaled && !is_line(clues, 1, offset))
        return false;
    if (scaled)
        add(MESSAGE(to), "Every output is %.6g times the right value", factor);
    else
        add(MESSAGE(to), "Every output is the right value plus %.6g", offset);
    add_shapes(to, clues);
    return name(
        to, scaled ? "scaled" : "constant_added",
        "y is the plain sum of the products. Which value does the sum start with, and what changes it before you store it? Bias and activation are other layers' work.");
}

static bool look_for_terms(const struct gr_clues *clues, struct gr_diagnosis *to)
{
    struct gr_terms_found terms;
    if (!gr_find_terms(clues, &terms))
        return false;
    add(MESSAGE(to), "Some outputs do not contain each product exactly once: %s", terms.says);
    add_shapes(to, clues);
    add_condition(to, clues);
    return name(
        to, terms.id,
        "Follow the loops over c, p and q, with their tiles or slices: which round is missing, runs twice, or uses old data?");
}

/* @param is_part  whether these are only some of the cases: then the fault must fit all of them */
static bool look_for_fault(const struct gr_clues *clues, const struct gr_contents *c, bool is_part,
                           struct gr_diagnosis *to)
{
    enum { SHAPES_PER_EXCEPTION = 16 };
    const struct gr_fault *fault = gr_find_fault(clues, false, 0);
    bool besides = !fault && c->unwritten > 0 && c->unwritten < clues->wrong;
    if (besides)
        fault = gr_find_fault(clues, true, 0);
    bool most = !fault && !is_part;
    if (most)
        fault = gr_find_fault(clues, false, clues->n / SHAPES_PER_EXCEPTION);
    if (!fault)
        return look_for_line(clues, to);
    char says[256];
    snprintf(says, sizeof says, fault->says, fault->n, fault->n);
    says[0] -= 'a' - 'A';
    if (besides)
        add(MESSAGE(to),
            "%s. That explains all written elements; %zu elements were never written, which is another mistake.",
            says, c->unwritten);
    else if (most)
        add(MESSAGE(to), "%s. That explains the outputs of nearly all of the %zu shapes.", says,
            clues->n);
    else
        add(MESSAGE(to),
            "%s. That explains the outputs of all %zu shapes, including the %zu wrong ones.", says,
            clues->n, clues->wrong_cases);
    return name(to, fault->id, fault->hint);
}

static bool look_for_region(const struct gr_clues *clues, const struct gr_contents *c,
                            bool whole_only, struct gr_diagnosis *to)
{
    struct gr_region_found region;
    if (!gr_find_region(clues, whole_only, &region))
        return false;
    add(MESSAGE(to), "The wrong elements are %s%s", region.whole ? "exactly " : "all in ",
        region.says);
    add_shapes(to, clues);
    bool missing = c->unwritten + c->zero == clues->wrong;
    if (c->unwritten == clues->wrong)
        add(MESSAGE(to), " These elements were never written.");
    else if (missing)
        add(MESSAGE(to), " These elements are 0 or were never written.");
    else if (c->outside == clues->wrong)
        add(MESSAGE(to), " They are NaN, computed from memory outside of x or k.");
    else if (c->number + c->zero == clues->wrong)
        add(MESSAGE(to), " These elements were written, with wrong values.");
    const bool is_gap = c->unwritten == clues->wrong && strcmp(region.missing_id, "tile_halo") == 0;
    return name(
        to, missing ? region.missing_id : region.wrong_id,
        is_gap
            ? "From one tile to the next, the first output moves on by the outputs of a tile, not by its inputs: tiles of x overlap by K-1 rows and columns, tiles of y do not."
            : region.hint);
}

/* ---- 4. the values -------------------------------------------------------------------------- */

/* Whether the errors look like rounding to few digits: small everywhere, but larger than float32's,
 * and without a pattern. @param typical  set to the typical error relative to the typical
 * output. */
static bool is_imprecise(const struct gr_clues *clues, double *typical)
{
    double errors = 0, outputs = 0, sum = 0, noticed = 0, elems = (double)clues->elems;
    for (size_t at = 0; at < clues->n; at++) {
        const struct gr_case *c = &clues->cases[at];
        for (size_t i = 0; i < clues->compared[at].elems; i++) {
            double ref = c->ref[i], error = c->y[i] - ref;
            errors += error * error;
            outputs += ref * ref;
            sum += error;
            noticed += fabs(error) > 0x1p-19 * fabs(ref);
        }
    }
    *typical = sqrt(errors / outputs);
    return *typical < 0x1p-6 && noticed > elems / 4 && fabs(sum) < 0.3 * sqrt(elems * errors);
}

static bool are_isolated(const struct gr_clues *clues)
{
    for (size_t at = 0; at < clues->n; at++)
        if (clues->compared[at].wrong > 4 ||
            clues->compared[at].wrong * 20 > clues->compared[at].elems)
            return false;
    return true;
}

static const char *say_unwritten(const struct gr_clues *clues, const struct gr_contents *c,
                                 struct gr_diagnosis *to)
{
    struct gr_block_gaps gaps;
    if (c->unwritten == clues->elems)
        return "The code does not store into y yet. Write the loops over b, m, h and w, and store one sum in each round.";
    if (c->unwritten != clues->wrong || !gr_find_block_gaps(clues, &gaps))
        return "Every (b, m, h, w) must be stored once. Print the indices that your loops visit for the smallest wrong shape.";
    const char *axes = gaps.axis[0] && gaps.axis[1] ? "rows and columns"
                       : gaps.axis[0]               ? "rows"
                                                    : "columns";
    add(MESSAGE(to),
        gaps.is_end
            ? ": the last %s, as if there were a block for each %zu of them and each block stored %zu"
            : ": %s, as if blocks began %zu apart and each stored %zu of them",
        axes, gaps.step, gaps.stored);
    return "do the launch and the kernel use the same size of a tile, in the number of blocks, in the first output of a block, and in the condition of the threads that store?";
}

static bool look_at_nan(const struct gr_clues *clues, const struct gr_contents *c,
                        struct gr_diagnosis *to)
{
    if (c->outside) {
        add(MESSAGE(to),
            "The code reads x or k outside of its bounds: %zu of %zu wrong elements are NaN, because values from the guard zones around the tensors went into them",
            c->outside, clues->wrong);
        return name(
            to, "read_out_of_bounds",
            "Compute the largest h+p, w+q and c of your loops, and compare them with H-1, W-1 and C-1; then check each index formula.");
    }
    if (c->old_y)
        return say_not_cleared(clues, c->old_y, to);
    if (c->unwritten) {
        add(MESSAGE(to), "%zu of %zu elements are wrong; %zu were never written", clues->wrong,
            clues->elems, c->unwritten);
        return name(to, "unwritten", say_unwritten(clues, c, to));
    }
    if (c->other_nan + c->gpu_nan) {
        add(MESSAGE(to), "%zu of %zu wrong elements are NaN%s", c->other_nan + c->gpu_nan,
            clues->wrong, c->gpu_nan ? "" : ", and not because of the earlier values of y");
        return name(
            to, "nan",
            "NaN comes from 0/0, Inf-Inf, bits read as another type, or memory that was never set: do you set every variable and every element of scratch memory before you use it?");
    }
    if (c->inf) {
        add(MESSAGE(to), "%zu of %zu wrong elements are infinite", c->inf, clues->wrong);
        return name(
            to, "inf",
            "Inf comes from a division by 0 or from numbers that keep growing: do you set every sum to 0 before you add to it?");
    }
    return false;
}

static bool look_at_values(const struct gr_clues *clues, const struct gr_contents *c,
                           struct gr_diagnosis *to)
{
    double typical;
    if (look_at_nan(clues, c, to)) {
        if (to->message[strlen(to->message) - 1] != '.')
            add_shapes(to, clues);
        add_condition(to, clues);
        return true;
    }
    if (is_imprecise(clues, &typical)) {
        add(MESSAGE(to),
            "All outputs are nearly right: the typical error is %.2g of the typical output, too much for float32 (2^-24 is 6e-08)",
            typical);
        add_shapes(to, clues);
        return name(
            to, "low_precision",
            "Which types hold the values? Half, bfloat16, TF32 and integers lose digits that float keeps. If you split factors, add the products of the small parts with the large ones, too.");
    }
    if (are_isolated(clues)) {
        add(MESSAGE(to), "Only %zu of %zu outputs are wrong, at most four per shape", clues->wrong,
            clues->elems);
        add_shapes(to, clues);
        add_condition(to, clues);
        return name(
            to, "isolated",
            "Is the same element wrong when you run again with the same --seed? If not, two threads share a variable. If so, print its terms.");
    }
    return false;
}

/* ---- all stages ----------------------------------------------------------------------------- */

static void say_numbers(const struct gr_clues *clues, struct gr_diagnosis *to)
{
    char condition[48];
    if (gr_find_condition(clues, condition, sizeof condition)) {
        add(MESSAGE(to), "Exactly the %zu shapes with %s are wrong; the other %zu are right.",
            clues->wrong_cases, condition, clues->n - clues->wrong_cases);
        name(
            to, "shape_condition",
            "What does your code do differently for these sizes? Look for the places that use this size, and for a constant that should be this size.");
    } else {
        add(MESSAGE(to), "%.3g %% of all outputs are wrong",
            100 * (double)clues->wrong / (double)clues->elems);
        add_shapes(to, clues);
        name(
            to, "",
            "Take the smallest wrong shape, compute one wrong element by hand, and compare term by term. If the numbers change from run to run with the same --seed, two threads share a variable.");
    }
    add_box(to, clues);
}

typedef bool stage(const struct gr_clues *clues, const struct gr_contents *c, bool reads_checked,
                   struct gr_diagnosis *to);

/* Runs stages 1 and 2. If all outputs are equal, or if none was written, they hardly show the
 * reason. */
static bool look_for_prediction(const struct gr_clues *clues, const struct gr_contents *c,
                                bool reads_checked, struct gr_diagnosis *to)
{
    if (find_constant(clues, to))
        return true;
    const bool is_some_written = c->unwritten < clues->elems;
    to->predicts =
        look_at_bits(clues, c, reads_checked, to) ||
        (is_some_written && look_for_fault(clues, c, clues->wrong_cases == clues->n, to));
    return to->predicts;
}

static bool look_for_whole_region(const struct gr_clues *clues, const struct gr_contents *c,
                                  bool reads_checked, struct gr_diagnosis *to)
{
    (void)reads_checked;
    return look_for_region(clues, c, true, to);
}

/* Runs a stage on the wrong cases only. */
static bool look_at_wrong_cases(const struct gr_clues *clues, stage *look, bool reads_checked,
                                struct gr_diagnosis *to)
{
    enum { ENOUGH = 8 }; /* number of wrong elements: fewer may fit an explanation by chance */
    struct gr_case *cases = malloc(clues->n * sizeof *cases);
    struct gr_compare *compared = malloc(clues->n * sizeof *compared);
    struct gr_clues part = {0};
    char condition[48];
    size_t n = 0;
    for (size_t i = 0; cases && compared && i < clues->n; i++) {
        if (!clues->compared[i].wrong)
            continue;
        cases[n] = clues->cases[i];
        compared[n++] = clues->compared[i];
    }
    bool found = false;
    if (n >= 2 && n < clues->n && clues->wrong >= ENOUGH &&
        gr_clues_make(&part, cases, compared, n)) {
        struct gr_contents contents = gr_clues_contents(&part);
        found = look(&part, &contents, reads_checked, to);
    }
    if (found) {
        bool known = gr_find_condition(clues, condition, sizeof condition);
        add(MESSAGE(to), " The other %zu shapes are right%s%s%s", clues->n - n,
            known ? "; the wrong ones are those with " : "", known ? condition : "",
            known ? "." : ": which code runs for the wrong shapes only?");
    }
    gr_clues_free(&part);
    free(cases);
    free(compared);
    return found;
}

void gr_diagnose(const struct gr_case *cases, const struct gr_compare *compared, size_t n,
                 bool reads_checked, struct gr_diagnosis *to)
{
    struct gr_clues clues;
    memset(to, 0, sizeof *to);
    to->pattern = "";
    if (gr_clues_make(&clues, cases, compared, n) && clues.wrong > 0) {
        struct gr_contents contents = gr_clues_contents(&clues);
        if (!look_for_prediction(&clues, &contents, reads_checked, to) &&
            !look_at_wrong_cases(&clues, look_for_prediction, reads_checked, to) &&
            !(to->predicts = look_for_terms(&clues, to)) &&
            !look_for_region(&clues, &contents, false, to) &&
            !look_at_wrong_cases(&clues, look_for_whole_region, reads_checked, to) &&
            !look_at_values(&clues, &contents, to))
            say_numbers(&clues, to);
    }
    gr_clues_free(&clues);
}
