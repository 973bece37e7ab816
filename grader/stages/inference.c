/* The stage that grades inference on Fashion-MNIST.
 *
 * The grader walks through the network itself and lets the lab compute each convolution:
 *
 *     images -> [conv 1] -> tanh, pool -> [conv 2] -> tanh, pool -> dense -> class
 *
 * Every convolution's output is compared with the oracle's output for the same input, so right
 * classes do not hide wrong outputs. Small sizes are timed several times, each time on new inputs,
 * and every run is checked. The reference and the plain loops are timed alternately with the lab,
 * on the same data, so that the ratio of the times is valid even on a busy machine.
 *
 * On the CPU in a class (place/turn.h), larger sizes run once, and only their outputs are judged.
 *
 * Memory: a convolution processes all images at once, so x and y are complete. In addition, the
 * grader has its own copy of x, and parts of the expected y. The next layer's x gradually replaces
 * y. If they do not fit into memory, x and y are in a file on disk; the lab notices only a
 * difference in time.
 *
 * No input occurs twice, so a submission gains nothing by keeping outputs: repeats get blends of
 * the images (verify.h), the last run gets the images themselves, and each size gets its own
 * process, because larger sizes contain the images of smaller sizes.
 */
#include "base/files.h"
#include "base/numbers.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "grader/stages/inference.h"
#include "grader/stages/tensors.h"
#include "grader/compare/verify.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- preparation ---------------------------------------------------------------------------- */

/* Adds the weights' hash: two models of the same name may have different weights. */
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

/* Writes a line of the course's output. A layer's modelled times may be too short for the digits of
 * that line. */
static void put_time(struct grading *g, const char *what, double seconds)
{
    char text[NUMBER_CHARS];
    if (g->host.device == RUNNER_ON_VIRTUAL_GPU)
        gr_course_line(g, "%s: %.6f (modelled, %s)", what, seconds,
                       number_time(text, seconds, "us"));
    else
        gr_course_line(g, "%s: %.6f", what, seconds);
}

/* Writes the Op Time. A lab that makes the copies itself has a Layer Time; only the virtual GPU
 * reports how long the lab's kernels ran. */
static void put_op_time(struct grading *g, double seconds, const struct gr_timed_work *work)
{
    const bool copies = g->milestone.exercise->host_tensors;
    put_time(g, copies ? "Layer Time" : "Op Time", seconds);
    if (copies && work->is_recorded)
        put_time(g, "Op Time", work->copies.kernel_ns * 1e-9);
}

/* Prints the course's first lines, once. */
static void put_beginning(struct gr_inference_stage *in)
{
    if (!in->has_begun && !in->g->milestone.exercise->square) {
        gr_course_line(in->g, "Loading fashion-mnist data... done");
        gr_course_line(in->g, "Loading model... done");
    }
    in->has_begun = true;
}

static void forget_layers(struct gr_inference_stage *in)
{
    for (int i = 0; i < in->recorded; i++)
        gr_executed_free(&in->work[i].run);
    in->recorded = in->judged = 0;
}

/* @return whether a wrong unit shape lets inference be skipped. Otherwise wrong unit shapes do not end
 * the grading: a submission that is right only for the models gets the points for the models. */
static bool skips_inference(const struct grading *g)
{
    return gr_is_short(g) && gr_failed(g->result, "unit_shapes");
}

