#include "grader/stages/checks.h"

#include "base/printable.h"
#include "grader/stages/grading.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- from the rubric ------------------------------------------------------------------------ */

static bool is_known(const struct grading *g, const struct gr_item *item)
{
    const char *sized = g->milestone.exercise->sized;
    static const char *const names[] = {"builds", "unit_shapes", "technique",
                                        "speed",  "library_cpu", "library_gpu"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], item->id) == 0)
            return true;
    return gr_item_images(item) > 0 && strncmp(item->id, sized, strlen(sized)) == 0;
}

static enum st_code add_manual(struct gr_result *r, const struct gr_item *item,
                               struct st_error *err)
{
    if (r->manuals == GR_MAX_MANUAL)
        return st_fail(err, ST_TOO_LARGE, "rubric: more than %d manual items", GR_MAX_MANUAL);
    struct gr_manual *manual = &r->manual[r->manuals++];
    snprintf(manual->name, sizeof manual->name, "%s", item->id);
    snprintf(manual->text, sizeof manual->text, "%s", item->text);
    manual->max_points = item->points;
    r->manual_max += item->points;
    return ST_OK;
}

/* Adds a check as skipped; gives the reason if this run does not request it. */
static void plan_check(struct grading *g, const struct gr_item *item)
{
    const struct gr_options *o = g->options;
    char size[EXERCISE_TEXT];
    struct gr_check *check = gr_check_add(g, item->id);
    gr_check_set(check, GR_SKIP, "not reached");
    check->required = gr_options_ask_for(o, item);
    if (check->required)
        return;
    if (gr_item_images(item))
        gr_check_set(check, GR_SKIP, "not checked in this run (%s)",
                     o->sizes_given ? "--images" : "--quick");
    else if (o->quick)
        gr_check_set(check, GR_SKIP,
                     "not judged with --quick, which times no other code for comparison");
    else
        gr_check_set(
            check, GR_SKIP, "not judged in this run: it needs %s",
            exercise_size(g->milestone.exercise,
                          gr_item_speed_images(item, (size_t)g->milestone.exercise->speed_size),
                          size));
}

enum st_code gr_checks_plan(struct grading *g, struct st_error *err)
{
    enum st_code code = ST_OK;
    for (unsigned i = 0; i < g->rubric->items_count && !code; i++) {
        const struct gr_item *item = &g->rubric->items[i];
        if (item->kind == GR_MANUAL) {
            code = add_manual(g->result, item, err);
        } else if (is_known(g, item)) {
            plan_check(g, item);
        } else {
            code =
                st_fail(err, ST_BAD_FORMAT, "rubric: no automatic check is named '%s'", item->id);
            st_detail(err, ST_WHERE, "%s", g->milestone.rubric);
            st_detail(
                err, ST_EXPECTED,
                "builds, unit_shapes, %s_N (N up to %d), technique, speed, library_cpu, library_gpu",
                g->milestone.exercise->sized, GR_MAX_IMAGES);
        }
    }
    return code;
}

/* ---- one check ------------------------------------------------------------------------------ */

struct gr_check *gr_check_find(struct grading *g, const char *name)
{
    return gr_result_check(g->result, name);
}

struct gr_check *gr_check_add(struct grading *g, const char *name)
{
    struct gr_result *r = g->result;
    struct gr_check *check = gr_check_find(g, name);
    if (check)
        return check;
    check = &r->check[r->checks < GR_MAX_CHECKS ? r->checks++ : r->checks - 1];
    const struct gr_item *item = gr_rubric_item(g->rubric, name);
    snprintf(check->name, sizeof check->name, "%s", name);
    if (item)
        snprintf(check->text, sizeof check->text, "%s", item->text);
    else
        snprintf(check->text, sizeof check->text, "%s (not in the rubric)", name);
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
    text_printable(check->message, sizeof check->message, text); /* may contain a student's names */
    check->status = status;
    check->points = status == GR_PASS ? check->max_points : 0;
}

void gr_check_append(struct gr_check *check, const char *text, ...)
{
    const size_t used = strlen(check->message);
    va_list args;
    va_start(args, text);
    vsnprintf(check->message + used, sizeof check->message - used, text, args);
    va_end(args);
}

void gr_check_hint(struct gr_check *check, const char *hint, ...)
{
    va_list args;
    va_start(args, hint);
    vsnprintf(check->hint, sizeof check->hint, hint, args);
    va_end(args);
}

void gr_check_pattern(struct gr_check *check, const char *pattern)
{
    snprintf(check->pattern, sizeof check->pattern, "%s", pattern);
}

/* ---- all checks ----------------------------------------------------------------------------- */

void gr_checks_skip_rest(struct grading *g, const char *why)
{
    for (size_t i = 0; i < g->result->checks; i++) {
        struct gr_check *check = &g->result->check[i];
        if (check->status == GR_SKIP && check->required)
            gr_check_set(check, GR_SKIP, "%s", why);
    }
}

void gr_checks_score(struct gr_result *r)
{
    for (size_t i = 0; i < r->checks; i++) {
        r->score += r->check[i].points;
        r->max_score += r->check[i].max_points;
    }
}

double gr_time_limit_s(const struct grading *g, const struct conv_shape *shape)
{
    const double macs = nn_conv_macs(shape);
    if (g->host.device == RUNNER_ON_VIRTUAL_GPU)
        /* Blocks of small images run all threads for few outputs; kernels run slowly at first. */
        return 30 + shape->B * 0.005 + macs / 0.02e9 + fmin(macs, 1e9) / 0.007e9;
    const bool is_small = g->host.device == RUNNER_ON_CPU && macs < 1e8;
    return (is_small && gr_is_short(g) ? 3 : 10) + macs / 0.1e9;
}

bool gr_is_short(const struct grading *g)
{
    return g->options->quick && !g->options->sizes_given;
}

void gr_repeats_append(const struct grading *g, const char *before, char *to, size_t room)
{
    char text[EXERCISE_TEXT];
    g->milestone.exercise->describe(text, &g->repeating, EXERCISE_SHAPE);
    const size_t used = strlen(to);
    snprintf(to + used, room - used,
             "%sin shape %s, the kernels execute %.0f multiply-adds for each product of x and k%s",
             before, text, g->repeats,
             gr_is_short(g) ? " (without --quick, the limit is longer)" : "");
}

void gr_run_limited(struct grading *g, const struct conv_shape *shape, struct gr_run *run)
{
    enum { SHORT_S = GR_SESSION_OTHERS_S + 1 };
    const double limit_s = gr_time_limit_s(g, shape);
    const bool is_short = g->repeats && gr_is_short(g) && limit_s > SHORT_S;
    gr_session_run(&g->session, shape, &g->arena, is_short ? SHORT_S : limit_s, run);
    if (run->outcome == GR_TIMED_OUT && g->repeats)
        gr_repeats_append(g, "; ", run->message, sizeof run->message);
}
