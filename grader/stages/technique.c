/* The stage that looks for the milestone's technique in the proof (work_proof.c).
 *
 * The timed runs are too large for a proof, so they must execute code that smaller runs have
 * proved. */
#include "grader/technique/technique.h"

#include "base/rng.h"
#include "grader/stages/work_proof.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Takes back the points that the unit shapes got for the share of right results, unless a proof
 * shows that the GPU did the work. @param right  a shape with right results for the proof, or NULL
 * @return ST_OK, or a fault of the environment */
static enum st_code check_share(struct grading *g, struct gr_check *check,
                                const struct conv_shape *right, struct st_error *err)
{
    enum { NTH = 100 }; /* number of this proof, for its random inputs; no layer has it */
    struct gr_evidence work = {.text = "no passed shape is large enough"};
    struct gr_check seen = {.status = GR_PASS};
    if (!g->milestone.cuda || check->points <= 0)
        return ST_OK;
    enum st_code status = gr_proof_end(g, err);
    struct gr_way *way = status || !right ? NULL : malloc(sizeof *way);
    if (way && gr_prove(g, right, NTH, way, &seen, &status, err))
        gr_technique_facts(NULL, way, 1, &work);
    free(way);
    if (work.holds)
        return status;
    check->points = 0;
    gr_check_append(check, ", but no points, since the work on the GPU was not proved: %.300s",
                    seen.message[0] ? seen.message : work.text);
    return status;
}

/* @pre the proof was made. @return false, with @p lacks set, if kernels have not done the work */
static bool is_work_proved(const struct grading *g, struct gr_evidence *lacks)
{
    return !g->milestone.cuda || !gr_technique_facts(NULL, g->proof->way, GR_PROOF_LAYERS, lacks) ||
           lacks->holds;
}

/* Fails the check: the unit shapes have passed, but the layers that prove the work have not. */
static void fail_unproved(struct grading *g, struct gr_check *check)
{
    const struct gr_check *seen = &g->proof->seen;
    char passed[256];
    snprintf(passed, sizeof passed, "%s", check->message);
    if (strcmp(seen->pattern, "low_precision") == 0) {
        gr_check_pattern(check, seen->pattern);
        gr_check_set(check, GR_FAIL, "%s", seen->message);
    } else if (!gr_check_find(g, "technique")) {
        gr_check_set(check, seen->status, "%s\nbut not when its %s%s: %.300s", passed,
                     g->milestone.cuda ? "work was proved" : "precision was measured",
                     g->host.device == RUNNER_ON_GPU ? " on the virtual GPU" : "", seen->message);
    } else {
        return; /* (the check "technique" reports the mistake) */
    }
    gr_check_hint(check, "%s", seen->hint);
}

/* Fails the check if kernels do not do the work in a unit shape. */
static void check_unit_shape(struct grading *g, struct gr_check *check)
{
    const struct gr_way *way = &g->proof->way[GR_PROOF_LAYERS];
    struct gr_evidence work;
    char shape[EXERCISE_TEXT];
    if (!g->proof->has_unit_way || !gr_technique_facts(NULL, way, 1, &work) || work.holds)
        return;
    check->lacks = work;
    g->milestone.exercise->describe(shape, &way->shape, EXERCISE_SHAPE);
    snprintf(check->lacks.text, sizeof check->lacks.text, "in shape %.60s: %.250s", shape,
             work.text);
    gr_check_pattern(check, GR_IDLE_PATTERN);
    gr_check_set(check, GR_FAIL, "%s", check->lacks.text);
    gr_check_hint(check, GR_IDLE_HINT);
}

enum st_code gr_work_check(struct grading *g, struct gr_check *check,
                           const struct conv_shape *right, struct st_error *err)
{
    enum st_code status = ST_OK;
    struct gr_evidence lacks;
    if (g->proof && check->status != GR_PASS)
        return check_share(g, check, right, err);
    if (!g->proof || (status = gr_proof_end(g, err)))
        return status;
    if (!g->proof->made)
        fail_unproved(g, check);
    else if (!is_work_proved(g, &lacks)) {
        check->lacks = lacks;
        gr_check_pattern(check, GR_IDLE_PATTERN);
        gr_check_set(check, GR_FAIL, "%s", lacks.text);
        gr_check_hint(check, GR_IDLE_HINT);
    } else {
        check_unit_shape(g, check);
    }
    return ST_OK;
}

