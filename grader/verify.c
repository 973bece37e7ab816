#include "grader/verify.h"

#include "base/parallel.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- filling ----------------------------------------------------------------------------------
 */

enum { PIECE_BYTES = 1 << 20 };

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

/* The rotated batch is two runs of images: [rotate, B) and then [0, rotate). */
static size_t run_elems(const struct gr_conv *conv, size_t per_image, size_t elems[2])
{
    size_t B = (size_t)conv->shape.B;
    elems[0] = (B - conv->rotate) * per_image;
    elems[1] = conv->rotate * per_image;
    return conv->rotate * per_image;
}

void gr_arena_fill(const struct arena *arena, const struct gr_conv *conv)
{
    struct arena_layout layout = arena_layout_for(&conv->shape);
    for (int i = 0; i < ARENA_GUARDS; i++)
        fill_words(arena->base + layout.guard[i], layout.guard_bytes[i], GR_GUARD_BITS);
    fill_words(arena->base + layout.y, nn_conv_y_elems(&conv->shape) * 4, GR_POISON_BITS);
    size_t elems[2];
    size_t first = run_elems(conv, nn_conv_x_elems(&conv->shape) / (size_t)conv->shape.B, elems);
    float *x = (float *)(arena->base + layout.x);
    memcpy(x, conv->x + first, elems[0] * sizeof *x);
    memcpy(x + elems[0], conv->x, elems[1] * sizeof *x);
    memcpy(arena->base + layout.k, conv->k, nn_conv_k_elems(&conv->shape) * sizeof *conv->k);
}

/* ---- damage -----------------------------------------------------------------------------------
 */

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
            "here y is [%d][%d][%d][%d]: which index of your store reaches its size? Check the "
            "loop bounds against H-K+1 and W-K+1",
            conv->shape.B, conv->shape.M, conv->shape.H - conv->shape.K + 1,
            conv->shape.W - conv->shape.K + 1);
        return false;
    }
    return true;
}

static bool input_intact(char name, const float *now, const float *was, size_t elems,
                         size_t first_elem, struct gr_damage *damage)
{
    if (memcmp(now, was, elems * sizeof *now) == 0)
        return true;
    size_t i = 0;
    while (memcmp(&now[i], &was[i], sizeof *now) == 0)
        i++;
    damage->pattern = "input_changed";
    snprintf(damage->message, sizeof damage->message,
             "changed its input %c: %c[%zu] was %.9g, now it is %.9g", name, name, first_elem + i,
             (double)was[i], (double)now[i]);
    snprintf(damage->hint, sizeof damage->hint,
             "x and k are const: copy what you want to change (conv_workspace() gives memory)");
    return false;
}

bool gr_arena_intact(const struct arena *arena, const struct gr_conv *conv,
                     struct gr_damage *damage)
{
    struct arena_layout layout = arena_layout_for(&conv->shape);
    memset(damage, 0, sizeof *damage);
    damage->pattern = "";
    size_t elems[2];
    size_t first = run_elems(conv, nn_conv_x_elems(&conv->shape) / (size_t)conv->shape.B, elems);
    const float *x = (const float *)(arena->base + layout.x);
    return guards_intact(arena, conv, &layout, damage) &&
           input_intact('x', x, conv->x + first, elems[0], 0, damage) &&
           input_intact('x', x + elems[0], conv->x, elems[1], elems[0], damage) &&
           input_intact('k', (const float *)(arena->base + layout.k), conv->k,
                        nn_conv_k_elems(&conv->shape), 0, damage);
}

/* ---- outputs ----------------------------------------------------------------------------------
 */

/* Images of one piece of a comparison without the whole expected output: about 64 MiB of it. */
static size_t piece_images(const struct conv_shape *shape, size_t y_per_image)
{
    size_t images = ((size_t)64 << 20) / (y_per_image * sizeof(float)) + 1;
    return images < (size_t)shape->B ? images : (size_t)shape->B;
}

/* Compares the arena's images [at, at + count) with images [from, from + count) of x. */
static void compare_run(const struct gr_conv *conv, const float *y, size_t at, size_t from,
                        size_t count, const float *expected, float *piece, const float *atol,
                        struct gr_compare *sum)
{
    size_t y_per_image = nn_conv_y_elems(&conv->shape) / (size_t)conv->shape.B;
    size_t x_per_image = nn_conv_x_elems(&conv->shape) / (size_t)conv->shape.B;
    size_t step = expected ? count : piece_images(&conv->shape, y_per_image);
    for (size_t done = 0; done < count; done += step) {
        size_t n = count - done < step ? count - done : step;
        const float *ref = expected ? expected + (from + done) * y_per_image : piece;
        if (!expected) {
            struct conv_shape part = conv->shape;
            part.B = (int)n;
            nn_oracle_conv(&part, conv->x + (from + done) * x_per_image, conv->k, piece);
        }
        gr_compare_images(&conv->shape, at + done, n, y + (at + done) * y_per_image, ref, atol,
                          sum);
    }
}

static float largest_magnitude(const float *x, size_t n)
{
    float largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fabsf(x[i]) > largest ? fabsf(x[i]) : largest;
    return largest;
}

enum st_code gr_arena_compare(const struct arena *arena, const struct gr_conv *conv,
                              const float *expected, struct gr_compare *sum, struct st_error *err)
{
    const struct conv_shape *shape = &conv->shape;
    size_t B = (size_t)shape->B, y_per_image = nn_conv_y_elems(shape) / B;
    memset(sum, 0, sizeof *sum);
    float *piece =
        expected ? NULL : malloc(piece_images(shape, y_per_image) * y_per_image * sizeof(float));
    float *atol = malloc((size_t)shape->M * sizeof *atol);
    if (!atol || (!expected && !piece)) {
        free(piece);
        free(atol);
        return st_fail(err, ST_NO_MEMORY, "cannot hold expected outputs in memory");
    }
    nn_conv_tolerance(shape, largest_magnitude(conv->x, nn_conv_x_elems(shape)), conv->k, atol);
    const float *y = (const float *)(arena->base + arena_layout_for(shape).y);
    size_t r = conv->rotate;
    compare_run(conv, y, 0, r, B - r, expected, piece, atol, sum);
    compare_run(conv, y, B - r, 0, r, expected, piece, atol, sum);
    free(piece);
    free(atol);
    return ST_OK;
}
