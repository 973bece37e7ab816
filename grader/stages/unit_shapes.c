/* The stage that grades unit shapes: many small convolutions of every kind of shape, each on random
 * data, compared element by element with the oracle. A diagnosis needs the wrong outputs of all shapes
 * together, so a wrong output does not end the stage; a crash or a hang does. */
#include "base/rng.h"
#include "grader/diagnose/diagnose.h"
#include "grader/compare/element.h"
#include "grader/session/call_clues.h"
#include "grader/session/finding.h"
#include "grader/stages/difference.h"
#include "grader/stages/work_proof.h"
#include "grader/compare/verify.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One allocation contains everything of one case: x, k, ref, y, atol. */
struct unit {
    struct gr_case c;
    float *storage, *x, *k, *ref, *y, *atol;
};

static enum st_code unit_make(struct unit *u, const struct gr_case_shape *spec, uint64_t seed,
                              size_t number, double tolerance, struct st_error *err)
{
    const struct conv_shape *s = &spec->shape;
    size_t x = nn_conv_x_elems(s), k = nn_conv_k_elems(s), y = nn_conv_y_elems(s);
    u->storage = malloc((x + k + 2 * y + (size_t)s->M) * sizeof *u->storage);
    if (!u->storage)
        return st_fail(err, ST_NO_MEMORY, "out of memory for a unit shape");
    u->x = u->storage;
    u->k = u->x + x;
    u->ref = u->k + k;
    u->y = u->ref + y;
    u->atol = u->y + y;
    u->c = (struct gr_case){*spec, u->x, u->k, u->ref, u->atol, u->y};
    struct rng rng = rng_make(seed, number);
    rng_fill(&rng, u->x, x, -1, 1);
    rng_fill(&rng, u->k, k, -1, 1);
    nn_oracle_conv(s, u->x, u->k, u->ref);
    nn_conv_tolerance(s, tolerance, 1, u->k, u->atol);
    return ST_OK;
}

static void shape_text(const struct exercise *exercise, char *to, size_t room,
                       const struct gr_case_shape *spec)
{
    char sizes[EXERCISE_TEXT];
    exercise->describe(sizes, &spec->shape, EXERCISE_SHAPE);
    snprintf(to, room, "%s (%s)", sizes, spec->label);
}

/* The state of the stage: the shapes whose runs ended normally, and the first run that did not. */
struct stage {
    const struct exercise *exercise;
    struct unit unit[GR_MAX_CASES];
    struct gr_case cases[GR_MAX_CASES];
    struct gr_compare compared[GR_MAX_CASES];
    size_t whole;   /* cases with outputs to compare */
    size_t refused; /* shapes for which conv_forward returned an error */
    size_t crashes;
    size_t accidents;               /* crashes, hangs and findings, of all kinds */
    size_t clean;                   /* right shapes, without any accident */
    const struct conv_shape *shown; /* the largest clean shape that is quick to prove */
    char accident[512];             /* the first crash, hang or damage, with its shape; or "" */
    char accident_hint[320];
    char accident_pattern[32];
    bool found;                                /* the virtual GPU found the accident, with line and
                                                  thread */
    bool only_k5;                              /* set once the other shapes have crashed often
                                                  enough */
    size_t k5, k5_right, others, others_right; /* shapes with K = 5, and with other K */
    uint64_t free_bytes;       /* free device memory after the last run of this process */
    const struct unit *keeper; /* the last shape whose run left less free memory than before */
    size_t in_bytes; /* wrong shapes that have a copy of as many bytes as a tensor has elements */
    char clue[160];  /* one of these copies */
};

/* A crash ends the session. A few are allowed, because the other shapes may still show the
 * cause. */
enum { CRASHES_SURVIVED = 4 };

static void note_accident(struct stage *st, const char *pattern, const char *message,
                          const char *hint, const struct gr_case_shape *spec, size_t n)
{
    st->accidents++;
    if (st->accident[0])
        return;
    char shape[160];
    shape_text(st->exercise, shape, sizeof shape, spec);
    snprintf(st->accident, sizeof st->accident, "%s\nin shape %s, one of %zu", message, shape, n);
    snprintf(st->accident_hint, sizeof st->accident_hint, "%s", hint);
    snprintf(st->accident_pattern, sizeof st->accident_pattern, "%s", pattern);
}

/* As note_accident(), for a run that did not end normally, or in which the virtual GPU found a
 * mistake.
 * @param otherwise  the pattern if the run has none */
