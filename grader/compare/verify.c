#include "grader/compare/verify.h"

#include "base/parallel.h"
#include "base/progress.h"
#include "base/rng.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the images of a batch ---------------------------------------------------------------------
 *
 * A blend adds two roundings, both small compared with the allowed error of a right convolution.
 * With u = 2^-24 and X the batch's largest |x|: x is rounded by at most u X, which changes an
 * output by at most u X sum|k|, and the roundings of the expected output (of two outputs and of
 * their blend) together change it by at most 3 u X sum|k|. The tolerance is 6 sqrt(n) u X sum|k|
 * (nn/oracle.h), 30 times u X sum|k| for the smallest layer of a model (n = 25); errors of many
 * elements average out, so the observed error is smaller (grader/compare/tests/test_verify.c).
 *
 * Weights are not small, so that no blend is almost equal to one image. They differ between images,
 * so that the outputs of one repeat do not determine those of another.
 */

enum { PIECE_BYTES = 1 << 20, PART = 1024 };

/* A job on images [first, first + images) of the batch that is made from `from`, which is x or the
 * expected outputs. */
struct batch {
    const struct gr_conv *conv;
    const float *from;
    size_t per_image, first, images;
    float *to;             /* for fill_images(): points to image `first` */
    const float *now;      /* for check_images(): points to image `first` */
    atomic_size_t changed; /* the first element that has changed */
    atomic_uint_least32_t largest_bits;
};

static float weight(const struct gr_conv *conv, size_t image)
{
    struct rng rng = rng_make(conv->blend, image);
    float size = rng_float(&rng, 0.25F, 0.75F);
    return rng_u64(&rng) >> 63 ? -size : size;
}

/* Computes elements [at, at + n) of one image; n is at most PART. The product is exact in
 * double. */
