/* The stage that looks for the milestone's technique.
 *
 * The convolution of a layer is run once more on the virtual GPU - also when a real one is graded -
 * whose device process records what each launch worked on. What is judged is the PTX in the library
 * and how often each part of it ran; see work.h.
 *
 * Of a GPU milestone without the check "technique" only the work is judged, by the unit shapes: on
 * a real GPU nothing else tells whether kernels did it. */
#include "grader/technique/technique.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/rng.h"
#include "grader/stages/grading.h"
#include "grader/compare/verify.h"
#include "nn/oracle.h"
#include "vgpu/gpus/gpu_profile.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LAYERS = 2, RANDOM_STREAM = 0x7ec4, IMAGES = 2 };

/* The second layer of the two-layer model comes first: it has several input maps. */
static const struct conv_shape model_layers[MAX_LAYERS] = {{IMAGES, 24, 12, 33, 33, 5},
                                                           {IMAGES, 12, 1, 70, 70, 5}};

/* Not quite the model's shapes, so that nothing can be done for them alone. */
static struct conv_shape layer_shape(const struct grading *g, size_t layer)
{
    struct rng rng = rng_make(g->options->seed, RANDOM_STREAM + layer);
    struct conv_shape s = model_layers[layer];
    s.H += rng_range(&rng, -3, 3);
    s.W += rng_range(&rng, -3, 3);
    return s;
}

/* What the stage holds. */
struct stage {
    struct gr_host host;
    struct gr_session session;
    struct gr_code *code;
    struct gr_work work[MAX_LAYERS];
    struct gr_evidence evidence[GR_MAX_EVIDENCE];
};

/* One convolution. @return whether its outputs are right; else the check says what is wrong, or
 * *status. */
static bool run_one(struct grading *g, struct stage *st, const struct gr_conv *conv,
                    struct gr_check *check, enum st_code *status, struct st_error *err)
{
    struct gr_run run;
    struct gr_compare compared;
    gr_session_run(&st->session, &conv->shape, &g->arena, gr_time_limit_s(g, &conv->shape), &run);
    if (run.outcome == GR_DEVICE_LOST) {
        *status = gr_device_lost(&run, err);
        return false;
    }
    if (run.outcome != GR_RAN || run.pattern[0]) {
        gr_check_set(check, GR_FAIL, "in a layer with C=%d: %s", conv->shape.C, run.message);
        gr_check_hint(check, "%s", run.hint);
        return false;
    }
    if ((*status = gr_arena_compare(&g->arena, conv, NULL, &compared, err)))
        return false;
    if (compared.wrong)
        gr_check_set(check, GR_FAIL,
                     "%zu of %zu outputs are wrong in a layer with C=%d, H=%d, W=%d",
                     compared.wrong, compared.elems, conv->shape.C, conv->shape.H, conv->shape.W);
    return compared.wrong == 0;
}

static bool run_layer(struct grading *g, struct stage *st, size_t layer, struct gr_check *check,
                      enum st_code *status, struct st_error *err)
{
    struct gr_conv conv = {.shape = layer_shape(g, layer)};
    const size_t x = nn_conv_x_elems(&conv.shape), k = nn_conv_k_elems(&conv.shape);
    struct rng rng = rng_make(g->options->seed, RANDOM_STREAM + MAX_LAYERS + layer);
    float *data = malloc((x + k) * sizeof *data);
    *status = data ? arena_reserve(&g->arena, arena_layout_for(&conv.shape).bytes, err)
                   : st_fail(err, ST_NO_MEMORY, "cannot hold a layer in memory");
    if (*status) {
        free(data);
        return false;
    }
    rng_fill(&rng, data, x + k, -1, 1);
    conv.x = data;
    conv.k = data + x;
    gr_arena_fill(&g->arena, &conv);
    bool right = run_one(g, st, &conv, check, status, err);
    if (right)
        *status = gr_work_read(&st->work[layer], st->code,
                               &gr_session_device_record(&st->session)->work, &conv.shape, err);
    free(data);
    return right && !*status;
}