/* ---- timed runs ------------------------------------------------------------------------------ */

/* The most bytes that a run may send: the weights twice, for example in a different order, and
 * tables. */
static double most_sent(const struct gr_executed *proved, const struct conv_shape *s)
{
    const double k = sizeof(float) * (double)nn_conv_k_elems(s);
    const double y = sizeof(float) * (double)nn_conv_y_elems(s);
    return proved->sent_bytes + fmax(2 * k + 16384, y / 8);
}

/* Stores in the check "technique" the first fact of the technique that a run of a shape lacks. */
static void look_for_technique(struct grading *g, const struct gr_way *way,
                               const struct conv_shape *s)
{
    struct gr_evidence fact[GR_MAX_EVIDENCE];
    struct gr_check *check = gr_check_find(g, "technique");
    char run[EXERCISE_TEXT];
    if (!check || check->lacks.fact[0] || s->C == 1)
        return;
    g->milestone.exercise->describe(run, s, EXERCISE_RUN);
    const size_t n = gr_technique_facts(g->technique, way, 1, fact);
    for (size_t i = 0; i < n && !check->lacks.fact[0]; i++)
        if (!fact[i].holds) {
            check->lacks = fact[i];
            snprintf(check->lacks.text, sizeof check->lacks.text, "%s: %.240s", run, fact[i].text);
        }
}

/* Looks for the overlap of copies in a timed run, if it has so many images that copying them in
 * parts pays. A run with fewer images needs a further run. */
static enum st_code look_at_copies(struct grading *g, const struct gr_timed_work *work,
                                   struct st_error *err)
{
    const struct exercise *exercise = g->milestone.exercise;
    const struct conv_shape *s = &work->shape;
    if (!exercise->host_tensors || s->C == 1)
        return ST_OK;
    if (s->B < exercise->copied.B)
        return gr_proof_copies(g, err);
    struct gr_way *way = malloc(sizeof *way);
    if (!way)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the copies of a layer");
    *way = g->proof->way[0];
    way->copied = *s;
    way->copies = work->copies;
    if (!g->proof->has_copies)
        gr_proof_set_copies(g, &way->copies, s);
    look_for_technique(g, way, s);
    free(way);
    return ST_OK;
}

/* The least part of the proof's counters that a timed run must have per output. Skipped zeros of x,
 * and other tiles, still leave more than a fifth. With many images, fewer threads may share a sum by
 * atomics, but more than one; larger planes fill warps a little better. */
static double least_part(const struct grading *g)
{
    struct gr_evidence fact[GR_MAX_EVIDENCE];
    const size_t n = g->technique ? gr_technique_facts(g->technique, g->proof->way, 1, fact) : 0;
    double part = 0.2;
    for (size_t i = 0; i < n; i++)
        if (strcmp(fact[i].fact, "joins") == 0 && fact[i].found >= 2)
            part = fmax(part, 1.05 / fact[i].found);
    return part;
}

/* Convolutions to prove, one after another, until they cover all the code of a timed run. A kernel
 * whose blocks loop over tiles or images reaches a block's second one only if there are more of them
 * than blocks: a grid as large as the device needs few multiprocessors, and a grid of a fixed size
 * needs many images, of small planes, or many outputs. */
struct further_proof {
    int images;
    const char *multiprocessors; /* NULL: number of the profile */
    bool has_small_planes;
};
/* The cheapest come first, and count only if one covers all the code. */
static const struct further_proof cheap_proofs[] = {{1, "1", false}, {GR_PROOF_IMAGES, "1", false}};
static const struct further_proof further_proofs[] = {{GR_PROOF_IMAGES, NULL, false},
                                                      {8, "2", false},
                                                      {24, "2", false},
                                                      {24, NULL, false},
                                                      {400, NULL, true},
                                                      {100, NULL, false}};
enum { FURTHER_PROOFS = sizeof further_proofs / sizeof *further_proofs };

/* Reduces a size above @p most to less than @p most, with the same remainder for tiles. */
static int fewer(int size, int most)
{
    return size > most ? most / 2 + size % (most / 2) : size;
}

