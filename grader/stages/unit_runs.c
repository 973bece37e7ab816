/* Runs unit shapes: each once for the stage; a few again, to find out why outputs are wrong or
 * whether memory leaks. */
#include "grader/stages/unit_runs.h"

#include "base/rng.h"
#include "grader/compare/element.h"
#include "grader/compare/verify.h"
#include "grader/session/call_clues.h"
#include "grader/session/finding.h"
#include "grader/session/source_clues.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum st_code gr_unit_make(struct gr_unit *u, const struct gr_case_shape *spec, uint64_t seed,
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

void gr_unit_shape_text(const struct exercise *exercise, char *to, size_t room,
                        const struct gr_case_shape *spec)
{
    char sizes[EXERCISE_TEXT];
    exercise->describe(sizes, &spec->shape, EXERCISE_SHAPE);
    snprintf(to, room, "%s (%s)", sizes, spec->label);
}

/* A crash ends the session. A few are allowed, because the other shapes may still show the
 * cause. */
enum { CRASHES_SURVIVED = 4 };

static void note_accident(struct gr_unit_stage *st, const char *pattern, const char *message,
                          const char *hint, const struct gr_case_shape *spec, size_t n)
{
    st->accidents++;
    if (st->accident[0])
        return;
    char shape[160];
    gr_unit_shape_text(st->exercise, shape, sizeof shape, spec);
    snprintf(st->accident, sizeof st->accident, "%s\nin shape %s, one of %zu", message, shape, n);
    snprintf(st->accident_hint, sizeof st->accident_hint, "%s", hint);
    snprintf(st->accident_pattern, sizeof st->accident_pattern, "%s", pattern);
}

/* As note_accident(), for a run that did not end normally, or in which the virtual GPU found a
 * mistake.
 * @param otherwise  the pattern if the run has none */
static void note_run(struct gr_unit_stage *st, const struct gr_run *run, const char *otherwise,
                     const struct gr_case_shape *spec, size_t n)
{
    bool found = run->pattern[0] != '\0';
    if (!st->accident[0])
        st->found = found;
    note_accident(st, found ? run->pattern : otherwise, run->message, run->hint, spec, n);
}

/* The order of calls and of block numbers. */
static const struct vg_order natural = {VG_ORDER_CALLS, VG_BLOCKS_BY_NUMBER};

/* The orders change from shape to shape. Of two works in different streams, the first or the second
 * order exchanges them; the third interleaves streams that share a buffer. */
static struct vg_order order_of(size_t number)
{
    static const struct vg_order orders[] = {{VG_ORDER_LAST_STREAM, VG_BLOCKS_BY_NUMBER},
                                             {VG_ORDER_FIRST_STREAM, VG_BLOCKS_MIXED},
                                             {VG_ORDER_TURNS, VG_BLOCKS_BY_NUMBER}};
    return orders[number % (sizeof orders / sizeof *orders)];
}

/* Runs one convolution on freshly filled tensors, in a new process if needed. */
static enum st_code run_conv(struct grading *g, const struct gr_conv *conv, struct vg_order order,
                             struct gr_run *run, struct st_error *err)
{
    enum st_code code = arena_reserve(&g->arena, arena_layout_for(&conv->shape).bytes, err);
    if (!code)
        code = gr_session_revive(&g->session, &g->arena, err);
    if (code)
        return code;
    gr_arena_fill(&g->arena, conv);
    gr_session_order(&g->session, order);
    gr_run_limited(g, &conv->shape, run);
    gr_session_order(&g->session, natural);
    return ST_OK;
}

static void note_memory(struct gr_unit_stage *st, const struct gr_unit *u, const struct gr_run *run)
{
    if (run->free_bytes && run->free_bytes < st->free_bytes)
        st->keeper = u;
    st->free_bytes = run->free_bytes;
}

/* Notes a right shape whose kernels compute and store outputs many times. Right kernels do only one
 * of both: large tiles reach past the edges; an unrolled matrix has C * K * K / M elements for each
 * output. */
