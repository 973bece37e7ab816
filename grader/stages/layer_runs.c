/* Runs, times and checks one convolution of the inference stage, each time on new inputs. */
#include "base/clock.h"
#include "base/progress.h"
#include "base/rng.h"
#include "grader/stages/inference.h"
#include "grader/stages/tensors.h"
#include "grader/course/machine.h"
#include "grader/compare/verify.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdlib.h>

/* The maximum number of timed runs. Small sizes are noisy and cheap, so they get more runs. A
 * modelled time never changes, so one run is enough. On the CPU, repeats of slow code take at most
 * REPEATS_S.
 * @param run_s  seconds of a run; 0: unknown */
static size_t repeats_for(const struct grading *g, size_t images, double run_s)
{
    static const double REPEATS_S = 2;
    if (g->host.device == RUNNER_ON_VIRTUAL_GPU || run_s > REPEATS_S)
        return 1;
    if (g->host.device == RUNNER_ON_GPU)
        return 1 + (images <= KEEP_EXPECTED_IMAGES ? GR_MAX_REPEATS : 4);
    const size_t most = images <= 100 ? 5 : images <= KEEP_EXPECTED_IMAGES ? 3 : 1;
    return (double)(most - 1) * run_s <= REPEATS_S ? most : 1 + (size_t)(REPEATS_S / run_s);
}

/* The expected time of a layer on the CPU, computed from the largest size so far; 0 if there is
 * none. (On a GPU the first run is a warm-up, and cheap.) */
static double expected_s(const struct grading *g, const struct gr_timing *timing)
{
    double seconds = 0;
    for (size_t i = 0; i < g->result->timings && timing; i++) {
        const struct gr_timing *t = &g->result->timing[i];
        if (t->subject == timing->subject && t->layer == timing->layer && t->repeats > 0)
            seconds = t->median_s * timing->shape.B / t->shape.B;
    }
    return g->host.device == RUNNER_ON_CPU ? seconds : 0;
}

/* Whether a GPU has been timed often enough after the warm-up: all medians are known to within
 * 2%. */
static bool is_narrow(const struct gr_result *r, const struct gr_timing *timing)
{
    enum { FEWEST = 5 };
    for (size_t i = 0; i < r->timings; i++) {
        const struct gr_timing *t = &r->timing[i];
        if (t->layer == timing->layer && gr_timing_size(t) == gr_timing_size(timing) &&
            (t->repeats < FEWEST || gr_timing_uncertainty(t) > 0.02))
            return false;
    }
    return true;
}

static void explain(struct gr_inference_stage *in, struct gr_check *check, int layer,
                    const char *pattern, const char *message, const char *hint)
{
    gr_check_pattern(check, pattern);
    gr_check_set(check, GR_FAIL, "convolution %d of %s: %s", layer + 1, in->net.name, message);
    gr_check_hint(check, "%s", hint);
}

/* Explains the mistake of one run of the submission; returns false if there is none. */
static bool run_failed(struct gr_inference_stage *in, struct gr_check *check,
                       const struct gr_run *run, const struct gr_conv *conv, int layer)
{
    struct gr_damage damage;
    if (run->outcome == GR_TIMED_OUT && in->g->arena.on_disk)
        gr_check_set(check, GR_SKIP, "memory is short, so x and y were on disk: %s", run->message);
    else if (run->outcome != GR_RAN || run->pattern[0]) /* a race spoils right outputs, too */
        explain(in, check, layer, run->pattern, run->message, run->hint);
    else if (!gr_arena_intact(&in->g->arena, conv, &damage))
        explain(in, check, layer, damage.pattern, damage.message, damage.hint);
    else
        return false;
    return true;
}

