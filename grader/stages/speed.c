/* The check "speed": the sum of the layers' Op Times at the largest size, over the reference's of
 * the same milestone, which was timed in turn with it. The ratio to m2 is told beside it. */
#include "grader/stages/grading.h"

#include "base/files.h"
#include "grader/course/floor.h"
#include "grader/stages/companions.h"
#include "vgpu/gpus/gpu_profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double AT_MOST = 2;   /* where the rubric says nothing */
static const double NARROW = 0.05; /* a ratio that is known this well can be judged */

/* ---- impossible times ----------------------------------------------------------------------- */

/* The description of the GPU that was graded on. @return false if there is none. */
static bool find_profile(const struct grading *g, struct vg_profile *to)
{
    char folder[PATH_MAX];
    struct st_error ignored;
    path_format(folder, sizeof folder, "%s/vgpu/profiles", g->host.build);
    if (g->host.device == RUNNER_ON_VIRTUAL_GPU)
        return !vg_profile_read(to, folder, g->host.profile, &ignored);
    return vg_profile_find(to, folder, g->session.device_name);
}

/* A submission's layer that took less than the floor of any algorithm. */
static const struct gr_timing *find_impossible(const struct grading *g, enum gr_subject subject,
                                               double *floor_s)
{
    struct vg_profile profile;
    if (!find_profile(g, &profile))
        return NULL;
    for (size_t i = 0; i < g->result->timings; i++) {
        const struct gr_timing *t = &g->result->timing[i];
        *floor_s = gr_floor_any_s(gr_floor_on(&profile, &t->shape));
        for (size_t k = 0; k < t->repeats && t->subject == subject; k++)
            if (t->op_time_s[k] < *floor_s)
                return t;
    }
    return NULL;
}

/* ---- the verdict ---------------------------------------------------------------------------- */

static double limit_of(const struct grading *g)
{
    for (unsigned i = 0; i < g->rubric->items_count; i++)
        if (strcmp(g->rubric->items[i].id, "speed") == 0 && g->rubric->items[i].at_most)
            return *g->rubric->items[i].at_most;
    return AT_MOST;
}

/* Milestones whose lesson is that they beat m2; in the others the hardware may have changed. */
static bool beats_m2(const char *milestone)
{
    static const char *const list[] = {"m3", "m6", "m8", "m9"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(list[i], milestone) == 0)
            return true;
    return false;
}

/* The largest size at which both were timed, or 0: the virtual GPU runs m2 up to a smaller one. */
static size_t baseline_images(const struct gr_result *r, enum gr_subject subject)
{
    size_t most = 0;
    for (size_t i = 0; i < r->timings; i++) {
        const size_t images = (size_t)r->timing[i].shape.B;
        if (r->timing[i].subject == GR_BASELINE && images > most && images <= r->speed.images &&
            gr_op_time_sum(r, subject, images).layers > 0)
            most = images;
    }
    return most;
}

static void tell_baseline(const struct grading *g, struct gr_check *check, size_t images)
{
    const struct gr_speed *s = &g->result->speed;
    if (isnan(s->to_baseline))
        return;
    gr_check_append(check, "\n%.2f times the Op Time of m2", s->to_baseline);
    if (images != s->images)
        gr_check_append(check, " at %zu images", images);
    if (s->to_baseline > 1 && beats_m2(g->milestone.id))
        gr_check_append(check,
                        ": this milestone should be faster than m2; what does the profile say?");
}

static void judge_ratio(const struct grading *g, struct gr_check *check)
{
    const struct gr_speed *s = &g->result->speed;
    bool within = s->to_reference <= s->at_most;
    /* Noise that could turn the verdict. */
    double far = fabs(s->to_reference - s->at_most) / s->to_reference;
    if (s->uncertainty > NARROW && s->uncertainty > far) {
        gr_check_set(
            check, GR_SKIP,
            "too noisy, run again: %.2f times the Op Time of the reference, give or take %.0f%% (at most %g)",
            s->to_reference, 100 * s->uncertainty, s->at_most);
        gr_check_hint(check, "is the GPU used by others, or its clock changing?");
        return;
    }
    gr_check_set(check, within ? GR_PASS : GR_FAIL,
                 "%.2f times the Op Time of the reference at %zu images (at most %g)",
                 s->to_reference, s->images, s->at_most);
    if (!within)
        gr_check_hint(
            check,
            "what limits the slowest kernel (see the profile)? Compare its loads, barriers and occupancy with what the technique promises");
}

static size_t largest_size(const struct gr_result *r)
{
    size_t most = 0;
    for (size_t i = 0; i < r->inferences; i++)
        if (r->inference[i].passed && r->inference[i].images > most)
            most = r->inference[i].images;
    return most;
}

/* @return the size at which it is compared with m2, or 0. */
static size_t measure(struct grading *g, enum gr_subject subject)
{
    struct gr_result *r = g->result;
    const size_t images = largest_size(r);
    r->speed = (struct gr_speed){.images = images, .at_most = limit_of(g)};
    r->speed.to_reference =
        gr_op_time_ratio(gr_op_time_sum(r, subject, images),
                         gr_op_time_sum(r, GR_REFERENCE, images), &r->speed.uncertainty);
    const size_t with_m2 = baseline_images(r, subject);
    r->speed.to_baseline = gr_op_time_ratio(gr_op_time_sum(r, subject, with_m2),
                                            gr_op_time_sum(r, GR_BASELINE, with_m2), NULL);
    return with_m2;
}

void gr_speed_check(struct grading *g)
{
    struct gr_check *check = gr_check_find(g, "speed");
    const enum gr_subject subject = g->options->reference ? GR_REFERENCE : GR_SUBMISSION;
    const struct gr_timing *impossible;
    double floor_s = 0;
    if (!check || !check->required)
        return;
    const size_t with_m2 = measure(g, subject);
    if (gr_failed(g->result, "unit_shapes") || gr_failed(g->result, "inference_") ||
        !g->result->speed.images) {
        gr_check_set(check, GR_SKIP, "not timed: only right results are");
    } else if ((impossible = find_impossible(g, subject, &floor_s))) {
        gr_check_set(
            check, GR_FAIL,
            "layer %d at %d images took less than %.3g s, the floor of any algorithm on its GPU",
            impossible->layer, impossible->shape.B, floor_s);
        gr_check_hint(check, "is part of the work done outside of conv_forward()?");
    } else if (g->options->reference) {
        gr_check_set(check, GR_PASS, "this is the reference");
    } else if (isnan(g->result->speed.to_reference)) {
        check->required = false;
        gr_check_set(check, GR_SKIP, "the reference of %s is not here to be timed beside it",
                     g->milestone.id);
    } else {
        judge_ratio(g, check);
    }
    if (check->status != GR_SKIP || g->result->speed.images)
        tell_baseline(g, check, with_m2);
    gr_check_print(g->out, check);
}
