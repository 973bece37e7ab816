/* Finds where a wrong output differs from the convolution (difference.h). If following that output
 * gives no result, one run shows which products are in which output:
 *
 *     image b    0 ... 0 1 0 ... 0    the 1 is element b of the image
 *     filter m   0 ... 0 1 0 ... 0    the 1 is element m of the filter
 *     y[b,m,h,w] = the product's factor in output (h, w): 1 if both 1s meet there, else 0 */
#include "grader/stages/difference.h"
#include "grader/stages/checks.h"
#include "grader/stages/follow.h"
#include "grader/stages/work_proof.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Outputs in each direction: complete tiles of 2 and of 4. The run has at most MOST_PRODUCTS. */
enum { SIDE = 4, MOST_PRODUCTS = 32000000 };

struct factor {
    size_t image, filter; /* indices of the 1 */
    int h, w;
    double found;
    bool needed;
};

static struct conv_shape shape_for(int channels, int filter)
{
    const int side = filter + SIDE - 1;
    return (struct conv_shape){.B = channels * side * side,
                               .M = channels * filter * filter,
                               .C = channels,
                               .H = side,
                               .W = side,
                               .K = filter};
}

static bool is_needed(const struct conv_shape *s, const struct factor *f)
{
    const size_t plane = (size_t)s->H * (size_t)s->W, taps = (size_t)s->K * (size_t)s->K;
    const size_t row = f->image % plane / (size_t)s->W, column = f->image % (size_t)s->W;
    const size_t p = f->filter % taps / (size_t)s->K, q = f->filter % (size_t)s->K;
    return f->image / plane == f->filter / taps && row == (size_t)f->h + p &&
           column == (size_t)f->w + q;
}

static struct factor factor_at(const struct conv_shape *s, const float *y, size_t i)
{
    const size_t outputs = SIDE * SIDE;
    struct factor f = {.image = i / outputs / (size_t)s->M,
                       .filter = i / outputs % (size_t)s->M,
                       .h = (int)(i % outputs / SIDE),
                       .w = (int)(i % SIDE),
                       .found = (double)y[i]};
    f.needed = is_needed(s, &f);
    return f;
}

/* @return the number of wrong factors; SIZE_MAX: one is not finite */
static size_t count_wrong(const struct conv_shape *s, const float *y, struct factor *first)
{
    const size_t outputs = nn_conv_y_elems(s);
    size_t wrong = 0;
    for (size_t i = 0; i < outputs; i++) {
        const struct factor f = factor_at(s, y, i);
        if (!isfinite(f.found))
            return SIZE_MAX;
        if (fabs(f.found - f.needed) <= 0.01)
            continue;
        if (!wrong || f.h * SIDE + f.w < first->h * SIDE + first->w)
            *first = f;
        wrong++;
    }
    return wrong;
}

/* Whether map m (or image m) of y contains the values of another one. */
static bool holds(const struct conv_shape *s, const float *y, bool maps, int m, int other)
{
    const int outputs = SIDE * SIDE;
    for (int i = 0; i < (maps ? s->B : s->M) * outputs; i++) {
        const int along = i / outputs, image = maps ? along : m, map = maps ? m : along;
        const struct factor f = {.image = (size_t)(maps ? along : other),
                                 .filter = (size_t)(maps ? other : along),
                                 .h = i % outputs / SIDE,
                                 .w = i % SIDE};
        const float found = y[((size_t)image * (size_t)s->M + (size_t)map) * outputs + i % outputs];
        if (fabs((double)found - is_needed(s, &f)) > 0.01)
            return false;
    }
    return true;
}

/* @return the map (or image) whose values map m contains; m: its own */
static int held_by(const struct conv_shape *s, const float *y, bool maps, int m)
{
    for (int other = 0; other < (maps ? s->M : s->B); other++)
        if (other != m && holds(s, y, maps, m, other))
            return other;
    return m;
}