static void explain_mismatch(struct gr_inference_stage *in, struct gr_check *check,
                             const struct gr_compare *c, bool is_blend, int layer)
{
    gr_check_set(
        check, GR_FAIL,
        "convolution %d of %s: %zu of %zu outputs are wrong\n"
        "first mismatch: y[b=%d, m=%d, h=%d, w=%d]: expected %.7g, got %.7g%s",
        layer + 1, in->net.name, c->wrong, c->elems, c->b, c->m, c->h, c->w, (double)c->expected,
        (double)c->got,
        is_blend
            ? "\n(in a timed repeat, where each image is an image of the data set plus a part of another one)"
            : "");
    if (gr_failed(in->g->result, "unit_shapes"))
        gr_check_hint(
            check,
            "the unit shapes are wrong too: fix them first; most likely it is the same mistake");
    else if (c->unwritten)
        gr_check_hint(
            check,
            "%zu outputs were never written: does the code reach every image, map, row and column of this large shape?",
            c->unwritten);
    else
        gr_check_hint(
            check,
            "the unit shapes are right and this shape is not: what depends on the size? (an int that overflows, an array of fixed size, work divided into portions or among threads)");
}

/* Whether the oracle's output is computed once and kept for every repeat. */
static bool keeps_expected(const struct grading *g, const struct conv_shape *shape)
{
    return shape->B <= KEEP_EXPECTED_IMAGES ||
           (g->host.device == RUNNER_ON_GPU &&
            gr_memory_available_bytes() / 4 > nn_conv_y_elems(shape) * sizeof(float));
}

/* A convolution and its repeated runs. */
struct layer_runs {
    struct gr_conv conv;
    int layer;
    float *expected; /* or NULL */
    struct gr_timing *timing;
    struct gr_inference *record;
    struct rng rng;
    size_t repeat;
    bool last;
    bool untimed;
    double last_s;            /* seconds of the last run; before the first run, its limit */
    struct gr_compare spoilt; /* comparison of wrong outputs for a blend */
};

static enum st_code runs_open(struct layer_runs *l, struct grading *g, struct st_error *err)
{
    const struct conv_shape *shape = &l->conv.shape;
    l->rng = rng_make(g->options->seed, (uint64_t)shape->B << 8 | (unsigned)l->layer);
    enum st_code code = arena_reserve(&g->arena, arena_layout_for(shape).bytes, err);
    if (!code && keeps_expected(g, shape)) {
        l->expected = malloc(nn_conv_y_elems(shape) * sizeof *l->expected);
        if (l->expected)
            nn_oracle_conv(shape, l->conv.x, l->conv.k, l->expected);
    }
    l->timing = l->untimed
                    ? NULL
                    : gr_timing_of(g->result, GR_SUBMISSION, l->record->model, l->layer, shape);
    if (l->timing && g->options->reference)
        l->timing->subject = GR_REFERENCE;
    l->last_s = expected_s(g, l->timing);
    return code;
}

/* Chooses the inputs of the next run. Blends come first, each of them new; the real images come
 * last, because the network continues with their output. */
static void choose_inputs(struct layer_runs *l, const struct grading *g)
{
    struct gr_conv *conv = &l->conv;
    const int B = conv->shape.B;
    l->last = l->untimed || l->spoilt.wrong ||
              repeats_for(g, (size_t)B, l->last_s) <= l->repeat + 1 ||
              (g->host.device == RUNNER_ON_GPU && l->repeat > 0 && l->timing &&
               is_narrow(g->result, l->timing));
    conv->rotate = conv->apart = conv->blend = 0;
    if (l->last)
        return;
    conv->rotate = (size_t)rng_range(&l->rng, 0, B - 1);
    conv->apart = B > 1 ? (size_t)rng_range(&l->rng, 1, B - 1) : 0;
    conv->blend = rng_u64(&l->rng) | 1;
}

/* Whether companions are timed with this run: on a GPU, with every run; on the CPU, with the second
 * and later runs, whose caches are as warm as the companions', or with the only run. */
static bool has_company(const struct layer_runs *l, const struct grading *g)
{
    return !l->untimed && (l->repeat > 0 || g->host.device != RUNNER_ON_CPU ||
                           (l->last && l->conv.shape.B <= KEEP_EXPECTED_IMAGES));
}

/* Judges a run's outputs. A mistake with a blend is reported for the images themselves if their
 * outputs also show it. @return whether more runs follow. */
