#include "grader/stages/companions.h"

#include "base/files.h"
#include "grader/course/lab_make.h"
#include "nn/oracle.h"

#include <math.h>
#include <string.h>

enum { PLAIN_IMAGES = 100, VIRTUAL_BASELINE_IMAGES = 1000 };

void gr_companions_clear(struct gr_companion companion[GR_COMPANIONS])
{
    for (size_t i = 0; i < GR_COMPANIONS; i++)
        companion[i] = (struct gr_companion){.session = GR_SESSION_CLOSED};
}

static void start(struct gr_companion *c, struct grading *g, enum gr_subject subject,
                  const char *library, size_t images_at_most)
{
    struct gr_run run;
    struct st_error ignored;
    c->subject = subject;
    c->images_at_most = images_at_most;
    if (!file_exists(library))
        return;
    c->running = !gr_session_start(&c->session, &g->host, library, &g->arena, &run, &ignored) &&
                 !run.message[0];
    if (!c->running)
        gr_session_end(&c->session);
}

void gr_companions_start(struct gr_companion companion[GR_COMPANIONS], struct grading *g)
{
    const struct gr_milestone *m = &g->milestone;
    struct gr_milestone baseline;
    struct st_error ignored;
    if (g->options->quick)
        return;
    if (!g->options->reference) {
        if (file_exists(m->reference_source))
            gr_make_reference(m, &ignored);
        start(&companion[0], g, GR_REFERENCE, m->reference_library, GR_MAX_IMAGES);
    }
    start(&companion[1], g, GR_PLAIN_LOOPS, m->plain_library, PLAIN_IMAGES);
    if (gr_check_find(g, "speed") && !gr_milestone_find(&baseline, "m2", &ignored)) {
        if (file_exists(baseline.reference_source))
            gr_make_reference(&baseline, &ignored);
        start(&companion[2], g, GR_BASELINE, baseline.reference_library,
              g->host.device == RUNNER_ON_VIRTUAL_GPU ? VIRTUAL_BASELINE_IMAGES : GR_MAX_IMAGES);
    }
}

void gr_companions_time(struct gr_companion companion[GR_COMPANIONS], struct grading *g,
                        const char *model, const struct gr_conv *conv, int layer, bool warm_up)
{
    for (size_t i = 0; i < GR_COMPANIONS; i++) {
        struct gr_companion *c = &companion[i];
        if (!c->running || (size_t)conv->shape.B > c->images_at_most)
            continue;
        struct gr_run run;
        gr_arena_fill(&g->arena, conv);
        gr_session_run(&c->session, &conv->shape, &g->arena, gr_time_limit_s(g, &conv->shape),
                       &run);
        c->running = run.outcome == GR_RAN;
        if (c->running && !warm_up)
            gr_timing_add(gr_timing_of(g->result, c->subject, model, layer, &conv->shape),
                          run.op_time_s);
    }
}

void gr_companions_end(struct gr_companion companion[GR_COMPANIONS])
{
    for (size_t i = 0; i < GR_COMPANIONS; i++)
        gr_session_end(&companion[i].session);
}
