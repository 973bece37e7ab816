/* Two layers run again on the virtual GPU, even if the grading uses a real GPU: its device process
 * proves by execution which products are summed into y (way.h). On a CPU nothing is proved: the
 * outputs of these convolutions are only compared, to judge their precision. */
#include "grader/stages/work_proof.h"

#include "base/files.h"
#include "base/rng.h"
#include "grader/compare/verify.h"
#include "grader/technique/technique.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANDOM_STREAM = 0x7ec4 };

static struct conv_shape layer_shape(const struct grading *g, size_t layer)
{
    const struct exercise *exercise = g->milestone.exercise;
    const bool whole = g->technique && g->technique->whole_layers;
    if (whole || gr_technique_compares_layers(g->technique))
        return exercise->own[layer];
    return exercise->least[layer];
}

bool gr_has_long_sums(const struct grading *g)
{
    const struct gr_item *technique = gr_rubric_item(g->rubric, "technique");
    return g->rubric->tolerance > 0 || (technique && technique->long_sums);
}

/* ---- precision ------------------------------------------------------------------------------- */

/* Only a few weights of each map are large; the others are tiny, but not zero. Float32 then rounds
 * only a few times, however long the sum is, so that even sums of 300 products show the loss of a
 * 16-bit format: with x and k in two parts of bfloat16, the error is about 2^-18 of a product; with
 * three products of TF32, 2^-22. */
enum { WEIGHTS_THAT_MATTER = 4 };
static const double NOTHING = 0x1p-40, PRECISION = 20 * 0x1p-24;

static void make_few_matter(struct rng *rng, const struct conv_shape *s, float *k)
{
    const int taps = s->C * s->K * s->K;
    for (int i = 0; i < s->M * taps; i++)
        k[i] = (float)(k[i] * NOTHING);
    for (int m = 0; m < s->M; m++)
        for (int i = 0; i < WEIGHTS_THAT_MATTER; i++) {
            float *one = &k[m * taps + rng_range(rng, 0, taps - 1)];
            rng_fill(rng, one, 1, -1, 1);
        }
}

/* The largest error of y, as a fraction of the largest possible product of its sum. @return -1 with
 * *status set if out of memory. */
static double error_of(const struct gr_conv *conv, const float *y, enum st_code *status,
                       struct st_error *err)
{
    const struct conv_shape *s = &conv->shape;
    const size_t elems = nn_conv_y_elems(s), plane = elems / ((size_t)s->B * (size_t)s->M);
    const size_t taps = nn_conv_k_elems(s) / (size_t)s->M;
    float *expected = malloc(elems * sizeof *expected);
    double worst = 0;
    if (!expected) {
        *status = st_fail(err, ST_NO_MEMORY, "out of memory for the outputs of a layer");
        return -1;
    }
    nn_oracle_conv(s, conv->x, conv->k, expected);
    for (size_t map = 0; map < elems / plane; map++) {
        double sum = 0;
        for (size_t i = 0; i < taps; i++)
            sum += fabs((double)conv->k[map % (size_t)s->M * taps + i]);
        for (size_t i = map * plane; i < (map + 1) * plane; i++)
            worst = fmax(worst, fabs((double)y[i] - (double)expected[i]) / sum);
    }
    free(expected);
    return worst;
}

/* @return whether the outputs are right, and as precise as float32; otherwise the check states the
 * mistake, or *status is set. */
static bool is_right(const struct grading *g, const struct gr_conv *conv, const float *y,
                     const struct gr_compare *compared, struct gr_check *check,
                     enum st_code *status, struct st_error *err)
{
    char layer[EXERCISE_TEXT];
    const double imprecise = 0x1p-7;
    const double error = gr_has_long_sums(g) ? 0 : error_of(conv, y, status, err);
    if (*status || (!compared->wrong && error <= PRECISION))
        return !*status;
    if (error <= PRECISION || error > imprecise) {
        g->milestone.exercise->describe(layer, &conv->shape, EXERCISE_LAYER);
        gr_check_set(check, GR_FAIL, "%zu of %zu outputs are wrong in %s", compared->wrong,
                     compared->elems, layer);
        return false;
    }
    gr_check_pattern(check, "low_precision");
    gr_check_set(
        check, GR_FAIL,
        "sums of %d products are less precise than float32: the error is %.1e of the largest product (at most %.1e)",
        conv->shape.C * conv->shape.K * conv->shape.K, error, PRECISION);
    gr_check_hint(
        check,
        "which products or sums are in half precision, bfloat16 or TF32? Split each factor into parts that add up to it: three products in TF32 replace one in float32");
    return false;
}

/* ---- one convolution ------------------------------------------------------------------------- */

/* Runs the convolution and compares. @return whether its outputs are right; otherwise the check
 * states the mistake, or *status is set. */