static bool judge_outputs(struct gr_inference_stage *in, struct gr_check *check,
                          struct layer_runs *l, const struct gr_compare *compared,
                          const struct gr_run *run)
{
    /* Right outputs of blends do not count, because the number of blends depends on noise. */
    if ((l->last || compared->wrong) && compared->max_error > l->record->max_error)
        l->record->max_error = compared->max_error;
    if (compared->wrong && !l->last) {
        l->spoilt = *compared;
        return true;
    }
    if (compared->wrong || l->spoilt.wrong) {
        explain_mismatch(in, check, compared->wrong ? compared : &l->spoilt, !compared->wrong,
                         l->layer);
        return false;
    }
    if (run->idle[0])
        explain(in, check, l->layer, GR_IDLE_PATTERN, run->idle, GR_IDLE_HINT);
    return !run->idle[0] && !l->last;
}

/* Names the current step and its convolution. */
static void show_phase(const struct gr_inference_stage *in, const struct layer_runs *l,
                       const char *phase)
{
    const struct conv_shape *s = &l->conv.shape;
    char size[EXERCISE_TEXT];
    in->g->milestone.exercise->describe(size, s, EXERCISE_SIZE);
    progress_begin("%s, layer %d of %d: %s", size, l->layer + 1, in->net.convs, phase);
}

/* Runs the convolution and shows progress: expects the seconds per image of the last run with fewer
 * images. */
static void run_shown(struct gr_inference_stage *in, const struct layer_runs *l, struct gr_run *run)
{
    struct grading *g = in->g;
    const struct conv_shape *shape = &l->conv.shape;
    double *wall_s = &in->wall_s[l->layer];
    show_phase(in, l, "running");
    progress_follow(g->host.progress, "blocks", false);
    progress_expect(*wall_s * shape->B);
    const double begin_s = clock_now_s();
    gr_run_limited(g, shape, run);
    *wall_s = (clock_now_s() - begin_s) / shape->B;
    show_phase(in, l, "checking outputs");
}

bool gr_layer_run(struct gr_inference_stage *in, struct gr_check *check, struct gr_conv conv,
                  int layer, struct gr_inference *record, enum st_code *code, struct st_error *err)
{
    struct grading *g = in->g;
    struct layer_runs l = {.conv = conv, .layer = layer, .record = record, .untimed = in->untimed};
    const bool warms_up = g->host.device == RUNNER_ON_GPU; /* the first run is the warm-up */
    bool more = true;
    show_phase(in, &l, "expected outputs");
    *code = runs_open(&l, g, err);
    for (; !*code && more; l.repeat++) {
        struct gr_run run;
        struct gr_compare compared;
        choose_inputs(&l, g);
        show_phase(in, &l, "timing references");
        progress_follow(g->host.progress, "blocks", false);
        if (!l.spoilt.wrong && has_company(&l, g))
            gr_companions_time(in->companion, g, in->net.name, &l.conv, layer,
                               warms_up && l.repeat == 0);
        gr_arena_fill(&g->arena, &l.conv);
        run_shown(in, &l, &run);
        if ((run.outcome == GR_DEVICE_LOST && (*code = gr_device_lost(&run, err))) ||
            run_failed(in, check, &run, &l.conv, layer) ||
            (*code = gr_arena_compare(&g->arena, &l.conv, l.expected, &compared, err)))
            break;
        if (l.last && !compared.wrong &&
            (*code = gr_timed_work_record(g, &conv.shape, &in->work[in->recorded++], err)))
            break;
        more = judge_outputs(in, check, &l, &compared, &run);
        if (check->status == GR_FAIL || l.spoilt.wrong)
            continue;
        if (!warms_up || l.repeat > 0 || l.last)
            gr_timing_add(l.timing, run.op_time_s);
        l.last_s = run.op_time_s;
    }
    free(l.expected);
    record->op_time_s[layer] = l.timing ? l.timing->median_s : NAN;
    return !more && check->status != GR_FAIL;
}

enum st_code gr_layers_judge(struct gr_inference_stage *in, struct gr_check *check,
                             struct st_error *err)
{
    while (in->judged < in->recorded) {
        const enum st_code code = gr_timed_work_check(in->g, &in->work[in->judged], check, err);
        if (check->lacks.fact[0])
            explain(in, check, in->judged, GR_IDLE_PATTERN, check->lacks.text, GR_IDLE_HINT);
        if (code || check->lacks.fact[0])
            return code;
        in->judged++;
    }
    return ST_OK;
}
