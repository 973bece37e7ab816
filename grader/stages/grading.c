#include "grader/stages/grading.h"

#include "base/checkout.h"
#include "base/files.h"
#include "grader/stages/library_baseline.h"
#include "grader/course/machine.h"
#include "grader/place/cores.h"
#include "grader/sandbox/library_check.h"
#include "grader/sandbox/printable.h"
#include "grader/report/report.h"
#include "grader/technique/work.h"
#include "nn/oracle.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- checks --------------------------------------------------------------------------------- */

static const struct gr_item *rubric_item(const struct gr_rubric *rubric, const char *name)
{
    for (unsigned i = 0; i < rubric->items_count; i++)
        if (strcmp(rubric->items[i].id, name) == 0 && rubric->items[i].kind == GR_AUTOMATIC)
            return &rubric->items[i];
    return NULL;
}

struct gr_check *gr_check_find(struct grading *g, const char *name)
{
    struct gr_result *r = g->result;
    for (size_t i = 0; i < r->checks; i++)
        if (strcmp(r->check[i].name, name) == 0)
            return &r->check[i];
    return NULL;
}

struct gr_check *gr_check_add(struct grading *g, const char *name)
{
    struct gr_result *r = g->result;
    struct gr_check *check = gr_check_find(g, name);
    if (check)
        return check;
    check = &r->check[r->checks < GR_MAX_CHECKS ? r->checks++ : r->checks - 1];
    const struct gr_item *item = rubric_item(g->rubric, name);
    snprintf(check->name, sizeof check->name, "%s", name);
    snprintf(check->text, sizeof check->text, "%s", item ? item->text : "not in the rubric");
    check->max_points = item ? item->points : 0;
    check->status = GR_SKIP;
    check->required = true;
    return check;
}

void gr_check_set(struct gr_check *check, enum gr_status status, const char *message, ...)
{
    char text[sizeof check->message];
    va_list args;
    va_start(args, message);
    vsnprintf(text, sizeof text, message, args);
    va_end(args);
    gr_printable(check->message, sizeof check->message, text); /* names in it are the student's */
    check->status = status;
    check->points = status == GR_PASS ? check->max_points : 0;
}

void gr_check_hint(struct gr_check *check, const char *hint, ...)
{
    va_list args;
    va_start(args, hint);
    vsnprintf(check->hint, sizeof check->hint, hint, args);
    va_end(args);
}

double gr_time_limit_s(const struct grading *g, const struct conv_shape *shape)
{
    if (g->host.device == RUNNER_ON_VIRTUAL_GPU)
        return 30 + nn_conv_macs(shape) / 0.01e9;
    return 10 + nn_conv_macs(shape) / 0.1e9;
}

/* ---- stages --------------------------------------------------------------------------------- */

