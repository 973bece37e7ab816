/* The stage that grades unit shapes: many small convolutions of every kind of shape, each on random
 * data, compared element by element with the oracle. A diagnosis needs the wrong outputs of all shapes
 * together, so a wrong output does not end the stage; a crash or a hang does (unit_runs.c). This file
 * judges the runs, and names the mistake. */
#include "grader/diagnose/diagnose.h"
#include "grader/session/source_clues.h"
#include "grader/stages/difference.h"
#include "grader/stages/follow.h"
#include "grader/stages/unit_runs.h"
#include "grader/stages/work_proof.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether a kernel was launched in the last run of the session. */
static bool kernels_ran(const struct grading *g)
{
    const struct gr_device_record *record = gr_session_device_record(&g->session);
    for (size_t i = 0; record && i < record->rows; i++)
        if (strcmp(record->row[i].kind, "kernel") == 0)
            return true;
    return false;
}

static size_t wrong_shapes(const struct gr_unit_stage *st)
{
    size_t wrong = 0;
    for (size_t i = 0; i < st->whole; i++)
        wrong += st->compared[i].wrong > 0;
    return wrong;
}

static bool is_all_wrong(const struct gr_unit_stage *st)
{
    for (size_t i = 0; i < st->whole; i++)
        if (st->compared[i].wrong != st->compared[i].elems)
            return false;
    return true;
}

static void name_order(enum gr_needs needs, struct gr_diagnosis *to)
{
    const bool streams = needs == GR_NEEDS_STREAMS;
    to->pattern = streams ? "stream_order" : "block_order";
    to->predicts = true;
    snprintf(
        to->message, sizeof to->message, "%s",
        streams
            ? "The result is right if all work runs in the order of the calls. A GPU may run streams in another order, as in this run: a copy or a kernel does not wait for work of another stream that it needs."
            : "The result is right if blocks run in the order of their numbers. A GPU may run them in another order, as in this run: a block needs work of another block, or two blocks store to the same element.");
    snprintf(
        to->hint, sizeof to->hint, "%s",
        streams
            ? "does each kernel wait for the copies of x and of k that it reads, the copy of y for its kernel, and a copy into a buffer for the last kernel that reads this buffer? Use one stream, or cudaEventRecord() after the first work and cudaStreamWaitEvent() before the second"
            : "does one block set an element to 0 to which other blocks add, or read what another block stores? Do that in an earlier launch. Does each output belong to one block?");
}

/* Names the pointer, the grid or the threads that leave outputs unwritten, if they are known. */
static void explain_unwritten(struct grading *g, const struct gr_unit_stage *st, size_t first,
                              struct gr_diagnosis *to)
{
    char stores[320];
    if (is_all_wrong(st) && kernels_ran(g))
        snprintf(
            to->hint, sizeof to->hint, "%s",
            g->milestone.exercise->host_tensors
                ? "Kernels ran, and no copy wrote y: copy the results from device memory to y with cudaMemcpyDeviceToHost. The first argument of cudaMemcpyAsync is the destination."
                : "Kernels ran and stored nothing into y: through which pointer do they store? Copy results in your own memory to y, with cudaMemcpyDeviceToDevice.");
    /* (a grid with exchanged axes may be too short along two of them in a few shapes) */
    const bool swapped = st->swapped == wrong_shapes(st),
               too_short = st->short_clue[0] && 10 * st->too_short >= 9 * wrong_shapes(st);
    const size_t used = strlen(to->message);
    if (swapped || too_short) {
        snprintf(to->message + used, sizeof to->message - used, " In one of them %s.",
                 swapped ? st->swapped_clue : st->short_clue);
        snprintf(
            to->hint, sizeof to->hint, "%s",
            swapped
                ? "each axis of the grid needs one meaning: compare the dim3 of the launch with the kernel's use of blockIdx.x and .y"
                : "divide the size of y by the tile of the kernel that is launched (threads times the outputs of a thread), and round up");
    } else if (gr_follow_stores(g, &st->cases[first], stores, sizeof stores)) {
        snprintf(to->message + used, sizeof to->message - used, " In one of them %s.", stores);
        snprintf(
            to->hint, sizeof to->hint, "%s",
            "threads store the same element and leave out others: do row and column use different axes (threadIdx.y and .x), does each block begin where its neighbour ends, and does the index into y count all images and maps?");
    }
}