static void note_run(struct stage *st, const struct gr_run *run, const char *otherwise,
                     const struct gr_case_shape *spec, size_t n)
{
    bool found = run->pattern[0] != '\0';
    if (!st->accident[0])
        st->found = found;
    note_accident(st, found ? run->pattern : otherwise, run->message, run->hint, spec, n);
}

/* Runs one convolution on freshly filled tensors, in a new process if needed. */
static enum st_code run_conv(struct grading *g, const struct gr_conv *conv, struct gr_run *run,
                             struct st_error *err)
{
    enum st_code code = arena_reserve(&g->arena, arena_layout_for(&conv->shape).bytes, err);
    if (!code)
        code = gr_session_revive(&g->session, &g->arena, err);
    if (code)
        return code;
    gr_arena_fill(&g->arena, conv);
    gr_session_run(&g->session, &conv->shape, &g->arena, gr_time_limit_s(g, &conv->shape), run);
    return ST_OK;
}

static void note_memory(struct stage *st, const struct unit *u, const struct gr_run *run)
{
    if (run->free_bytes && run->free_bytes < st->free_bytes)
        st->keeper = u;
    st->free_bytes = run->free_bytes;
}

/* Checks whether each call leaves less device memory. A buffer that the lab keeps for the next call
 * is not a leak: running the shape again needs no further memory. */
static void look_for_leak(struct grading *g, struct stage *st, size_t n)
{
    enum { TIMES = 8 };
    const struct unit *u = st->keeper;
    if (!u || st->accident[0])
        return;
    const struct gr_conv conv = {.shape = u->c.spec.shape, .x = u->x, .k = u->k};
    struct gr_run run;
    struct st_error ignored;
    uint64_t before = 0, lost = 0;
    for (int i = 0; i <= TIMES; i++) {
        if (run_conv(g, &conv, &run, &ignored) || run.outcome != GR_RAN || !run.free_bytes ||
            (i && run.free_bytes >= before))
            return;
        lost = before - run.free_bytes;
        before = run.free_bytes;
    }
    char message[192];
    snprintf(
        message, sizeof message,
        "each call of conv_forward() leaves %llu more bytes of device memory allocated: a leak (the same shape, %d calls in a row)",
        (unsigned long long)lost, TIMES);
    note_accident(
        st, "leak", message,
        "call cudaFree() for each allocation before every return; or keep it in a static variable and allocate it once; or use conv_workspace(), which the harness keeps",
        &u->c.spec, n);
}

/* Runs one shape. @return false if the stage must end. */
static bool run_shape(struct grading *g, struct stage *st, struct unit *u, size_t n,
                      struct st_error *err, enum st_code *code)
{
    static const char *const patterns[] = {[GR_CRASHED] = "crash",
                                           [GR_EXITED] = "exit",
                                           [GR_TIMED_OUT] = "time_limit",
                                           [GR_SILENT] = "channel_closed",
                                           [GR_DEVICE_ERROR] = ""};
    const struct gr_case_shape *spec = &u->c.spec;
    struct gr_conv conv = {.shape = spec->shape, .x = u->x, .k = u->k};
    struct arena_layout layout = arena_layout_for(&conv.shape);
    struct gr_damage damage;
    struct gr_run run;
    if ((*code = run_conv(g, &conv, &run, err)))
        return false;
    note_memory(st, u, &run);
    if (run.outcome == GR_DEVICE_LOST) {
        *code = gr_device_lost(&run, err);
        return false;
    }
    if (run.outcome == GR_RETURNED) {
        st->refused++;
        note_run(st, &run, "returned_error", spec, n);
        return true;
    }
    if (run.outcome != GR_RAN) {
        note_run(st, &run, patterns[run.outcome], spec, n);
        if ((run.outcome != GR_CRASHED && run.outcome != GR_DEVICE_ERROR) || st->only_k5 ||
            strcmp(run.pattern, "no_progress") == 0)
            return false;
        st->only_k5 = ++st->crashes > CRASHES_SURVIVED;
        return true;
    }
    if (run.pattern[0])
        note_run(st, &run, "", spec, n);
    if (!gr_arena_intact(&g->arena, &conv, &damage))
        note_accident(st, damage.pattern, damage.message, damage.hint, spec, n);
    memcpy(u->y, g->arena.base + layout.y, nn_conv_y_elems(&conv.shape) * sizeof *u->y);
    gr_compare_images(&conv.shape, 0, (size_t)conv.shape.B, u->y, u->ref, u->atol,
                      &st->compared[st->whole]);
    if (run.idle[0] && !st->compared[st->whole].wrong)
        note_accident(st, GR_IDLE_PATTERN, run.idle, GR_IDLE_HINT, spec, n);
    /* A refused launch leaves no other trace in a program that does not check for errors. */
    const struct gr_device_record *record = gr_session_device_record(&g->session);
    if (st->compared[st->whole].wrong && !run.pattern[0] && record &&
        gr_finding_refused(record, g->session.output.device.text, &run))
        note_run(st, &run, "", spec, n);
    if (st->compared[st->whole].wrong && record)
        st->in_bytes += gr_clue_bytes(record, &conv.shape, st->clue, sizeof st->clue);
    st->cases[st->whole++] = u->c;
    return true;
}

