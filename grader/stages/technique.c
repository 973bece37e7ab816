/* The stage that looks for the milestone's technique, and before it the proof that it judges.
 *
 * The convolutions of two layers are run once more on the virtual GPU - also when a real one is
 * graded - whose device process proves by execution what y was made of (way.h). Of a GPU milestone
 * without the check "technique" only the work is judged, by the unit shapes. On a CPU nothing is proved:
 * the same convolutions are only compared, so that their precision is judged.
 *
 * The runs that are timed are too large to be proved. They must execute the code that was. */
#include "grader/technique/technique.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/rng.h"
#include "grader/compare/verify.h"
#include "grader/stages/grading.h"
#include "grader/technique/executed.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LAYERS = 2, RANDOM_STREAM = 0x7ec4, IMAGES = 2 };

/* The second layer of the two-layer model comes first: it has several input maps. */
static const struct conv_shape model_layers[MAX_LAYERS] = {{IMAGES, 24, 12, 33, 33, 5},
                                                           {IMAGES, 12, 1, 70, 70, 5}};

struct gr_proof {
    struct gr_host host;
    struct arena arena;   /* its own: that of the grading may hold what a network goes on with */
    struct gr_check seen; /* why it was not made, if it was not */
    bool made;
    struct gr_way way[MAX_LAYERS];
    struct gr_executed executed[MAX_LAYERS]; /* in all runs of such layers that were proved */
};

/* Not quite the model's shapes, so that nothing can be done for them alone. */
static struct conv_shape layer_shape(const struct grading *g, size_t layer)
{
    struct rng rng = rng_make(g->options->seed, RANDOM_STREAM + layer);
    struct conv_shape s = model_layers[layer];
    s.H += rng_range(&rng, -3, 3);
    s.W += rng_range(&rng, -3, 3);
    return s;
}

/* Which of the two layers a shape is like: one with several input maps, or with one. What a submission
 * does for one of them is no proof of what it does for the other. */
static size_t layer_like(const struct conv_shape *s)
{
    return s->C == 1;
}

/* ---- precision ------------------------------------------------------------------------------- */

/* Of each map's weights only a few matter; next to them the others are nothing, but not zero. Float32
 * then rounds a few times however long the sum is, and in the sums of 300 products what a format of 16
 * bits loses is seen: x and k in two parts of bfloat16 are off by some 2^-18 of a product, in three
 * products of TF32 by 2^-22. */
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

/* The largest error of y, as a part of the largest product that its sum could have had. @return -1 with
 * *status set without memory. */