static void skip(struct gr_check *check)
{
    gr_check_set(
        check, GR_SKIP,
        "not run: unit shapes are wrong (without --quick, or with --images, it runs anyway)");
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

/* Makes room for a size. If it is not timed, the companions, which still use the old arena, are not
 * needed.
 * @return false, with the check skipped */
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

/* Completes the unit shapes' verdict, compares the layers that have run with the proof, and prints their
 * times. @param right  layers with right outputs @return whether there is nothing against a layer */
static bool settle(struct gr_inference_stage *in, struct gr_check *check,
                   const struct gr_inference *record, int right, enum st_code *code,
                   struct st_error *err)
{
    struct grading *g = in->g;
    const int from = in->judged;
    if (!*code)
        *code = gr_unit_shapes_conclude(g, err);
    if (*code)
        return false;
    put_beginning(in);
    if (skips_inference(g))
        return false;
    *code = gr_layers_judge(in, check, err);
    if (from == 0 && !g->milestone.exercise->square)
        gr_course_line(g, "New Inference");
    for (int layer = from; layer < right && layer < in->judged && !in->untimed; layer++)
        put_op_time(g, record->op_time_s[layer], &in->work[layer]);
    return !*code && check->status != GR_FAIL;
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
        return st_fail(err, ST_NO_MEMORY, "out of memory for matrices of %zu rows", size);
    rng_fill(&rng, data, x + k, -1, 1);
    conv.x = data;
    conv.k = data + x;
    const bool good = gr_layer_run(in, check, conv, 0, record, &code, err);
    progress_clear();
    if (settle(in, check, record, good, &code, err) && good) {
        g->image_s = in->wall_s[0];
        pass_size(g, check, record);
    }
    free(data);
    return code;
}

/* Computes the classes and the accuracy, and sets the check's verdict. All outputs are right, so
 * only images on the border between two classes may differ. */
static enum st_code classify(struct gr_inference_stage *in, struct gr_check *check, const float *x,
                             struct gr_inference *record, struct st_error *err)
{
    struct grading *g = in->g;
    const size_t images = record->images;
    unsigned char *classes = malloc(images);
    if (!classes)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the classes of %zu images", images);
    g->image_s = in->wall_s[0] + in->wall_s[1];
    nn_network_classify(&in->net, images, x, classes);
    record->correctness = nn_accuracy(classes, in->set.labels, images);
    free(classes);
    pass_size(g, check, record);
    gr_course_line(g, "Correctness: %.4g Model: %s", record->correctness, in->net.name);
    gr_check_append(check, "; correctness %.4g%s", record->correctness,
                    isnan(record->expected_correctness) ? "" : ", as expected");
    if (g->arena.on_disk)
        gr_check_append(check, "; memory is short, so x and y were on disk");
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
    int right = 0;
    for (int layer = 0; good && layer < net->convs; layer++) {
        struct gr_conv conv = {.shape = layer_shape(in, layer, images),
                               .x = (const float *)inputs.base,
                               .k = net->conv_weight[layer],
                               .tolerance = g->rubric->tolerance};
        good = gr_layer_run(in, check, conv, layer, record, &code, err);
        progress_clear();
        right += good;
        if (!g->is_unit_verdict_open)
            good = settle(in, check, record, right, &code, err) && good;
        progress_begin("%zu images, layer %d of %d: %s and pooling", images, layer + 1, net->convs,
                       nn_activation_name(net->activation));
        good = good && !(code = gr_inputs_pool(net, layer, &conv.shape, &g->arena, &inputs, err));
        progress_clear();
    }
    if (g->is_unit_verdict_open)
        good = settle(in, check, record, right, &code, err) && good;
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
        return st_fail(err, ST_NO_MEMORY, "out of memory for the inference stage");
    in->g = g;
    gr_companions_clear(in->companion);
    in->left = VG_PROCESS_NONE;
    return load(in, err);
}

enum st_code gr_inference_check(struct gr_inference_stage *in, struct st_error *err)
{
    struct grading *g = in->g;
    struct gr_result *r = g->result;
    enum st_code code = ST_OK;
    if (!g->is_unit_verdict_open)
        put_beginning(in);
    progress_begin("preparing the references");
    if (!gr_timing_is_brief(g))
        gr_companions_start(in->companion, g);
    progress_clear();
    for (size_t i = 0; !code && i < g->options->sizes; i++) {
        char name[64], sized[24];
        snprintf(sized, sizeof sized, "%s_", g->milestone.exercise->sized);
        snprintf(name, sizeof name, "%s%zu", sized, g->options->images[i]);
        struct gr_check *check = gr_check_add(g, name);
        if (skips_inference(g)) {
            skip(check);
        } else if (gr_failed(g->result, sized)) {
            gr_check_set(check, GR_SKIP, "not run: a smaller data set already failed");
        } else {
            if (i > 0) /* also removes what it keeps of a smaller size's images */
                gr_session_leave_device(&g->session, &in->left);
            const struct gr_check before = *check;
            const size_t inferences = r->inferences, timings = r->timings;
            const bool fits = make_room(in, check, g->options->images[i]);
            forget_layers(in);
            in->untimed = (i > 0 && gr_timing_is_brief(g)) ||
                          (g->arena.on_disk && g->host.device == RUNNER_ON_CPU);
            if (fits && !(code = gr_session_revive(&g->session, &g->arena, err)))
                code = run_size(in, check, g->options->images[i], err);
            if (!code && skips_inference(g)) { /* the unit shapes' verdict came late */
                *check = before;
                r->inferences = inferences;
                r->timings = timings;
                skip(check);
            }
        }
        if (!code)
            code = gr_unit_shapes_conclude(g, err);
        if (!code)
            gr_check_print(g, check);
    }
    if (!code)
        code = gr_unit_shapes_conclude(g, err);
    return code;
}

void gr_inference_close(struct gr_inference_stage *in)
{
    if (!in)
        return;
    forget_layers(in);
    gr_companions_end(in->companion);
    gr_session_drop_device(&in->left);
    tsv_free(&in->expected);
    nn_network_free(&in->net);
    nn_dataset_free(&in->set);
    free(in);
}
