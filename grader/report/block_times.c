/* Op Times and outputs of one grading's networks. */
#include "base/numbers.h"
#include "exercise/exercise.h"
#include "grader/record/timing.h"
#include "grader/report/block.h"
#include "grader/report/report_cells.h"
#include "grader/report/report_parts.h"

#include <math.h>
#include <string.h>

/* ---- sizes side by side --------------------------------------------------------------------- */

struct sizes {
    size_t n, images[GR_MAX_INFERENCES];
    bool one_model;
};

static struct sizes find_sizes(const struct gr_result *r)
{
    struct sizes s = {.one_model = true};
    for (size_t i = 0; i < r->inferences; i++) {
        const size_t images = r->inference[i].images;
        size_t at = 0;
        while (at < s.n && s.images[at] < images)
            at++;
        /* (the names of m0's models include the library: "two-layer (cuDNN)") */
        s.one_model = s.one_model && !strchr(r->inference[i].model, '(') &&
                      strcmp(r->inference[i].model, r->inference[0].model) == 0;
        if (at < s.n && s.images[at] == images)
            continue;
        memmove(s.images + at + 1, s.images + at, (s.n - at) * sizeof *s.images);
        s.images[at] = images;
        s.n++;
    }
    return s;
}

static const struct gr_inference *inference_of(const struct gr_result *r, const char *model,
                                               size_t images)
{
    for (size_t i = 0; i < r->inferences; i++)
        if (r->inference[i].images == images && strcmp(r->inference[i].model, model) == 0)
            return &r->inference[i];
    return NULL;
}

static void put_sizes_head(struct gr_cells *t, const struct sizes *s)
{
    for (size_t i = 0; i < s->n; i++)
        gr_column(t, 'r', "%zu images", s->images[i]);
    gr_columns_end(t);
}

static void put_head(struct gr_cells *t, const struct sizes *s, const char *what)
{
    if (!s->one_model)
        gr_column(t, 'l', "Model");
    gr_column(t, 'l', "%s", what);
    put_sizes_head(t, s);
}

/* Models are in the order in which they ran. @return the next model's first inference */
static const struct gr_inference *next_model(const struct gr_result *r, size_t *at)
{
    for (; *at < r->inferences; ++*at) {
        size_t i = 0;
        while (strcmp(r->inference[i].model, r->inference[*at].model) != 0)
            i++;
        if (i == *at)
            return &r->inference[(*at)++];
    }
    return NULL;
}

/* A network's time, unless its outputs are wrong. @param layer  0: all layers */
static double op_time(const struct gr_inference *i, int layer)
{
    if (!i || !i->passed || layer > i->convs)
        return NAN;
    double sum = 0;
    for (int l = layer ? layer : 1; l <= (layer ? layer : i->convs); l++)
        sum += i->op_time_s[l - 1];
    return sum;
}

/* @param layer  0: all layers */
static void put_layer_cell(struct gr_cells *t, int layer)
{
    if (layer)
        gr_cell_print(t, "Layer %d", layer);
    else
        gr_cell(t, "All layers");
}

static bool no_network(const struct gr_block *b)
{
    return gr_put_nothing(b, "No network was run: earlier checks did not pass.");
}

bool gr_block_op_times(const struct gr_block *b, const struct gr_result *r)
{
    const struct sizes s = find_sizes(r);
    struct gr_cells t = {.out = b->out};
    char command[GR_COMMAND];
    if (!s.n)
        return no_network(b);
    gr_put_caption(b, NULL);
    put_head(&t, &s, "Op Time (ms)");
    size_t at = 0;
    for (const struct gr_inference *m; (m = next_model(r, &at));)
        for (int row = 1; row <= m->convs + (m->convs > 1); row++) {
            const int layer = row <= m->convs ? row : 0;
            if (!s.one_model)
                gr_cell(&t, m->model);
            put_layer_cell(&t, layer);
            for (size_t i = 0; i < s.n; i++)
                gr_cell_number(&t, op_time(inference_of(r, m->model, s.images[i]), layer) * 1e3, 4);
            gr_row_end(&t);
        }
    snprintf(command, sizeof command, "./grader %s", b->section);
    gr_put_few_sizes(b, s.n, command);
    return true;
}

