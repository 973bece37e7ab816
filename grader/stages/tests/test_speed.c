/* Tests of the check "speed" with made-up times. */
#include "base/tests/run_tool.h"
#include "grader/stages/companions.h"
#include "grader/record/timing.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct conv_shape layer = {100, 24, 12, 33, 33, 5};

static void add_times(struct gr_result *r, enum gr_subject subject, int number, double seconds,
                      double spread)
{
    struct gr_timing *t = gr_timing_of(r, subject, "two-layer", number, &layer);
    for (int i = -2; i <= 2; i++)
        gr_timing_add(t, seconds * (1 + spread * i));
}

static double at_most[] = {2, 3, 4, 5, 8};
static const struct gr_item steps = {.id = "speed",
                                     .kind = GR_AUTOMATIC,
                                     .points = 5,
                                     .at_most = at_most,
                                     .at_most_count = 5,
                                     .text = "fast enough"};

/* Makes a grading that has reached the check of an item. The submission takes @p ratio times as
 * long as m2, in two layers; the reference takes a quarter of m2's time. */
static struct gr_check *judged_by(const struct gr_item *item, struct grading *g, double ratio,
                                  double spread)
{
    static struct gr_options options;
    static struct gr_rubric rubric;
    static struct gr_item items[1];
    static FILE *nowhere;
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    items[0] = *item;
    options.model = "two-layer";
    rubric = (struct gr_rubric){.items = items, .items_count = 1};
    struct gr_result *r = calloc(1, sizeof *r);
    *g = (struct grading){.options = &options, .rubric = &rubric, .result = r, .out = nowhere};
    g->host.device = RUNNER_ON_VIRTUAL_GPU;
    snprintf(g->host.profile, sizeof g->host.profile, "h200");
    snprintf(g->host.build, sizeof g->host.build, "%s", tool_build());
    snprintf(g->milestone.id, sizeof g->milestone.id, "m3");
    g->milestone.exercise = exercise_of("m3");
    r->inferences = 1;
    r->inference[0] = (struct gr_inference){.images = 100, .passed = true};
    for (int i = 0; i < 2; i++) {
        add_times(r, GR_SUBMISSION, i, ratio * 4e-3, spread);
        add_times(r, GR_REFERENCE, i, 1e-3, spread);
        add_times(r, GR_BASELINE, i, 4e-3, spread);
    }
    gr_check_add(g, "speed");
    gr_speed_check(g);
    return &r->check[0];
}

static struct gr_check *judged(struct grading *g, double ratio, double spread)
{
    return judged_by(&steps, g, ratio, spread);
}

Test(speed, is_the_ratio_of_the_sums_of_the_layers)
{
    struct grading g;
    struct gr_check *check = judged(&g, 1.5, 0);
    cr_assert_eq(check->status, GR_PASS);
    cr_assert_eq(check->points, 5);
    cr_assert_float_eq(g.result->speed.to_baseline, 1.5, 1e-9);
    cr_assert_float_eq(g.result->speed.to_reference, 6, 1e-9);
    HAS(check->message, "1.50 times the Op Time of m2 at 100 images (at most 2)");
    HAS(check->message, "6.00 times the Op Time of the reference of m3");
    free(g.result);
}

Test(speed, does_not_depend_on_the_sizes_that_were_run)
{
    struct grading g;
    struct gr_check *check = judged(&g, 1.5, 0);
    struct gr_result *r = g.result;
    struct conv_shape larger = layer;
    larger.B = 1000;
    r->inference[r->inferences++] = (struct gr_inference){.images = 1000, .passed = true};
    for (int i = 0; i < 2; i++) {
        gr_timing_add(gr_timing_of(r, GR_SUBMISSION, "two-layer", i, &larger), 60e-3);
        gr_timing_add(gr_timing_of(r, GR_BASELINE, "two-layer", i, &larger), 8e-3);
    }
    gr_speed_check(&g);
    cr_assert_float_eq(r->speed.to_baseline, 1.5, 1e-9);
    cr_assert_eq(check->points, 5);
    free(r);
}

Test(speed, falls_in_steps)
{
    static const struct {
        double ratio, points;
    } want[] = {{2, 5}, {2.01, 4}, {3.5, 3}, {4.5, 2}, {7.9, 1}, {8.1, 0}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct grading g;
        struct gr_check *check = judged(&g, want[i].ratio, 1e-9);
        cr_expect_eq(check->points, want[i].points, "%g times: %g points", want[i].ratio,
                     check->points);
        cr_expect_eq(check->status, want[i].points > 0 ? GR_PASS : GR_FAIL);
        cr_expect(want[i].points == 5 ||
                      strstr(check->message,
                             "(5 points up to 2, 4 up to 3, 3 up to 4, 2 up to 5, 1 up to 8)"),
                  "%s", check->message);
        free(g.result);
    }
}

