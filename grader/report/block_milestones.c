/* All gradings side by side, and the authors of the report. */
#include "grader/report/block.h"
#include "grader/report/report_cells.h"
#include "grader/report/report_parts.h"

#include <math.h>
#include <string.h>

/* The inference with the most images, of the model that ran first. */
static const struct gr_inference *largest(const struct gr_grading *g)
{
    const struct gr_result *r = g->result;
    const struct gr_inference *found = NULL;
    for (size_t i = 0; r && i < r->inferences; i++)
        if (strcmp(r->inference[i].model, r->inference[0].model) == 0 &&
            (!found || r->inference[i].images > found->images))
            found = &r->inference[i];
    return found;
}

static void put_milestone_cell(struct gr_cells *t, const struct gr_grading *g)
{
    gr_cell_print(t, "%s: %s", g->id, g->result ? g->result->title : "");
}

static void put_device_cell(struct gr_cells *t, const struct gr_result *r)
{
    gr_cell(t, r->profile[0] ? r->profile : r->device);
}

static void put_score(struct gr_cells *t, const struct gr_grading *g)
{
    const struct gr_result *r = g->result;
    put_milestone_cell(t, g);
    if (!r)
        gr_cell(t, "cannot be read");
    else if (g->stale)
        gr_cell_strong(t, "out of date");
    else
        gr_cell(t, r->subject);
    if (r) {
        gr_cell_print(t, "%g / %g", r->score, r->max_score);
        put_device_cell(t, r);
        gr_cell(t, r->date);
    }
    gr_row_end(t);
}

static void put_scores(const struct gr_block *b)
{
    struct gr_cells t = {.out = b->out};
    gr_column(&t, 'l', "Milestone");
    gr_column(&t, 'l', "Graded");
    gr_column(&t, 'r', "Automatic points");
    gr_column(&t, 'l', "Device");
    gr_column(&t, 'l', "Date");
    gr_columns_end(&t);
    for (size_t i = 0; i < b->src->n; i++)
        if (b->src->grading[i]->result || b->src->grading[i]->fault[0])
            put_score(&t, b->src->grading[i]);
}

static void put_op_time(struct gr_cells *t, const struct gr_grading *g,
                        const struct gr_inference *in, int layers)
{
    double sum = 0;
    put_milestone_cell(t, g);
    put_device_cell(t, g->result);
    gr_cell_print(t, "%zu", in->images);
    for (int l = 0; l < layers; l++) {
        gr_cell_number(t, l < in->convs && in->passed ? in->op_time_s[l] * 1e3 : NAN, 4);
        sum += l < in->convs ? in->op_time_s[l] : 0;
    }
    if (in->passed)
        gr_cell_number(t, sum * 1e3, 4);
    else
        gr_cell(t, "outputs wrong");
    gr_row_end(t);
}

static void put_op_times(const struct gr_block *b)
{
    int layers = 1;
    for (size_t i = 0; i < b->src->n; i++) {
        const struct gr_inference *in = largest(b->src->grading[i]);
        layers = in && in->convs > layers ? in->convs : layers;
    }
    struct gr_cells t = {.out = b->out};
    gr_column(&t, 'l', "Milestone");
    gr_column(&t, 'l', "Device");
    gr_column(&t, 'r', "Images");
    for (int l = 1; l <= layers; l++)
        gr_column(&t, 'r', "Layer %d (ms)", l);
    gr_column(&t, 'r', "All (ms)");
    gr_columns_end(&t);
    for (size_t i = 0; i < b->src->n; i++) {
        const struct gr_inference *in = largest(b->src->grading[i]);
        if (in)
            put_op_time(&t, b->src->grading[i], in, layers);
    }
}

bool gr_block_milestones(const struct gr_block *b)
{
    bool any = false;
    for (size_t i = 0; b->src && i < b->src->n; i++)
        any = any || b->src->grading[i]->result || b->src->grading[i]->fault[0];
    if (!any)
        return gr_put_missing(b, "a grading of any milestone", "make m1 && ./grader m1");
    gr_put_caption(b, NULL);
    (gr_attribute_is(b->piece, "part", "scores") ? put_scores : put_op_times)(b);
    return true;
}

bool gr_block_technique(const struct gr_block *b)
{
    if (!b->src || !b->src->folder)
        return gr_put_nothing(b, "This page is not in the folder of a technique.");
    fputs("# ", b->out);
    gr_put_markdown(b->out, b->src->folder);
    fputs(": ", b->out);
    gr_put_markdown(b->out, b->src->technique);
    fprintf(b->out, " (%s)\n", b->section);
    return true;
}

bool gr_block_team(const struct gr_block *b)
{
    const struct gr_sources *s = b->src;
    struct gr_cells t = {.out = b->out};
    if (!s || (!s->team && !s->authors))
        return gr_put_missing(b, "name of the team and its members",
                              "./grader report --team 'NAME' --author 'NAME (ID)'");
    gr_column(&t, 'l', "%s", "");
    gr_column(&t, 'l', "%s", "");
    gr_columns_end(&t);
    if (s->team) {
        gr_cell_strong(&t, "Team");
        gr_cell(&t, s->team);
        gr_row_end(&t);
    }
    for (size_t i = 0; i < s->authors; i++) {
        if (i)
            gr_cell(&t, "");
        else
            gr_cell_strong(&t, s->authors > 1 ? "Authors" : "Author");
        gr_cell(&t, s->author[i]);
        gr_row_end(&t);
    }
    return true;
}