enum network_row { CORRECTNESS, EXPECTED, LARGEST_ERROR, OUTPUTS, NETWORK_ROWS };

static void put_network_cell(struct gr_cells *t, const struct gr_inference *i, enum network_row row)
{
    if (!i || (row == LARGEST_ERROR && !isfinite(i->max_error)))
        gr_cell(t, "–");
    else if (row == LARGEST_ERROR)
        gr_cell_print(t, "%.1e", i->max_error);
    else if (row == CORRECTNESS || row == EXPECTED)
        gr_cell_number(t, row == EXPECTED ? i->expected_correctness : i->correctness, 4);
    else if (i->passed)
        gr_cell(t, "✓ right");
    else
        gr_cell_strong(t, "✗ WRONG");
}

bool gr_block_networks(const struct gr_block *b, const struct gr_result *r)
{
    static const char *const names[] = {"Correctness", "Expected", "Largest error", "Outputs"};
    const struct sizes s = find_sizes(r);
    struct gr_cells t = {.out = b->out};
    if (!s.n || exercise_of(r->milestone)->square)
        return no_network(b);
    gr_put_caption(b, NULL);
    put_head(&t, &s, "");
    size_t at = 0;
    for (const struct gr_inference *m; (m = next_model(r, &at));)
        for (enum network_row row = 0; row < NETWORK_ROWS; row++) {
            if (row == EXPECTED && !isfinite(m->expected_correctness))
                continue;
            if (!s.one_model)
                gr_cell(&t, m->model);
            gr_cell(&t, names[row]);
            for (size_t i = 0; i < s.n; i++)
                put_network_cell(&t, inference_of(r, m->model, s.images[i]), row);
            gr_row_end(&t);
        }
    return true;
}

/* ---- compared with other code --------------------------------------------------------------- */

enum gr_subject gr_graded_subject(const struct gr_result *r)
{
    for (size_t i = 0; i < r->timings; i++)
        if (r->timing[i].subject == GR_SUBMISSION)
            return GR_SUBMISSION;
    return strcmp(r->subject, "reference") == 0 ? GR_REFERENCE : GR_SUBMISSION;
}

static const struct gr_timing *find_timing(const struct gr_result *r, enum gr_subject subject,
                                           const struct gr_inference *in, int layer)
{
    for (size_t i = 0; i < r->timings; i++) {
        const struct gr_timing *t = &r->timing[i];
        if (t->subject == subject && t->layer == layer && gr_timing_size(t) == in->images &&
            strcmp(t->model, in->model) == 0)
            return t;
    }
    return NULL;
}

/* The median of a subject's times for a layer, or for all layers together (layer 0). NAN if it was
 * not timed, or if it is the graded code and its outputs are wrong: a wrong result has no speed. */
static double median_s_of(const struct gr_result *r, enum gr_subject subject, int layer,
                          size_t images)
{
    const struct gr_inference *in = inference_of(r, r->inference[0].model, images);
    if (!in || (subject == gr_graded_subject(r) && !in->passed))
        return NAN;
    const struct gr_timing *t = layer ? find_timing(r, subject, in, layer) : NULL;
    const struct gr_op_time sum = gr_op_time_sum(r, subject, images);
    return t ? t->median_s : !layer && sum.layers ? sum.seconds : NAN;
}

/* The ratio of a subject's time to the graded code's, and its relative uncertainty. */
struct ratio {
    double of_graded; /* NAN if the layers of both differ */
    double uncertainty;
};