static void note_repeats(struct grading *g, const struct conv_shape *s,
                         const struct gr_device_record *record)
{
    const double least_macs = 1e4, most = 12, macs = nn_conv_macs(s);
    const double outputs = (double)nn_conv_y_elems(s), taps = macs / outputs;
    const double executed = (double)gr_device_counter(record, NULL, "fp32_fma"),
                 stored =
                     (double)gr_device_counter(record, NULL, "global_store_bytes") / sizeof(float);
    if (macs < least_macs || executed <= most * macs ||
        stored <= most * outputs * (1 + taps / s->M))
        return;
    g->repeated_macs += executed;
    if (executed / macs <= g->repeats)
        return;
    g->repeats = executed / macs;
    g->repeating = *s;
}

/* A buffer that the lab keeps for the next call is not a leak: running the shape again needs no
 * further memory. */
void gr_unit_leak_check(struct grading *g, struct gr_unit_stage *st, size_t n)
{
    enum { TIMES = 8 };
    const struct gr_unit *u = st->keeper;
    if (!u || st->accident[0])
        return;
    const struct gr_conv conv = {.shape = u->c.spec.shape, .x = u->x, .k = u->k};
    struct gr_run run;
    struct st_error ignored;
    uint64_t before = 0, lost = 0;
    for (int i = 0; i <= TIMES; i++) {
        if (run_conv(g, &conv, natural, &run, &ignored) || run.outcome != GR_RAN ||
            !run.free_bytes || (i && run.free_bytes >= before))
            return;
        lost = before - run.free_bytes;
        before = run.free_bytes;
    }
    char message[320], place[160];
    const bool named = gr_clue_place_in(g->host.source, "cudaMalloc", false, place, sizeof place);
    snprintf(
        message, sizeof message,
        "each call of conv_forward() leaves %llu more bytes of device memory allocated: a leak (the same shape, %d calls in a row)%s%s",
        (unsigned long long)lost, TIMES, named ? "; memory comes from cudaMalloc" : "", place);
    note_accident(
        st, "leak", message,
        "call cudaFree() for each allocation before every return; or keep it in a static variable and allocate it once; or use conv_workspace(), which the harness keeps",
        &u->c.spec, n);
}

bool gr_unit_repeats_check(struct grading *g, struct gr_unit_stage *st, const struct gr_unit *u,
                           size_t n)
{
    const double most = 2e8; /* the proof executes up to half as many, ten times as slowly */
    char message[256] = "too slow for --quick";
    if (g->repeated_macs <= most || st->accident[0])
        return false;
    gr_repeats_append(g, ": ", message, sizeof message);
    note_accident(st, "time_limit", message, GR_SESSION_REPEATS_HINT, &u->c.spec, n);
    return true;
}

bool gr_unit_run(struct grading *g, struct gr_unit_stage *st, struct gr_unit *u, size_t n,
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
    if ((*code = run_conv(g, &conv, order_of((size_t)(u - st->unit)), &run, err)))
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
        gr_finding_refused(record, g->session.host->source, g->session.output.device.text, &run))
        note_run(st, &run, "", spec, n);
    if (!st->compared[st->whole].wrong && record)
        note_repeats(g, &conv.shape, record);
    st->shared_workspaces += st->compared[st->whole].wrong && run.workspaces > 1;
    if (st->compared[st->whole].wrong && record) {
        st->in_bytes += gr_clue_bytes(record, &conv.shape, st->clue, sizeof st->clue);
        char grid[sizeof st->short_clue], left[sizeof st->left_clue];
        if (!st->compared[st->whole].unwritten && gr_clue_left(record, left, sizeof left) &&
            !st->left++)
            memcpy(st->left_clue, left, sizeof left);
        if (gr_clue_swapped(record, &conv.shape, grid, sizeof grid) && !st->swapped++)
            memcpy(st->swapped_clue, grid, sizeof grid);
        if (gr_clue_short(record, &conv.shape, u->y, g->host.source, grid, sizeof grid) &&
            ++st->too_short && !st->short_clue[0])
            memcpy(st->short_clue, grid, sizeof grid);
    }
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
    if (run_conv(g, &conv, natural, &run, &err) || run.outcome != GR_RAN)
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