/* ---- on a scale ----------------------------------------------------------------------------- */

static double scale[] = {2, 8};
static struct gr_timed timed = {.images = 100, .gpu = "virtual:h200"};
static const struct gr_item linear = {.id = "speed",
                                      .kind = GR_AUTOMATIC,
                                      .points = 6,
                                      .linear = scale,
                                      .linear_count = 2,
                                      .text = "fast enough"};

Test(speed, falls_on_a_scale)
{
    static const struct {
        double ratio, points;
    } want[] = {{1, 6}, {2, 6}, {2.01, 5.9}, {3.5, 4.5}, {5, 3}, {7.9, 0.1}, {8, 0}, {30, 0}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct grading g;
        struct gr_check *check = judged_by(&linear, &g, want[i].ratio, 1e-9);
        cr_expect_float_eq(check->points, want[i].points, 1e-9, "%g times: %g points",
                           want[i].ratio, check->points);
        cr_expect_eq(check->status, want[i].points > 0 ? GR_PASS : GR_FAIL);
        HAS(check->message,
            want[i].points == 6
                ? "times the Op Time of m2 at 100 images (at most 2)"
                : "at 100 images (6 points up to 2, none at 8 or more, in proportion between)");
        free(g.result);
    }
}

Test(speed, on_a_scale_is_too_noisy_where_points_depend_on_it)
{
    struct grading g;
    struct gr_check *check = judged_by(&linear, &g, 5, 0.2);
    cr_expect_eq(check->status, GR_SKIP);
    HAS(check->message, "too noisy, run again: 5.00 times");
    free(g.result);
    check = judged_by(&linear, &g, 0.5, 0.2);
    cr_expect_eq(check->points, 6, "far below the scale: %s", check->message);
    free(g.result);
    check = judged_by(&linear, &g, 5, 0.01);
    cr_expect_eq(check->points, 3, "hardly noisy: %s", check->message);
    free(g.result);
}

/* Both layers of the submission together take ratio * 8 ms. */
Test(speed, is_judged_in_milliseconds_where_the_rubric_says_so)
{
    static const struct {
        double ratio, points;
    } want[] = {{0.25, 6}, {0.625, 3}, {1, 0}};
    struct gr_item item = linear;
    struct grading g;
    item.timed = &timed;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct gr_check *check = judged_by(&item, &g, want[i].ratio, 1e-9);
        cr_expect_float_eq(check->points, want[i].points, 1e-9, "%s", check->message);
        cr_expect_float_eq(g.result->speed.op_time_s, want[i].ratio * 8e-3, 1e-9);
        free(g.result);
    }
    struct gr_check *check = judged_by(&item, &g, 0.625, 1e-9);
    HAS(check->message,
        "5 ms of Op Time at 100 images of two-layer, modelled for the GPU h200 (6 points up "
        "to 2 ms, none at 8 ms or more, in proportion between)");
    /* m2's times are not needed. */
    for (size_t i = 0; i < g.result->timings; i++)
        if (g.result->timing[i].subject == GR_BASELINE)
            g.result->timing[i].subject = GR_PLAIN_LOOPS;
    gr_speed_check(&g);
    cr_expect_eq(check->points, 3, "%s", check->message);
    free(g.result);
}

Test(speed, in_milliseconds_counts_on_the_named_gpu_and_model_alone)
{
    struct gr_item item = linear;
    struct gr_timed on_a40 = {.images = 100, .model = "two-layer-86", .gpu = "a40"};
    struct gr_options other = {.model = "two-layer-86"};
    struct grading g;
    item.timed = &on_a40;
    struct gr_check *check = judged_by(&item, &g, 0.25, 1e-9);
    cr_expect(check->status == GR_SKIP && !check->required && check->points == 0);
    HAS(check->message, "judged only at 100 images of two-layer-86 on a real GPU, a40");
    cr_expect_str_eq(check->hint, "--device gpu --model two-layer-86");

    check->required = true;
    g.host.device = RUNNER_ON_GPU;
    snprintf(g.session.device_name, sizeof g.session.device_name, "NVIDIA A40");
    gr_speed_check(&g);
    cr_expect(check->status == GR_SKIP, "another model");

    check->required = true;
    g.options = &other;
    gr_speed_check(&g);
    cr_expect(check->status == GR_PASS && check->points == 6, "%s", check->message);
    HAS(check->message,
        "2 ms of Op Time at 100 images of two-layer-86, measured on the NVIDIA A40 (at most 2 ms)");

    check->required = true;
    snprintf(g.session.device_name, sizeof g.session.device_name, "NVIDIA A100");
    gr_speed_check(&g);
    cr_expect(check->status == GR_SKIP, "another GPU");

    check->required = true;
    on_a40.gpu = "virtual:h200";
    gr_speed_check(&g);
    cr_expect(check->status == GR_SKIP, "a real one");
    cr_expect_str_eq(check->hint, "--device virtual:h200 --model two-layer-86");
    free(g.result);
}

