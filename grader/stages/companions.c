#include "grader/stages/companions.h"

#include "base/files.h"
#include "grader/course/lab_make.h"
#include "grader/stages/shipped_times.h"
#include "nn/oracle.h"

#include <string.h>

enum { PLAIN_IMAGES = 100, VIRTUAL_INFORMATION_IMAGES = 1000 };

void gr_companions_clear(struct gr_companion companion[GR_COMPANIONS])
{
    for (size_t i = 0; i < GR_COMPANIONS; i++)
        companion[i] = (struct gr_companion){.session = GR_SESSION_CLOSED};
}

/* ---- the companions and their largest size */

/* @return whether the companion runs and has loaded the library. */
static bool start_session(struct gr_companion *c, struct grading *g, const char *library)
{
    struct gr_run run;
    struct st_error ignored;
    const bool started =
        !gr_session_start(&c->session, &c->host, library, &g->arena, &run, &ignored) &&
        !run.message[0];
    if (!started)
        gr_session_end(&c->session);
    return started;
}

/* @param milestone  the reference's, or "" */
static void start(struct gr_companion *c, struct grading *g, enum gr_subject subject,
                  const char *milestone, const char *library, size_t images_at_most)
{
    c->subject = subject;
    c->images_at_most = images_at_most;
    c->host = g->host;
    c->host.code_store = 0;
    if (!file_exists(library)) {
        snprintf(c->milestone, sizeof c->milestone, "%s", milestone);
        c->running = *milestone && g->host.device == RUNNER_ON_VIRTUAL_GPU;
        return;
    }
    if (g->host.device == RUNNER_ON_VIRTUAL_GPU) {
        path_format(c->library, sizeof c->library, "%s", library);
        gr_kept_times_open(&c->kept, &g->host, library);
        c->host.code_store = vg_code_store_make();
        c->running = true;
    } else {
        c->running = start_session(c, g, library);
    }
}

/* The largest number of images to time. A real GPU needs no limit. The virtual GPU does not run the
 * largest size only to print a time. */
static size_t most_images(const struct grading *g)
{
    return g->host.device == RUNNER_ON_VIRTUAL_GPU ? VIRTUAL_INFORMATION_IMAGES : GR_MAX_IMAGES;
}

void gr_companions_start(struct gr_companion companion[GR_COMPANIONS], struct grading *g)
{
    const struct gr_milestone *m = &g->milestone;
    const bool has_speed = gr_check_find(g, "speed") != NULL;
    struct gr_milestone baseline;
    struct st_error ignored;
    if (g->options->quick)
        return;
    if (!g->options->reference) {
        if (file_exists(m->reference_source))
            gr_make_reference(m, &ignored);
        start(&companion[0], g, GR_REFERENCE, m->id, m->reference_library, most_images(g));
    }
    if (!m->cuda)
        start(&companion[1], g, GR_PLAIN_LOOPS, "", m->plain_library, PLAIN_IMAGES);
    if (has_speed && !gr_milestone_find(&baseline, m->exercise->baseline, &ignored)) {
        if (file_exists(baseline.reference_source))
            gr_make_reference(&baseline, &ignored);
        const bool plain = m->exercise->plain_baseline;
        char id[sizeof baseline.id + sizeof GR_PLAIN_SUFFIX];
        snprintf(id, sizeof id, "%s%s", baseline.id, plain ? GR_PLAIN_SUFFIX : "");
        start(&companion[2], g, GR_BASELINE, id,
              plain ? baseline.plain_library : baseline.reference_library, most_images(g));
    }
}

/* ---- one time --------------------------------------------------------------------------------- */

/* @return whether the convolution ran; @p op_time_s is set to its time. */
static bool run_once(struct gr_companion *c, struct grading *g, const struct gr_conv *conv,
                     double *op_time_s)
{
    struct gr_run run;
    gr_arena_fill(&g->arena, conv);
    gr_session_run(&c->session, &conv->shape, &g->arena, gr_time_limit_s(g, &conv->shape), &run);
    *op_time_s = run.op_time_s;
    return run.outcome == GR_RAN;
}

/* Gets a modelled time: a kept one, or a new one. Each library runs in its own process: the clock
 * rounds nanoseconds depending on its current value, so a time would depend on which other times
 * were kept. */
static bool model_once(struct gr_companion *c, struct grading *g, const struct gr_conv *conv,
                       double *op_time_s)
{
    if (gr_kept_time_find(&c->kept, conv, op_time_s))
        return true;
    const bool ran = start_session(c, g, c->library) && run_once(c, g, conv, op_time_s);
    gr_session_end(&c->session);
    if (ran)
        gr_kept_time_add(&c->kept, conv, *op_time_s);
    return ran;
}

bool gr_companion_model(struct gr_companion *c, struct grading *g, const char *library,
                        const struct gr_conv *conv, double *op_time_s)
{
    start(c, g, GR_REFERENCE, "", library, GR_MAX_IMAGES);
    c->kept.path[0] = '\0';
    return c->running && model_once(c, g, conv, op_time_s);
}

/* Looks up a time in the shipped table. The companion stays even if the table lacks a row. */
static void look_up(const struct gr_companion *c, struct grading *g, const char *model,
                    const struct gr_conv *conv, int layer)
{
    struct gr_shipped_times times;
    struct gr_shipped_time found;
    struct st_error ignored;
    if (!gr_shipped_times_read(&times, NULL, &ignored) &&
        gr_shipped_time_find(&times, g->host.profile, c->milestone, &conv->shape, &found))
        gr_timing_add(gr_timing_of(g->result, c->subject, model, layer, &conv->shape),
                      found.op_time_s);
    tsv_free(&times.table);
}

void gr_companions_time(struct gr_companion companion[GR_COMPANIONS], struct grading *g,
                        const char *model, const struct gr_conv *conv, int layer, bool warm_up)
{
    for (size_t i = 0; i < GR_COMPANIONS; i++) {
        struct gr_companion *c = &companion[i];
        double op_time_s;
        if (!c->running || (size_t)conv->shape.B > c->images_at_most)
            continue;
        if (c->milestone[0]) {
            look_up(c, g, model, conv, layer);
            continue;
        }
        c->running = g->host.device == RUNNER_ON_VIRTUAL_GPU ? model_once(c, g, conv, &op_time_s)
                                                             : run_once(c, g, conv, &op_time_s);
        if (c->running && !warm_up)
            gr_timing_add(gr_timing_of(g->result, c->subject, model, layer, &conv->shape),
                          op_time_s);
    }
}

void gr_companions_end(struct gr_companion companion[GR_COMPANIONS])
{
    for (size_t i = 0; i < GR_COMPANIONS; i++) {
        gr_session_end(&companion[i].session);
        vg_code_store_close(&companion[i].host.code_store);
    }
}