/* Names the mistake. First choice: a pattern that predicts the wrong outputs; second: the first
 * accident, a crash or a finding with its line; third: the indices and shapes of the wrong
 * outputs. */
static void diagnose(struct grading *g, const struct gr_unit_stage *st, size_t first,
                     struct gr_diagnosis *to)
{
    *to = (struct gr_diagnosis){.pattern = ""};
    if (st->accident[0] && (strcmp(st->accident_pattern, "input_changed") == 0 ||
                            strstr(st->accident, "in another stream")))
        return; /* outputs for other inputs prove nothing */
    if (st->needs) {
        name_order(st->needs, to);
        return;
    }
    bool reads_checked = g->host.device == RUNNER_ON_VIRTUAL_GPU && !st->accident[0];
    if (!st->exercise->square)
        gr_diagnose(st->cases, st->compared, st->whole, reads_checked, to);
    if (reads_checked && strcmp(to->pattern, "not_cleared") == 0 && gr_unit_is_nan_anyway(g, st)) {
        to->pattern = "uninitialised";
        snprintf(
            to->message, sizeof to->message,
            "Wrong outputs are NaN whatever y holds before the call: the code uses a variable, or an element of an array, before it sets it (compilers make NaN of such a sum), or it divides 0 by 0.");
        snprintf(
            to->hint, sizeof to->hint,
            "set each variable to 0 before the loop that adds to it, and each element of an array, too: float sum[4] = {0};");
    }
    if (st->found && !to->predicts)
        to->pattern = "";
    if (strcmp(to->pattern, "unwritten") == 0)
        explain_unwritten(g, st, first, to);
    if (st->accident[0] || to->predicts)
        return;
    const enum gr_alone alone =
        gr_unit_is_repeatable(g, st) ? gr_unit_alone(g, st) : GR_ALONE_CHANCE;
    if (alone == GR_ALONE_CHANCE) {
        to->pattern = "not_repeatable";
        snprintf(to->message, sizeof to->message,
                 "The same input gives different outputs when it is computed again.");
        snprintf(
            to->hint, sizeof to->hint,
            "Which variable or element do several threads or blocks write, or does one block clear while others add to it? Blocks run in any order. Does the launch have as many threads per block as the kernel expects? In each call, does the code write every value before it reads it?");
    } else if (alone == GR_ALONE_STATE) {
        to->pattern = "state_kept";
        snprintf(
            to->message, sizeof to->message,
            "The first wrong shape is right as the first call of a process: the code uses data of an earlier call, or reads a variable before it is set.");
        snprintf(
            to->hint, sizeof to->hint,
            "What does the code keep from one call to the next? A static variable, __constant__ memory that is filled once, memory that is allocated or set once: each call has other sizes and data. Or it adds to a variable that was never set: float sum; instead of float sum = 0.");
    }
}

