/* All gradings beside each other, for the final report. */
#include "grader/paper/fill.h"

#include "base/numbers.h"
#include "grader/report/report_parts.h"

#include <math.h>
#include <string.h>

static void put_number(FILE *out, double value, int digits)
{
    char text[NUMBER_CHARS];
    fputs(isfinite(value) ? number_short(text, value, digits) : "–", out);
}

/* The inference with the most images, of the model that was run first. */
static const struct gr_inference *largest(const struct gr_result *r)
{
    const struct gr_inference *found = NULL;
    for (size_t i = 0; i < r->inferences; i++)
        if (strcmp(r->inference[i].model, r->inference[0].model) == 0 &&
            (!found || r->inference[i].images > found->images))
            found = &r->inference[i];
    return found;
}

static void put_state(FILE *out, const struct pp_grading *g)
{
    if (!g->there)
        fputs("cannot be read", out);
    else if (g->stale)
        fputs("**out of date**", out);
    else if (strcmp(g->result.subject, "submission") != 0)
        gr_put_markdown(out, g->result.subject);
    else
        fputs("submission", out);
}

static void put_scores(const struct pp_fill *f)
{
    fputs("| Milestone | Graded | Automatic points | Device | Date |\n|---|---|---:|---|---|\n",
          f->out);
    for (size_t i = 0; i < f->src->n; i++) {
        const struct pp_grading *g = f->src->grading[i];
        if (!g->there && !g->fault[0])
            continue;
        fprintf(f->out, "| %s: ", g->id);
        gr_put_markdown(f->out, g->result.title);
        fputs(" | ", f->out);
        put_state(f->out, g);
        fprintf(f->out, " | %g / %g | ", g->result.score, g->result.max_score);
        gr_put_markdown(f->out, g->result.profile[0] ? g->result.profile : g->result.device);
        fputs(" | ", f->out);
        gr_put_markdown(f->out, g->result.date);
        fputs(" |\n", f->out);
    }
}

static void put_op_times(const struct pp_fill *f)
{
    int layers = 1;
    for (size_t i = 0; i < f->src->n; i++) {
        const struct gr_inference *in = largest(&f->src->grading[i]->result);
        layers = in && in->convs > layers ? in->convs : layers;
    }
    fputs("| Milestone | Device | Images ", f->out);
    for (int l = 1; l <= layers; l++)
        fprintf(f->out, "| Layer %d (ms) ", l);
    fputs("| All (ms) |\n|---|---|---:", f->out);
    for (int l = 0; l <= layers; l++)
        fputs("|---:", f->out);
    fputs("|\n", f->out);
    for (size_t i = 0; i < f->src->n; i++) {
        const struct pp_grading *g = f->src->grading[i];
        const struct gr_inference *in = largest(&g->result);
        if (!in)
            continue;
        double sum = 0;
        fprintf(f->out, "| %s: ", g->id);
        gr_put_markdown(f->out, g->result.title);
        fputs(" | ", f->out);
        gr_put_markdown(f->out, g->result.profile[0] ? g->result.profile : g->result.device);
        fprintf(f->out, " | %zu ", in->images);
        for (int l = 0; l < layers; l++) {
            const double time = l < in->convs && in->passed ? in->op_time_s[l] : NAN;
            fputs("| ", f->out);
            put_number(f->out, time * 1e3, 4);
            fputc(' ', f->out);
            sum += l < in->convs ? time : 0;
        }
        fputs("| ", f->out);
        put_number(f->out, sum * 1e3, 4);
        fprintf(f->out, "%s |\n", in->passed ? "" : " (outputs wrong)");
    }
}

bool pp_fill_milestones(const struct pp_fill *f)
{
    bool any = false;
    for (size_t i = 0; i < f->src->n; i++)
        any = any || f->src->grading[i]->there || f->src->grading[i]->fault[0];
    if (!any) {
        pp_put_missing(f, "a grading of any milestone", "make m1 && ./grader m1");
        return true;
    }
    pp_put_caption(f, NULL);
    if (strcmp(pp_attribute(f->piece, "part", "op-times"), "scores") == 0)
        put_scores(f);
    else
        put_op_times(f);
    return true;
}