static bool run_one(struct grading *g, struct gr_session *session, const struct gr_conv *conv,
                    struct arena *arena, struct gr_check *check, enum st_code *status,
                    struct st_error *err)
{
    enum { SLOWER = 4 }; /* times slower than without a proof */
    struct gr_run run;
    struct gr_compare compared;
    gr_session_run(session, &conv->shape, arena, SLOWER * gr_time_limit_s(g, &conv->shape), &run);
    if (run.outcome == GR_DEVICE_LOST) {
        *status = gr_device_lost(&run, err);
        return false;
    }
    if (run.outcome != GR_RAN || run.pattern[0]) {
        char layer[EXERCISE_TEXT];
        g->milestone.exercise->describe(layer, &conv->shape, EXERCISE_LAYER);
        gr_check_set(check, GR_FAIL, "in %s: %s", layer, run.message);
        gr_check_hint(check, "%s", run.hint);
        return false;
    }
    if ((*status = gr_arena_compare(arena, conv, NULL, &compared, err)))
        return false;
    const float *y = (const float *)(arena->base + arena_layout_for(&conv->shape).y);
    return is_right(g, conv, y, &compared, check, status, err);
}

/* Fills x like pictures for the first layer of a model: no pixel is negative, and the background
 * and scattered pixels are 0, so that a submission treats this x as it treats x in the timed
 * runs. */
static void make_pictures(struct rng *rng, const struct conv_shape *s, float *x)
{
    for (int b = 0; b < s->B; b++) {
        /* (a wide margin would hide which threads need what they compute; a matrix has one row) */
        const int high = s->H / 6, wide = s->W < 6 ? 1 : s->W / 6;
        const int top = rng_range(rng, high > 0, high), left = rng_range(rng, 1, wide);
        const int bottom = s->H - rng_range(rng, high > 0, high),
                  right = s->W - rng_range(rng, 1, wide);
        for (int h = 0; h < s->H; h++)
            for (int w = 0; w < s->W; w++, x++)
                *x = h < top || h >= bottom || w < left || w >= right || rng_range(rng, 0, 7) == 0
                         ? 0
                         : fabsf(*x);
    }
}

/* Fills in random inputs. @return false with *status set. */
static bool fill(struct grading *g, struct gr_conv *conv, struct arena *arena, float **data,
                 uint64_t stream, enum st_code *status, struct st_error *err)
{
    const size_t x = nn_conv_x_elems(&conv->shape), k = nn_conv_k_elems(&conv->shape);
    struct rng rng = rng_make(g->options->seed, stream);
    *data = malloc((x + k) * sizeof **data);
    *status = *data ? arena_reserve(arena, arena_layout_for(&conv->shape).bytes, err)
                    : st_fail(err, ST_NO_MEMORY, "out of memory for a layer");
    if (*status)
        return false;
    rng_fill(&rng, *data, x + k, -1, 1);
    if (conv->shape.C == 1)
        make_pictures(&rng, &conv->shape, *data);
    if (!gr_has_long_sums(g))
        make_few_matter(&rng, &conv->shape, *data + x);
    conv->x = *data;
    conv->k = *data + x;
    gr_arena_fill(arena, conv);
    return true;
}

static double words_copied(const struct gr_device_record *record)
{
    double bytes = 0;
    for (size_t i = 0; i < record->rows; i++)
        bytes += strcmp(record->row[i].kind, "copy_dtod") == 0 ? record->row[i].bytes : 0;
    return bytes / sizeof(float);
}

static bool start(struct grading *g, struct gr_session *session, struct gr_check *check,
                  enum st_code *status, struct st_error *err)
{
    struct gr_run run;
    *status = gr_session_start(session, &g->proof->host, g->library, &g->proof->arena, &run, err);
    if (!*status && run.message[0]) {
        gr_check_set(check, GR_FAIL, "%s", run.message);
        gr_session_end(session);
    }
    return !*status && !run.message[0];
}

/* Proves convolutions, one after the other in one process, up to the first that is not right.
 * @return how many were right */
