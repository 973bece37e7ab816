/* Follows one output: runs one convolution whose kernels the virtual GPU interprets, and records
 * the steps that contribute to one element of y (vgpu/exec/proof_log.h). */
#include "grader/stages/follow.h"

#include "grader/compare/element.h"
#include "grader/follow/story.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdint.h>

bool gr_can_follow(const struct conv_shape *shape)
{
    const double most_products = 600000; /* 3 s in the interpreter */
    return nn_conv_macs(shape) <= most_products;
}

enum st_code gr_follow(struct grading *g, const struct gr_conv *conv, size_t output, double limit_s,
                       struct gr_session *session, struct gr_run *run, struct st_error *err)
{
    const struct conv_shape *s = &conv->shape;
    const struct gr_host host = g->host;
    char follows[96];
    gr_session_end(session);
    *session = GR_SESSION_CLOSED;
    enum st_code code = arena_reserve(&g->arena, arena_layout_for(s).bytes, err);
    if (code)
        return code;
    snprintf(follows, sizeof follows, "%d,%d,%d,%d,%d,%d:%zu", s->B, s->M, s->C, s->H, s->W, s->K,
             output);
    if (output != SIZE_MAX) {
        g->host.prove = follows;
        g->host.engine = "interpreter";
    }
    gr_arena_fill(&g->arena, conv);
    code = gr_session_start(session, &g->host, g->library, &g->arena, run, err);
    if (!code && !run->message[0]) {
        gr_session_run(session, s, &g->arena, limit_s, run);
        code = run->outcome == GR_DEVICE_LOST ? gr_device_lost(run, err) : ST_OK;
    }
    g->host.prove = host.prove;
    g->host.engine = host.engine;
    return code;
}

typedef bool writer(char *to, size_t room, const struct db_story *story);

static bool describe(const struct grading *g, const struct gr_session *session,
                     const struct gr_case *c, size_t i, writer *write, char *to, size_t room)
{
    const struct conv_shape *s = &c->spec.shape;
    const struct gr_device_record *record = gr_session_device_record(session);
    const int columns = s->W - s->K + 1, rows = s->H - s->K + 1, place = (int)i;
    const int m = place / columns / rows % s->M;
    const float got = ((const float *)(g->arena.base + arena_layout_for(s).y))[i];
    const double bound = (double)c->atol[m] + NN_RTOL * fabs((double)c->ref[i]);
    struct db_story story = {
        .output = {*s, place / columns / rows / s->M, m, place / columns % rows, place % columns},
        .x = c->x,
        .k = c->k,
        .got = got,
        .matrices = g->milestone.exercise->square != NULL,
        .source = g->host.source};
    struct db_steps steps = {0};
    struct st_error ignored;
    story.steps = &steps;
    story.right = fabs((double)got - (double)c->ref[i]) <= bound;
    const bool found = record && !db_steps_read(&steps, &record->proof, &story.output, &ignored) &&
                       write(to, room, &story);
    db_steps_free(&steps);
    return found;
}

static bool follow(struct grading *g, const struct gr_case *c, size_t output, writer *write,
                   char *to, size_t room)
{
    const struct gr_conv conv = {.shape = c->spec.shape, .x = c->x, .k = c->k};
    struct gr_session session = GR_SESSION_CLOSED;
    struct gr_run run;
    struct st_error ignored;
    to[0] = '\0';
    if (g->host.device != RUNNER_ON_VIRTUAL_GPU || !g->milestone.cuda ||
        !gr_can_follow(&conv.shape))
        return false;
    gr_session_end(&g->session); /* both sessions share the arena */
    const bool found =
        !gr_follow(g, &conv, output, gr_time_limit_s(g, &conv.shape), &session, &run, &ignored) &&
        run.outcome == GR_RAN && describe(g, &session, c, output, write, to, room);
    gr_session_end(&session);
    return found;
}

bool gr_follow_difference(struct grading *g, const struct gr_case *c,
                          const struct gr_compare *wrong, char *to, size_t room)
{
    return follow(g, c, wrong->first, db_story_difference, to, room);
}

/* @return the written output in the middle of those from @p begin to @p end; @p end: none */
static size_t middle_written(const float *y, size_t begin, size_t end)
{
    size_t written = 0;
    for (size_t i = begin; i < end; i++)
        written += !gr_is_unwritten(y[i]);
    for (size_t i = begin, before = 0; i < end; i++) {
        if (!gr_is_unwritten(y[i]) && before++ == written / 2)
            return i;
    }
    return end;
}

bool gr_follow_stores(struct grading *g, const struct gr_case *c, char *to, size_t room)
{
    const size_t n = nn_conv_y_elems(&c->spec.shape);
    const size_t map = n / (size_t)c->spec.shape.B / (size_t)c->spec.shape.M;
    size_t first = 0, middle = middle_written(c->y, 0, n);
    to[0] = '\0';
    if (middle == n)
        return false;
    middle = middle_written(c->y, middle / map * map, middle / map * map + map);
    while (gr_is_unwritten(c->y[first]))
        first++;
    return follow(g, c, middle, db_story_stores, to, room) ||
           follow(g, c, first, db_story_stores, to, room);
}