static struct ratio ratio_to_graded(const struct gr_result *r, enum gr_subject subject, int layer,
                                    size_t images)
{
    const enum gr_subject graded = gr_graded_subject(r);
    const double own = median_s_of(r, graded, layer, images);
    struct ratio ratio = {NAN, 0};
    if (subject == graded || !isfinite(own))
        return ratio;
    if (!layer) {
        ratio.of_graded = gr_op_time_ratio(gr_op_time_sum(r, subject, images),
                                           gr_op_time_sum(r, graded, images), &ratio.uncertainty);
        return ratio;
    }
    const struct gr_inference *in = inference_of(r, r->inference[0].model, images);
    const struct gr_timing *a = find_timing(r, subject, in, layer),
                           *b = find_timing(r, graded, in, layer);
    ratio.of_graded = median_s_of(r, subject, layer, images) / own;
    if (a && b)
        ratio.uncertainty = hypot(gr_timing_uncertainty(a), gr_timing_uncertainty(b));
    return ratio;
}

static bool is_timed(const struct gr_result *r, enum gr_subject subject, int layer)
{
    for (size_t i = 0; i < r->timings; i++)
        if (r->timing[i].subject == subject && (!layer || r->timing[i].layer == layer))
            return true;
    return false;
}

/* Whether a difference is within the noise, or below the printed precision. */
static bool is_equal(struct ratio ratio)
{
    return fabs(ratio.of_graded - 1) <= fmax(0.005, ratio.uncertainty);
}

static void put_ratio_cell(struct gr_cells *t, double time, struct ratio ratio)
{
    char text[NUMBER_CHARS], of_graded[NUMBER_CHARS];
    number_short(text, time * 1e3, 4);
    if (isfinite(ratio.of_graded) && is_equal(ratio))
        gr_cell_print(t, "%s (equal)", text);
    else if (isfinite(ratio.of_graded))
        gr_cell_print(t, "%s (%s×)", text, number_short(of_graded, ratio.of_graded, 3));
    else
        gr_cell_number(t, time * 1e3, 4);
}

/* @return the name of a timed code: for the base of the speed, its milestone. */
static const char *code_name(const struct gr_result *r, enum gr_subject subject)
{
    const struct exercise *exercise = exercise_of(r->milestone);
    if (subject != GR_BASELINE)
        return gr_subject_name(subject);
    return exercise->plain_baseline ? "plain version" : exercise->baseline;
}

/* Writes a row for each timed code. @param named  whether to write the layer's cell */
static void put_ratios(struct gr_cells *t, const struct gr_result *r, const struct sizes *s,
                       int layer, bool named)
{
    static const enum gr_subject subjects[] = {GR_SUBMISSION, GR_REFERENCE, GR_BASELINE,
                                               GR_PLAIN_LOOPS};
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        if (!is_timed(r, subjects[i], layer))
            continue;
        if (!s->one_model)
            gr_cell(t, r->inference[0].model);
        if (named)
            put_layer_cell(t, layer);
        gr_cell(t, code_name(r, subjects[i]));
        for (size_t k = 0; k < s->n; k++)
            put_ratio_cell(t, median_s_of(r, subjects[i], layer, s->images[k]),
                           ratio_to_graded(r, subjects[i], layer, s->images[k]));
        gr_row_end(t);
    }
}

static bool is_compared(const struct gr_result *r)
{
    const enum gr_subject graded = gr_graded_subject(r);
    for (size_t i = 0; i < r->timings && r->inferences; i++)
        if (r->timing[i].subject != graded)
            return true;
    return false;
}

bool gr_ratios_cells(struct gr_cells *t, const struct gr_result *r, bool each)
{
    const struct sizes s = find_sizes(r);
    if (!s.one_model)
        gr_column(t, 'l', "Model");
    if (each)
        gr_column(t, 'l', "Op Time (ms)");
    gr_column(t, 'l', "%s", each ? "Code" : "Op Times of all layers (ms)");
    put_sizes_head(t, &s);
    if (!is_compared(r))
        return false;
    const int layers = r->inference[0].convs;
    for (int layer = 1; each && layers > 1 && layer <= layers; layer++)
        put_ratios(t, r, &s, layer, true);
    put_ratios(t, r, &s, layers > 1 || !each ? 0 : 1, each);
    return true;
}