static size_t prove(struct grading *g, const struct conv_shape *shapes, size_t n, size_t nth,
                    struct gr_way *ways, struct gr_check *check, enum st_code *status,
                    struct st_error *err)
{
    struct gr_proof *p = g->proof;
    struct gr_session session;
    char text[192];
    snprintf(text, sizeof text, "%s", gr_technique_looks_at_tiles(g->technique) ? "tiles;" : "");
    bool right = true, has_session = false;
    size_t proved = 0;
    for (size_t i = 0; i < n; i++) {
        const struct conv_shape *s = &shapes[i];
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%d,%d,%d,%d,%d,%d", i ? ";" : "", s->B, s->M,
                 s->C, s->H, s->W, s->K);
    }
    p->host.prove = g->milestone.cuda ? text : NULL;
    for (size_t i = 0; i < n && right; i++) {
        const struct conv_shape *s = &shapes[i];
        struct gr_conv conv = {.shape = *s, .tolerance = g->rubric->tolerance};
        float *data = NULL;
        right = fill(g, &conv, &p->arena, &data, RANDOM_STREAM + GR_PROOF_LAYERS + nth + i, status,
                     err);
        if (right && !has_session)
            has_session = right = start(g, &session, check, status, err);
        right = right && run_one(g, &session, &conv, &p->arena, check, status, err);
        const struct gr_device_record *record =
            has_session ? gr_session_device_record(&session) : NULL;
        /* (a timed run may execute only code in which the technique was looked for) */
        const bool counts = nth > 0 || i < GR_PROOF_LAYERS;
        if (right && record && (*status = gr_way_read(&ways[i], &record->proof, s, err)) == ST_OK &&
            counts &&
            !gr_executed_add(&p->executed[gr_layer_like(s)], g->technique, record, s,
                             g->milestone.exercise->host_tensors))
            *status = st_fail(err, ST_NO_MEMORY, "out of memory for the record of a layer");
        if (right && record)
            ways[i].copied_on_device = words_copied(record);
        ways[i].copied = p->copied;
        ways[i].copies = p->copies;
        free(data);
        right = right && !*status;
        proved += right;
    }
    if (has_session)
        gr_session_end(&session);
    p->host.prove = NULL;
    return proved;
}

bool gr_prove(struct grading *g, const struct conv_shape *s, size_t nth, struct gr_way *way,
              struct gr_check *check, enum st_code *status, struct st_error *err)
{
    return prove(g, s, 1, nth, way, check, status, err) == 1;
}

bool gr_run_unproved(struct grading *g, const struct conv_shape *s, size_t nth,
                     struct gr_executed *executed, enum st_code *status, struct st_error *err)
{
    struct gr_proof *p = g->proof;
    struct gr_session session;
    struct gr_conv conv = {.shape = *s, .tolerance = g->rubric->tolerance};
    struct gr_check seen = {.status = GR_PASS};
    float *data = NULL;
    bool right =
        fill(g, &conv, &p->arena, &data, RANDOM_STREAM + GR_PROOF_LAYERS + nth, status, err) &&
        start(g, &session, &seen, status, err);
    if (right) {
        right = run_one(g, &session, &conv, &p->arena, &seen, status, err);
        const struct gr_device_record *record = gr_session_device_record(&session);
        if (right && record &&
            !gr_executed_add(executed, g->technique, record, s,
                             g->milestone.exercise->host_tensors))
            *status = st_fail(err, ST_NO_MEMORY, "out of memory for the record of a layer");
        gr_session_end(&session);
    }
    free(data);
    return right && !*status;
}

/* Runs the exercise's layer, with so many images that copying them in parts pays, and records how
 * copies and kernels overlap. @return whether it was right; otherwise the check states the mistake,
 * or *status is set. */
static bool watch_copies(struct grading *g, struct gr_copies *copies, struct gr_check *check,
                         enum st_code *status, struct st_error *err)
{
    struct gr_proof *p = g->proof;
    struct gr_session session;
    struct gr_conv conv = {.shape = g->milestone.exercise->copied,
                           .tolerance = g->rubric->tolerance};
    float *data = NULL;
    p->host.multiprocessors = NULL;
    bool right = fill(g, &conv, &p->arena, &data, RANDOM_STREAM + GR_PROOF_LAYERS, status, err) &&
                 start(g, &session, check, status, err);
    if (right) {
        right = run_one(g, &session, &conv, &p->arena, check, status, err);
        const struct gr_device_record *record = gr_session_device_record(&session);
        if (right && record && !gr_device_copies(record, copies))
            *status = st_fail(err, ST_NO_MEMORY, "out of memory for the copies of a layer");
        gr_session_end(&session);
    }
    free(data);
    return right && !*status;
}

/* ---- the proof of a grading ------------------------------------------------------------------ */

/* Finds the virtual GPU, whatever the grading's device. @return false if there is none. */
static bool find_virtual_gpu(const struct grading *g, struct gr_host *to)
{
    static const char *const needed[] = {"vgpu-device", "vgpu/libcudart.so.13"};
    *to = g->host;
    if (to->device == RUNNER_ON_GPU)
        snprintf(to->profile, sizeof to->profile, "h200");
    to->device = RUNNER_ON_VIRTUAL_GPU;
    to->engine = NULL;
    bool found = true;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        char path[PATH_MAX];
        path_format(path, sizeof path, "%s/%s", to->build, needed[i]);
        found = found && file_exists(path);
    }
    return found;
}