static void judge(struct grading *g, struct stage *st, size_t layers, struct gr_check *check)
{
    struct gr_result *r = g->result;
    size_t n = gr_technique_facts(g->milestone.id, st->work, layers, st->evidence);
    const struct gr_evidence *first = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!first && !st->evidence[i].holds)
            first = &st->evidence[i];
        r->evidence[r->evidences++] = st->evidence[i];
    }
    char where[160];
    const struct conv_shape *s = &st->work[0].shape;
    snprintf(where, sizeof where, "B=%d M=%d C=%d H=%d W=%d K=%d%s, on the virtual GPU", s->B, s->M,
             s->C, s->H, s->W, s->K, layers > 1 ? " and a layer with C=1" : "");
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
                        st->evidence[i].holds ? "found:  " : "missing:", st->evidence[i].text);
    gr_check_append(check, "\ncounted for %s", where);
    if (st->work[0].not_followed)
        gr_check_hint(
            check, "a kernel was launched that is not in the library: keep all kernels in conv.cu");
    else
        gr_check_hint(
            check,
            "the technique must be in the kernels that make y, in every layer, not beside them; x, k and y must be kernel parameters");
}

/* The virtual GPU, whatever is graded on. @return false if it is not there. */
static bool find_virtual_gpu(const struct grading *g, struct gr_host *to)
{
    static const char *const needed[] = {"vgpu-device", "vgpu/libcudart.so.13"};
    *to = g->host;
    if (to->device == RUNNER_ON_GPU)
        snprintf(to->profile, sizeof to->profile, "h200");
    to->device = RUNNER_ON_VIRTUAL_GPU;
    bool found = true;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        char path[PATH_MAX];
        path_format(path, sizeof path, "%s/%s", to->build, needed[i]);
        found = found && file_exists(path);
    }
    return found;
}

/* For which GPU the device process chooses among a library's PTX. */
static int sm_of(const struct gr_host *host)
{
    struct vg_profile profile;
    struct st_error ignored;
    char folder[PATH_MAX];
    path_format(folder, sizeof folder, "%s/vgpu/profiles", host->build);
    return vg_profile_read(&profile, folder, host->profile, &ignored)
               ? 0
               : profile.compute_major * 10 + profile.compute_minor;
}

/* Why nothing can be counted. @return false if it can, and then what is needed is open. */
static bool cannot_count(struct grading *g, struct stage *st, struct gr_check *check)
{
    struct st_error why;
    if (!find_virtual_gpu(g, &st->host))
        gr_check_set(check, GR_SKIP, "the virtual GPU, which counts, is not built: run make vgpu");
    else if (gr_code_read(&st->code, g->library, sm_of(&st->host), &why))
        gr_check_set(check, GR_SKIP, "the library's GPU code cannot be read: %.300s", why.what);
    else
        return false;
    return true;
}

/* @param good  set to whether all layers have been counted. */
static enum st_code run_layers(struct grading *g, struct stage *st, size_t layers,
                               struct gr_check *check, bool *good, struct st_error *err)
{
    struct gr_run run;
    enum st_code status =
        gr_session_start(&st->session, &st->host, g->library, &g->arena, &run, err);
    if (!status && run.message[0])
        gr_check_set(check, GR_FAIL, "%s", run.message);
    *good = !status && !run.message[0];
    for (size_t i = 0; i < layers && *good; i++)
        *good = run_layer(g, st, i, check, &status, err);
    gr_session_end(&st->session);
    return status;
}

static struct stage *stage_open(struct st_error *err)
{
    struct stage *st = calloc(1, sizeof *st);
    if (st)
        st->session = GR_SESSION_CLOSED;
    else
        st_fail(err, ST_NO_MEMORY, "cannot hold the technique stage in memory");
    return st;
}

static void stage_close(struct stage *st)
{
    gr_code_free(st->code);
    free(st);
}

