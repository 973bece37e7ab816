/* Follows one output: runs one convolution whose kernels the virtual GPU interprets, and records
 * the steps that contribute to one element of y (vgpu/exec/proof_log.h). */
#include "grader/stages/follow.h"

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

static bool describe(const struct grading *g, const struct gr_session *session,
                     const struct gr_case *c, const struct gr_compare *wrong, char *to, size_t room)
{
    const struct conv_shape *s = &c->spec.shape;
    const struct gr_device_record *record = gr_session_device_record(session);
    const size_t i = wrong->first;
    const float got = ((const float *)(g->arena.base + arena_layout_for(s).y))[i];
    const double bound = (double)c->atol[wrong->m] + NN_RTOL * fabs((double)c->ref[i]);
    struct db_story story = {.output = {*s, wrong->b, wrong->m, wrong->h, wrong->w},
                             .x = c->x,
                             .k = c->k,
                             .source = g->host.source};
    struct db_steps steps = {0};
    struct st_error ignored;
    story.steps = &steps;
    story.right = fabs((double)got - (double)c->ref[i]) <= bound;
    const bool found = record && !db_steps_read(&steps, &record->proof, &story.output, &ignored) &&
                       db_story_difference(to, room, &story);
    db_steps_free(&steps);
    return found;
}

bool gr_follow_difference(struct grading *g, const struct gr_case *c,
                          const struct gr_compare *wrong, char *to, size_t room)
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
    const bool found = !gr_follow(g, &conv, wrong->first, gr_time_limit_s(g, &conv.shape), &session,
                                  &run, &ignored) &&
                       run.outcome == GR_RAN && describe(g, &session, c, wrong, to, room);
    gr_session_end(&session);
    return found;
}