/* Chooses a unit shape that the submission cannot predict. @return false if none is suitable */
static bool draw_unit_shape(const struct grading *g, struct conv_shape *to)
{
    enum { DRAWN = 0xd2a3, LEAST_OUTPUTS = 100 };
    struct gr_case_shape specs[GR_MAX_CASES];
    struct rng rng = rng_make(g->options->seed, DRAWN);
    const size_t n =
        gr_case_shapes(g->milestone.exercise, specs, g->options->seed, g->options->quick);
    int suitable = 0;
    for (size_t i = 0; i < n; i++) {
        const struct conv_shape *s = &specs[i].shape;
        if (s->C > 1 && s->K != g->milestone.exercise->least[0].K &&
            nn_conv_macs(s) <= GR_PROOF_MACS && nn_conv_y_elems(s) >= LEAST_OUTPUTS &&
            rng_range(&rng, 0, suitable++) == 0)
            *to = *s;
    }
    return suitable > 0;
}

/* Proves the layers and a unit shape. */
static void *make(void *of)
{
    struct grading *g = of;
    struct gr_proof *p = g->proof;
    struct conv_shape shapes[GR_PROOF_LAYERS + 1];
    for (size_t i = 0; i < GR_PROOF_LAYERS; i++)
        shapes[i] = layer_shape(g, i);
    const bool has_unit = g->milestone.cuda && draw_unit_shape(g, &shapes[GR_PROOF_LAYERS]);
    const size_t n = p->made ? prove(g, shapes, GR_PROOF_LAYERS + has_unit, 0, p->way, &p->seen,
                                     &p->status, &p->err)
                             : 0;
    p->made = n >= GR_PROOF_LAYERS;
    p->has_unit_way = n > GR_PROOF_LAYERS;
    return NULL;
}

enum st_code gr_proof_begin(struct grading *g, struct st_error *err)
{
    if (g->options->unproved || (!g->milestone.cuda && g->host.device != RUNNER_ON_CPU))
        return ST_OK;
    struct gr_proof *p = g->proof = calloc(1, sizeof *g->proof);
    if (!p)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the proof of the work");
    p->arena.fd = -1;
    if (!g->milestone.cuda)
        p->host = g->host;
    else if (!find_virtual_gpu(g, &p->host)) {
        gr_check_set(&p->seen, GR_SKIP,
                     "the virtual GPU, which proves the work, is not built: run make vgpu");
        return ST_OK;
    }
    const enum st_code status = arena_open(&p->arena, err);
    p->made = !status;
    /* (without a sandbox, processes left by one submission look like those of another) */
    if (p->made && g->milestone.cuda && g->host.sandbox.on) {
        p->host.progress_fd = 0;
        p->host.given_up = &p->given_up;
        p->has_maker = pthread_create(&p->maker, NULL, make, g) == 0;
    }
    return status;
}

void gr_proof_give_up(struct grading *g)
{
    if (g->proof)
        atomic_store(&g->proof->given_up, true);
}

/* @return whether the thread was running */
static bool wait_for_maker(struct gr_proof *p)
{
    const bool was = p->has_maker && pthread_join(p->maker, NULL) == 0;
    p->has_maker = false;
    p->host.given_up = NULL;
    return was;
}

enum st_code gr_proof_end(struct grading *g, struct st_error *err)
{
    struct gr_proof *p = g->proof;
    const bool is_made = wait_for_maker(p);
    p->host.progress_fd = g->host.progress_fd;
    if (!is_made && !p->ended)
        make(g);
    p->ended = true;
    if (p->status)
        *err = p->err;
    return p->status;
}

void gr_proof_set_copies(struct grading *g, const struct gr_copies *copies,
                         const struct conv_shape *of)
{
    struct gr_proof *p = g->proof;
    p->has_copies = true;
    p->copied = *of;
    p->copies = *copies;
    for (size_t i = 0; i < GR_PROOF_LAYERS; i++) {
        p->way[i].copied = *of;
        p->way[i].copies = *copies;
    }
}

enum st_code gr_proof_copies(struct grading *g, struct st_error *err)
{
    struct gr_proof *p = g->proof;
    struct gr_copies copies = {0};
    enum st_code status = ST_OK;
    if (!g->milestone.exercise->host_tensors || p->has_copies || !p->made)
        return ST_OK;
    p->made = watch_copies(g, &copies, &p->seen, &status, err);
    if (p->made)
        gr_proof_set_copies(g, &copies, &g->milestone.exercise->copied);
    return status;
}

void gr_proof_free(struct gr_proof *p)
{
    if (!p)
        return;
    atomic_store(&p->given_up, true);
    wait_for_maker(p);
    for (int i = 0; i < GR_PROOF_LAYERS; i++)
        gr_executed_free(&p->executed[i]);
    arena_close(&p->arena);
    free(p);
}