/* Whether a diagnosis only says what is in the outputs: wrong memory may have that effect, too. */
static bool is_of_no_line(const struct gr_diagnosis *d)
{
    static const char *const patterns[] = {"terms_left_out", "terms_repeated", "terms_wrong",
                                           "all_zero"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (strcmp(d->pattern, patterns[i]) == 0)
            return true;
    return false;
}

/* Explains that some outputs are wrong: counts them, shows the first, names the mistake. */
static void explain_outputs(struct grading *g, struct gr_check *check,
                            const struct gr_unit_stage *st, size_t first, size_t right,
                            size_t wrong_elems, size_t elems, size_t n)
{
    const struct gr_compare *c = &st->compared[first];
    char shape[160];
    gr_unit_shape_text(st->exercise, shape, sizeof shape, &st->cases[first].spec);
    struct gr_diagnosis diagnosis;
    diagnose(g, st, first, &diagnosis);
    const bool warned = st->warning[0] && (!diagnosis.predicts || is_of_no_line(&diagnosis));
    if (warned)
        gr_check_append(check, "%s\n", st->warning);
    if (st->accident[0])
        gr_check_append(check, "%s\n", st->accident);
    if (st->left == st->whole - right && !st->accident[0] && !diagnosis.predicts) {
        gr_check_append(check, "%s\n", st->left_clue);
        diagnosis.pattern = "left_before_barrier";
        snprintf(
            diagnosis.hint, sizeof diagnosis.hint, "%s",
            "threads without an output must still load their part of the tile, in every round of the loop: do not return before __syncthreads(); put an if around the computation and the store");
    }
    gr_check_append(check,
                    "right in %zu of %zu shapes%s; %zu of %zu outputs are wrong\n"
                    "first mismatch: shape %s\n"
                    "    y[b=%d, m=%d, h=%d, w=%d]: expected %.7g, got %.7g\n",
                    right, n, st->is_enough ? " (the others were not run)" : "", wrong_elems, elems,
                    shape, c->b, c->m, c->h, c->w, (double)c->expected, (double)c->got);
    if (!st->accident[0] && !st->needs)
        gr_explain_difference(g, check, &st->cases[first], c, &diagnosis);
    if (diagnosis.message[0])
        gr_check_append(check, "diagnosis: %s", diagnosis.message);
    if (st->in_bytes == st->whole - right && !diagnosis.predicts) {
        gr_check_append(check, "\n%s", st->clue);
        snprintf(diagnosis.hint, sizeof diagnosis.hint, "%s",
                 "sizes of copies and of memsets are in bytes: elements times sizeof(float)");
    }
    if (st->shared_workspaces == st->whole - right && !diagnosis.predicts) {
        gr_check_append(
            check,
            "\nconv_workspace() was called more than once: each call returns the same memory");
        snprintf(diagnosis.hint, sizeof diagnosis.hint, "%s",
                 "call conv_workspace() once, with the sum of all sizes, and divide its memory");
    }
    char clue[200];
    const char *const cure =
        st->accident[0] ? NULL : gr_clue_source(g->host.source, false, clue, sizeof clue);
    if (cure) {
        gr_check_append(check, "\n%s", clue);
        snprintf(diagnosis.hint, sizeof diagnosis.hint, "%s", cure);
    }
    bool named = diagnosis.pattern[0] != '\0';
    gr_check_pattern(check, named || !st->accident[0] ? diagnosis.pattern : st->accident_pattern);
    gr_check_hint(check, "%s",
                  warned                      ? st->warning_hint
                  : named || !st->accident[0] ? diagnosis.hint
                                              : st->accident_hint);
    if (!st->exercise->square)
        gr_error_map(&st->cases[first], c, check->map, sizeof check->map);
}

static int effort(const struct conv_shape *s)
{
    return s->C * s->K * s->K + (s->H - s->K + 1) * (s->W - s->K + 1);
}

/* Chooses which wrong case to show: among the cases whose map is large enough to show a pattern,
 * the case with the smallest effort (products per output plus outputs per map), which is easiest to
 * compute by hand. A case that can be followed comes first. */
static bool shows_more(const struct gr_unit_stage *st, size_t candidate, size_t chosen)
{
    enum { SIDE = 5 };
    const struct conv_shape *a = &st->cases[candidate].spec.shape;
    const struct conv_shape *b = &st->cases[chosen].spec.shape;
    bool a_large = a->H - a->K + 1 >= SIDE && a->W - a->K + 1 >= SIDE;
    bool b_large = b->H - b->K + 1 >= SIDE && b->W - b->K + 1 >= SIDE;
    if (gr_can_follow(a) != gr_can_follow(b))
        return gr_can_follow(a);
    if (a_large != b_large)
        return a_large;
    return a_large && effort(a) < effort(b);
}

/* The hint if every call returned an error: the skeleton launches nothing; a submission that
 * launches kernels has an error of its own. */
static const char *refused_all_hint(struct grading *g)
{
    return kernels_ran(g)
               ? "kernels ran before the function returned this value: which of your checks failed? Return 0 when y is complete"
               : "is the function not implemented yet? Write the loops, then return 0";
}

/* Counts shapes by K, which show a hard-coded filter size. */
static void note_filter_size(struct gr_unit_stage *st, const struct gr_unit *u, bool right)
{
    const bool is_5 = u->c.spec.shape.K == 5;
    st->k5 += is_5;
    st->k5_right += is_5 && right;
    st->others += !is_5;
    st->others_right += !is_5 && right;
}

static void note_clean(struct gr_unit_stage *st, const struct conv_shape *s)
{
    st->clean++;
    if (s->C > 1 && nn_conv_macs(s) <= GR_PROOF_MACS &&
        (!st->shown || nn_conv_macs(s) > nn_conv_macs(st->shown)))
        st->shown = s;
}

static bool needs_k_of_5(const struct gr_unit_stage *st)
{
    return st->k5 >= 3 && st->k5_right == st->k5 && st->others >= 3 && !st->others_right;
}

static void judge(struct grading *g, struct gr_check *check, struct gr_unit_stage *st, size_t n)
{
    struct gr_result *r = g->result;
    size_t right = 0, wrong_elems = 0, elems = 0, first = st->whole;
    for (size_t i = 0; i < st->whole; i++) {
        const struct gr_compare *c = &st->compared[i];
        right += c->wrong == 0;
        wrong_elems += c->wrong;
        elems += c->elems;
        if (c->wrong && (first == st->whole || shows_more(st, i, first)))
            first = i;
        if (c->max_error > r->max_error)
            r->max_error = c->max_error;
    }
    r->unit_shapes = n;
    r->unit_shapes_right = right;
    if (right == n && !st->accident[0]) {
        gr_check_set(check, GR_PASS, "right in all %zu shapes, %zu outputs, largest error %.2g", n,
                     elems, r->max_error);
        return;
    }
    gr_check_set(check, GR_FAIL, "%s", "");
    st->needs = gr_unit_needs_order(g, st);
    st->warning_hint =
        gr_clue_compiler(gr_build_said(g), g->host.source, st->warning, sizeof st->warning);
    if (needs_k_of_5(st))
        gr_check_append(
            check,
            "right in all shapes with K = 5, and in no others: does the code use 5 instead of K?\n");
    if (first < st->whole) {
        explain_outputs(g, check, st, first, right, wrong_elems, elems, n);
        return;
    }
    gr_check_pattern(check, st->accident_pattern);
    gr_check_append(check, "%s%s%s", st->warning, st->warning[0] ? "\n" : "", st->accident);
    if (st->refused)
        gr_check_append(check, "\nno result in %zu of %zu shapes", st->refused, n);
    gr_check_hint(check, "%s",
                  st->warning_hint                                      ? st->warning_hint
                  : strcmp(st->accident_pattern, "returned_error") != 0 ? st->accident_hint
                  : st->refused == n                                    ? refused_all_hint(g)
                  : st->refused > 0 ? "compute every valid shape: odd sizes, K = 1 and K = H too"
                                    : st->accident_hint);
    if (st->needs) {
        struct gr_diagnosis order;
        name_order(st->needs, &order);
        gr_check_pattern(check, order.pattern);
        gr_check_append(check, "\n%s", order.message);
        gr_check_hint(check, "%s", order.hint);
    }
}

/* Gives points in proportion to the right shapes, rounded to a tenth. A failed check never gets all
 * points. */
static void give_share(struct grading *g, struct gr_check *check, size_t right, size_t n)
{
    const struct gr_item *item = gr_rubric_item(g->rubric, "unit_shapes");
    if (check->status != GR_FAIL || !item || !item->by_share)
        return;
    right = right < n ? right : n - 1;
    check->points = floor(10 * check->max_points * (double)right / (double)n) / 10;
    gr_check_append(check, "\nby share: %g of %g points for %zu of %zu shapes", check->points,
                    check->max_points, right, n);
}

/* @return whether later checks run if a shape is wrong */
static bool needs_proof_if_wrong(const struct grading *g)
{
    const struct gr_item *item = gr_rubric_item(g->rubric, "unit_shapes");
    return !gr_is_short(g) || (item && item->by_share);
}

/* @return whether the virtual GPU has found so many mistakes that the other shapes of a quick run,
 * whose number gives no points, would only repeat them */
static bool is_enough(const struct grading *g, const struct gr_unit_stage *st)
{
    enum { ENOUGH = 12 };
    return st->found && st->accidents >= ENOUGH && !needs_proof_if_wrong(g);
}

/* @return whether inference may begin before the verdict: it does not disturb the proof's thread, nor
 * does that change its times. */
static bool may_wait(const struct grading *g, const struct gr_check *check)
{
    return check->status == GR_PASS && g->proof && g->host.device == RUNNER_ON_VIRTUAL_GPU &&
           !g->options->first_failure;
}

/* @param right  a right shape to prove if others were wrong, or NULL */
static enum st_code conclude(struct grading *g, struct gr_check *check,
                             const struct conv_shape *right, struct st_error *err)
{
    progress_begin("unit shapes: proving what the kernels did");
    progress_follow(g->host.progress, "blocks", false);
    const enum st_code code = gr_work_check(g, check, right, err);
    g->is_unit_verdict_open = false;
    if (!code)
        gr_check_print(g, check);
    return code;
}

enum st_code gr_unit_shapes_conclude(struct grading *g, struct st_error *err)
{
    return g->is_unit_verdict_open ? conclude(g, gr_check_find(g, "unit_shapes"), NULL, err)
                                   : ST_OK;
}

enum st_code gr_unit_shapes_check(struct grading *g, struct st_error *err)
{
    struct gr_check *check = gr_check_add(g, "unit_shapes");
    struct gr_case_shape specs[GR_MAX_CASES];
    size_t n = gr_case_shapes(g->milestone.exercise, specs, g->options->seed, g->options->quick);
    memcpy(&specs[n], g->held_out, g->held_outs * sizeof *specs);
    n += g->held_outs;
    struct gr_unit_stage *st = calloc(1, sizeof *st);
    if (!st)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the unit shapes");
    st->exercise = g->milestone.exercise;
    enum st_code code = g->proof ? ST_OK : gr_proof_begin(g, err);
    bool go_on = !code;
    progress_begin("unit shapes");
    for (size_t i = 0; i < n && go_on; i++) {
        progress_count(i, n, "shapes");
        code =
            gr_unit_make(&st->unit[i], &specs[i], g->options->seed, i, g->rubric->tolerance, err);
        const size_t whole = st->whole;
        const bool had_accident = st->accident[0] != '\0';
        const size_t accidents = st->accidents;
        if (!code && st->only_k5 && specs[i].shape.K != 5)
            continue;
        go_on = !code && gr_unit_run(g, st, &st->unit[i], n, err, &code);
        const bool right = st->whole > whole && !st->compared[whole].wrong;
        note_filter_size(st, &st->unit[i], right && had_accident == (st->accident[0] != '\0'));
        if (!st->bad && gr_unit_is_reordered(g, i) && (accidents != st->accidents || !right))
            st->bad = &st->unit[i];
        const bool repeats =
            go_on && !needs_proof_if_wrong(g) && gr_unit_repeats_check(g, st, &st->unit[i], n);
        if (right && accidents == st->accidents)
            note_clean(st, &specs[i].shape);
        else if (!needs_proof_if_wrong(g))
            gr_proof_give_up(g);
        st->is_enough = go_on && i + 1 < n && (repeats || is_enough(g, st));
        n = st->is_enough ? i + 1 : n;
    }
    if (!code) {
        gr_unit_leak_check(g, st, n);
        progress_begin("unit shapes: looking for a cause");
        progress_follow(g->host.progress, "blocks", false);
        judge(g, check, st, n);
        give_share(g, check, st->clean, n);
        g->is_unit_verdict_open = true;
        if (!may_wait(g, check))
            code = conclude(g, check, st->shown, err);
    }
    for (size_t i = 0; i < n; i++)
        free(st->unit[i].storage);
    free(st);
    return code;
}