static void describe(const struct conv_shape *s, const float *y, const struct factor *f,
                     size_t wrong, char *to, size_t room)
{
    const int plane = s->H * s->W, taps = s->K * s->K, x = (int)f->image, k = (int)f->filter;
    const int map = held_by(s, y, true, k), image = held_by(s, y, false, x);
    char text[EXERCISE_TEXT];
    exercise_at(0)->describe(text, s, EXERCISE_SHAPE);
    if (map != k || image != x)
        snprintf(to, room, "%s %d of y holds what %s %d should hold, in shape %s",
                 map != k ? "map" : "image", map != k ? k : x, map != k ? "map" : "image",
                 map != k ? map : image, text);
    else
        snprintf(
            to, room,
            "y[b,m,%d,%d] has %.3g times x[b,%d,%d,%d] * k[m,%d,%d,%d], and %s (seen with a single 1 in each image and filter of shape %s; %zu factors are wrong)",
            f->h, f->w, f->found, x / plane, x % plane / s->W, x % s->W, k / taps, k % taps / s->K,
            k % s->K, f->needed ? "needs it once" : "does not need it", text, wrong);
}

static bool probe(struct grading *g, const struct conv_shape *s, char *to, size_t room)
{
    const size_t x = nn_conv_x_elems(s), k = nn_conv_k_elems(s);
    float *data = calloc(x + k, sizeof *data);
    struct gr_session session = GR_SESSION_CLOSED;
    struct gr_run run = {.message = ""};
    struct st_error ignored;
    struct factor first = {.needed = false};
    size_t count = 0;
    for (size_t i = 0; data && i < (size_t)s->B; i++)
        data[i * (x / (size_t)s->B) + i] = 1;
    for (size_t i = 0; data && i < (size_t)s->M; i++)
        data[x + i * (k / (size_t)s->M) + i] = 1;
    const struct gr_conv conv = {.shape = *s, .x = data, .k = data ? data + x : NULL};
    gr_session_end(&g->session); /* both sessions share the arena */
    if (data && !gr_follow(g, &conv, SIZE_MAX, gr_time_limit_s(g, s), &session, &run, &ignored) &&
        run.outcome == GR_RAN) {
        const float *y = (const float *)(g->arena.base + arena_layout_for(s).y);
        count = count_wrong(s, y, &first);
        if (count && count != SIZE_MAX)
            describe(s, y, &first, count, to, room);
    }
    gr_session_end(&session);
    free(data);
    return count && count != SIZE_MAX;
}

static bool probe_products(struct grading *g, const struct conv_shape *wrong, char *to, size_t room)
{
    const int channels = wrong->C > 1 ? 2 : 1;
    const struct conv_shape larger = shape_for(channels, 3), s = shape_for(channels, wrong->K);
    return (wrong->K < 3 && probe(g, &larger, to, room)) ||
           (nn_conv_macs(&s) <= MOST_PRODUCTS && probe(g, &s, to, room));
}

