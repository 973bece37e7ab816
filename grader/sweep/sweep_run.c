/* Builds, checks and times the points of a sweep.
 *
 * 1. Each point is compiled in a separate folder, with -DNAME=VALUE.
 * 2. Each point must be right on the unit shapes of --quick.
 * 3. The right points run alternately on every layer of the network at every size, on the same
 *    data. Each round begins with a random point. Every output of every run is compared. On the
 *    virtual GPU, one run is enough, because times do not vary.
 */
#include "grader/course/lab_make.h"
#include "grader/sweep/sweep.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/rng.h"
#include "grader/course/machine.h"
#include "grader/compare/verify.h"
#include "nn/dataset.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANY_IMAGES = 1000 };

/* Keeps the first line of a text, or the first that contains @p word. */
static void keep_note(struct sweep_point *p, const char *text, const char *word)
{
    const char *line = text, *found = NULL;
    while (*line && !found) {
        size_t length = strcspn(line, "\n");
        if (length && (!word || memmem(line, length, word, strlen(word))))
            found = line;
        line += length + (line[length] == '\n');
    }
    found = found ? found : text;
    snprintf(p->note, sizeof p->note, "%.*s", (int)strcspn(found, "\n"), found);
}

/* @param output  what the code printed, which may explain why it failed */
static void fail_point(struct sweep_point *p, enum sweep_status status, size_t images,
                       const char *text, const struct gr_output *output)
{
    p->status = status;
    p->failed_images = images;
    keep_note(p, text, NULL);
    size_t used = strlen(p->note);
    if (output && output->lab.length)
        snprintf(p->note + used, sizeof p->note - used, ": %.*s",
                 (int)strcspn(output->lab.text, "\n"), output->lab.text);
    gr_session_end(&p->session);
    p->running = false;
}

/* ---- 1: building ---------------------------------------------------------------------------- */

struct builds {
    struct sweep *sweep;
    const char *command, *header;
    enum st_code code;
    struct st_error err;
};

static void build_point(void *context, size_t number)
{
    struct builds *b = context;
    struct sweep *s = b->sweep;
    struct sweep_point *p = &s->point[number];
    struct st_error err;
    char *command;
    size_t bytes;
    FILE *out = open_memstream(&command, &bytes);
    if (!out)
        return;
    fputs(b->command, out);
    for (size_t i = 0; i < s->parameters; i++)
        fprintf(out, "\n-D%s=%s", s->parameter[i].name, s->parameter[i].value[p->value[i]]);
    if (!fclose(out)) {
        enum st_code code = gr_source_build(&p->build, &s->grading.host.sandbox, s->source,
                                            strrchr(s->source, '/') + 1, b->header, command, &err);
        if (code)
            b->err = err, b->code = code; /* any one of several errors */
        free(command);
    }
    progress_show("sweep: builds", number + 1, s->points);
}

static enum st_code build_all(struct sweep *s, struct st_error *err)
{
    struct builds b = {.sweep = s};
    char header[PATH_MAX], folder[PATH_MAX], *command;
    const char *root = checkout_root(err), *build = checkout_build(err);
    if (!root || !build)
        return err->code;
    path_format(header, sizeof header, "%s/common/conv.h", root);
    path_format(folder, sizeof folder, "%s/sweep/%s", build, s->grading.milestone.id);
    enum st_code code = dir_make(folder, err);
    if (!code)
        code = gr_make_print("print-lab-command", s->grading.milestone.id, &command, err);
    if (code)
        return code;
    setenv("TMPDIR", folder, 1); /* the parent folder of the builds' folders */
    b.command = command, b.header = header;
    parallel_for(s->points, build_point, &b);
    progress_clear();
    free(command);
    for (size_t i = 0; i < s->points; i++)
        if (!b.code && !s->point[i].build.built) {
            fail_point(&s->point[i], SWEEP_NOT_COMPILED, 0, "", NULL);
            keep_note(&s->point[i], s->point[i].build.said, "error");
        }
    if (b.code && err)
        *err = b.err;
    return b.code;
}

