/** @file
 * Compares outputs. Most outputs are right, so whole rows are first compared with vectors. Only
 * rows that contain a wrong element are then compared element by element.
 */
#include "grader/compare/compare.h"

#include "base/parallel.h"
#include "grader/compare/element.h"
#include "nn/oracle.h"

#include <math.h>

/* ---- right rows ----------------------------------------------------------------------------- */

enum { LANES = 4 }; /* vectors that every x86-64 and Arm processor has */
typedef float floats __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t ints __attribute__((vector_size(LANES * sizeof(int32_t))));

static floats load(const float *from)
{
    floats v;
    memcpy(&v, from, sizeof v);
    return v;
}

static floats magnitude(floats v)
{
    return (floats)((ints)v & 0x7fffffff);
}

/* The bits of nonnegative floats, as integers, have the order of the floats, with Inf and NaN above
 * all numbers. */
static ints larger(ints a, ints b)
{
    ints mask = a > b;
    return (a & mask) | (b & ~mask);
}

static float largest_lane(ints v)
{
    int32_t best = v[0];
    for (int i = 1; i < LANES; i++)
        best = v[i] > best ? v[i] : best;
    float value;
    memcpy(&value, &best, sizeof value);
    return value;
}

/* Compares n elements, a multiple of LANES. @return whether all pass; only then, *error and *ratio
 * are set to the largest error and the largest error / tolerance. */
static bool all_pass(const float *y, const float *ref, float atol, size_t n, float *error,
                     float *ratio)
{
    ints max_error = {0}, max_ratio = {0}, fails = {0};
    for (size_t i = 0; i < n; i += LANES) {
        floats expected = load(ref + i);
        floats diff = magnitude(load(y + i) - expected);
        floats tolerance = atol + NN_RTOL * magnitude(expected);
        fails |= ~(ints)(diff <= tolerance);
        max_error = larger(max_error, (ints)diff);
        max_ratio = larger(max_ratio, (ints)(diff / tolerance));
    }
    *error = largest_lane(max_error);
    *ratio = largest_lane(max_ratio); /* NaN if the tolerance is 0: the slow comparison decides */
    for (int i = 0; i < LANES; i++)
        if (fails[i])
            return false;
    return isfinite(*error) && isfinite(*ratio);
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
            size_t done = n - n % LANES;
            float error, ratio;
            if (all_pass(w->y + start, w->ref + start, atol, done, &error, &ratio)) {
                raise_to(&part->max_error, error);
                raise_to(&part->max_ratio, ratio);
            } else {
                done = 0;
            }
            for (size_t i = start + done; i < start + n; i++)
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
