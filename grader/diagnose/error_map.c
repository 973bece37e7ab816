#include "grader/compare/compare.h"
#include "grader/diagnose/diagnose.h"
#include "grader/compare/element.h"

#include <math.h>
#include <stdio.h>

enum { MAX_COLUMNS = 66, MAX_ROWS = 24, MAX_COUNTS = 12 };

/* The characters of elements, from best to worst: in a shrunk map, a character shows the worst of
 * its elements. */
static const char marks[] = ".x_N";

static int mark_of(float got, float ref, float atol)
{
    if (gr_element_passes(got, ref, atol))
        return 0;
    if (gr_is_unwritten(got))
        return 2;
    return isfinite(got) ? 1 : 3;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Draws one map of one image, in which each character stands for `rows` x `columns` elements. */
static void draw_map(FILE *out, const struct gr_case *c, int b, int m, int rows, int columns)
{
    const struct conv_shape *s = &c->spec.shape;
    int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    size_t plane = ((size_t)b * s->M + m) * H_out * W_out;
    for (int top = 0; top < H_out; top += rows) {
        fprintf(out, "%4d ", top);
        for (int left = 0; left < W_out; left += columns) {
            int worst = 0;
            for (int h = top; h < smaller(top + rows, H_out); h++) {
                for (int w = left; w < smaller(left + columns, W_out); w++) {
                    size_t i = plane + (size_t)h * W_out + w;
                    int mark = mark_of(c->y[i], c->ref[i], c->atol[m]);
                    worst = mark > worst ? mark : worst;
                }
            }
            fputc(marks[worst], out);
        }
        fputc('\n', out);
    }
}

static size_t wrong_in(const struct gr_case *c, int b, int m)
{
    const struct conv_shape *s = &c->spec.shape;
    size_t plane = (size_t)(s->H - s->K + 1) * (s->W - s->K + 1), wrong = 0;
    size_t start = ((size_t)b * s->M + m) * plane;
    for (size_t i = start; i < start + plane; i++)
        wrong += !gr_element_passes(c->y[i], c->ref[i], c->atol[m]);
    return wrong;
}

/* Writes the number of wrong elements of each image (or map), unless all have the same. */
static void write_counts(FILE *out, const struct gr_case *c, bool per_image)
{
    const struct conv_shape *s = &c->spec.shape;
    int n = per_image ? s->B : s->M, others = per_image ? s->M : s->B;
    size_t counts[MAX_COUNTS], first = 0;
    bool differ = false;
    for (int i = 0; i < n; i++) {
        size_t wrong = 0;
        for (int j = 0; j < others; j++)
            wrong += per_image ? wrong_in(c, i, j) : wrong_in(c, j, i);
        if (i == 0)
            first = wrong;
        if (i < MAX_COUNTS)
            counts[i] = wrong;
        differ |= wrong != first;
    }
    if (!differ)
        return;
    fprintf(out, "wrong outputs in %s 0, 1, ...:", per_image ? "image" : "map");
    for (int i = 0; i < smaller(n, MAX_COUNTS); i++)
        fprintf(out, " %zu", counts[i]);
    fputs(n > MAX_COUNTS ? " ...\n" : "\n", out);
}

void gr_error_map(const struct gr_case *c, const struct gr_compare *compared, char *to, size_t room)
{
    const struct conv_shape *s = &c->spec.shape;
    int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    int rows = (H_out + MAX_ROWS - 1) / MAX_ROWS, columns = (W_out + MAX_COLUMNS - 1) / MAX_COLUMNS;
    if (room == 0)
        return;
    to[0] = '\0';
    FILE *out = fmemopen(to, room, "w");
    if (!out)
        return;
    fprintf(out, "image b = %d, map m = %d, %d x %d outputs (. right, x wrong", compared->b,
            compared->m, H_out, W_out);
    fprintf(out, "%s%s)\n", compared->unwritten ? ", _ never written" : "",
            compared->nan + compared->inf ? ", N NaN or Inf" : "");
    if (rows > 1 || columns > 1)
        fprintf(out, "shrunk: each character shows the worst of %d x %d elements\n", rows, columns);
    draw_map(out, c, compared->b, compared->m, rows, columns);
    write_counts(out, c, true);
    write_counts(out, c, false);
    fclose(out);
    to[room - 1] = '\0';
}