/* ---- 2: unit shapes ------------------------------------------------------------------------- */

static void check_point(struct sweep *s, struct sweep_point *p, enum st_code *code,
                        struct st_error *err)
{
    struct grading *g = &s->grading;
    struct gr_run run;
    s->result.checks = 0;
    gr_proof_free(g->proof); /* of the previous point */
    g->proof = NULL;
    path_format(g->library, sizeof g->library, "%s", p->build.library); /* the proof examines it */
    *code = gr_session_start(&g->session, &g->host, p->build.library, &g->arena, &run, err);
    if (*code)
        return;
    if (run.outcome == GR_NOT_LOADED || run.message[0]) {
        fail_point(p, SWEEP_FAILED, 0, run.message, NULL);
    } else if (!(*code = gr_unit_shapes_check(g, err))) {
        const struct gr_check *check = gr_check_find(g, "unit_shapes");
        const bool outputs = strstr(check->message, "outputs are wrong");
        if (check->status != GR_PASS)
            fail_point(p, outputs ? SWEEP_WRONG : SWEEP_FAILED, 0, check->message,
                       outputs ? NULL : &g->session.output);
        else
            p->running = true;
        if (g->host.device == RUNNER_ON_GPU && !s->origin[0])
            snprintf(s->origin, sizeof s->origin, "measured on %s", g->session.device_name);
    }
    gr_session_end(&g->session);
}

/* Checks all points, and starts the processes of the right points; they live until the end, to run
 * alternately. */
static enum st_code check_all(struct sweep *s, struct st_error *err)
{
    enum st_code code = ST_OK;
    for (size_t i = 0; i < s->points && !code; i++) {
        struct sweep_point *p = &s->point[i];
        struct gr_run run;
        progress_show("sweep: unit shapes", i, s->points);
        if (p->status == SWEEP_OK)
            check_point(s, p, &code, err);
        if (!code && p->running)
            code = gr_session_start(&p->session, &s->grading.host, p->build.library,
                                    &s->grading.arena, &run, err);
    }
    progress_clear();
    return code;
}

/* ---- 3: alternating runs -------------------------------------------------------------------- */

/* Keeps the virtual GPU's figures for the slowest kernel. */
static void keep_launch(struct sweep_time *t, const struct gr_device_record *record)
{
    double longest = -1;
    for (size_t i = 0; record && i < record->rows; i++) {
        const struct gr_device_row *row = &record->row[i];
        if (strcmp(row->kind, "kernel") != 0 || row->end_ns - row->start_ns <= longest)
            continue;
        longest = row->end_ns - row->start_ns;
        snprintf(t->limiter, sizeof t->limiter, "%s", row->limiter);
        snprintf(t->block, sizeof t->block, "%ux%ux%u", row->block[0], row->block[1],
                 row->block[2]);
        t->occupancy = row->occupancy;
        t->registers = row->registers;
        t->shared_bytes = row->static_shared_bytes + row->dynamic_shared_bytes;
    }
}

/* Runs one point once. @param t  NULL: a warm-up run */
static enum st_code take_turn(struct sweep *s, struct sweep_point *p, const struct gr_conv *conv,
                              const float *expected, struct sweep_time *t, struct st_error *err)
{
    struct grading *g = &s->grading;
    struct gr_run run;
    struct gr_damage damage;
    struct gr_compare compared;
    const size_t images = (size_t)conv->shape.B;
    gr_arena_fill(&g->arena, conv);
    gr_session_run(&p->session, &conv->shape, &g->arena, gr_time_limit_s(g, &conv->shape), &run);
    if (run.outcome == GR_DEVICE_LOST)
        return gr_device_lost(&run, err);
    if (run.outcome != GR_RAN || run.pattern[0]) {
        fail_point(p, run.outcome == GR_RAN ? SWEEP_WRONG : SWEEP_FAILED, images, run.message,
                   run.outcome == GR_RAN ? NULL : &p->session.output);
        return ST_OK;
    }
    if (!gr_arena_intact(&g->arena, conv, &damage)) {
        fail_point(p, SWEEP_WRONG, images, damage.message, NULL);
        return ST_OK;
    }
    enum st_code code = gr_arena_compare(&g->arena, conv, expected, &compared, err);
    if (!code && compared.wrong) {
        char text[128];
        snprintf(text, sizeof text, "%zu of %zu outputs are wrong", compared.wrong, compared.elems);
        fail_point(p, SWEEP_WRONG, images, text, NULL);
    } else if (!code && t && t->repeats < SWEEP_MAX_REPEATS) {
        t->op_time_s[t->repeats++] = run.op_time_s;
        keep_launch(t, gr_session_device_record(&p->session));
    }
    return code;
}

