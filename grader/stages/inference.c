/* The stage that grades inference on Fashion-MNIST.
 *
 * The grader walks through the network itself and has the lab compute each convolution:
 *
 *     images -> [conv 1] -> tanh, pool -> [conv 2] -> tanh, pool -> dense -> class
 *
 * Every convolution's output tensor is compared with the oracle's for the lab's own input, so right
 * classes do not hide wrong outputs. Small sizes are timed several times, each time on other inputs,
 * and every run is checked. The reference and the plain loops are timed alternately with the lab, on the
 * same data, so that their ratio holds on a busy machine.
 *
 * On the CPU in a class (place/turn.h) larger sizes run once, and only their outputs count.
 *
 * Memory: a convolution has all its images at once, so x and y are complete. In addition, the
 * grader has its own copy of x, and pieces of the expected y. The next layer's x gradually replaces
 * y. If they do not fit into memory, x and y are in a file on disk; the lab notices only a
 * difference in time.
 *
 * No input occurs twice, so a submission gains nothing by keeping outputs: repeats get blends of
 * the images (verify.h), the images themselves come last, and each size gets its own process,
 * because it contains the images of the smaller ones.
 */
#include "base/checkout.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "base/tsv.h"
#include "grader/stages/companions.h"
#include "grader/stages/grading.h"
#include "grader/stages/tensors.h"
#include "grader/course/machine.h"
#include "grader/compare/verify.h"
#include "nn/dataset.h"
#include "nn/network.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEEP_EXPECTED_IMAGES = 1000 };

struct gr_inference_stage {
    struct grading *g;
    struct nn_dataset set;
    struct nn_network net;
    struct tsv expected;
    struct gr_companion companion[GR_COMPANIONS];
    double wall_s[NN_MAX_CONVS]; /* seconds per image of each convolution */
    bool untimed;                /* this size runs once, only for its outputs */
    struct vg_process
        left; /* the device process of the last size, which may still be translating code */
};

/* ---- preparation ---------------------------------------------------------------------------- */

/* Two models of the same name may have different weights. */
static void describe_model(struct gr_result *r, const char *folder, const char *name)
{
    enum { MOST_BYTES = 64 << 20 };
    char path[PATH_MAX], *data;
    size_t bytes;
    path_format(path, sizeof path, "%s/%s.safetensors", folder, name);
    if (file_read(path, MOST_BYTES, &data, &bytes, NULL))
        return;
    sha256_hex(data, bytes, r->model_hash);
    free(data);
}

/* Loads data set, model and expected accuracies. */
static enum st_code load(struct gr_inference_stage *in, struct st_error *err)
{
    char folder[PATH_MAX], name[256], table[PATH_MAX];
    const struct gr_options *o = in->g->options;
    const struct exercise *exercise = in->g->milestone.exercise;
    if (exercise->square) {
        in->net.convs = 1;
        snprintf(in->net.name, sizeof in->net.name, "%s", exercise->name);
        return ST_OK;
    }
    enum st_code code = nn_model_place(in->g->options->model, folder, name, err);
    if (!code)
        code = nn_dataset_load(&in->set, NULL, NN_TEST, o->images[o->sizes - 1], err);
    if (code)
        return code;
    if ((code = nn_network_load(&in->net, folder, name, err)))
        return code;
    describe_model(in->g->result, folder, name);
    path_format(table, sizeof table, "%s/expected.tsv", folder);
    if (file_exists(table))
        code = tsv_read(table, &in->expected, err);
    return code;
}

/* The accuracy in data/models/expected.tsv for this model and size, or NAN. */
static double expected_accuracy(const struct gr_inference_stage *in, size_t images)
{
    const struct tsv *t = &in->expected;
    if (!t->columns)
        return NAN;
    int model = tsv_column(t, "model"), size = tsv_column(t, "images"),
        accuracy = tsv_column(t, "accuracy");
    if (model < 0 || size < 0 || accuracy < 0)
        return NAN;
    for (size_t row = 0; row < t->rows; row++)
        if (strcmp(tsv_cell(t, row, model), in->net.name) == 0 &&
            strtoul(tsv_cell(t, row, size), NULL, 10) == images)
            return strtod(tsv_cell(t, row, accuracy), NULL);
    return NAN;
}

/* ---- one convolution ------------------------------------------------------------------------ */