void gr_explain_difference(struct grading *g, struct gr_check *check, const struct gr_case *c,
                           const struct gr_compare *wrong, struct gr_diagnosis *diagnosis)
{
    const struct conv_shape *s = &c->spec.shape;
    static const char first_places[] = "only_first_"; /* + images, maps, rows, ... */
    static const char last_places[] = "last_";        /* + rows, columns, ... */
    const bool place_only = strncmp(diagnosis->pattern, first_places, sizeof first_places - 1) == 0;
    char difference[512];
    if (diagnosis->predicts || strcmp(diagnosis->pattern, "state_kept") == 0 ||
        strcmp(diagnosis->pattern, "not_repeatable") == 0)
        return;
    /* the factors of a transform are not terms of the convolution's sum */
    const bool followed = gr_follow_difference(g, c, wrong, difference, sizeof difference) &&
                          !(gr_has_long_sums(g) && strstr(difference, "(not of "));
    const bool square = g->milestone.exercise->square != NULL;
    const bool all_zero = strcmp(diagnosis->pattern, "all_zero") == 0;
    if (!followed && (square || all_zero || !probe_products(g, s, difference, sizeof difference)))
        return;
    gr_check_append(check, "    %s\n", difference);
    const bool generic =
        !diagnosis->pattern[0] || place_only || strcmp(diagnosis->pattern, "shape_condition") == 0;
    if (g->milestone.exercise->host_tensors && (!followed || generic))
        snprintf(
            diagnosis->hint, sizeof diagnosis->hint,
            "from part to part of the batch, do the pointers into x and y advance by the images of a whole part? Does each part that is still in work have its own buffer on the device?");
    else if (!followed && strstr(difference, " should hold, "))
        snprintf(
            diagnosis->hint, sizeof diagnosis->hint,
            "two indices are exchanged: which half of a pair (low or high), which row of a matrix (of the length that load_matrix_sync gets) or which loop variable belongs to which map or image, when the code loads and when it stores?");
    else if (!followed && g->host.device == RUNNER_ON_CPU)
        snprintf(
            diagnosis->hint, sizeof diagnosis->hint,
            "follow that one product by hand, from its loads to y: which index into x or k does your code compute for it, and is it the right one?");
    else if (!followed)
        snprintf(
            diagnosis->hint, sizeof diagnosis->hint,
            "follow that one product by hand, from its loads to y: which constants of a transform does it use, which lane of a matrix or which half of a pair holds it, and which sign or index is wrong?");
    else if (generic && strstr(difference, "none of the "))
        snprintf(
            diagnosis->hint, sizeof diagnosis->hint,
            "does the loop over the products run for this output (is its number of tiles rounded up?), and does the grid have a block for each part of y and for each slice of the sum? Compare the dim3 of the launch with the kernel's use of blockIdx");
    else if (generic && strstr(difference, " products of this output are missing; "))
        snprintf(
            diagnosis->hint, sizeof diagnosis->hint,
            "which loop over the products ends too early (is its number of tiles rounded up?), or is the sum set to 0 again inside a loop?");
    else if (generic && strstr(difference, "and also others: "))
        snprintf(
            diagnosis->hint, sizeof diagnosis->hint,
            "set the sum to 0 before the loops of each output; if you do, which loop of that line runs too often?");
    else if (strncmp(diagnosis->pattern, last_places, sizeof last_places - 1) == 0 &&
             strstr(difference, " by 0 (not of x), which ") && strstr(difference, " stored to "))
        snprintf(
            diagnosis->hint, sizeof diagnosis->hint,
            "the line that stores this 0 must store the element: does its guard compare with the size of x (H and W), not with that of y (H_out and W_out)?");
    else if (generic && square)
        snprintf(diagnosis->hint, sizeof diagnosis->hint,
                 "compare the indices in that line with the needed product");
    else if (generic && strstr(difference, "(not of ") &&
             strstr(difference, " stored to shared memory"))
        snprintf(
            diagnosis->hint, sizeof diagnosis->hint,
            "do both lines compute the index into shared memory in the same way, with the same row length, and load and store the same output? For all products of an output run: ./grader debug %s --shape %d,%d,%d,%d,%d,%d%s%s",
            g->milestone.id, s->B, s->M, s->C, s->H, s->W, s->K,
            g->options->file ? " --source " : "", g->options->file ? g->options->file : "");
    else if (generic)
        snprintf(
            diagnosis->hint, sizeof diagnosis->hint,
            "compare the indices in that line with the needed product; for all products of an output run: ./grader debug %s --shape %d,%d,%d,%d,%d,%d%s%s",
            g->milestone.id, s->B, s->M, s->C, s->H, s->W, s->K,
            g->options->file ? " --source " : "", g->options->file ? g->options->file : "");
}