/* ---- verdicts that do not come from a time --------------------------------------------------- */

Test(speed, says_when_a_verdict_would_be_chance)
{
    struct grading g;
    struct gr_check *check = judged(&g, 2.1, 0.2);
    cr_assert_eq(check->status, GR_SKIP);
    cr_assert(check->required);
    HAS(check->message, "too noisy, run again");
    free(g.result);
    /* Equally noisy, but far from all bounds. */
    check = judged(&g, 30, 0.2);
    cr_assert_eq(check->status, GR_FAIL);
    free(g.result);
}

Test(speed, rejects_times_that_no_gpu_can_reach)
{
    struct grading g;
    struct gr_check *check = judged(&g, 0.00025, 0);
    cr_assert_eq(check->status, GR_FAIL);
    HAS(check->message, "the floor of any algorithm on its GPU");
    free(g.result);
}

Test(speed, gives_no_points_for_wrong_results)
{
    struct grading g;
    struct gr_check *check = judged(&g, 1, 0);
    free(g.result);
    check = judged(&g, 1, 0);
    gr_check_set(gr_check_add(&g, "inference_100"), GR_FAIL, "wrong");
    gr_speed_check(&g);
    cr_assert_eq(check->status, GR_SKIP);
    cr_assert_eq(check->points, 0);
    free(g.result);
}

Test(speed, needs_m2_beside_it_and_not_the_reference)
{
    struct grading g;
    struct gr_check *check = judged(&g, 1, 0);
    for (size_t i = 0; i < g.result->timings; i++)
        if (g.result->timing[i].subject == GR_REFERENCE)
            g.result->timing[i].subject = GR_PLAIN_LOOPS;
    gr_speed_check(&g);
    cr_assert_eq(check->points, 5);
    cr_assert_not(strstr(check->message, "goal"), "%s", check->message);
    for (size_t i = 0; i < g.result->timings; i++)
        if (g.result->timing[i].subject == GR_BASELINE)
            g.result->timing[i].subject = GR_PLAIN_LOOPS;
    gr_speed_check(&g);
    cr_assert_eq(check->status, GR_SKIP);
    cr_assert_not(check->required);
    HAS(check->message, "no modelled time of m2's reference");
    check->required = true;
    g.host.device = RUNNER_ON_GPU;
    gr_speed_check(&g);
    HAS(check->message, "needs the reference of m2, which is missing");
    free(g.result);
}

Test(speed, names_the_times_that_a_real_gpu_compared)
{
    struct grading g;
    struct gr_check *check = judged(&g, 1.5, 0);
    g.host.device = RUNNER_ON_GPU;
    snprintf(g.session.device_name, sizeof g.session.device_name, "Some GPU 9");
    gr_speed_check(&g);
    HAS(check->message, "of m2 at 100 images, both measured alternately on the Some GPU 9");
    free(g.result);
}

Test(timing, uncertainty_does_not_mind_one_disturbed_time)
{
    struct gr_timing t = {.repeats = 0};
    gr_timing_add(&t, 1.0);
    cr_assert_eq(gr_timing_uncertainty(&t), 0);
    for (int i = 0; i < 8; i++)
        gr_timing_add(&t, i == 3 ? 9.0 : i % 2 ? 1.01 : 0.99);
    cr_assert_lt(gr_timing_uncertainty(&t), 0.02);
    struct gr_timing noisy = {.repeats = 0};
    for (int i = 0; i < 5; i++)
        gr_timing_add(&noisy, 1 + 0.2 * i);
    cr_assert_gt(gr_timing_uncertainty(&noisy), 0.05);
}

/* ---- from host memory to host memory ---- */

Test(speed, of_streams_needs_their_technique)
{
    for (int overlaps = 0; overlaps < 2; overlaps++) {
        struct grading g;
        judged(&g, 0.5, 0);
        struct gr_result *r = g.result;
        g.milestone.exercise = exercise_of("m13");
        r->inference[0].images = 1000;
        for (size_t i = 0; i < r->timings; i++)
            r->timing[i].shape.B = 1000;
        struct gr_check *technique = gr_check_add(&g, "technique"), *check = &r->check[0];
        gr_check_set(technique, overlaps ? GR_PASS : GR_FAIL, "as it may be");
        gr_speed_check(&g);
        cr_expect_eq(check->status, overlaps ? GR_PASS : GR_FAIL, "%s", check->message);
        HAS(check->message, overlaps ? "0.50 times the Layer Time of the plain version"
                                     : "not compared: the gain from overlapping");
        free(r);
    }
}