static struct conv_shape further_shape(const struct further_proof *f,
                                       const struct conv_shape *layer,
                                       const struct conv_shape *most)
{
    enum { SMALL = 7 }; /* outputs in a row, after the first output */
    struct conv_shape s = *layer;
    s.B = s.B > f->images ? f->images : s.B;
    s.M = fewer(s.M, most->M);
    s.C = fewer(s.C, most->C);
    s.W = fewer(s.W, most->W);
    if (f->has_small_planes) {
        s.H = s.H > s.K + SMALL ? s.K + SMALL : s.H;
        s.W = s.W > s.K + SMALL ? s.K + SMALL : s.W;
    }
    return s;
}

/* @return code of a timed run that the proofs do not cover, or NULL. Code that works for more outputs
 * than in a proof may belong to a part of a tile that only a layer with all its rows has. */
static const struct gr_executed_block *uncovered(const struct gr_executed *run,
                                                 const struct gr_executed *proved,
                                                 const struct conv_shape *shape)
{
    const struct gr_executed_block *beyond = gr_executed_beyond(run, proved);
    return beyond || shape->C == 1 ? beyond : gr_executed_more(run, proved);
}

/* A run that proves more: a number, for its random inputs, and the number of multiprocessors (NULL:
 * that of the profile). */
struct further_run {
    struct conv_shape shape;
    size_t nth;
    const char *multiprocessors;
};

/* Proves a run that counts only if it covers all the code of a timed run and has all facts that any
 * run must have: with few images, maps or multiprocessors, a right kernel may lack some. @return
 * whether it counts */
static bool proves_all(struct grading *g, const struct further_run *like,
                       const struct conv_shape *shape, const struct gr_executed *run,
                       struct gr_way *way, enum st_code *status, struct st_error *err)
{
    const struct conv_shape *s = &like->shape;
    struct gr_executed *proved = &g->proof->executed[gr_layer_like(shape)], before;
    struct gr_evidence fact[GR_MAX_EVIDENCE];
    struct gr_check seen = {.status = GR_PASS};
    if (!gr_executed_copy(&before, proved)) {
        gr_executed_free(&before);
        *status = st_fail(err, ST_NO_MEMORY, "out of memory for the record of a layer");
        return false;
    }
    g->proof->host.multiprocessors = like->multiprocessors;
    bool counts =
        gr_prove(g, s, like->nth, way, &seen, status, err) && !uncovered(run, proved, shape);
    size_t n = counts ? gr_technique_facts(NULL, way, 1, fact) : 0;
    for (size_t i = 0; i < n; i++)
        counts &= fact[i].holds;
    n = counts && g->technique && s->C > 1 ? gr_technique_facts(g->technique, way, 1, fact) : 0;
    for (size_t i = 0; i < n; i++)
        counts &= fact[i].holds;
    gr_executed_free(counts ? &before : proved);
    if (!counts)
        *proved = before;
    return counts;
}

/* @return whether a run, together with the earlier proofs, executes all the code of a timed run: then
 * a proof of it is worth its time. */
static bool covers_all(struct grading *g, const struct further_run *like,
                       const struct conv_shape *shape, const struct gr_executed *run,
                       enum st_code *status, struct st_error *err)
{
    struct gr_executed all;
    g->proof->host.multiprocessors = like->multiprocessors;
    if (!gr_executed_copy(&all, &g->proof->executed[gr_layer_like(shape)]))
        *status = st_fail(err, ST_NO_MEMORY, "out of memory for the record of a layer");
    const bool covers = !*status &&
                        gr_run_unproved(g, &like->shape, like->nth, &all, status, err) &&
                        !uncovered(run, &all, shape);
    gr_executed_free(&all);
    return covers;
}

/* Looks for the technique in a run with more images than a timed run that is too small to judge: a
 * technique may need two images, in exercises that have images. A program cannot know how many. */