/* Repeats wrong shapes on a real GPU only: the virtual GPU runs all threads in the same order each
 * time, and reports races in shared memory. */
bool gr_unit_is_repeatable(struct grading *g, const struct gr_unit_stage *st)
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

/* Runs a case again. @return whether all its outputs are right, and nothing was found */
static bool is_right_again(struct grading *g, const struct gr_case *c, struct vg_order order)
{
    const struct conv_shape *s = &c->spec.shape;
    const struct gr_conv conv = {.shape = *s, .x = c->x, .k = c->k};
    struct gr_compare compared = {.wrong = 0}; /* the comparison adds to these counts */
    struct st_error err;
    struct gr_run run;
    if (run_conv(g, &conv, order, &run, &err) || run.outcome != GR_RAN || run.pattern[0])
        return false;
    gr_compare_images(s, 0, (size_t)s->B, (const float *)(g->arena.base + arena_layout_for(s).y),
                      c->ref, c->atol, &compared);
    return !compared.wrong;
}

enum gr_alone gr_unit_alone(struct grading *g, const struct gr_unit_stage *st)
{
    size_t first = 0;
    while (first < st->whole && !st->compared[first].wrong)
        first++;
    if (first == st->whole)
        return GR_ALONE_WRONG;
    gr_session_end(&g->session);
    if (!is_right_again(g, &st->cases[first], natural))
        return GR_ALONE_WRONG;
    gr_session_end(&g->session);
    for (size_t i = 0; i < first; i++)
        is_right_again(g, &st->cases[i], natural);
    return is_right_again(g, &st->cases[first], natural) ? GR_ALONE_CHANCE : GR_ALONE_STATE;
}

bool gr_unit_is_nan_anyway(struct grading *g, const struct gr_unit_stage *st)
{
    size_t first = 0;
    while (first < st->whole && !st->compared[first].wrong)
        first++;
    if (first == st->whole)
        return false;
    const struct gr_case *c = &st->cases[first];
    const size_t elems = nn_conv_y_elems(&c->spec.shape);
    const struct gr_conv conv = {.shape = c->spec.shape, .x = c->x, .k = c->k};
    struct st_error err;
    struct gr_run run;
    if (arena_reserve(&g->arena, arena_layout_for(&conv.shape).bytes, &err) ||
        gr_session_revive(&g->session, &g->arena, &err))
        return false;
    float *const y = (float *)(g->arena.base + arena_layout_for(&conv.shape).y);
    gr_arena_fill(&g->arena, &conv);
    memset(y, 0, elems * sizeof *y);
    gr_run_limited(g, &conv.shape, &run);
    size_t before = 0, again = 0;
    for (size_t i = 0; i < elems; i++) {
        before += isnan(c->y[i]) != 0;
        again += isnan(c->y[i]) && isnan(y[i]);
    }
    return run.outcome == GR_RAN && before && again == before;
}

bool gr_unit_is_reordered(const struct grading *g, size_t number)
{
    return g->host.device == RUNNER_ON_VIRTUAL_GPU &&
           (g->milestone.exercise->host_tensors || order_of(number).blocks == VG_BLOCKS_MIXED);
}

enum gr_needs gr_unit_needs_order(struct grading *g, const struct gr_unit_stage *st)
{
    /* (on several cores, a later block may be first) */
    static const struct vg_order one_by_one = {VG_ORDER_CALLS, VG_BLOCKS_ONE_BY_ONE};
    if (!st->bad || strstr(st->accident, "copy in another stream") ||
        !is_right_again(g, &st->bad->c, one_by_one))
        return GR_NEEDS_NOTHING;
    const struct vg_order order = order_of((size_t)(st->bad - st->unit));
    const struct vg_order streams = {order.streams, VG_BLOCKS_BY_NUMBER},
                          blocks = {VG_ORDER_CALLS, order.blocks};
    if (g->milestone.exercise->host_tensors && !is_right_again(g, &st->bad->c, streams))
        return GR_NEEDS_STREAMS;
    return order.blocks == VG_BLOCKS_MIXED && !is_right_again(g, &st->bad->c, blocks)
               ? GR_NEEDS_BLOCKS
               : GR_NEEDS_NOTHING;
}
