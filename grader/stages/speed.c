/* The check "speed" judges the sum of the layers' Op Times, divided by the sum of m2's reference,
 * which has one thread per output and was timed alternately with the submission. If the rubric
 * requests milliseconds, it judges the sum itself, on the GPU that the rubric names. Only one size
 * is judged, so that the options do not matter. The points fall in steps, one per bound of the
 * rubric, or on a linear scale. The ratio to the milestone's own reference is only a goal, and
 * gives no points. */
#include "grader/stages/grading.h"

#include "base/files.h"
#include "grader/course/floor.h"
#include "grader/stages/companions.h"
#include "nn/network.h"
#include "vgpu/gpus/gpu_profile.h"

#include <math.h>
#include <string.h>

static const double NARROW = 0.05; /* the largest uncertainty of a ratio that is judged */

/* ---- impossible times ----------------------------------------------------------------------- */

/* Finds the description of the grading's GPU. @return false if there is none. */
static bool find_profile(const struct grading *g, struct vg_profile *to)
{
    char folder[PATH_MAX];
    struct st_error ignored;
    path_format(folder, sizeof folder, "%s/vgpu/profiles", g->host.build);
    if (g->host.device == RUNNER_ON_VIRTUAL_GPU)
        return !vg_profile_read(to, folder, g->host.profile, &ignored);
    return vg_profile_find(to, folder, g->session.device_name);
}

/* Finds a layer that the submission computed in less time than any algorithm needs. */
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

/* Appends " (5 points up to 3, 4 up to 4)", or " (5 points up to 2, none at 8 or more, in
 * proportion between)" */
static void tell_scale(struct gr_check *check, const struct gr_item *item)
{
    const char *unit = item->timed ? " ms" : "";
    for (unsigned i = 0; i < item->at_most_count; i++)
        gr_check_append(check, "%s%g%s up to %g", i ? ", " : " (",
                        gr_item_speed_points(item, item->at_most[i]), i ? "" : " points",
                        item->at_most[i]);
    if (item->linear)
        gr_check_append(check,
                        " (%g points up to %g%s, none at %g%s or more, in proportion between",
                        item->points, item->linear[0], unit, item->linear[1], unit);
    gr_check_append(check, ")");
}

static void tell_goal(const struct grading *g, struct gr_check *check)
{
    const struct gr_speed *s = &g->result->speed;
    if (isfinite(s->to_reference))
        gr_check_append(check, "\nas a goal: %.2f times the Op Time of the reference of %s",
                        s->to_reference, g->milestone.id);
}

/* Writes "3.10 times the Op Time of m2", or "61.2 ms of Op Time". */
static void put_value(char to[64], const struct gr_item *item, double value)
{
    if (item->timed)
        snprintf(to, 64, "%.3g ms of Op Time", value);
    else
        snprintf(to, 64, "%.2f times the Op Time of m2", value);
}

/* Writes "at 100 images", with the model and the GPU if they matter. */
static void put_place(const struct grading *g, const struct gr_item *item, char to[256])
{
    char size[EXERCISE_TEXT], model[96] = "";
    const char *how = "", *gpu = "";
    exercise_size(g->milestone.exercise, g->result->speed.images, size);
    if (item->timed && !g->milestone.exercise->square)
        snprintf(model, sizeof model, " of %s", gr_item_speed_model(item));
    if (g->host.device == RUNNER_ON_GPU) {
        how = item->timed ? ", measured on the " : ", both measured alternately on the ";
        gpu = g->session.device_name;
    } else if (item->timed) {
        how = ", modelled for the GPU ";
        gpu = g->host.profile;
    }
    snprintf(to, 256, "at %s%s%s%s", size, model, how, gpu);
}

/* @param value  a multiple of m2's Op Time, or milliseconds */
static void judge(const struct grading *g, struct gr_check *check, const struct gr_item *item,
                  double value)
{
    const struct gr_speed *s = &g->result->speed;
    const double points = gr_item_speed_points(item, value);
    char what[64], place[256];
    put_value(what, item, value);
    /* The noise could change the verdict. */
    if (s->uncertainty > NARROW && gr_item_speed_points(item, value * (1 + s->uncertainty)) !=
                                       gr_item_speed_points(item, value / (1 + s->uncertainty))) {
        gr_check_set(check, GR_SKIP, "too noisy, run again: %s, plus or minus %.0f%%", what,
                     100 * s->uncertainty);
        tell_scale(check, item);
        gr_check_hint(check, "do others use the GPU, or does its clock change?");
        return;
    }
    put_place(g, item, place);
    gr_check_set(check, points > 0 ? GR_PASS : GR_FAIL, "%s %s", what, place);
    check->points = points;
    if (points == item->points) {
        gr_check_append(check, " (at most %g%s)", s->at_most, item->timed ? " ms" : "");
        return;
    }
    tell_scale(check, item);
    gr_check_hint(
        check,
        "what limits the slowest kernel (see the profile)? Compare its loads, barriers and occupancy with the expectations of the technique");
}

/* Explains that the baseline is missing. */
static void say_no_baseline(const struct grading *g, struct gr_check *check)
{
    if (g->host.device == RUNNER_ON_GPU) {
        gr_check_set(check, GR_SKIP,
                     "on a real GPU the speed needs the reference of m2, which is missing");
        gr_check_hint(check,
                      "--device virtual:h200 compares with modelled times, which are available");
    } else {
        gr_check_set(check, GR_SKIP, "no modelled time of m2's reference is known for %s",
                     g->result->profile);
        gr_check_hint(check,
                      "data/modelled-times.tsv has the times for the suite's GPUs and models");
    }
}