static bool is_check(const char *name)
{
    static const char *const names[] = {"builds", "unit_shapes", "technique", "speed"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return gr_is_library_check(name);
}

/* Checks exist from the start, in the rubric's order, so that a grading that ends early still shows
 * all of them. A check that no stage knows is a mistake in the rubric. */
static enum st_code make_checks(struct grading *g, struct st_error *err)
{
    struct gr_result *r = g->result;
    for (unsigned i = 0; i < g->rubric->items_count; i++) {
        const struct gr_item *item = &g->rubric->items[i];
        if (item->kind == GR_MANUAL) {
            if (r->manuals == GR_MAX_MANUAL)
                return st_fail(err, ST_TOO_LARGE, "rubric: more than %d manual items",
                               GR_MAX_MANUAL);
            struct gr_manual *manual = &r->manual[r->manuals++];
            snprintf(manual->name, sizeof manual->name, "%s", item->id);
            snprintf(manual->text, sizeof manual->text, "%s", item->text);
            manual->max_points = item->points;
            r->manual_max += item->points;
            continue;
        }
        unsigned images = 0;
        int length = 0;
        bool sized = sscanf(item->id, "inference_%u%n", &images, &length) == 1 &&
                     !item->id[length] && images >= 1 && images <= GR_MAX_IMAGES;
        if (!sized && !is_check(item->id)) {
            st_fail(err, ST_BAD_FORMAT, "rubric: no automatic check is called '%s'", item->id);
            st_detail(err, ST_WHERE, "%s", g->milestone.rubric);
            return st_detail(err, ST_EXPECTED,
                             "builds, unit_shapes, inference_N (N up to %d), technique, speed, "
                             "library_cpu, library_gpu",
                             GR_MAX_IMAGES);
        }
        struct gr_check *check = gr_check_add(g, item->id);
        gr_check_set(check, GR_SKIP, "not reached");
        if (strcmp(item->id, "speed") == 0 && g->options->quick) {
            check->required = false;
            gr_check_set(check, GR_SKIP, "not asked for (--quick)");
        }
        if (!sized)
            continue;
        check->required = false;
        for (size_t s = 0; s < g->chosen.sizes; s++)
            check->required |= g->chosen.images[s] == images;
        if (!check->required)
            gr_check_set(check, GR_SKIP, "not asked for (%s)",
                         g->options->sizes_given ? "--images"
                         : g->options->quick     ? "--quick"
                                                 : "virtual GPU: ask with --images");
    }
    return ST_OK;
}

/* Leaves the compiler's lines, takes make's own out, and what has been said already; in place. */
static void drop_make_lines(char *text)
{
    char *to = text;
    for (char *line = text; *line;) {
        size_t length = strcspn(line, "\n") + 1;
        if (line[length - 1] == '\0')
            length--;
        bool drop = strncmp(line, "make: ", 6) == 0 || strncmp(line, "make[", 5) == 0 ||
                    strncmp(line, "not sandboxed: ", 15) == 0;
        if (!drop) {
            memmove(to, line, length);
            to += length;
        }
        line += length;
    }
    *to = '\0';
}

/* --source: the file is built by itself. */
static enum st_code build_source(struct grading *g, struct gr_check *check, struct st_error *err)
{
    char header[PATH_MAX], *command;
    path_format(header, sizeof header, "%s/common/conv.h", checkout_root(err));
    enum st_code code = gr_milestone_compiler(&g->milestone, &command, err);
    if (code)
        return code;
    const char *name = g->milestone.cuda ? "conv.cu" : "conv.c";
    code =
        gr_source_build(&g->built, &g->host.sandbox, g->options->file, name, header, command, err);
    free(command);
    if (code)
        return code;
    path_format(g->library, sizeof g->library, "%s", g->built.library);
    if (g->built.built)
        return ST_OK;
    const bool error = strcmp(g->built.pattern, "compile_error") == 0;
    snprintf(check->pattern, sizeof check->pattern, "%s", g->built.pattern);
    gr_check_set(check, GR_FAIL, "%s%.1900s", error ? "does not compile:\n" : "", g->built.said);
    gr_check_hint(check,
                  error ? "fix the first error first: those after it are often its consequences"
                        : "hand in one regular file that compiles in seconds");
    return ST_OK;
}

static enum st_code build_stage(struct grading *g, struct st_error *err)
{
    const struct gr_options *o = g->options;
    struct gr_check *check = gr_check_add(g, "builds");
    if (o->lib) {
        if (!file_exists(o->lib)) {
            st_fail(err, ST_NOT_FOUND, "no library to grade");
            st_detail(err, ST_WHERE, "%s", o->lib);
            return st_detail(err, ST_HINT, "--lib takes the path of a built libconv.so");
        }
        if (!realpath(o->lib, g->library))
            return st_fail(err, ST_NOT_FOUND, "no library to grade: %s", o->lib);
        return ST_OK;
    }
    if (o->file)
        return build_source(g, check, err);
    const char *source = o->reference ? g->milestone.reference_source : g->milestone.lab_source;
    if (!file_exists(source)) {
        if (o->reference) {
            st_fail(err, ST_NOT_FOUND, "there is no reference solution here");
            return st_detail(err, ST_WHERE, "%s", source);
        }
        const char *name = strrchr(source, '/') + 1;
        gr_check_set(check, GR_FAIL, "there is no file %s to compile", name);
        gr_check_hint(check, "put your solution into labs/%s/%s", g->milestone.folder, name);
        return ST_OK;
    }
    char target[64], *output;
    bool compiles;
    snprintf(target, sizeof target, "%s-%s", o->reference ? "reference" : "lab", g->milestone.id);
    enum st_code code = gr_milestone_build(target, o->sandbox, &compiles, &output, err);
    if (code)
        return code;
    path_format(g->library, sizeof g->library, "%s",
                o->reference ? g->milestone.reference_library : g->milestone.lab_library);
    if (!compiles) {
        drop_make_lines(output);
        snprintf(check->pattern, sizeof check->pattern, "compile_error");
        gr_check_set(check, GR_FAIL, "does not compile:\n%.1900s", output);
        gr_check_hint(check,
                      "fix the first error first: those after it are often its consequences");
    } else if (!file_exists(g->library)) {
        gr_check_set(check, GR_FAIL, "make built nothing:\n%.1900s", output);
    }
    free(output);
    return ST_OK;
}

static void set_source(struct grading *g)
{
    const struct gr_options *o = g->options;
    struct gr_result *r = g->result;
    struct st_error ignored;
    const char *root = checkout_root(&ignored);
    const char *source = o->lib         ? o->lib
                         : o->file      ? o->file
                         : o->reference ? g->milestone.reference_source
                                        : g->milestone.lab_source;
    size_t skip = root && strncmp(source, root, strlen(root)) == 0 ? strlen(root) + 1 : 0;
    snprintf(r->source, sizeof r->source, "%s", source + skip);
    snprintf(r->subject, sizeof r->subject, "%s",
             o->lib         ? "library"
             : o->reference ? "reference"
                            : "submission");
}

static bool failed(const struct grading *g, const char *name)
{
    for (size_t i = 0; i < g->result->checks; i++)
        if (strcmp(g->result->check[i].name, name) == 0)
            return g->result->check[i].status == GR_FAIL;
    return false;
}

static void skip_rest(struct grading *g, const char *why)
{
    for (size_t i = 0; i < g->result->checks; i++) {
        struct gr_check *check = &g->result->check[i];
        if (check->status == GR_SKIP && check->required)
            gr_check_set(check, GR_SKIP, "%s", why);
    }
}

static enum st_code load_stage(struct grading *g, struct st_error *err)
{
    struct gr_check *check = gr_check_add(g, "builds");
    struct gr_run run;
    char message[400];
    if (!gr_library_is_plain(&g->host.sandbox, g->library, message, sizeof message)) {
        snprintf(check->pattern, sizeof check->pattern, "not_own_work");
        gr_check_set(check, GR_FAIL, "%s", message);
        gr_check_hint(check, "use memory, arithmetic, threads and, in GPU milestones, kernels");
        return ST_OK;
    }
    enum st_code code = arena_open(&g->arena, err);
    if (!code)
        code = gr_session_start(&g->session, &g->host, g->library, &g->arena, &run, err);
    if (code)
        return code;
    if (run.outcome == GR_NOT_LOADED || run.message[0]) {
        snprintf(check->pattern, sizeof check->pattern, "not_loaded");
        gr_check_set(check, GR_FAIL, "%s", run.message);
        gr_check_hint(check, "%s", run.hint);
    } else {
        gr_check_set(check, GR_PASS, "compiles and exports conv_forward");
        if (g->host.device == RUNNER_ON_GPU) {
            snprintf(g->result->profile, sizeof g->result->profile, "%s", g->session.device_name);
            snprintf(g->result->machine, sizeof g->result->machine, "%s", g->session.device_name);
            snprintf(g->result->timed_on, sizeof g->result->timed_on, "%s", g->session.device_id);
        }
    }
    return ST_OK;
}

/* ---- the turn ------------------------------------------------------------------------------- */

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void tell_cores(char *to, size_t room)
{
    char list[64];
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores))
        return;
    snprintf(to, room, "core%s %s", CPU_COUNT(&cores) == 1 ? "" : "s",
             gr_cores_text(&cores, list, sizeof list));
}