static void image_part(const struct batch *batch, size_t image, size_t at, size_t n, float *to)
{
    const struct gr_conv *conv = batch->conv;
    const size_t B = (size_t)conv->shape.B, one = (image + conv->rotate) % B;
    const float *a = batch->from + one * batch->per_image + at;
    const float *b = batch->from + (one + conv->apart) % B * batch->per_image + at;
    if (!conv->blend) {
        memcpy(to, a, n * sizeof *to);
        return;
    }
    const double w = (double)weight(conv, image);
    for (size_t i = 0; i < n; i++)
        to[i] = (float)((double)a[i] + w * (double)b[i]);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t images_per_piece(const struct batch *batch)
{
    return PIECE_BYTES / sizeof(float) / batch->per_image + 1;
}

/* Calls body for every part of the images, on all cores. */
static void batch_loop(struct batch *batch, void (*body)(void *batch, size_t piece))
{
    const size_t group = images_per_piece(batch);
    parallel_for((batch->images + group - 1) / group, body, batch);
}

static void fill_images(void *context, size_t piece)
{
    const struct batch *batch = context;
    const size_t group = images_per_piece(batch);
    const size_t end = smaller((piece + 1) * group, batch->images);
    for (size_t i = piece * group; i < end; i++)
        for (size_t at = 0; at < batch->per_image; at += PART)
            image_part(batch, batch->first + i, at, smaller(PART, batch->per_image - at),
                       batch->to + i * batch->per_image + at);
}

static void check_images(void *context, size_t piece)
{
    struct batch *batch = context;
    const size_t group = images_per_piece(batch);
    const size_t end = smaller((piece + 1) * group, batch->images);
    float was[PART];
    for (size_t i = piece * group; i < end; i++)
        for (size_t at = 0; at < batch->per_image; at += PART) {
            const size_t n = smaller(PART, batch->per_image - at);
            size_t first = i * batch->per_image + at;
            image_part(batch, batch->first + i, at, n, was);
            if (memcmp(was, batch->now + first, n * sizeof *was) == 0)
                continue;
            for (size_t e = 0; memcmp(&was[e], &batch->now[first], sizeof *was) == 0; e++)
                first++;
            size_t other = atomic_load(&batch->changed);
            while (first < other && !atomic_compare_exchange_weak(&batch->changed, &other, first))
                continue;
            return;
        }
}

static void look_for_largest(void *context, size_t piece)
{
    struct batch *batch = context;
    const size_t group = images_per_piece(batch);
    const size_t end = smaller((piece + 1) * group, batch->images);
    float part[PART], largest = 0;
    for (size_t i = piece * group; i < end; i++)
        for (size_t at = 0; at < batch->per_image; at += PART) {
            const size_t n = smaller(PART, batch->per_image - at);
            image_part(batch, batch->first + i, at, n, part);
            for (size_t e = 0; e < n; e++)
                largest = fabsf(part[e]) > largest ? fabsf(part[e]) : largest;
        }
    uint32_t bits; /* bits of nonnegative floats, which have the order of the floats */
    memcpy(&bits, &largest, sizeof bits);
    uint_least32_t other = atomic_load(&batch->largest_bits);
    while (bits > other && !atomic_compare_exchange_weak(&batch->largest_bits, &other, bits))
        continue;
}

static struct batch batch_of(const struct gr_conv *conv)
{
    const size_t B = (size_t)conv->shape.B;
    return (struct batch){
        .conv = conv, .from = conv->x, .per_image = nn_conv_x_elems(&conv->shape) / B, .images = B};
}

/* ---- filling -------------------------------------------------------------------------------- */

struct fill {
    uint32_t *to;
    size_t words;
    uint32_t bits;
};

static void fill_piece(void *context, size_t piece)
{
    const struct fill *fill = context;
    size_t begin = piece * (PIECE_BYTES / 4), end = begin + PIECE_BYTES / 4;
    for (size_t i = begin; i < end && i < fill->words; i++)
        fill->to[i] = fill->bits;
}

static void fill_words(void *to, size_t bytes, uint32_t bits)
{
    struct fill fill = {to, bytes / 4, bits};
    parallel_for((bytes + PIECE_BYTES - 1) / PIECE_BYTES, fill_piece, &fill);
}

void gr_arena_clear(const struct arena *arena)
{
    fill_words(arena->base, arena->bytes, 0);
}

void gr_arena_fill(const struct arena *arena, const struct gr_conv *conv)
{
    struct arena_layout layout = arena_layout_for(&conv->shape);
    for (int i = 0; i < ARENA_GUARDS; i++)
        fill_words(arena->base + layout.guard[i], layout.guard_bytes[i], GR_GUARD_BITS);
    fill_words(arena->base + layout.y, nn_conv_y_elems(&conv->shape) * 4, GR_POISON_BITS);
    struct batch batch = batch_of(conv);
    batch.to = (float *)(arena->base + layout.x);
    batch_loop(&batch, fill_images);
    memcpy(arena->base + layout.k, conv->k, nn_conv_k_elems(&conv->shape) * sizeof *conv->k);
}

/* ---- damage --------------------------------------------------------------------------------- */

static bool guards_intact(const struct arena *arena, const struct gr_conv *conv,
                          const struct arena_layout *layout, struct gr_damage *damage)
{
    static const char *const before[] = {"before the start of y", "past the end of y",
                                         "past the end of x", "past the end of k"};
    for (int i = 0; i < ARENA_GUARDS; i++) {
        const uint32_t *zone = (const uint32_t *)(arena->base + layout->guard[i]);
        size_t words = layout->guard_bytes[i] / 4, changed = 0, first = 0, last = 0;
        for (size_t w = 0; w < words; w++) {
            if (zone[w] == GR_GUARD_BITS)
                continue;
            if (!changed++)
                first = w;
            last = w;
        }
        if (!changed)
            continue;
        damage->pattern = "guard";
        if (i == 0)
            snprintf(damage->message, sizeof damage->message,
                     "wrote %zu float%s before the start of y, the nearest at y[-%zu]", changed,
                     changed == 1 ? "" : "s", words - last);
        else
            snprintf(damage->message, sizeof damage->message,
                     "wrote %zu float%s %s, the first %zu element%s past it", changed,
                     changed == 1 ? "" : "s", before[i], first + 1, first ? "s" : "");
        snprintf(
            damage->hint, sizeof damage->hint,
            "y is [%d][%d][%d][%d]: which index of your store reaches its size? Check the loop bounds against H-K+1 and W-K+1",
            conv->shape.B, conv->shape.M, conv->shape.H - conv->shape.K + 1,
            conv->shape.W - conv->shape.K + 1);
        return false;
    }
    return true;
}

static void say_changed(char name, size_t elem, float was, float now, struct gr_damage *damage)
{
    damage->pattern = "input_changed";
    snprintf(damage->message, sizeof damage->message,
             "changed its input %c: %c[%zu] was %.9g, now it is %.9g", name, name, elem,
             (double)was, (double)now);
    snprintf(
        damage->hint, sizeof damage->hint,
        "x and k are const: copy the elements that you want to change (conv_workspace() gives memory)");
}

static bool x_intact(const struct gr_conv *conv, const float *now, struct gr_damage *damage)
{
    struct batch batch = batch_of(conv);
    batch.now = now;
    batch.changed = SIZE_MAX;
    batch_loop(&batch, check_images);
    const size_t changed = batch.changed;
    if (changed == SIZE_MAX)
        return true;
    float was;
    image_part(&batch, changed / batch.per_image, changed % batch.per_image, 1, &was);
    say_changed('x', changed, was, now[changed], damage);
    return false;
}

static bool k_intact(const struct gr_conv *conv, const float *now, struct gr_damage *damage)
{
    const size_t elems = nn_conv_k_elems(&conv->shape);
    for (size_t i = 0; i < elems; i++)
        if (memcmp(&now[i], &conv->k[i], sizeof *now) != 0) {
            say_changed('k', i, conv->k[i], now[i], damage);
            return false;
        }
    return true;
}

bool gr_arena_intact(const struct arena *arena, const struct gr_conv *conv,
                     struct gr_damage *damage)
{
    struct arena_layout layout = arena_layout_for(&conv->shape);
    memset(damage, 0, sizeof *damage);
    damage->pattern = "";
    return guards_intact(arena, conv, &layout, damage) &&
           x_intact(conv, (const float *)(arena->base + layout.x), damage) &&
           k_intact(conv, (const float *)(arena->base + layout.k), damage);
}

/* ---- outputs -------------------------------------------------------------------------------- */

/* The number of images in one part of a comparison whose expected output must be computed: as many
 * as have about 64 MiB of it. */
static size_t piece_images(const struct conv_shape *shape)
{
    const size_t per_image = nn_conv_y_elems(shape) / (size_t)shape->B;
    return smaller(((size_t)64 << 20) / (per_image * sizeof(float)) + 1, (size_t)shape->B);
}

size_t gr_arena_compare_bytes(const struct conv_shape *shape)
{
    const size_t elems = nn_conv_x_elems(shape) + nn_conv_y_elems(shape);
    return piece_images(shape) * (elems / (size_t)shape->B) * sizeof(float);
}

/* Input of a comparison. */
struct comparison {
    const float *expected; /* expected output of x itself, or NULL */
    float *x, *y;          /* buffers for the images of a part and their expected output */
    float *atol;
};

static enum st_code comparison_open(struct comparison *c, const struct gr_conv *conv,
                                    const float *expected, struct st_error *err)
{
    const struct conv_shape *shape = &conv->shape;
    const size_t B = (size_t)shape->B, bytes = piece_images(shape) * sizeof(float);
    *c = (struct comparison){.expected = expected};
    c->atol = malloc((size_t)shape->M * sizeof *c->atol);
    c->y = malloc(bytes * (nn_conv_y_elems(shape) / B));
    c->x = malloc(expected ? 1 : bytes * (nn_conv_x_elems(shape) / B));
    return c->atol && c->y && c->x
               ? ST_OK
               : st_fail(err, ST_NO_MEMORY, "out of memory for expected outputs");
}

static void comparison_close(struct comparison *c)
{
    free(c->atol);
    free(c->y);
    free(c->x);
}

/* Computes the expected output of images [first, first + n). */
static const float *expect(const struct comparison *c, const struct gr_conv *conv, size_t first,
                           size_t n)
{
    struct batch batch = batch_of(conv);
    struct conv_shape part = conv->shape;
    part.B = (int)n;
    batch.first = first;
    batch.images = n;
    if (c->expected) {
        batch.from = c->expected;
        batch.per_image = nn_conv_y_elems(&conv->shape) / (size_t)conv->shape.B;
        batch.to = c->y;
        batch_loop(&batch, fill_images);
    } else {
        batch.to = c->x;
        batch_loop(&batch, fill_images);
        nn_oracle_conv(&part, c->x, conv->k, c->y);
    }
    return c->y;
}

static float largest_magnitude(const struct gr_conv *conv)
{
    struct batch batch = batch_of(conv);
    batch_loop(&batch, look_for_largest);
    const uint32_t bits = batch.largest_bits;
    float largest;
    memcpy(&largest, &bits, sizeof largest);
    return largest;
}

enum st_code gr_arena_compare(const struct arena *arena, const struct gr_conv *conv,
                              const float *expected, struct gr_compare *sum, struct st_error *err)
{
    const struct conv_shape *shape = &conv->shape;
    const size_t B = (size_t)shape->B, y_per_image = nn_conv_y_elems(shape) / B;
    const bool is_true_batch = !conv->blend && conv->rotate == 0;
    const size_t step = is_true_batch && expected ? B : piece_images(shape);
    struct comparison c;
    memset(sum, 0, sizeof *sum);
    enum st_code code = comparison_open(&c, conv, expected, err);
    if (!code)
        nn_conv_tolerance(shape, conv->tolerance, largest_magnitude(conv), conv->k, c.atol);
    const float *y = (const float *)(arena->base + arena_layout_for(shape).y);
    for (size_t done = 0; done < B && !code; done += step) {
        const size_t n = smaller(step, B - done);
        const float *ref = is_true_batch && expected ? expected : expect(&c, conv, done, n);
        gr_compare_images(shape, done, n, y + done * y_per_image, ref, c.atol, sum);
        progress_count(done + n, B, "images");
    }
    comparison_close(&c);
    return code;
}
