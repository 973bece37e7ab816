/* What the tables and plots of a report show, derived from the record in one place. */
#include "grader/report/report_parts.h"

#include <math.h>
#include <string.h>

/* Times of 0 or less, NaN and Inf are no times. */
static double time_or_nan(double seconds)
{
    return isfinite(seconds) && seconds > 0 ? seconds : NAN;
}

/* The code that was graded is timed as GR_SUBMISSION; a record of --reference may hold it as
 * GR_REFERENCE only. */
static enum gr_subject graded_subject(const struct gr_result *result)
{
    for (size_t i = 0; i < result->timings; i++)
        if (result->timing[i].subject == GR_SUBMISSION)
            return GR_SUBMISSION;
    return strcmp(result->subject, "reference") == 0 ? GR_REFERENCE : GR_SUBMISSION;
}

static const struct gr_timing *find_timing(const struct gr_result *result, enum gr_subject subject,
                                           const char *model, int layer, size_t images)
{
    for (size_t i = 0; i < result->timings; i++) {
        const struct gr_timing *t = &result->timing[i];
        if (t->subject == subject && t->layer == layer && (size_t)t->shape.B == images &&
            strcmp(t->model, model) == 0)
            return t;
    }
    return NULL;
}

static double median_of(const struct gr_timing *timing)
{
    return timing ? time_or_nan(timing->median_s) : NAN;
}

/* Position of a model among the record's models, in the order in which they are met. */
static size_t model_order(const struct gr_result *result, const char *model)
{
    size_t i = 0;
    for (; i < result->inferences; i++)
        if (strcmp(result->inference[i].model, model) == 0)
            return i;
    for (size_t j = 0; j < result->timings; j++)
        if (strcmp(result->timing[j].model, model) == 0)
            return i + j;
    return i + result->timings;
}

static bool row_before(const struct gr_result *result, const char *model_a, size_t images_a,
                       int layer_a, const char *model_b, size_t images_b, int layer_b)
{
    size_t a = model_order(result, model_a), b = model_order(result, model_b);
    return a != b ? a < b : images_a != images_b ? images_a < images_b : layer_a < layer_b;
}

static void add_op_row(const struct gr_result *result, struct gr_summary *to,
                       const struct gr_op_row *row)
{
    size_t at = to->op_rows++;
    for (; at && row_before(result, row->model, row->images, row->layer, to->op[at - 1].model,
                            to->op[at - 1].images, to->op[at - 1].layer);
         at--)
        to->op[at] = to->op[at - 1];
    to->op[at] = *row;
}

static void add_speed_row(const struct gr_result *result, struct gr_summary *to,
                          const struct gr_speed_row *row)
{
    size_t at = to->speed_rows++;
    for (; at && row_before(result, row->model, row->images, row->layer, to->speed[at - 1].model,
                            to->speed[at - 1].images, to->speed[at - 1].layer);
         at--)
        to->speed[at] = to->speed[at - 1];
    to->speed[at] = *row;
}

static void op_rows(const struct gr_result *result, enum gr_subject graded, struct gr_summary *to)
{
    for (size_t i = 0; i < result->inferences; i++) {
        const struct gr_inference *inference = &result->inference[i];
        for (int layer = 1; layer <= inference->convs && layer <= NN_MAX_CONVS; layer++) {
            struct gr_op_row row = {
                .model = inference->model,
                .images = inference->images,
                .layer = layer,
                .op_time_s = time_or_nan(inference->op_time_s[layer - 1]),
                .min_s = NAN,
                .max_s = NAN,
                .gmac_per_s = NAN,
                .passed = inference->passed,
            };
            const struct gr_timing *t =
                find_timing(result, graded, row.model, layer, inference->images);
            if (t) {
                row.shape = t->shape;
                row.gmac_per_s = t->gmac / row.op_time_s;
                for (size_t r = 0; r < t->repeats && r < GR_MAX_REPEATS; r++) {
                    row.min_s = fmin(row.min_s, time_or_nan(t->op_time_s[r]));
                    row.max_s = fmax(row.max_s, time_or_nan(t->op_time_s[r]));
                }
            }
            add_op_row(result, to, &row);
        }
    }
}

static bool outputs_wrong(const struct gr_result *result, const char *model, size_t images)
{
    for (size_t i = 0; i < result->inferences; i++)
        if (result->inference[i].images == images && !result->inference[i].passed &&
            strcmp(result->inference[i].model, model) == 0)
            return true;
    return false;
}

static void speed_rows(const struct gr_result *result, enum gr_subject graded,
                       struct gr_summary *to)
{
    for (size_t i = 0; i < result->timings; i++) {
        const struct gr_timing *t = &result->timing[i];
        size_t images = (size_t)t->shape.B;
        if (t->subject != graded || outputs_wrong(result, t->model, images))
            continue;
        struct gr_speed_row row = {
            .model = t->model,
            .images = images,
            .layer = t->layer,
            .shape = t->shape,
            .graded_s = median_of(t),
            .plain_s = median_of(find_timing(result, GR_PLAIN_LOOPS, t->model, t->layer, images)),
            .reference_s = NAN,
        };
        if (strcmp(to->graded_name, "reference") != 0)
            row.reference_s =
                median_of(find_timing(result, GR_REFERENCE, t->model, t->layer, images));
        if (isfinite(row.graded_s) && (isfinite(row.plain_s) || isfinite(row.reference_s)))
            add_speed_row(result, to, &row);
    }
}

void gr_summarize(const struct gr_result *result, struct gr_summary *to)
{
    memset(to, 0, sizeof *to);
    enum gr_subject graded = graded_subject(result);
    /* Known names only: this one is written into plots. */
    const char *name = strcmp(result->subject, "reference") == 0 ? "reference"
                       : strcmp(result->subject, "library") == 0 ? "library"
                                                                 : "submission";
    snprintf(to->graded_name, sizeof to->graded_name, "%s", name);
    op_rows(result, graded, to);
    speed_rows(result, graded, to);
    to->one_model = true;
    for (size_t i = 0; i < to->op_rows; i++)
        to->one_model = to->one_model && strcmp(to->op[i].model, to->op[0].model) == 0;
    for (size_t i = 0; i < to->speed_rows; i++)
        to->one_model = to->one_model && strcmp(to->speed[i].model, to->speed[0].model) == 0;
}

const char *gr_shape_text(char to[64], const struct conv_shape *shape, const char *times)
{
    if (shape->B <= 0)
        return strcpy(to, "-");
    snprintf(to, 64, "%d%s%d%s%d, %d@%d", shape->C, times, shape->H, times, shape->W, shape->M,
             shape->K);
    return to;
}