/* Runs one case again. @return whether its outputs differ by more than rounding; false if there are
 * none. */
static bool differs_again(struct grading *g, const struct gr_case *c)
{
    const struct conv_shape *s = &c->spec.shape;
    struct gr_conv conv = {.shape = *s, .x = c->x, .k = c->k};
    struct st_error err;
    struct gr_run run;
    if (run_conv(g, &conv, &run, &err) || run.outcome != GR_RAN)
        return false;
    const float *y = (const float *)(g->arena.base + arena_layout_for(s).y);
    size_t elems = nn_conv_y_elems(s), plane = elems / ((size_t)s->B * s->M);
    for (size_t i = 0; i < elems; i++) {
        bool nan = isnan(c->y[i]) != 0;
        if (gr_bits(c->y[i]) == gr_bits(y[i]))
            continue;
        float room = 8 * (c->atol[i / plane % s->M] + NN_RTOL * fabsf(c->ref[i]));
        if (nan != (isnan(y[i]) != 0) || (!nan && !(fabsf(y[i] - c->y[i]) <= room)))
            return true;
    }
    return false;
}

/* Whether outputs that fit no pattern are the same in every run. The virtual GPU runs all threads
 * in the same order each time, and reports races in shared memory. */
static bool is_repeatable(struct grading *g, const struct stage *st)
{
    enum { TRIES = 6 };
    int tries = 0;
    if (g->host.device == RUNNER_ON_VIRTUAL_GPU)
        return true;
    for (size_t i = st->whole; i-- > 0 && tries < TRIES;)
        if (st->compared[i].wrong && tries++ < TRIES && differs_again(g, &st->cases[i]))
            return false;
    return true;
}

/* Whether a wrong case is right if a process runs it first: then data from an earlier call is the
 * cause. */
static bool is_right_alone(struct grading *g, const struct stage *st)
{
    for (size_t i = 0; i < st->whole; i++) {
        const struct gr_case *c = &st->cases[i];
        const struct conv_shape *s = &c->spec.shape;
        struct gr_conv conv = {.shape = *s, .x = c->x, .k = c->k};
        struct gr_compare compared = {.wrong = 0}; /* the comparison adds to these counts */
        struct st_error err;
        struct gr_run run;
        if (!st->compared[i].wrong)
            continue;
        gr_session_end(&g->session);
        if (run_conv(g, &conv, &run, &err) || run.outcome != GR_RAN)
            return false;
        gr_compare_images(s, 0, (size_t)s->B,
                          (const float *)(g->arena.base + arena_layout_for(s).y), c->ref, c->atol,
                          &compared);
        return !compared.wrong;
    }
    return false;
}

/* Whether a kernel was launched in the last run of the session. */
static bool kernels_ran(const struct grading *g)
{
    const struct gr_device_record *record = gr_session_device_record(&g->session);
    for (size_t i = 0; record && i < record->rows; i++)
        if (strcmp(record->row[i].kind, "kernel") == 0)
            return true;
    return false;
}

static bool is_all_wrong(const struct stage *st)
{
    for (size_t i = 0; i < st->whole; i++)
        if (st->compared[i].wrong != st->compared[i].elems)
            return false;
    return true;
}

/* Names the mistake. First choice: a pattern that predicts the wrong outputs; second: the first
 * accident, a crash or a finding with its line; third: the indices and shapes of the wrong
 * outputs. */