/* The most runs to time. Small sizes are noisy and cheap and get more. A modelled time never changes,
 * so one run is enough. On the CPU, repeats of slow code take REPEATS_S at most.
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

/* The expected time of a layer on the CPU, from the largest size so far; 0 without one. (On a GPU
 * the first run is a warm-up, and cheap.) */
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

/* Explains the mistake of one run of the submission; false if it has none. */
static bool run_failed(struct gr_inference_stage *in, struct gr_check *check,
                       const struct gr_run *run, const struct gr_conv *conv, int layer)
{
    struct gr_damage damage;
    if (run->outcome == GR_TIMED_OUT && in->g->arena.on_disk)
        gr_check_set(check, GR_SKIP, "memory is short, and with x and y on disk %s", run->message);
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
            "the unit shapes are wrong too: fix them first, it is most likely the same mistake");
    else if (c->unwritten)
        gr_check_hint(
            check,
            "%zu outputs were never written: does the code reach every image, map, row and column of this large shape?",
            c->unwritten);
    else
        gr_check_hint(
            check,
            "the unit shapes are right and this shape is not: what depends on the size? (an int that overflows, an array of fixed size, work split among threads)");
}

/* Whether the oracle's output is computed once and kept, because every repeat needs it. */
static bool keeps_expected(const struct grading *g, const struct conv_shape *shape)
{
    return shape->B <= KEEP_EXPECTED_IMAGES ||
           (g->host.device == RUNNER_ON_GPU &&
            gr_memory_available_bytes() / 4 > nn_conv_y_elems(shape) * sizeof(float));
}

/* A convolution during its repeated runs. */
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
    double last_s;            /* seconds of the last run; before the first, its limit */
    struct gr_compare spoilt; /* the mistake in a blend */
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

/* Chooses the inputs of the next run. Blends come first, each of them new. The real images come
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

/* Whether companions are timed with this run: on the CPU with the second and later runs, which are
 * as warm as the companions, or with a single run. */
static bool has_company(const struct layer_runs *l, const struct grading *g)
{
    return !l->untimed && (l->repeat > 0 || g->host.device != RUNNER_ON_CPU ||
                           (l->last && l->conv.shape.B <= KEEP_EXPECTED_IMAGES));
}

/* Judges a run's outputs. A mistake in a blend is reported for the images themselves, if they also
 * show it. @return whether more runs follow. */