static size_t rounds_for(const struct sweep *s, size_t images)
{
    switch (s->grading.host.device) {
    case RUNNER_ON_VIRTUAL_GPU:
        return 1;
    case RUNNER_ON_GPU:
        return images <= MANY_IMAGES ? 11 : 5;
    default:
        return images <= MANY_IMAGES ? 3 : 1;
    }
}

/* Runs all points on one layer, alternately. */
static enum st_code run_layer(struct sweep *s, size_t size, int layer, const float *x,
                              const float *k, const float *expected, struct st_error *err)
{
    struct grading *g = &s->grading;
    const size_t images = s->options.images[size], rounds = rounds_for(s, images);
    struct gr_conv conv = {
        .shape = s->shape[layer], .x = x, .k = k, .tolerance = g->rubric->tolerance};
    conv.shape.B = (int)images;
    struct rng rng = rng_make(s->options.seed, (uint64_t)images << 8 | (unsigned)layer);
    const size_t warm_ups = g->host.device == RUNNER_ON_GPU ? 1 : 0;
    enum st_code code = arena_reserve(&g->arena, arena_layout_for(&conv.shape).bytes, err);
    for (size_t round = 0; round < rounds + warm_ups && !code; round++) {
        conv.rotate = (size_t)rng_range(&rng, 0, conv.shape.B - 1);
        const size_t first = (size_t)rng_range(&rng, 0, (int)s->points - 1);
        for (size_t i = 0; i < s->points && !code; i++) {
            struct sweep_point *p = &s->point[(first + i) % s->points];
            progress_show("sweep: turns", round * s->points + i, (rounds + warm_ups) * s->points);
            if (p->running)
                code = take_turn(s, p, &conv, expected,
                                 round < warm_ups ? NULL : &p->time[size][layer], err);
        }
    }
    progress_clear();
    return code;
}

/* Runs one size. The network continues with the oracle's outputs, so that all points get the same
 * inputs. */
static enum st_code run_size(struct sweep *s, const struct nn_dataset *set,
                             const struct nn_network *net, size_t size, struct st_error *err)
{
    const size_t images = s->options.images[size];
    enum st_code code = ST_OK;
    float *x = malloc(images * (size_t)net->H * (size_t)net->W * sizeof *x);
    if (x)
        nn_dataset_scale(set, 0, images, net->H, net->W, x);
    for (int layer = 0; layer < net->convs && x && !code; layer++) {
        struct conv_shape shape = s->shape[layer];
        shape.B = (int)images;
        float *expected = malloc(nn_conv_y_elems(&shape) * sizeof *expected);
        float *pooled = malloc(nn_network_pooled_elems(net, layer, images) * sizeof *pooled);
        if (expected && pooled) {
            nn_oracle_conv(&shape, x, net->conv_weight[layer], expected);
            code = run_layer(s, size, layer, x, net->conv_weight[layer], expected, err);
            nn_network_activate(net, layer, images, expected, pooled);
        } else {
            free(pooled);
            pooled = NULL;
        }
        free(expected);
        free(x);
        x = pooled;
    }
    if (!x && !code) {
        code = st_fail(err, ST_NO_MEMORY, "out of memory for %zu images and their outputs", images);
        st_detail(err, ST_HINT, "omit this size with --images");
    }
    free(x);
    return code;
}