/* layers="each" adds a row for each layer. */
bool gr_block_ratios(const struct gr_block *b, const struct gr_result *r)
{
    struct gr_cells t = {.out = b->out};
    if (!is_compared(r))
        return gr_put_nothing(b, "No other code was timed with this one.");
    gr_put_caption(b, NULL);
    return gr_ratios_cells(&t, r, gr_attribute_is(b->piece, "layers", "each"));
}

/* ---- one row per layer ---------------------------------------------------------------------- */

/* "1×70×70, 12@5": input maps and size, output maps @ filter width. */
static void put_shape_cell(struct gr_cells *t, const struct conv_shape *shape)
{
    gr_cell_print(t, "%d×%d×%d, %d@%d", shape->C, shape->H, shape->W, shape->M, shape->K);
}

/* A time of 0 means that it is missing. */
static double ms_or_nan(double seconds)
{
    return seconds > 0 ? seconds * 1e3 : NAN;
}

static void put_range_cell(struct gr_cells *t, const struct gr_timing *timing)
{
    double least = NAN, most = NAN;
    char from[NUMBER_CHARS], to[NUMBER_CHARS];
    for (size_t i = 0; i < timing->repeats && i < GR_MAX_REPEATS; i++) {
        least = fmin(least, ms_or_nan(timing->op_time_s[i]));
        most = fmax(most, ms_or_nan(timing->op_time_s[i]));
    }
    if (isfinite(least))
        gr_cell_print(t, "%s–%s", number_short(from, least, 4), number_short(to, most, 4));
    else
        gr_cell(t, "–");
}

/* Writes a time: pages use the fitting unit; tables in LaTeX use milliseconds. */
static void put_time_cell(struct gr_cells *t, double ms)
{
    char text[GR_TIME_CHARS];
    if (t->tex || !isfinite(ms))
        gr_cell_number(t, ms, 4);
    else
        gr_cell(t, gr_time_text(text, 1e-3 * ms));
}

static void put_layer_row(struct gr_cells *t, const struct gr_result *r,
                          const struct gr_inference *in, int layer, bool model)
{
    static const struct gr_timing none;
    const struct gr_timing *timing = find_timing(r, gr_graded_subject(r), in, layer);
    const double ms = ms_or_nan(in->op_time_s[layer - 1]);
    if (model)
        gr_cell(t, in->model);
    gr_cell_print(t, "%zu", in->images);
    gr_cell_print(t, "%d", layer);
    if (timing)
        put_shape_cell(t, &timing->shape);
    else
        gr_cell(t, "-");
    if (in->passed) {
        put_time_cell(t, ms);
        put_range_cell(t, timing ? timing : &none);
        gr_cell_number(t, timing ? timing->gmac / ms * 1e3 : NAN, 3);
    } else {
        gr_cell(t, "outputs wrong");
    }
    gr_row_end(t);
}

bool gr_op_times_cells(struct gr_cells *t, const struct gr_result *r)
{
    const struct sizes s = find_sizes(r);
    const bool model = t->tex || !s.one_model;
    if (model)
        gr_column(t, 'l', "Model");
    gr_column(t, 'r', "Images");
    gr_column(t, 'r', "Layer");
    gr_column(t, 'l', "Shape");
    gr_column(t, 'r', t->tex ? "Op Time (ms)" : "Op Time");
    gr_column(t, 'r', "Fastest–slowest (ms)");
    gr_column(t, 'r', "GMAC/s");
    gr_columns_end(t);
    size_t at = 0;
    for (const struct gr_inference *m; (m = next_model(r, &at));)
        for (size_t i = 0; i < s.n; i++) {
            const struct gr_inference *in = inference_of(r, m->model, s.images[i]);
            for (int layer = 1; in && layer <= in->convs; layer++)
                put_layer_row(t, r, in, layer, model);
        }
    return s.n;
}

bool gr_block_layers(const struct gr_block *b, const struct gr_result *r)
{
    struct gr_cells t = {.out = b->out};
    if (!r->inferences) {
        fputs("No network was run, so there are no Op Times.\n", b->out);
        return false;
    }
    gr_put_caption(b, NULL);
    return gr_op_times_cells(&t, r);
}
