/* The check "speed": the sum of the layers' Op Times over that of m2's reference, which has one thread
 * per output and was timed in turn with the submission. One size is judged, so that the options do not
 * matter, and in steps: each bound of the rubric that the ratio keeps gives its share of the points. The
 * ratio to the milestone's own reference is the goal, and gives none. */
#include "grader/stages/grading.h"

#include "base/files.h"
#include "grader/course/floor.h"
#include "grader/stages/companions.h"
#include "vgpu/gpus/gpu_profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double NARROW = 0.05; /* a ratio with at most this error can be judged */

/* ---- impossible times ----------------------------------------------------------------------- */

/* Finds the description of the grading's GPU. @return false without one. */
static bool find_profile(const struct grading *g, struct vg_profile *to)
{
    char folder[PATH_MAX];
    struct st_error ignored;
    path_format(folder, sizeof folder, "%s/vgpu/profiles", g->host.build);
    if (g->host.device == RUNNER_ON_VIRTUAL_GPU)
        return !vg_profile_read(to, folder, g->host.profile, &ignored);
    return vg_profile_find(to, folder, g->session.device_name);
}

/* Finds a layer of the submission that took less time than any algorithm could. */
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

static const struct gr_item *rubric_item(const struct grading *g)
{
    for (unsigned i = 0; i < g->rubric->items_count; i++)
        if (strcmp(g->rubric->items[i].id, "speed") == 0)
            return &g->rubric->items[i];
    return NULL;
}

/* The points for that many bounds. */
static double points_for(const struct gr_item *item, unsigned kept)
{
    return item->points * kept / item->at_most_count;
}

static unsigned bounds_kept(const struct gr_item *item, double ratio)
{
    unsigned kept = 0;
    while (kept < item->at_most_count && ratio <= item->at_most[item->at_most_count - 1 - kept])
        kept++;
    return kept;
}

/* "(5 points up to 3, 4 up to 4)" */
static void tell_steps(struct gr_check *check, const struct gr_item *item)
{
    const unsigned n = item->at_most_count;
    for (unsigned i = 0; i < n; i++)
        gr_check_append(check, "%s%g%s up to %g", i ? ", " : " (", points_for(item, n - i),
                        i ? "" : " points", item->at_most[i]);
    gr_check_append(check, ")");
}

static void tell_goal(const struct grading *g, struct gr_check *check)
{
    const struct gr_speed *s = &g->result->speed;
    if (isfinite(s->to_reference))
        gr_check_append(check,
                        "\nthe goal, not a bar: %.2f times the Op Time of the reference of %s",
                        s->to_reference, g->milestone.id);
}

static void judge_ratio(const struct grading *g, struct gr_check *check, const struct gr_item *item)
{
    const struct gr_speed *s = &g->result->speed;
    const double ratio = s->to_baseline;
    const unsigned kept = bounds_kept(item, ratio);
    const bool measured = g->host.device == RUNNER_ON_GPU;
    /* Noise that could turn the verdict. */
    if (s->uncertainty > NARROW && bounds_kept(item, ratio * (1 + s->uncertainty)) !=
                                       bounds_kept(item, ratio / (1 + s->uncertainty))) {
        gr_check_set(check, GR_SKIP,
                     "too noisy, run again: %.2f times the Op Time of m2, give or take %.0f%%",
                     ratio, 100 * s->uncertainty);
        tell_steps(check, item);
        gr_check_hint(check, "is the GPU used by others, or its clock changing?");
        return;
    }
    char size[EXERCISE_TEXT];
    gr_check_set(check, kept ? GR_PASS : GR_FAIL, "%.2f times the Op Time of m2 at %s%s%s", ratio,
                 exercise_size(g->milestone.exercise, s->images, size),
                 measured ? ", both measured in turn on the " : "",
                 measured ? g->session.device_name : "");
    check->points = points_for(item, kept);
    if (kept == item->at_most_count) {
        gr_check_append(check, " (at most %g)", s->at_most);
        return;
    }
    tell_steps(check, item);
    gr_check_hint(
        check,
        "what limits the slowest kernel (see the profile)? Compare its loads, barriers and occupancy with what the technique promises");
}

/* Nothing to compare with. */
static void say_no_baseline(const struct grading *g, struct gr_check *check)
{
    if (g->host.device == RUNNER_ON_GPU) {
        gr_check_set(check, GR_SKIP,
                     "on a real GPU the reference of m2 is timed in turn with it, and is not here");
        gr_check_hint(check, "--device virtual:h200 compares modelled times, which are here");
    } else {
        gr_check_set(check, GR_SKIP, "no modelled time of m2's reference is here for %s",
                     g->result->profile);
        gr_check_hint(check, "data/modelled-times.tsv has those of the suite's GPUs and models");
    }
}

static bool was_right(const struct gr_result *r, size_t images)
{
    for (size_t i = 0; i < r->inferences; i++)
        if (r->inference[i].passed && r->inference[i].images == images)
            return true;
    return false;
}

static void measure(struct grading *g, enum gr_subject subject, const struct gr_item *item)
{
    struct gr_result *r = g->result;
    struct gr_speed *s = &r->speed;
    *s = (struct gr_speed){.at_most = item->at_most[0]};
    const size_t size = (size_t)g->milestone.exercise->speed_size;
    s->images = was_right(r, size) ? size : 0;
    const struct gr_op_time own = gr_op_time_sum(r, subject, s->images);
    s->to_baseline =
        gr_op_time_ratio(own, gr_op_time_sum(r, GR_BASELINE, s->images), &s->uncertainty);
    s->to_reference = gr_op_time_ratio(own, gr_op_time_sum(r, GR_REFERENCE, s->images), NULL);
}

void gr_speed_check(struct grading *g)
{
    struct gr_check *check = gr_check_find(g, "speed");
    const struct gr_item *item = rubric_item(g);
    const enum gr_subject subject = g->options->reference ? GR_REFERENCE : GR_SUBMISSION;
    const struct gr_timing *impossible;
    double floor_s = 0;
    char size[EXERCISE_TEXT], prefix[24];
    if (!check || !check->required || !item)
        return;
    snprintf(prefix, sizeof prefix, "%s_", g->milestone.exercise->sized);
    measure(g, subject, item);
    if (gr_failed(g->result, "unit_shapes") || gr_failed(g->result, prefix) ||
        !g->result->speed.images) {
        gr_check_set(check, GR_SKIP, "not timed: only right results are");
    } else if ((impossible = find_impossible(g, subject, &floor_s))) {
        gr_check_pattern(check, "impossible_time");
        gr_check_set(check, GR_FAIL,
                     "layer %d at %s took less than %.3g s, the floor of any algorithm on its GPU",
                     impossible->layer,
                     exercise_size(g->milestone.exercise, gr_timing_size(impossible), size),
                     floor_s);
        gr_check_hint(check, "is part of the work done outside of conv_forward()?");
    } else if (g->options->reference) {
        gr_check_set(check, GR_PASS, "this is the reference");
    } else if (isnan(g->result->speed.to_baseline)) {
        check->required = false;
        say_no_baseline(g, check);
    } else {
        judge_ratio(g, check, item);
        tell_goal(g, check);
    }
    gr_check_print(g, check);
}
