/** @file
 * Compares outputs. Most outputs are right, so whole rows are first compared with vectors. Only
 * rows that contain a wrong element are then compared element by element.
 */
#include "grader/compare/compare.h"

#include "base/clones.h"
#include "base/parallel.h"
#include "grader/compare/element.h"
#include "nn/oracle.h"

#include <math.h>

/* ---- right rows ----------------------------------------------------------------------------- */

/* The bits of nonnegative floats, as integers, have the order of the floats, with Inf and NaN above
 * all numbers. An integer maximum, unlike fmaxf(), becomes one vector instruction. */
static inline uint32_t larger(uint32_t max, float nonnegative)
{
    const uint32_t bits = gr_bits(nonnegative);
    return bits > max ? bits : max;
}

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* @return whether all n elements pass; only then, *error and *ratio are set to the largest error and
 * the largest error / tolerance. */
EACH_TARGET VECTOR_LOOPS static bool all_pass(const float *restrict y, const float *restrict ref,
                                              float atol, size_t n, float *error, float *ratio)
{
    uint32_t max_error = 0, max_ratio = 0, fails = 0;
    for (size_t i = 0; i < n; i++) {
        const float diff = fabsf(y[i] - ref[i]), tolerance = atol + NN_RTOL * fabsf(ref[i]);
        fails |= !(diff <= tolerance);
        max_error = larger(max_error, diff);
        max_ratio = larger(max_ratio, diff / tolerance);
    }
    *error = from_bits(max_error);
    *ratio = from_bits(max_ratio); /* NaN if the tolerance is 0: the slow comparison decides */
    return !fails && isfinite(*error) && isfinite(*ratio);
}

/* ---- wrong rows ----------------------------------------------------------------------------- */

/* The result of one part of the images; `first` counts from the start of the compared images. */
struct part {
    size_t wrong, unwritten, nan, inf, first;
    double max_error, max_ratio;
};

static void raise_to(double *max, double value)
{
    if (value > *max)
        *max = value;
}

static void look_at(struct part *part, float got, float ref, float atol, size_t index)
{
    if (isfinite(got)) {
        float error = fabsf(got - ref);
        float tolerance = atol + NN_RTOL * fabsf(ref);
        raise_to(&part->max_error, error);
        raise_to(&part->max_ratio, error == 0 ? 0 : error / tolerance);
    } else if (gr_is_unwritten(got)) {
        part->unwritten++;
    } else if (isnan(got)) {
        part->nan++;
    } else {
        part->inf++;
    }
    if (gr_element_passes(got, ref, atol))
        return;
    if (part->wrong++ == 0)
        part->first = index;
}

/* ---- whole tensors -------------------------------------------------------------------------- */

enum { MAX_PARTS = 256, BLOCK = 512 };

struct work {
    const float *y, *ref, *atol;
    size_t planes, plane_elems, maps, parts;
    struct part part[MAX_PARTS];
};

static void compare_part(void *context, size_t piece)
{
    struct work *w = context;
    struct part *part = &w->part[piece];
    size_t end = w->planes * (piece + 1) / w->parts;
    for (size_t plane = w->planes * piece / w->parts; plane < end; plane++) {
        float atol = w->atol[plane % w->maps];
        for (size_t at = 0; at < w->plane_elems; at += BLOCK) {
            size_t start = plane * w->plane_elems + at, n = w->plane_elems - at;
            n = n < BLOCK ? n : BLOCK;
            float error, ratio;
            if (all_pass(w->y + start, w->ref + start, atol, n, &error, &ratio)) {
                raise_to(&part->max_error, error);
                raise_to(&part->max_ratio, ratio);
                continue;
            }
            for (size_t i = start; i < start + n; i++)
                look_at(part, w->y[i], w->ref[i], atol, i);
        }
    }
}

void gr_compare_images(const struct conv_shape *s, size_t first_image, size_t images,
                       const float *y, const float *ref, const float *atol, struct gr_compare *sum)
{
    size_t width = s->W - s->K + 1, height = s->H - s->K + 1;
    struct work w = {.y = y, .ref = ref, .atol = atol};
    w.plane_elems = height * width;
    w.maps = s->M;
    w.planes = images * w.maps;
    w.parts = w.planes < MAX_PARTS ? w.planes : MAX_PARTS;
    parallel_for(w.parts, compare_part, &w);

    sum->elems += w.planes * w.plane_elems;
    for (size_t i = 0; i < w.parts; i++) {
        const struct part *part = &w.part[i];
        size_t first = first_image * w.maps * w.plane_elems + part->first;
        if (part->wrong && (sum->wrong == 0 || first < sum->first)) {
            sum->first = first;
            sum->expected = ref[part->first];
            sum->got = y[part->first];
            sum->w = (int)(first % width);
            sum->h = (int)(first / width % height);
            sum->m = (int)(first / w.plane_elems % w.maps);
            sum->b = (int)(first / w.plane_elems / w.maps);
        }
        sum->wrong += part->wrong;
        sum->unwritten += part->unwritten;
        sum->nan += part->nan;
        sum->inf += part->inf;
        raise_to(&sum->max_error, part->max_error);
        raise_to(&sum->max_error_ratio, part->max_ratio);
    }
}
