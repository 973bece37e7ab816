/* Grades a milestone: finds the submission and the device, adds the rubric's checks, and runs the
 * stages that fill in the checks. */
#include "grader/stages/grading.h"

#include "grader/course/machine.h"
#include "grader/stages/tensors.h"
#include "grader/technique/technique.h"

#include <stdlib.h>

enum st_code gr_grading_prepare(struct grading *g, struct st_error *err)
{
    g->arena.fd = -1;
    g->turn = GR_TURN_NONE;
    g->session = GR_SESSION_CLOSED;
    const struct gr_options *o = g->options;
    struct gr_result *r = g->result;
    enum st_code code = gr_milestone_find(&g->milestone, o->milestone, err);
    if (!code)
        code = gr_rubric_load(&g->rubric, g->milestone.rubric, err);
    if (!code && (g->technique = gr_rubric_item(g->rubric, "technique")))
        code = gr_technique_known(g->technique, g->milestone.rubric, err);
    if (!code && o->shapes)
        code =
            gr_case_shapes_read(g->milestone.exercise, o->shapes, g->held_out, &g->held_outs, err);
    if (code)
        return code;
    g->chosen = *o;
    gr_options_choose(&g->chosen, g->rubric);
    g->options = &g->chosen;
    snprintf(r->milestone, sizeof r->milestone, "%s", g->milestone.id);
    snprintf(r->title, sizeof r->title, "%s", g->rubric->title);
    snprintf(r->technique, sizeof r->technique, "%s", g->rubric->technique);
    r->seed = o->seed;
    gr_source_describe(g);
    gr_machine_describe(r, g->milestone.id);
    code = gr_host_choose(g, err);
    if (!code && !g->milestone.libraries) /* m0 runs no student code */
        code = gr_sandbox_open(&g->host.sandbox, o->sandbox, g->host.build, err);
    if (code)
        return code;
    if (!g->milestone.libraries)
        code = gr_handin_open(g, err);
    r->sandboxed = g->host.sandbox.on;
    snprintf(r->not_sandboxed, sizeof r->not_sandboxed, "%s", g->host.sandbox.reason);
    return code;
}

static void print_begin(const struct grading *g)
{
    const struct gr_result *r = g->result;
    fprintf(g->out, "%s %s: grading %s%s%s with seed %llu\n", r->milestone, r->title,
            g->host.source[0] ? g->host.source : r->source, g->milestone.cuda ? " on " : "",
            g->milestone.cuda ? r->profile : "", (unsigned long long)r->seed);
    if (r->not_sandboxed[0])
        fprintf(g->out, "not sandboxed: %s\n", r->not_sandboxed);
}

/* Compiles and loads the submission. @param good  set to whether the other stages can run */
static enum st_code build_and_load(struct grading *g, bool *good, struct st_error *err)
{
    struct gr_check *builds = gr_check_add(g, "builds");
    progress_begin("compiling");
    enum st_code code = gr_build_check(g, err);
    progress_begin("waiting: another grading measures times");
    if (!code && builds->status != GR_FAIL)
        code = gr_timing_begin(g, RUNNER_ON_GPU, err);
    progress_begin("loading");
    if (!code && builds->status != GR_FAIL)
        code = gr_load_check(g, err);
    progress_clear();
    *good = !code && builds->status == GR_PASS;
    if (code)
        return code;
    gr_check_print(g, builds);
    if (!*good)
        gr_checks_skip_rest(g, "not run: the submission did not build");
    return ST_OK;
}

/* --first-failure: whether a failed check ends the grading. */
static bool ends_here(struct grading *g)
{
    bool failed = false;
    for (size_t i = 0; i < g->result->checks; i++)
        failed = failed || g->result->check[i].status == GR_FAIL;
    if (!g->options->first_failure || !failed)
        return false;
    gr_checks_skip_rest(g, "not run: an earlier check failed");
    return true;
}

/* Runs all stages of a milestone that students write. */
static enum st_code grade_lab(struct grading *g, struct st_error *err)
{
    bool good = false;
    progress_begin("loading the images");
    enum st_code code = gr_inference_open(&g->inference, g, err);
    progress_begin("waiting: another grading measures times");
    if (!code)
        code = gr_turn_work(&g->turn, err);
    if (!code)
        code = build_and_load(g, &good, err);
    if (code || !good)
        return code;
    code = gr_unit_shapes_check(g, err);
    if (code || ends_here(g))
        return code;
    progress_begin("waiting: another grading measures times");
    code = gr_timing_begin(g, RUNNER_ON_CPU, err);
    if (!code)
        code = gr_inference_check(g->inference, err);
    if (code || ends_here(g))
        return code;
    progress_begin("technique");
    progress_follow(g->host.progress, "blocks", false);
    code = gr_technique_check(g, err);
    progress_clear();
    if (!code)
        gr_speed_check(g);
    return code;
}

enum st_code gr_grade(struct grading *g, struct st_error *err)
{
    const double earlier_cpu_s = gr_box_cpu_s();
    enum st_code code = gr_grading_prepare(g, err);
    if (code)
        return code;
    print_begin(g);
    code = gr_checks_plan(g, err);
    if (!code)
        code = gr_speed_known(g, err);
    if (!code)
        code = g->milestone.libraries ? gr_library_baseline(g, err) : grade_lab(g, err);
    progress_clear();
    gr_session_end(&g->session);
    gr_inference_close(g->inference);
    g->inference = NULL;
    gr_timing_end(g);
    g->result->sandbox_cpu_s = gr_box_cpu_s() - earlier_cpu_s;
    gr_checks_score(g->result);
    return code;
}

void gr_grading_free(struct grading *g)
{
    gr_handin_close(g);
    gr_session_end(&g->session);
    gr_proof_free(g->proof);
    vg_code_store_close(&g->host.code_store);
    progress_clear(); /* also removes the line of the last step */
    progress_unshare(g->host.progress, &g->host.progress_fd);
    gr_source_build_free(&g->built);
    free(g->source);
    gr_inference_close(g->inference);
    gr_arena_end(g);
    gr_rubric_free(g->rubric);
    g->rubric = NULL;
}