static void diagnose(struct grading *g, const struct stage *st, struct gr_diagnosis *to)
{
    *to = (struct gr_diagnosis){.pattern = ""};
    if (st->accident[0] && strcmp(st->accident_pattern, "input_changed") == 0)
        return; /* outputs for other inputs prove nothing */
    bool reads_checked = g->host.device == RUNNER_ON_VIRTUAL_GPU && !st->accident[0];
    if (!st->exercise->square)
        gr_diagnose(st->cases, st->compared, st->whole, reads_checked, to);
    if (st->found && !to->predicts)
        to->pattern = "";
    if (strcmp(to->pattern, "unwritten") == 0 && is_all_wrong(st) && kernels_ran(g))
        snprintf(
            to->hint, sizeof to->hint,
            "Kernels ran and stored nothing into y: through which pointer do they store? Copy results in your own memory to y, with cudaMemcpyDeviceToDevice.");
    if (st->accident[0] || to->predicts)
        return;
    if (!is_repeatable(g, st)) {
        to->pattern = "not_repeatable";
        snprintf(to->message, sizeof to->message,
                 "The same input gives different outputs when it is computed again.");
        snprintf(
            to->hint, sizeof to->hint,
            "Which variable or buffer do several threads write? Each thread needs its own, or must wait for the others. In each call, does the code write every value before it reads it?");
    } else if (is_right_alone(g, st)) {
        to->pattern = "state_kept";
        snprintf(
            to->message, sizeof to->message,
            "The first wrong shape is right as the first call of a process: the code uses data of an earlier call, or reads a variable before it is set.");
        snprintf(
            to->hint, sizeof to->hint,
            "What does the code keep from one call to the next? A static variable, __constant__ memory that is filled once, memory that is allocated or set once: each call has other sizes and data. Or it adds to a variable that was never set: float sum; instead of float sum = 0; or one block clears y while others add to it.");
    }
}

/* Explains that some outputs are wrong: counts them, shows the first, names the mistake. */
static void explain_outputs(struct grading *g, struct gr_check *check, const struct stage *st,
                            size_t first, size_t right, size_t wrong_elems, size_t elems, size_t n)
{
    const struct gr_compare *c = &st->compared[first];
    char shape[160];
    shape_text(st->exercise, shape, sizeof shape, &st->cases[first].spec);
    struct gr_diagnosis diagnosis;
    diagnose(g, st, &diagnosis);
    if (st->accident[0])
        gr_check_append(check, "%s\n", st->accident);
    gr_check_append(check,
                    "right in %zu of %zu shapes; %zu of %zu outputs are wrong\n"
                    "first mismatch: shape %s\n"
                    "    y[b=%d, m=%d, h=%d, w=%d]: expected %.7g, got %.7g\n",
                    right, n, wrong_elems, elems, shape, c->b, c->m, c->h, c->w,
                    (double)c->expected, (double)c->got);
    if (!st->exercise->square && !st->accident[0])
        gr_explain_difference(g, check, &st->cases[first], c, &diagnosis);
    if (diagnosis.message[0])
        gr_check_append(check, "diagnosis: %s", diagnosis.message);
    if (st->in_bytes == st->whole - right && !diagnosis.predicts) {
        gr_check_append(check, "\n%s", st->clue);
        snprintf(diagnosis.hint, sizeof diagnosis.hint, "%s",
                 "sizes of copies and of memsets are in bytes: elements times sizeof(float)");
    }
    bool named = diagnosis.pattern[0] != '\0';
    gr_check_pattern(check, named || !st->accident[0] ? diagnosis.pattern : st->accident_pattern);
    gr_check_hint(check, "%s", named || !st->accident[0] ? diagnosis.hint : st->accident_hint);
    if (!st->exercise->square)
        gr_error_map(&st->cases[first], c, check->map, sizeof check->map);
}

static int effort(const struct conv_shape *s)
{
    return s->C * s->K * s->K + (s->H - s->K + 1) * (s->W - s->K + 1);
}

/* Chooses which wrong case to show: among the cases whose map is large enough to show a pattern,
 * the case with the fewest terms per sum, which is easiest to compute by hand, and then with the
 * fewest outputs per map. */
static bool shows_more(const struct stage *st, size_t candidate, size_t chosen)
{
    enum { SIDE = 5 };
    const struct conv_shape *a = &st->cases[candidate].spec.shape;
    const struct conv_shape *b = &st->cases[chosen].spec.shape;
    bool a_large = a->H - a->K + 1 >= SIDE && a->W - a->K + 1 >= SIDE;
    bool b_large = b->H - b->K + 1 >= SIDE && b->W - b->K + 1 >= SIDE;
    if (a_large != b_large)
        return a_large;
    return a_large && effort(a) < effort(b);
}