static void look_with_more_images(struct grading *g, const struct conv_shape *shape,
                                  struct gr_way *way, enum st_code *status, struct st_error *err)
{
    enum { NTH = 300 }; /* number of this proof, for its random inputs */
    struct rng rng = rng_make(g->options->seed, NTH);
    const int least = g->milestone.exercise->least[0].B;
    struct gr_check seen = {.status = GR_PASS};
    struct conv_shape s = further_shape(&further_proofs[0], shape, &g->milestone.exercise->most);
    if (!g->technique || shape->B >= least)
        return;
    s.B = least * rng_range(&rng, 2, 4); /* (m12 may pair images, so not an odd number) */
    g->proof->host.multiprocessors = NULL;
    if (gr_prove(g, &s, NTH, way, &seen, status, err))
        look_for_technique(g, way, &s);
}

/* Proves a run of a layer, and looks for the technique in it. @param lacks  set to a fact that it
 * lacks @return whether it has all */
static bool prove_one_more(struct grading *g, const struct further_run *like, struct gr_way *way,
                           struct gr_evidence *lacks, enum st_code *status, struct st_error *err)
{
    struct gr_check seen = {.status = GR_PASS};
    g->proof->host.multiprocessors = like->multiprocessors;
    if (!gr_prove(g, &like->shape, like->nth, way, &seen, status, err))
        return false;
    gr_technique_facts(NULL, way, 1, lacks);
    if (!lacks->holds)
        return false;
    lacks->fact[0] = '\0';
    if (like->shape.B >= g->milestone.exercise->least[0].B)
        look_for_technique(g, way, &way->shape);
    return true;
}

/* Proves the first of the further runs that covers all the code, if any does alone.
 * @param lacks  set to a fact that it lacks @return whether one did */
static bool prove_the_one(struct grading *g, const struct conv_shape *shape,
                          const struct gr_executed *run, struct gr_way *way,
                          struct gr_evidence *lacks, enum st_code *status, struct st_error *err)
{
    enum { NTH = 210, MANY = 24, FEW_MAPS = 16 };
    for (size_t i = 0; i < FURTHER_PROOFS && !*status; i++) {
        const struct further_proof *f = &further_proofs[i];
        const struct conv_shape s = further_shape(f, shape, &g->milestone.exercise->most);
        struct further_run like = {s, GR_PROOF_LAYERS + i, f->multiprocessors};
        struct further_run small = {s, NTH + i, f->multiprocessors};
        if (!covers_all(g, &like, shape, run, status, err))
            continue;
        small.shape.M = fewer(s.M, FEW_MAPS);
        if (s.B > MANY && small.shape.M < s.M && covers_all(g, &small, shape, run, status, err) &&
            proves_all(g, &small, shape, run, way, status, err))
            return true;
        return !*status && prove_one_more(g, &like, way, lacks, status, err);
    }
    return false;
}

/* Proves runs of a layer, one after another, until they cover all the code of a timed run.
 * @param lacks  set to a fact that one of these runs lacked @return code that was not proved, or
 * NULL. */
static const struct gr_executed_block *prove_more(struct grading *g, const struct conv_shape *shape,
                                                  const struct gr_executed *run,
                                                  struct gr_evidence *lacks, enum st_code *status,
                                                  struct st_error *err)
{
    enum { NTH = 200 };
    const struct conv_shape *most = &g->milestone.exercise->most;
    const struct gr_executed *proved = &g->proof->executed[gr_layer_like(shape)];
    bool open = uncovered(run, proved, shape);
    struct gr_way *way = open ? malloc(sizeof *way) : NULL;
    if (open && !way)
        *status = st_fail(err, ST_NO_MEMORY, "out of memory for the work of a layer");
    if (way)
        look_with_more_images(g, shape, way, status, err);
    for (size_t i = 0; open && way && !*status && i < sizeof cheap_proofs / sizeof *cheap_proofs;
         i++) {
        const struct further_proof *f = &cheap_proofs[i];
        const struct further_run like = {further_shape(f, shape, most), NTH + i,
                                         f->multiprocessors};
        open = shape->B <= f->images || !proves_all(g, &like, shape, run, way, status, err);
    }
    if (open && way && !*status && prove_the_one(g, shape, run, way, lacks, status, err))
        open = false;
    for (size_t i = 0; open && !*status && !lacks->fact[0] && i < FURTHER_PROOFS; i++) {
        /* (only the number of rows may be the reason why code works for more outputs) */
        if (i > 0 && !gr_executed_beyond(run, proved))
            break;
        const struct further_proof *f = &further_proofs[i];
        const struct further_run like = {further_shape(f, shape, most), GR_PROOF_LAYERS + i,
                                         f->multiprocessors};
        if (!prove_one_more(g, &like, way, lacks, status, err))
            break;
        open = uncovered(run, proved, shape);
    }
    free(way);
    return gr_executed_beyond(run, proved);
}