/* Times are taken one at a time (place/turn.h): a grading has the turn as long as it uses the GPU,
 * or from when it times on the CPU. Builds and the CPU's unit shapes need none, nor does the
 * virtual GPU, whose times are modelled. */
static enum st_code take_turn(struct grading *g, enum runner_device device, struct st_error *err)
{
    bool anew;
    if (g->host.device != device)
        return ST_OK;
    enum st_code code = gr_turn_take(&g->turn, device == RUNNER_ON_CPU, &anew, err);
    if (code)
        return code;
    g->result->timed_from = now_s();
    if (device == RUNNER_ON_CPU)
        tell_cores(g->result->timed_on, sizeof g->result->timed_on);
    if (anew) /* by the inference stage */
        gr_session_end(&g->session);
    return ST_OK;
}

static void end_turn(struct grading *g)
{
    if (g->result->timed_from > 0)
        g->result->timed_until = now_s();
    gr_turn_end(&g->turn);
}

/* Every stage of a milestone that a student writes. */
static enum st_code grade_lab(struct grading *g, struct st_error *err)
{
    enum st_code code = gr_inference_open(&g->inference, g, err);
    if (!code)
        code = gr_turn_work(&g->turn, err);
    if (!code)
        code = build_stage(g, err);
    if (!code && !failed(g, "builds"))
        code = take_turn(g, RUNNER_ON_GPU, err);
    if (!code && !failed(g, "builds"))
        code = load_stage(g, err);
    struct gr_check *builds = gr_check_add(g, "builds");
    if (!code)
        gr_check_print(g->out, builds);
    if (!code && builds->status == GR_FAIL)
        skip_rest(g, "not run: the submission did not build");
    if (!code && builds->status == GR_PASS)
        code = gr_unit_shapes_check(g, err);
    if (!code && builds->status == GR_PASS)
        code = take_turn(g, RUNNER_ON_CPU, err);
    if (!code && builds->status == GR_PASS)
        code = gr_inference_check(g->inference, err);
    if (!code && builds->status == GR_PASS)
        code = gr_technique_check(g, err);
    if (!code && builds->status == GR_PASS)
        gr_speed_check(g);
    return code;
}

