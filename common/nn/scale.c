/* Bilinear scaling of the data set's images.
 *
 *     source rows        one target row
 *     a a a a a          mix(a, b, row's fraction): one value per source column
 *     b b b b b    ->    m m m m m
 *                        x x x x x x x x x x x x     mix(m[i], m[i + 1], column's fraction)
 *
 * The two sources of a target and their fraction are equal for all images: these "taps" are
 * computed once per row and column. Every float is computed by a fixed sequence of operations, so
 * that its bits depend only on the input. */
#include "nn/dataset.h"

#include "base/parallel.h"
#include "nn/idx.h"

#include <assert.h>

_Static_assert((int)NN_IDX_MAX_SIDE <= (int)NN_MAX_SIDE, "a row of any image fits the row buffer");

/* A target position between two sources: first + fraction * (second - first). */
struct tap {
    int first, second;
    float fraction; /* 0 <= fraction < 1 */
};

struct scaling {
    const uint8_t *from;
    float *to;
    size_t count, images_per_piece;
    int height, width, H, W;
    float grey[256]; /* a pixel's value in [0, 1] */
    struct tap row[NN_MAX_SIDE], column[NN_MAX_SIDE];
};

/* Half-pixel rule: centres of pixels are at 0.5, 1.5, ...; beyond the first and the last centre,
 * the border pixel is repeated. */
static void make_taps(struct tap *tap, int in, int out)
{
    for (int i = 0; i < out; i++) {
        double at = (i + 0.5) * in / out - 0.5;
        if (at < 0)
            at = 0;
        int first = (int)at; /* after the last centre, both sources are the last pixel */
        tap[i] = (struct tap){first, first + 1 < in ? first + 1 : first, (float)(at - first)};
    }
}

/* The result is exact for fraction 0 and for a == b, and never outside [a, b]. */
static inline float mix(float a, float b, float fraction)
{
    return a + (b - a) * fraction;
}

static void scale_image(const struct scaling *s, const uint8_t *from, float *to)
{
    float mixed[NN_MAX_SIDE];
    for (int h = 0; h < s->H; h++, to += s->W) {
        const uint8_t *a = from + (size_t)s->row[h].first * (size_t)s->width;
        const uint8_t *b = from + (size_t)s->row[h].second * (size_t)s->width;
        for (int i = 0; i < s->width; i++)
            mixed[i] = mix(s->grey[a[i]], s->grey[b[i]], s->row[h].fraction);
        for (int w = 0; w < s->W; w++) {
            const struct tap *t = &s->column[w];
            to[w] = mix(mixed[t->first], mixed[t->second], t->fraction);
        }
    }
}

static void scale_piece(void *context, size_t piece)
{
    const struct scaling *s = context;
    size_t in_elems = (size_t)s->height * (size_t)s->width, out_elems = (size_t)s->H * (size_t)s->W;
    size_t begin = piece * s->images_per_piece, end = begin + s->images_per_piece;
    for (size_t i = begin; i < end && i < s->count; i++)
        scale_image(s, s->from + i * in_elems, s->to + i * out_elems);
}

void nn_dataset_scale(const struct nn_dataset *set, size_t first, size_t count, int H, int W,
                      float *to)
{
    assert(first <= set->images && count <= set->images - first);
    assert(H >= 1 && H <= NN_MAX_SIDE && W >= 1 && W <= NN_MAX_SIDE);
    struct scaling s = {.from = set->pixels + first * (size_t)set->height * (size_t)set->width,
                        .to = to,
                        .count = count,
                        .images_per_piece = 64,
                        .height = set->height,
                        .width = set->width,
                        .H = H,
                        .W = W};
    for (int v = 0; v < 256; v++)
        s.grey[v] = (float)v / 255.0f;
    make_taps(s.row, set->height, H);
    make_taps(s.column, set->width, W);
    parallel_for((count + s.images_per_piece - 1) / s.images_per_piece, scale_piece, &s);
}
