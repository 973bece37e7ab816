/* What the tables and plots of a report show, derived from the record in one place. */
#include "grader/report/report_parts.h"

#include <math.h>
#include <string.h>

/* Times of 0 or less, NaN and Inf are no times. */
static double time_or_nan(double seconds)
{
    return isfinite(seconds) && seconds > 0 ? seconds : NAN;
}

enum gr_subject gr_graded_subject(const struct gr_result *result)
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

void gr_summarize(const struct gr_result *result, struct gr_summary *to)
{
    memset(to, 0, sizeof *to);
    op_rows(result, gr_graded_subject(result), to);
    to->one_model = true;
    for (size_t i = 0; i < to->op_rows; i++)
        to->one_model = to->one_model && strcmp(to->op[i].model, to->op[0].model) == 0;
}

const char *gr_shape_text(char to[64], const struct conv_shape *shape)
{
    if (shape->B <= 0)
        return strcpy(to, "-");
    snprintf(to, 64, "%d×%d×%d, %d@%d", shape->C, shape->H, shape->W, shape->M, shape->K);
    return to;
}

const char *gr_place_text(char to[GR_PLACE_CHARS], const char *file, const char *line)
{
    const char *slash = strrchr(file, '/');
    snprintf(to, GR_PLACE_CHARS, "%.200s:%s", slash ? slash + 1 : file, line);
    return to;
}