/* ---- the whole sweep ------------------------------------------------------------------------ */

/* Does what gr_grade() does before its first stage. */
static enum st_code prepare(struct sweep *s, struct st_error *err)
{
    struct grading *g = &s->grading;
    g->options = &s->options;
    g->result = &s->result;
    g->arena.fd = -1;
    g->session = GR_SESSION_CLOSED;
    enum st_code code = gr_milestone_find(&g->milestone, s->options.milestone, err);
    if (!code && (g->milestone.libraries || g->milestone.exercise->square)) {
        st_fail(err, ST_USAGE, "%s runs %s", g->milestone.id,
                g->milestone.libraries ? "libraries: nothing to build"
                                       : "no network: it has no layers to time");
        return st_detail(err, ST_EXPECTED, "a convolution milestone other than m0");
    }
    if (code)
        return code;
    snprintf(s->source, sizeof s->source, "%s",
             s->options.reference ? g->milestone.reference_source : g->milestone.lab_source);
    if ((code = sweep_source_check(s, s->source, err)) || (code = sweep_points_make(s, err)) ||
        (code = gr_rubric_load(&g->rubric, g->milestone.rubric, err)))
        return code;
    snprintf(s->result.milestone, sizeof s->result.milestone, "%s", g->milestone.id);
    snprintf(s->result.subject, sizeof s->result.subject, "%s",
             s->options.reference ? "reference" : "submission");
    gr_machine_describe(&s->result, g->milestone.id);
    if ((code = gr_host_choose(g, err)) ||
        (code = gr_sandbox_open(&g->host.sandbox, s->options.sandbox, g->host.build, err)))
        return code;
    if (g->host.device == RUNNER_ON_VIRTUAL_GPU)
        snprintf(s->origin, sizeof s->origin, "modelled: %s", s->result.profile);
    else if (g->host.device == RUNNER_ON_CPU)
        snprintf(s->origin, sizeof s->origin, "measured on %.140s", s->result.machine);
    gr_options_choose(&s->options, g->rubric);
    s->options.quick = true; /* the unit shapes are those of --quick */
    g->options = &s->options;
    g->out = fopen("/dev/null", "w");
    return g->out ? arena_open(&g->arena, err) : st_fail(err, ST_IO, "cannot open /dev/null");
}

enum st_code sweep_run(struct sweep *s, struct st_error *err)
{
    struct nn_dataset set = {0};
    struct nn_network net = {0};
    char folder[PATH_MAX], name[256];
    enum st_code code = prepare(s, err);
    const struct gr_options *options = &s->options;
    if (!code)
        code = nn_model_place(s->options.model, folder, name, err);
    if (!code)
        code = nn_dataset_load(&set, NULL, NN_TEST, options->images[options->sizes - 1], err);
    if (!code)
        code = nn_network_load(&net, folder, name, err);
    if (!code) {
        s->layers = net.convs;
        memcpy(s->shape, net.conv, sizeof s->shape);
        snprintf(s->model, sizeof s->model, "%s", net.name);
        code = build_all(s, err);
    }
    if (!code)
        code = check_all(s, err);
    for (size_t size = 0; size < options->sizes && !code; size++)
        code = run_size(s, &set, &net, size, err);
    for (size_t i = 0; i < s->points; i++)
        gr_session_end(&s->point[i].session);
    nn_network_free(&net);
    nn_dataset_free(&set);
    return code;
}

void sweep_free(struct sweep *s)
{
    for (size_t i = 0; i < s->points; i++) {
        gr_session_end(&s->point[i].session);
        gr_source_build_free(&s->point[i].build);
    }
    free(s->point);
    s->point = NULL;
    s->points = 0;
    if (s->grading.out)
        fclose(s->grading.out);
    s->grading.out = NULL;
    gr_grading_free(&s->grading);
}