/* Called if the layers that prove the work were wrong. A submission that is right only for the
 * models proves the work with one of the models' layers: with few images, then with 100, because
 * the code may be written for this number. @return false, with the missing work or with *status
 * set, if there is no proof */
static bool is_layer_proved(struct grading *g, const struct conv_shape *shape,
                            struct gr_evidence *lacks, enum st_code *status, struct st_error *err)
{
    bool *proved = &g->proof->is_proved[gr_layer_like(shape)];
    struct gr_check seen = {.status = GR_PASS};
    struct gr_way *way = *proved ? NULL : malloc(sizeof *way);
    if (!*proved && !way)
        *status = st_fail(err, ST_NO_MEMORY, "out of memory for the work of a layer");
    bool right = *proved || !way;
    for (int i = 0; i < 2 && !right && !*status; i++) {
        const struct further_proof like[] = {{GR_PROOF_IMAGES, NULL, false}, {100, NULL, false}};
        const struct conv_shape s = further_shape(&like[i], shape, &g->milestone.exercise->most);
        right = gr_prove(g, &s, GR_PROOF_LAYERS + (size_t)i, way, &seen, status, err);
        *proved = right && gr_technique_facts(NULL, way, 1, lacks) && lacks->holds;
    }
    free(way);
    if (!right && !*status) {
        snprintf(lacks->fact, sizeof lacks->fact, "proved_work");
        snprintf(lacks->text, sizeof lacks->text,
                 "right, but not in the proof of its work on the GPU: %.250s", seen.message);
    }
    return *proved && !*status;
}

enum st_code gr_timed_work_record(struct grading *g, const struct conv_shape *shape,
                                  struct gr_timed_work *to, struct st_error *err)
{
    const struct gr_device_record *record = gr_session_device_record(&g->session);
    const bool copies = g->milestone.exercise->host_tensors;
    *to = (struct gr_timed_work){.shape = *shape, .is_recorded = record != NULL};
    if (!record || (gr_executed_add(&to->run, g->technique, record, shape, copies) &&
                    (!copies || gr_device_copies(record, &to->copies))))
        return ST_OK;
    return st_fail(err, ST_NO_MEMORY, "out of memory for the record of a layer");
}

enum st_code gr_timed_work_check(struct grading *g, const struct gr_timed_work *work,
                                 struct gr_check *check, struct st_error *err)
{
    const struct conv_shape *shape = &work->shape;
    const struct gr_executed *run = &work->run;
    const struct gr_proof *p = g->proof;
    struct gr_check *technique = gr_check_find(g, "technique");
    struct gr_evidence lacks = {.fact = ""};
    enum st_code status = p && g->milestone.cuda ? gr_proof_end(g, err) : ST_OK;
    if (status || !p || !g->milestone.cuda || p->seen.status == GR_SKIP)
        return status;
    if (p->made ? !is_work_proved(g, &lacks) : !is_layer_proved(g, shape, &lacks, &status, err)) {
        check->lacks = lacks;
        return status;
    }
    lacks.fact[0] = '\0';
    if (!work->is_recorded)
        return ST_OK;
    if ((status = look_at_copies(g, work, err)))
        return status;
    const struct gr_executed *proved = &p->executed[gr_layer_like(shape)];
    const double most = most_sent(proved, shape);
    const struct gr_executed_block *beyond = prove_more(g, shape, run, &lacks, &status, err);
    if (beyond && !lacks.fact[0]) {
        char size[EXERCISE_TEXT];
        g->milestone.exercise->describe(size, shape, EXERCISE_SIZE);
        snprintf(lacks.fact, sizeof lacks.fact, "proved_code");
        snprintf(
            lacks.text, sizeof lacks.text,
            "with %s, %.90s runs code that it does not run in the proof, which uses few images: use the same kernels for any number of images",
            size, beyond->kernel);
    } else if (!lacks.fact[0] && run->sent_bytes > most) {
        snprintf(lacks.fact, sizeof lacks.fact, "sent_bytes");
        snprintf(
            lacks.text, sizeof lacks.text,
            "right, but the host sent %.0f bytes to the device during the call (at most %.0f): the work was not done on the GPU",
            run->sent_bytes, most);
    }
    const double part = least_part(g);
    const char *counter = gr_executed_lacks(g->technique, run, proved, part);
    if (!lacks.fact[0] && counter && shape->C > 1) {
        snprintf(lacks.fact, sizeof lacks.fact, "%.30s", counter);
        char text[EXERCISE_TEXT];
        g->milestone.exercise->describe(text, shape, EXERCISE_RUN);
        snprintf(
            lacks.text, sizeof lacks.text,
            "with %s, the code has less than %.0f%% of the %.40s per output that it has with random x and few images: use the same technique for any x and any number of images",
            text, 100 * part, counter);
    }
    if (lacks.fact[0]) {
        check->lacks = lacks;
        if (technique && !technique->lacks.fact[0])
            technique->lacks = lacks;
    }
    const struct gr_executed_block *more = gr_executed_more(run, proved);
    if (technique && !technique->lacks.fact[0] && more && shape->C > 1) {
        char text[EXERCISE_TEXT];
        g->milestone.exercise->describe(text, shape, EXERCISE_RUN);
        snprintf(technique->lacks.fact, sizeof technique->lacks.fact, "proved_share");
        snprintf(
            technique->lacks.text, sizeof technique->lacks.text,
            "with %s, a part of the code of %.90s works for more than twice as many outputs as with random x and few images: use the same technique for any x and any number of images",
            text, more->kernel);
    }
    return status;
}