/* @return the profile of the virtual GPU on which times are judged, or NULL for a real GPU. */
static const char *timed_profile(const struct gr_timed *timed)
{
    static const char prefix[] = "virtual:";
    return strncmp(timed->gpu, prefix, sizeof prefix - 1) == 0 ? timed->gpu + sizeof prefix - 1
                                                               : NULL;
}

enum st_code gr_speed_known(const struct grading *g, struct st_error *err)
{
    const struct gr_item *item = rubric_item(g);
    unsigned ignored;
    const char *profile = item && item->timed ? timed_profile(item->timed) : NULL;
    if (!profile || !gr_profile_capability(g->host.build, profile, &ignored, err))
        return ST_OK;
    return st_detail(err, ST_WHERE, "%s", g->milestone.rubric);
}

/* Whether this grading measures the times that a rubric judges in milliseconds. */
static bool is_timed_here(const struct grading *g, const struct gr_timed *timed)
{
    const char *profile = timed_profile(timed);
    return profile
               ? g->host.device == RUNNER_ON_VIRTUAL_GPU && strcmp(profile, g->host.profile) == 0
               : g->host.device == RUNNER_ON_GPU &&
                     strcasestr(g->session.device_name, timed->gpu) != NULL;
}

static bool is_timed_model(const struct grading *g, const struct gr_item *item)
{
    char folder[PATH_MAX], name[256];
    struct st_error ignored;
    return g->milestone.exercise->square ||
           (!nn_model_place(g->options->model, folder, name, &ignored) &&
            strcmp(name, gr_item_speed_model(item)) == 0);
}

static void say_not_here(const struct grading *g, struct gr_check *check,
                         const struct gr_item *item)
{
    char size[EXERCISE_TEXT];
    const char *model = gr_item_speed_model(item), *gpu = item->timed->gpu;
    const bool is_virtual = timed_profile(item->timed) != NULL;
    exercise_size(g->milestone.exercise, item->timed->images, size);
    gr_check_set(check, GR_SKIP, "judged only at %s%s%s on %s%s", size,
                 g->milestone.exercise->square ? "" : " of ",
                 g->milestone.exercise->square ? "" : model, is_virtual ? "" : "a real GPU, ", gpu);
    gr_check_hint(check, "--device %s%s%s", is_virtual ? gpu : "gpu",
                  g->milestone.exercise->square ? "" : " --model ",
                  g->milestone.exercise->square ? "" : model);
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
    *s = (struct gr_speed){.at_most = item->linear ? item->linear[0] : item->at_most[0]};
    const size_t size = gr_item_speed_images(item, (size_t)g->milestone.exercise->speed_size);
    s->images = was_right(r, size) ? size : 0;
    const struct gr_op_time own = gr_op_time_sum(r, subject, s->images);
    s->op_time_s = own.seconds;
    s->to_baseline =
        gr_op_time_ratio(own, gr_op_time_sum(r, GR_BASELINE, s->images), &s->uncertainty);
    s->to_reference = gr_op_time_ratio(own, gr_op_time_sum(r, GR_REFERENCE, s->images), NULL);
    if (item->timed)
        s->uncertainty = own.uncertainty;
}

void gr_speed_check(struct grading *g)
{
    struct gr_check *check = gr_check_find(g, "speed");
    const struct gr_item *item = rubric_item(g);
    const enum gr_subject subject = g->options->reference ? GR_REFERENCE : GR_SUBMISSION;
    const struct gr_timing *impossible;
    double floor_s = 0;
    char size[EXERCISE_TEXT], prefix[24];
    if (!check || !item)
        return;
    if (!check->required) {
        if (!g->options->quick)
            gr_check_print(g, check); /* it needs another number of images */
        return;
    }
    snprintf(prefix, sizeof prefix, "%s_", g->milestone.exercise->sized);
    measure(g, subject, item);
    if (gr_failed(g->result, "unit_shapes") || gr_failed(g->result, prefix) ||
        !g->result->speed.images) {
        gr_check_set(check, GR_SKIP, "not timed: the results are not right");
    } else if ((impossible = find_impossible(g, subject, &floor_s))) {
        gr_check_pattern(check, "impossible_time");
        gr_check_set(check, GR_FAIL,
                     "layer %d at %s took less than %.3g s, the floor of any algorithm on its GPU",
                     impossible->layer,
                     exercise_size(g->milestone.exercise, gr_timing_size(impossible), size),
                     floor_s);
        gr_check_hint(check, "does the code do part of the work outside of conv_forward()?");
    } else if (g->milestone.exercise->host_tensors && gr_failed(g->result, "technique")) {
        gr_check_set(
            check, GR_FAIL,
            "not compared: the gain from overlapping copies and kernels counts only if the check technique passes");
    } else if (g->options->reference) {
        gr_check_set(check, GR_PASS, "this is the reference itself");
    } else if (item->timed && (!is_timed_here(g, item->timed) || !is_timed_model(g, item))) {
        check->required = false;
        say_not_here(g, check, item);
    } else if (!item->timed && isnan(g->result->speed.to_baseline)) {
        check->required = false;
        say_no_baseline(g, check);
    } else {
        judge(g, check, item,
              item->timed ? g->result->speed.op_time_s * 1e3 : g->result->speed.to_baseline);
        tell_goal(g, check);
    }
    gr_check_print(g, check);
}