/* The hint if every call returned an error: the skeleton launches nothing; a submission that
 * launches kernels has an error of its own. */
static const char *refused_all_hint(struct grading *g)
{
    return kernels_ran(g)
               ? "kernels ran before it returned this: which of your checks failed? Return 0 when y is complete"
               : "is the function not implemented yet? Write the loops, then return 0";
}

/* Counts shapes by K, which show a hard-coded filter size. */
static void note_filter_size(struct stage *st, const struct unit *u, bool right)
{
    const bool is_5 = u->c.spec.shape.K == 5;
    st->k5 += is_5;
    st->k5_right += is_5 && right;
    st->others += !is_5;
    st->others_right += !is_5 && right;
}

static void note_clean(struct stage *st, const struct conv_shape *s)
{
    const double most_macs = 4e6;
    st->clean++;
    if (s->C > 1 && nn_conv_macs(s) <= most_macs &&
        (!st->shown || nn_conv_macs(s) > nn_conv_macs(st->shown)))
        st->shown = s;
}

static bool needs_k_of_5(const struct stage *st)
{
    return st->k5 >= 3 && st->k5_right == st->k5 && st->others >= 3 && !st->others_right;
}

static void judge(struct grading *g, struct gr_check *check, const struct stage *st, size_t n)
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
    if (needs_k_of_5(st))
        gr_check_append(
            check,
            "right in all shapes with K = 5, and in no other: does the code have 5 instead of K?\n");
    if (first < st->whole) {
        explain_outputs(g, check, st, first, right, wrong_elems, elems, n);
        return;
    }
    gr_check_pattern(check, st->accident_pattern);
    gr_check_append(check, "%s", st->accident);
    if (st->refused)
        gr_check_append(check, "\nno result in %zu of %zu shapes", st->refused, n);
    gr_check_hint(check, "%s",
                  strcmp(st->accident_pattern, "returned_error") != 0 ? st->accident_hint
                  : st->refused == n                                  ? refused_all_hint(g)
                  : st->refused > 0 ? "compute every valid shape: odd sizes, K = 1 and K = H too"
                                    : st->accident_hint);
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

enum st_code gr_unit_shapes_check(struct grading *g, struct st_error *err)
{
    struct gr_check *check = gr_check_add(g, "unit_shapes");
    struct gr_case_shape specs[GR_MAX_CASES];
    size_t n = gr_case_shapes(g->milestone.exercise, specs, g->options->seed, g->options->quick);
    memcpy(&specs[n], g->held_out, g->held_outs * sizeof *specs);
    n += g->held_outs;
    struct stage *st = calloc(1, sizeof *st);
    if (!st)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the unit shapes");
    st->exercise = g->milestone.exercise;
    enum st_code code = gr_proof_begin(g, err);
    bool go_on = !code;
    progress_begin("unit shapes");
    for (size_t i = 0; i < n && go_on; i++) {
        progress_count(i, n, "shapes");
        code = unit_make(&st->unit[i], &specs[i], g->options->seed, i, g->rubric->tolerance, err);
        const size_t whole = st->whole;
        const bool had_accident = st->accident[0] != '\0';
        const size_t accidents = st->accidents;
        if (!code && st->only_k5 && specs[i].shape.K != 5)
            continue;
        go_on = !code && run_shape(g, st, &st->unit[i], n, err, &code);
        const bool right = st->whole > whole && !st->compared[whole].wrong;
        note_filter_size(st, &st->unit[i], right && had_accident == (st->accident[0] != '\0'));
        if (right && accidents == st->accidents)
            note_clean(st, &specs[i].shape);
    }
    if (!code) {
        look_for_leak(g, st, n);
        progress_begin("unit shapes: looking for a cause");
        progress_follow(g->host.progress, "blocks", false);
        judge(g, check, st, n);
        give_share(g, check, st->clean, n);
        progress_begin("unit shapes: proving what the kernels did");
        progress_follow(g->host.progress, "blocks", false);
        code = gr_work_check(g, check, st->shown, err);
    }
    if (!code)
        gr_check_print(g, check);
    for (size_t i = 0; i < n; i++)
        free(st->unit[i].storage);
    free(st);
    return code;
}
