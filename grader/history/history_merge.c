/* Merges the results that a grading did not request, from an earlier grading of the same
 * version. */
#include "grader/history/history.h"

#include "exercise/exercise.h"

#include <stdio.h>
#include <string.h>

bool hi_is_same(const struct gr_result *a, const struct gr_result *b)
{
    const char *const model_a = a->inferences ? a->inference[0].model : "";
    const char *const model_b = b->inferences ? b->inference[0].model : "";
    return a->source_hash[0] && strcmp(a->source_hash, b->source_hash) == 0 &&
           strcmp(a->subject, b->subject) == 0 && strcmp(a->device, b->device) == 0 &&
           strcmp(a->profile, b->profile) == 0 && strcmp(a->machine, b->machine) == 0 &&
           strcmp(a->model_hash, b->model_hash) == 0 &&
           (!*model_a || !*model_b || strcmp(model_a, model_b) == 0);
}

static void keep_date(char graded[24], const struct gr_result *older)
{
    if (!graded[0])
        snprintf(graded, 24, "%.23s", older->date);
}

/* @return whether the check's verdict now comes from the earlier grading. */
static bool take_check(struct gr_result *r, const struct gr_check *from,
                       const struct gr_result *older)
{
    struct gr_check *to = gr_result_check(r, from->name);
    if (from->status == GR_SKIP || (to && (to->required || to->status != GR_SKIP)))
        return false;
    if (!to && r->checks == GR_MAX_CHECKS)
        return false;
    if (!to)
        to = &r->check[r->checks++];
    *to = *from;
    keep_date(to->graded, older);
    return true;
}

static bool was_asked_for(struct gr_result *r, size_t images)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%zu", exercise_of(r->milestone)->sized, images);
    const struct gr_check *check = gr_result_check(r, name);
    return check && check->required;
}

static size_t find_inference(const struct gr_result *r, const struct gr_inference *like)
{
    size_t i = 0;
    while (i < r->inferences && (r->inference[i].images != like->images ||
                                 strcmp(r->inference[i].model, like->model) != 0))
        i++;
    return i;
}

static bool is_of(const struct gr_timing *t, const struct gr_inference *in)
{
    return gr_timing_size(t) == in->images && strcmp(t->model, in->model) == 0;
}

/* Whether other subjects were timed alternately with an inference. */
static bool has_company(const struct gr_result *r, const struct gr_inference *in)
{
    const struct gr_timing *first = NULL;
    for (size_t i = 0; i < r->timings; i++)
        if (is_of(&r->timing[i], in)) {
            first = first ? first : &r->timing[i];
            if (r->timing[i].subject != first->subject)
                return true;
        }
    return false;
}

static void drop_inference(struct gr_result *r, size_t at)
{
    size_t n = 0;
    for (size_t i = 0; i < r->timings; i++)
        if (!is_of(&r->timing[i], &r->inference[at]))
            r->timing[n++] = r->timing[i];
    r->timings = n;
    r->inferences--;
    memmove(&r->inference[at], &r->inference[at + 1], (r->inferences - at) * sizeof *r->inference);
}

/* Whether the earlier times stay: the new grading did not request this inference, or timed no other
 * subject with it, and the earlier grading did. */
static bool stays(struct gr_result *r, const struct gr_inference *from,
                  const struct gr_result *older)
{
    const size_t at = find_inference(r, from);
    if (at == r->inferences)
        return !was_asked_for(r, from->images);
    if (!r->inference[at].passed || !from->passed || has_company(r, from) ||
        !has_company(older, from))
        return false;
    drop_inference(r, at);
    return true;
}

static void take_timings(struct gr_result *r, const struct gr_inference *of,
                         const struct gr_result *older)
{
    for (size_t i = 0; i < older->timings && r->timings < GR_MAX_TIMINGS; i++) {
        const struct gr_timing *from = &older->timing[i];
        if (!is_of(from, of))
            continue;
        size_t at = r->timings++;
        for (; at && gr_timing_size(&r->timing[at - 1]) > gr_timing_size(from); at--)
            r->timing[at] = r->timing[at - 1];
        r->timing[at] = *from;
    }
}

static void take_inference(struct gr_result *r, const struct gr_inference *from,
                           const struct gr_result *older)
{
    size_t at = r->inferences++;
    for (; at && r->inference[at - 1].images > from->images; at--)
        r->inference[at] = r->inference[at - 1];
    r->inference[at] = *from;
    keep_date(r->inference[at].graded, older);
}

static void sum_points(struct gr_result *r)
{
    r->score = r->max_score = 0;
    for (size_t i = 0; i < r->checks; i++) {
        r->score += r->check[i].points;
        r->max_score += r->check[i].max_points;
    }
}

void hi_merge(struct gr_result *r, const struct gr_result *older)
{
    for (size_t i = 0; i < older->inferences && r->inferences < GR_MAX_INFERENCES; i++) {
        const struct gr_inference *from = &older->inference[i];
        if (!stays(r, from, older))
            continue;
        take_inference(r, from, older);
        take_timings(r, from, older);
    }
    for (size_t i = 0; i < older->checks; i++)
        if (take_check(r, &older->check[i], older) && strcmp(older->check[i].name, "speed") == 0)
            r->speed = older->speed;
    sum_points(r);
}