enum st_code gr_grade(struct grading *g, struct st_error *err)
{
    struct gr_result *r = g->result;
    g->arena.fd = -1;
    g->turn = GR_TURN_NONE;
    g->session = GR_SESSION_CLOSED;
    enum st_code code = gr_milestone_find(&g->milestone, g->options->milestone, err);
    if (!code)
        code = gr_rubric_load(&g->rubric, g->milestone.rubric, err);
    if (!code && g->options->shapes)
        code = gr_case_shapes_read(g->options->shapes, g->held_out, &g->held_outs, err);
    if (code)
        return code;
    snprintf(r->milestone, sizeof r->milestone, "%s", g->milestone.id);
    snprintf(r->title, sizeof r->title, "%s", g->rubric->title);
    snprintf(r->technique, sizeof r->technique, "%s", g->rubric->technique);
    r->seed = g->options->seed;
    set_source(g);
    gr_machine_describe(r, g->milestone.cuda);
    if ((code = gr_host_choose(g, err)))
        return code;
    if (!g->milestone.libraries) /* m0 runs no code of a student's */
        code = gr_sandbox_open(&g->host.sandbox, g->options->sandbox, g->host.build, err);
    if (code)
        return code;
    r->sandboxed = g->host.sandbox.on;
    snprintf(r->not_sandboxed, sizeof r->not_sandboxed, "%s", g->host.sandbox.reason);
    fprintf(g->out, "%s %s: grading %s%s%s with seed %llu\n", r->milestone, r->title, r->source,
            g->milestone.cuda ? " on " : "", g->milestone.cuda ? r->profile : "",
            (unsigned long long)r->seed);
    if (r->not_sandboxed[0])
        fprintf(g->out, "not sandboxed: %s\n", r->not_sandboxed);
    code = make_checks(g, err);
    if (!code)
        code = g->milestone.libraries ? gr_library_baseline(g, err) : grade_lab(g, err);
    gr_session_end(&g->session);
    end_turn(g);
    for (size_t i = 0; i < r->checks; i++) {
        r->score += r->check[i].points;
        r->max_score += r->check[i].max_points;
    }
    return code;
}

void gr_grading_free(struct grading *g)
{
    gr_session_end(&g->session);
    gr_code_free(g->code);
    gr_source_build_free(&g->built);
    gr_inference_close(g->inference);
    arena_close(&g->arena);
    gr_rubric_free(g->rubric);
    g->rubric = NULL;
}