enum st_code gr_work_check(struct grading *g, struct gr_check *check, struct st_error *err)
{
    if (!g->milestone.cuda || gr_check_find(g, "technique") || check->status != GR_PASS)
        return ST_OK;
    struct stage *st = stage_open(err);
    if (!st)
        return err->code;
    enum st_code status = ST_OK;
    struct gr_evidence work;
    struct gr_check seen = *check;
    char right[256];
    bool counted = false;
    snprintf(right, sizeof right, "%s", check->message);
    if (!cannot_count(g, st, &seen))
        status = run_layers(g, st, 1, &seen, &counted, err);
    if (counted && gr_technique_facts(GR_NO_TECHNIQUE, st->work, 1, &work) && !work.holds) {
        check->lacks = work;
        gr_check_pattern(check, GR_IDLE_PATTERN);
        gr_check_set(check, GR_FAIL, "%s", work.text);
        gr_check_hint(check, GR_IDLE_HINT);
    } else if (!counted) {
        gr_check_set(check, seen.status, "%s\nbut not when its work was counted%s: %.300s", right,
                     g->host.device == RUNNER_ON_GPU ? " on the virtual GPU" : "", seen.message);
        gr_check_hint(check, "%s", seen.hint);
    }
    stage_close(st);
    return status;
}

/* What a layer's work lacks of the technique. One input map is too few for some facts, and m8's is
 * about two layers. */
static void look_elsewhere(struct grading *g, const struct gr_work *work)
{
    struct gr_evidence fact[GR_MAX_EVIDENCE];
    const struct conv_shape *s = &work->shape;
    struct gr_check *check = gr_check_find(g, "technique");
    if (!check || check->lacks.fact[0] || s->C == 1 || strcmp(g->milestone.id, "m8") == 0)
        return;
    const size_t n = gr_technique_facts(g->milestone.id, work, 1, fact);
    for (size_t i = 0; i < n && !check->lacks.fact[0]; i++)
        if (!fact[i].holds) {
            check->lacks = fact[i];
            snprintf(check->lacks.text, sizeof check->lacks.text,
                     "%d images, C=%d, H=%d, W=%d: %.240s", s->B, s->C, s->H, s->W, fact[i].text);
        }
}

enum st_code gr_timed_work_check(struct grading *g, const struct conv_shape *shape,
                                 struct gr_check *check, struct st_error *err)
{
    const struct gr_device_record *record = gr_session_device_record(&g->session);
    struct gr_evidence fact;
    struct st_error unreadable; /* is said by the other checks */
    if (!record || (!g->code && gr_code_read(&g->code, g->library, sm_of(&g->host), &unreadable)))
        return ST_OK;
    struct gr_work *work = malloc(sizeof *work);
    if (!work)
        return st_fail(err, ST_NO_MEMORY, "cannot hold the work of a layer in memory");
    const enum st_code status = gr_work_read(work, g->code, &record->work, shape, err);
    if (!status && !work->cut) {
        gr_technique_facts(GR_NO_TECHNIQUE, work, 1, &fact);
        if (!fact.holds)
            check->lacks = fact;
        else
            look_elsewhere(g, work);
    }
    free(work);
    return status;
}

enum st_code gr_technique_check(struct grading *g, struct st_error *err)
{
    struct gr_check *check = gr_check_find(g, "technique");
    struct gr_evidence none[GR_MAX_EVIDENCE];
    if (!check)
        return ST_OK;
    struct stage *st = stage_open(err);
    if (!st)
        return err->code;
    enum st_code status = ST_OK;
    const size_t layers = strcmp(g->milestone.id, "m8") == 0 ? MAX_LAYERS : 1;
    bool counted = false;
    if (gr_technique_facts(g->milestone.id, st->work, 1, none) == 0)
        gr_check_set(check, GR_SKIP, "the grader knows no technique of %s", g->milestone.id);
    else if (gr_failed(g->result, "unit_shapes"))
        gr_check_set(check, GR_SKIP, "not run: only right results are looked at");
    else if (!cannot_count(g, st, check))
        status = run_layers(g, st, layers, check, &counted, err);
    if (counted)
        judge(g, st, layers, check);
    stage_close(st);
    if (!status)
        gr_check_print(g->out, check);
    for (size_t i = 0; check->status == GR_PASS && i < g->result->evidences; i++)
        fprintf(g->out, "        %s\n", g->result->evidence[i].text);
    return status;
}