static bool judge_outputs(struct gr_inference_stage *in, struct gr_check *check,
                          struct layer_runs *l, const struct gr_compare *compared,
                          const struct gr_run *run)
{
    /* Only for the images themselves, because the number of blends depends on noise. */
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
    const char *idle = check->lacks.fact[0] ? check->lacks.text : run->idle;
    if (idle[0])
        explain(in, check, l->layer, GR_IDLE_PATTERN, idle, GR_IDLE_HINT);
    return !idle[0] && !l->last;
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

/* Runs with progress: it is expected to take as long per image as the last run with fewer
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
    gr_session_run(&g->session, shape, &g->arena, gr_time_limit_s(g, shape), run);
    *wall_s = (clock_now_s() - begin_s) / shape->B;
    show_phase(in, l, "checking outputs");
}

/* Runs, times and checks one convolution; the arena holds a right output of x itself at the end.
 * @return true if its outputs are right; false with the check set, or with *code set. */
static bool run_layer(struct gr_inference_stage *in, struct gr_check *check, struct gr_conv conv,
                      int layer, struct gr_inference *record, enum st_code *code,
                      struct st_error *err)
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
        if (l.last && !compared.wrong && (*code = gr_timed_work_check(g, &conv.shape, check, err)))
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

/* Writes the course's line. Modelled times of a layer may be too short for its digits. */
static void put_time(struct grading *g, const char *what, double seconds)
{
    char text[NUMBER_CHARS];
    if (g->host.device == RUNNER_ON_VIRTUAL_GPU)
        gr_course_line(g, "%s: %.6f (modelled, %s)", what, seconds,
                       number_time(text, seconds, "us"));
    else
        gr_course_line(g, "%s: %.6f", what, seconds);
}

/* A lab that copies by itself has a Layer Time; only the virtual GPU reports how long its kernels
 * ran. */
static void put_op_time(struct grading *g, double seconds)
{
    const bool copies = g->milestone.exercise->host_tensors;
    const struct gr_device_record *record = gr_session_device_record(&g->session);
    struct gr_copies of;
    put_time(g, copies ? "Layer Time" : "Op Time", seconds);
    if (copies && record && gr_device_copies(record, &of))
        put_time(g, "Op Time", of.kernel_ns * 1e-9);
}

/* ---- one size ------------------------------------------------------------------------------- */

static struct conv_shape layer_shape(const struct gr_inference_stage *in, int layer, size_t images)
{
    const struct exercise *exercise = in->g->milestone.exercise;
    struct conv_shape shape = in->net.conv[layer];
    shape.B = (int)images;
    return exercise->square ? exercise->square((int)images) : shape;
}

static struct gr_memory_need memory_needed(const struct gr_inference_stage *in, size_t images)
{
    struct gr_memory_need need = {0};
    for (int layer = 0; layer < in->net.convs; layer++) {
        const struct conv_shape shape = layer_shape(in, layer, images);
        gr_memory_need_add(&need, &shape, &in->g->host, images <= KEEP_EXPECTED_IMAGES);
    }
    return need;
}

/* Makes room for a size. Without times, companions, which still have the old arena, are not needed.
 * @return false with a skipped check */
static bool make_room(struct gr_inference_stage *in, struct gr_check *check, size_t images)
{
    struct grading *g = in->g;
    const bool was_on_disk = g->arena.on_disk;
    const struct gr_memory_need need = memory_needed(in, images);
    if (!gr_tensors_make_room(g, &need, check))
        return false;
    if (g->arena.on_disk && !was_on_disk && g->host.device == RUNNER_ON_CPU) {
        gr_companions_end(in->companion);
        gr_companions_clear(in->companion);
    }
    return true;
}

static void pass_size(struct grading *g, struct gr_check *check, struct gr_inference *record)
{
    record->passed = true;
    if (record->max_error > g->result->max_error)
        g->result->max_error = record->max_error;
    gr_check_set(check, GR_PASS, "all outputs right, largest error %.2g", record->max_error);
}

/* Runs one size of an exercise without a network: one convolution of random tensors. */
static enum st_code run_product(struct gr_inference_stage *in, struct gr_check *check, size_t size,
                                struct gr_inference *record, struct st_error *err)
{
    enum { RANDOM_STREAM = 0x6e77 };
    struct grading *g = in->g;
    struct gr_conv conv = {.shape = layer_shape(in, 0, size), .tolerance = g->rubric->tolerance};
    const size_t x = nn_conv_x_elems(&conv.shape), k = nn_conv_k_elems(&conv.shape);
    struct rng rng = rng_make(g->options->seed, RANDOM_STREAM + size);
    float *data = malloc((x + k) * sizeof *data);
    enum st_code code = ST_OK;
    if (!data)
        return st_fail(err, ST_NO_MEMORY, "cannot hold matrices of %zu rows in memory", size);
    rng_fill(&rng, data, x + k, -1, 1);
    conv.x = data;
    conv.k = data + x;
    const bool good = run_layer(in, check, conv, 0, record, &code, err);
    progress_clear();
    if (good) {
        put_op_time(g, record->op_time_s[0]);
        g->image_s = in->wall_s[0];
        pass_size(g, check, record);
    }
    free(data);
    return code;
}

/* Computes classes and their accuracy, and sets the check's verdict. All outputs are right, so only
 * images on the border between two classes may differ. */
static enum st_code classify(struct gr_inference_stage *in, struct gr_check *check, const float *x,
                             struct gr_inference *record, struct st_error *err)
{
    struct grading *g = in->g;
    const size_t images = record->images;
    unsigned char *classes = malloc(images);
    if (!classes)
        return st_fail(err, ST_NO_MEMORY, "cannot hold %zu classes in memory", images);
    g->image_s = in->wall_s[0] + in->wall_s[1];
    nn_network_classify(&in->net, images, x, classes);
    record->correctness = nn_accuracy(classes, in->set.labels, images);
    free(classes);
    pass_size(g, check, record);
    gr_course_line(g, "Correctness: %.4g Model: %s", record->correctness, in->net.name);
    gr_check_append(check, "; correctness %.4g%s", record->correctness,
                    isnan(record->expected_correctness) ? "" : ", as expected");
    if (g->arena.on_disk)
        gr_check_append(check, "; memory is short, x and y were on disk");
    if (fabs(record->correctness - record->expected_correctness) > 0.005)
        gr_check_set(
            check, GR_FAIL,
            "all outputs right, but the correctness is %.4g instead of %.4g: does data/models/expected.tsv belong to this model?",
            record->correctness, record->expected_correctness);
    return ST_OK;
}

static enum st_code run_size(struct gr_inference_stage *in, struct gr_check *check, size_t images,
                             struct st_error *err)
{
    struct grading *g = in->g;
    struct nn_network *net = &in->net;
    struct gr_inference *record = &g->result->inference[g->result->inferences++];
    *record = (struct gr_inference){.images = images,
                                    .convs = net->convs,
                                    .correctness = NAN,
                                    .expected_correctness = expected_accuracy(in, images)};
    snprintf(record->model, sizeof record->model, "%s", net->name);
    if (g->milestone.exercise->square)
        return run_product(in, check, images, record, err);
    struct arena inputs;
    enum st_code code =
        gr_inputs_open(&g->arena, images * (size_t)net->H * (size_t)net->W, &inputs, err);
    bool good = !code;
    if (good)
        nn_dataset_scale(&in->set, 0, images, net->H, net->W, (float *)inputs.base);
    for (int layer = 0; good && layer < net->convs; layer++) {
        struct gr_conv conv = {.shape = layer_shape(in, layer, images),
                               .x = (const float *)inputs.base,
                               .k = net->conv_weight[layer],
                               .tolerance = g->rubric->tolerance};
        good = run_layer(in, check, conv, layer, record, &code, err);
        progress_clear();
        if (layer == 0)
            gr_course_line(g, "New Inference");
        if (good && !in->untimed)
            put_op_time(g, record->op_time_s[layer]);
        progress_begin("%zu images, layer %d of %d: %s and pooling", images, layer + 1, net->convs,
                       nn_activation_name(net->activation));
        good = good && !(code = gr_inputs_pool(net, layer, &conv.shape, &g->arena, &inputs, err));
        progress_clear();
    }
    if (good)
        code = classify(in, check, (const float *)inputs.base, record, err);
    arena_close(&inputs);
    return code;
}

/* ---- the stage ------------------------------------------------------------------------------ */

enum st_code gr_inference_open(struct gr_inference_stage **stage, struct grading *g,
                               struct st_error *err)
{
    struct gr_inference_stage *in = calloc(1, sizeof *in);
    *stage = in;
    if (!in)
        return st_fail(err, ST_NO_MEMORY, "cannot hold the inference stage in memory");
    in->g = g;
    gr_companions_clear(in->companion);
    in->left = VG_PROCESS_NONE;
    return load(in, err);
}

enum st_code gr_inference_check(struct gr_inference_stage *in, struct st_error *err)
{
    struct grading *g = in->g;
    if (!g->milestone.exercise->square) {
        gr_course_line(g, "Loading fashion-mnist data... done");
        gr_course_line(g, "Loading model... done");
    }
    enum st_code code = ST_OK;
    progress_begin("preparing the references");
    if (!gr_timing_is_brief(g))
        gr_companions_start(in->companion, g);
    progress_clear();
    for (size_t i = 0; !code && i < g->options->sizes; i++) {
        char name[64], sized[24];
        snprintf(sized, sizeof sized, "%s_", g->milestone.exercise->sized);
        snprintf(name, sizeof name, "%s%zu", sized, g->options->images[i]);
        struct gr_check *check = gr_check_add(g, name);
        /* Wrong unit shapes do not end the grading: a submission that is right for the models alone
         * gets the points for the models. */
        if (g->options->quick && !g->options->sizes_given && gr_failed(g->result, "unit_shapes")) {
            gr_check_set(
                check, GR_SKIP,
                "not run: unit shapes are wrong (without --quick, or with --images, it runs anyway)");
        } else if (gr_failed(g->result, sized)) {
            gr_check_set(check, GR_SKIP, "not run: a smaller data set already failed");
        } else {
            if (i > 0) /* also removes its data of a smaller size's images */
                gr_session_leave_device(&g->session, &in->left);
            const bool fits = make_room(in, check, g->options->images[i]);
            in->untimed = (i > 0 && gr_timing_is_brief(g)) ||
                          (g->arena.on_disk && g->host.device == RUNNER_ON_CPU);
            if (fits && !(code = gr_session_revive(&g->session, &g->arena, err)))
                code = run_size(in, check, g->options->images[i], err);
        }
        if (!code)
            gr_check_print(g, check);
    }
    return code;
}

void gr_inference_close(struct gr_inference_stage *in)
{
    if (!in)
        return;
    gr_companions_end(in->companion);
    gr_session_drop_device(&in->left);
    tsv_free(&in->expected);
    nn_network_free(&in->net);
    nn_dataset_free(&in->set);
    free(in);
}