/* ---- the check ------------------------------------------------------------------------------ */

static const char *hint_of(const char *fact)
{
    static const struct {
        const char *fact, *text;
    } hints[] = {
#define HINT(name, hint) {#name, hint},
#include "grader/technique/facts.def"
    };
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strcmp(hints[i].fact, fact) == 0)
            return hints[i].text;
    return "use the technique in the kernels that compute y, in every layer, not in other kernels";
}

static void judge(struct grading *g, struct gr_check *check)
{
    struct gr_result *r = g->result;
    const struct gr_proof *p = g->proof;
    struct gr_evidence evidence[GR_MAX_EVIDENCE];
    const size_t n = gr_technique_facts(g->technique, p->way, GR_PROOF_LAYERS, evidence);
    const struct gr_evidence *first = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!first && !evidence[i].holds)
            first = &evidence[i];
        exercise_say(g->milestone.exercise, evidence[i].text, sizeof evidence[i].text);
        r->evidence[r->evidences++] = evidence[i];
    }
    char where[160], shape[EXERCISE_TEXT];
    g->milestone.exercise->describe(shape, &p->way[0].shape, EXERCISE_SHAPE);
    snprintf(where, sizeof where, "%s and a layer with C=1, on the virtual GPU", shape);
    if (!first && check->lacks.fact[0]) {
        gr_check_set(check, GR_FAIL, "all %zu facts found for %s, but not in the timed runs:\n%s",
                     n, where, check->lacks.text);
        gr_check_hint(check, "use the technique in the kernels that compute y, at every size");
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
    gr_check_hint(check, "%s", hint_of(first->fact));
}

enum st_code gr_technique_check(struct grading *g, struct st_error *err)
{
    struct gr_check *check = gr_check_find(g, "technique");
    if (!check)
        return ST_OK;
    const bool is_right = !gr_failed(g->result, "unit_shapes");
    const enum st_code status = is_right && g->proof ? gr_proof_copies(g, err) : ST_OK;
    if (status)
        return status;
    if (!is_right)
        gr_check_set(check, GR_SKIP, "not run: the results are not right");
    else if (!g->proof || !g->proof->made) {
        gr_check_set(check, g->proof ? g->proof->seen.status : GR_SKIP, "%s",
                     g->proof ? g->proof->seen.message : "not run");
        gr_check_hint(check, "%s", g->proof ? g->proof->seen.hint : "");
    } else
        judge(g, check);
    gr_check_print(g, check);
    for (size_t i = 0; check->status == GR_PASS && i < g->result->evidences; i++)
        fprintf(g->out, "        %s\n", g->result->evidence[i].text);
    return ST_OK;
}