static double error_of(const struct gr_conv *conv, const float *y, enum st_code *status,
                       struct st_error *err)
{
    const struct conv_shape *s = &conv->shape;
    const size_t elems = nn_conv_y_elems(s), plane = elems / ((size_t)s->B * (size_t)s->M);
    const size_t taps = nn_conv_k_elems(s) / (size_t)s->M;
    float *expected = malloc(elems * sizeof *expected);
    double worst = 0;
    if (!expected) {
        *status = st_fail(err, ST_NO_MEMORY, "cannot hold the outputs of a layer in memory");
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

/* @return whether outputs are right, and as precise as float32; else the check says what is wrong, or
 * *status. */
static bool is_right(const struct gr_conv *conv, const float *y, const struct gr_compare *compared,
                     struct gr_check *check, enum st_code *status, struct st_error *err)
{
    const double imprecise = 0x1p-7, error = error_of(conv, y, status, err);
    if (*status || (!compared->wrong && error <= PRECISION))
        return !*status;
    if (error <= PRECISION || error > imprecise) {
        gr_check_set(check, GR_FAIL,
                     "%zu of %zu outputs are wrong in a layer with C=%d, H=%d, W=%d",
                     compared->wrong, compared->elems, conv->shape.C, conv->shape.H, conv->shape.W);
        return false;
    }
    gr_check_pattern(check, "low_precision");
    gr_check_set(
        check, GR_FAIL,
        "sums of %d products are less precise than float32: off by %.1e of the largest product (at most %.1e)",
        conv->shape.C * conv->shape.K * conv->shape.K, error, PRECISION);
    gr_check_hint(
        check,
        "which products or sums are in half precision, bfloat16 or TF32? Split each factor into parts that add up to it: three products of TF32 make one of float32");
    return false;
}

/* ---- one convolution ------------------------------------------------------------------------- */

/* Runs it and compares. @return whether its outputs are right; else the check says what is wrong, or
 * *status. */
static bool run_one(struct grading *g, struct gr_session *session, const struct gr_conv *conv,
                    struct gr_check *check, enum st_code *status, struct st_error *err)
{
    enum { SLOWER = 4 }; /* than it is without a proof */
    struct gr_run run;
    struct gr_compare compared;
    gr_session_run(session, &conv->shape, &g->proof->arena,
                   SLOWER * gr_time_limit_s(g, &conv->shape), &run);
    if (run.outcome == GR_DEVICE_LOST) {
        *status = gr_device_lost(&run, err);
        return false;
    }
    if (run.outcome != GR_RAN || run.pattern[0]) {
        gr_check_set(check, GR_FAIL, "in a layer with C=%d: %s", conv->shape.C, run.message);
        gr_check_hint(check, "%s", run.hint);
        return false;
    }
    if ((*status = gr_arena_compare(&g->proof->arena, conv, NULL, &compared, err)))
        return false;
    const float *y = (const float *)(g->proof->arena.base + arena_layout_for(&conv->shape).y);
    return is_right(conv, y, &compared, check, status, err);
}

/* The first layer of a model has pictures: nothing is negative, and 0 around what is shown and here and
 * there in it. What a submission does for such x is what it does where it is timed. */
static void make_pictures(struct rng *rng, const struct conv_shape *s, float *x)
{
    for (int b = 0; b < s->B; b++) {
        const int top = rng_range(rng, 1, s->H / 4), left = rng_range(rng, 1, s->W / 4);
        const int bottom = s->H - rng_range(rng, 1, s->H / 4),
                  right = s->W - rng_range(rng, 1, s->W / 4);
        for (int h = 0; h < s->H; h++)
            for (int w = 0; w < s->W; w++, x++)
                *x = h < top || h >= bottom || w < left || w >= right || rng_range(rng, 0, 7) == 0
                         ? 0
                         : fabsf(*x);
    }
}

/* Random inputs. @return false with *status set. */
static bool fill(struct grading *g, struct gr_conv *conv, float **data, uint64_t stream,
                 enum st_code *status, struct st_error *err)
{
    const size_t x = nn_conv_x_elems(&conv->shape), k = nn_conv_k_elems(&conv->shape);
    struct rng rng = rng_make(g->options->seed, stream);
    *data = malloc((x + k) * sizeof **data);
    *status = *data ? arena_reserve(&g->proof->arena, arena_layout_for(&conv->shape).bytes, err)
                    : st_fail(err, ST_NO_MEMORY, "cannot hold a layer in memory");
    if (*status)
        return false;
    rng_fill(&rng, *data, x + k, -1, 1);
    if (conv->shape.C == 1)
        make_pictures(&rng, &conv->shape, *data);
    make_few_matter(&rng, &conv->shape, *data + x);
    conv->x = *data;
    conv->k = *data + x;
    gr_arena_fill(&g->proof->arena, conv);
    return true;
}

/* Proves one convolution. @return whether it was right: then @p way is filled in; else the check says
 * what is wrong, or *status. */
static bool prove(struct grading *g, const struct conv_shape *s, uint64_t stream,
                  struct gr_way *way, struct gr_check *check, enum st_code *status,
                  struct st_error *err)
{
    struct gr_proof *p = g->proof;
    struct gr_session session;
    struct gr_run run;
    struct gr_conv conv = {.shape = *s};
    float *data = NULL;
    char shape[96];
    snprintf(shape, sizeof shape, "%d,%d,%d,%d,%d,%d", s->B, s->M, s->C, s->H, s->W, s->K);
    p->host.prove = g->milestone.cuda ? shape : NULL;
    bool right = fill(g, &conv, &data, stream, status, err);
    if (right) {
        *status = gr_session_start(&session, &p->host, g->library, &g->proof->arena, &run, err);
        right = !*status && !run.message[0];
        if (!*status && run.message[0])
            gr_check_set(check, GR_FAIL, "%s", run.message);
        right = right && run_one(g, &session, &conv, check, status, err);
        const struct gr_device_record *record = gr_session_device_record(&session);
        if (right && record && (*status = gr_way_read(way, &record->proof, s, err)) == ST_OK &&
            !gr_executed_add(&p->executed[layer_like(s)], g->milestone.id, record, s))
            *status = st_fail(err, ST_NO_MEMORY, "cannot hold what a layer executed in memory");
        gr_session_end(&session);
    }
    free(data);
    return right && !*status;
}

/* ---- the proof of a grading ------------------------------------------------------------------ */

/* The virtual GPU, whatever is graded on. @return false if it is not there. */
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

static enum st_code make_proof(struct grading *g, struct st_error *err)
{
    enum st_code status = ST_OK;
    struct gr_proof *p = g->proof = calloc(1, sizeof *g->proof);
    if (!p)
        return st_fail(err, ST_NO_MEMORY, "cannot hold the proof of the work in memory");
    if (!g->milestone.cuda)
        p->host = g->host;
    else if (!find_virtual_gpu(g, &p->host)) {
        gr_check_set(&p->seen, GR_SKIP,
                     "the virtual GPU, which proves the work, is not built: run make vgpu");
        return ST_OK;
    }
    status = arena_open(&p->arena, err);
    p->made = !status;
    for (size_t i = 0; i < MAX_LAYERS && p->made; i++) {
        const struct conv_shape s = layer_shape(g, i);
        p->made = prove(g, &s, RANDOM_STREAM + MAX_LAYERS + i, &p->way[i], &p->seen, &status, err);
    }
    return status;
}

void gr_proof_free(struct gr_proof *p)
{
    if (!p)
        return;
    for (int i = 0; i < MAX_LAYERS; i++)
        gr_executed_free(&p->executed[i]);
    arena_close(&p->arena);
    free(p);
}

enum st_code gr_work_check(struct grading *g, struct gr_check *check, struct st_error *err)
{
    if ((!g->milestone.cuda && g->host.device != RUNNER_ON_CPU) || check->status != GR_PASS)
        return ST_OK;
    const enum st_code status = make_proof(g, err);
    const struct gr_proof *p = g->proof;
    const bool is_imprecise = !status && strcmp(p->seen.pattern, "low_precision") == 0;
    if (status || (gr_check_find(g, "technique") && !is_imprecise))
        return status;
    struct gr_evidence work;
    char right[256];
    snprintf(right, sizeof right, "%s", check->message);
    if (p->made && g->milestone.cuda &&
        gr_technique_facts(GR_NO_TECHNIQUE, p->way, MAX_LAYERS, &work) && !work.holds) {
        check->lacks = work;
        gr_check_pattern(check, GR_IDLE_PATTERN);
        gr_check_set(check, GR_FAIL, "%s", work.text);
        gr_check_hint(check, GR_IDLE_HINT);
    } else if (is_imprecise) {
        gr_check_pattern(check, p->seen.pattern);
        gr_check_set(check, GR_FAIL, "%s", p->seen.message);
        gr_check_hint(check, "%s", p->seen.hint);
    } else if (!p->made) {
        gr_check_set(check, p->seen.status, "%s\nbut not when its %s%s: %.300s", right,
                     g->milestone.cuda ? "work was proved" : "precision was measured",
                     g->host.device == RUNNER_ON_GPU ? " on the virtual GPU" : "", p->seen.message);
        gr_check_hint(check, "%s", p->seen.hint);
    }
    return ST_OK;
}

/* ---- runs that are timed --------------------------------------------------------------------- */

/* Room for the weights twice, in another order say, and for tables. */
static double most_sent(const struct gr_executed *proved, const struct conv_shape *s)
{
    const double k = sizeof(float) * (double)nn_conv_k_elems(s);
    const double y = sizeof(float) * (double)nn_conv_y_elems(s);
    return proved->sent_bytes + fmax(2 * k + 16384, y / 8);
}

/* What a way lacks of the technique. One input map is too few for some facts, and m8's is about two
 * layers. */
static void look_for_technique(struct grading *g, const struct gr_way *way)
{
    struct gr_evidence fact[GR_MAX_EVIDENCE];
    const struct conv_shape *s = &way->shape;
    struct gr_check *check = gr_check_find(g, "technique");
    if (!check || check->lacks.fact[0] || s->C == 1 || strcmp(g->milestone.id, "m8") == 0)
        return;
    const size_t n = gr_technique_facts(g->milestone.id, way, 1, fact);
    for (size_t i = 0; i < n && !check->lacks.fact[0]; i++)
        if (!fact[i].holds) {
            check->lacks = fact[i];
            snprintf(check->lacks.text, sizeof check->lacks.text,
                     "%d images, C=%d, H=%d, W=%d: %.240s", s->B, s->C, s->H, s->W, fact[i].text);
        }
}

/* What is proved of a layer until all is covered that a timed run has executed. Kernels whose blocks
 * take one image after another go on to the next only where there are more images than blocks: either
 * there are few multiprocessors, for a grid as large as the device, or many images with small planes,
 * for a grid of a size of its own. */
static const struct further_proof {
    int images;
    const char *multiprocessors; /* NULL: as the profile has */
    bool has_small_planes;
} further_proofs[] = {
    {IMAGES, NULL, false}, {8, "2", false}, {24, "2", false}, {24, NULL, false}, {400, NULL, true}};

static struct conv_shape further_shape(const struct further_proof *f,
                                       const struct conv_shape *layer)
{
    enum { SMALL = 7 }; /* outputs beside the first */
    struct conv_shape s = *layer;
    s.B = s.B > f->images ? f->images : s.B;
    if (f->has_small_planes) {
        s.H = s.H > s.K + SMALL ? s.K + SMALL : s.H;
        s.W = s.W > s.K + SMALL ? s.K + SMALL : s.W;
    }
    return s;
}

/* Proves runs of a layer, one after another, until all that a timed run has executed was proved.
 * @param lacks  what the work of one of these lacked
 * @return code that was not proved, or NULL. */
static const struct gr_executed_block *prove_more(struct grading *g, const struct conv_shape *shape,
                                                  const struct gr_executed *run,
                                                  struct gr_evidence *lacks, enum st_code *status,
                                                  struct st_error *err)
{
    const struct gr_executed *proved = &g->proof->executed[layer_like(shape)];
    const struct gr_executed_block *beyond = gr_executed_beyond(run, proved);
    struct gr_way *way = beyond ? malloc(sizeof *way) : NULL;
    if (beyond && !way)
        *status = st_fail(err, ST_NO_MEMORY, "cannot hold the work of a layer in memory");
    for (size_t i = 0; beyond && !*status && i < sizeof further_proofs / sizeof *further_proofs;
         i++) {
        const struct conv_shape s = further_shape(&further_proofs[i], shape);
        struct gr_check seen = {.status = GR_PASS};
        g->proof->host.multiprocessors = further_proofs[i].multiprocessors;
        if (!prove(g, &s, RANDOM_STREAM + 2 * MAX_LAYERS + i, way, &seen, status, err))
            break;
        gr_technique_facts(GR_NO_TECHNIQUE, way, 1, lacks);
        if (!lacks->holds)
            break;
        lacks->fact[0] = '\0';
        look_for_technique(g, way);
        beyond = gr_executed_beyond(run, proved);
    }
    free(way);
    return beyond;
}

enum st_code gr_timed_work_check(struct grading *g, const struct conv_shape *shape,
                                 struct gr_check *check, struct st_error *err)
{
    const struct gr_device_record *record = gr_session_device_record(&g->session);
    const struct gr_proof *p = g->proof;
    struct gr_check *technique = gr_check_find(g, "technique");
    struct gr_executed run = {0};
    struct gr_evidence lacks = {.fact = ""};
    enum st_code status = ST_OK;
    if (!record || !p || !p->made)
        return ST_OK;
    if (!gr_executed_add(&run, g->milestone.id, record, shape))
        return st_fail(err, ST_NO_MEMORY, "cannot hold what a layer executed in memory");
    const struct gr_executed *proved = &p->executed[layer_like(shape)];
    const double most = most_sent(proved, shape);
    const struct gr_executed_block *beyond = prove_more(g, shape, &run, &lacks, &status, err);
    if (beyond && !lacks.fact[0]) {
        snprintf(lacks.fact, sizeof lacks.fact, "proved_code");
        snprintf(
            lacks.text, sizeof lacks.text,
            "with %d images %.90s runs code that it does not run with few images, where the work is proved: use the same kernels for any number of images",
            shape->B, beyond->kernel);
    } else if (!lacks.fact[0] && run.sent_bytes > most) {
        snprintf(lacks.fact, sizeof lacks.fact, "sent_bytes");
        snprintf(
            lacks.text, sizeof lacks.text,
            "right, but the host sent %.0f bytes to the device meanwhile (at most %.0f): the work was not done on the GPU",
            run.sent_bytes, most);
    }
    const char *counter = gr_executed_lacks(g->milestone.id, &run, proved);
    if (!lacks.fact[0] && counter && shape->C > 1) {
        snprintf(lacks.fact, sizeof lacks.fact, "%.30s", counter);
        snprintf(
            lacks.text, sizeof lacks.text,
            "with %d images, C=%d, H=%d, W=%d: less than a fifth of the %.40s for each output that runs with random x and few images had: the same technique must be used for any x and any number of images",
            shape->B, shape->C, shape->H, shape->W, counter);
    }
    if (lacks.fact[0]) {
        check->lacks = lacks;
        if (technique && !technique->lacks.fact[0])
            technique->lacks = lacks;
    }
    gr_executed_free(&run);
    return status;
}

/* ---- the check ------------------------------------------------------------------------------ */

static void judge(struct grading *g, struct gr_check *check)
{
    struct gr_result *r = g->result;
    const struct gr_proof *p = g->proof;
    struct gr_evidence evidence[GR_MAX_EVIDENCE];
    const size_t n = gr_technique_facts(g->milestone.id, p->way, MAX_LAYERS, evidence);
    const struct gr_evidence *first = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!first && !evidence[i].holds)
            first = &evidence[i];
        r->evidence[r->evidences++] = evidence[i];
    }
    char where[160];
    const struct conv_shape *s = &p->way[0].shape;
    snprintf(where, sizeof where,
             "B=%d M=%d C=%d H=%d W=%d K=%d and a layer with C=1, on the virtual GPU", s->B, s->M,
             s->C, s->H, s->W, s->K);
    if (!first && check->lacks.fact[0]) {
        gr_check_set(check, GR_FAIL, "all %zu facts found for %s, but not where it is timed:\n%s",
                     n, where, check->lacks.text);
        gr_check_hint(check, "the technique must be in the kernels that make y, whatever the size");
        return;
    }
    if (!first) {
        gr_check_set(check, GR_PASS, "all %zu facts found for %s", n, where);
        return;
    }
    gr_check_set(check, GR_FAIL, "%s", first->text);
    for (size_t i = 0; i < n; i++)
        gr_check_append(check, "\n%s %s",
                        evidence[i].holds ? "found:  " : "missing:", evidence[i].text);
    gr_check_append(check, "\nproved for %s", where);
    gr_check_hint(
        check, "the technique must be in the kernels that make y, in every layer, not beside them");
}

enum st_code gr_technique_check(struct grading *g, struct st_error *err)
{
    struct gr_check *check = gr_check_find(g, "technique");
    struct gr_evidence none[GR_MAX_EVIDENCE];
    static const struct gr_way nothing[MAX_LAYERS];
    (void)err;
    if (!check)
        return ST_OK;
    if (gr_technique_facts(g->milestone.id, nothing, 1, none) == 0)
        gr_check_set(check, GR_SKIP, "the grader knows no technique of %s", g->milestone.id);
    else if (gr_failed(g->result, "unit_shapes"))
        gr_check_set(check, GR_SKIP, "not run: only right results are looked at");
    else if (!g->proof || !g->proof->made) {
        gr_check_set(check, g->proof ? g->proof->seen.status : GR_SKIP, "%s",
                     g->proof ? g->proof->seen.message : "not run");
        gr_check_hint(check, "%s", g->proof ? g->proof->seen.hint : "");
    } else
        judge(g, check);
    gr_check_print(g->out, check);
    for (size_t i = 0; check->status == GR_PASS && i < g->result->evidences; i++)
        fprintf(g->out, "        %s\n", g->result->evidence[i].text);
    return ST_OK;
}
