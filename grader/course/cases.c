#include "grader/course/cases.h"

#include "base/rng.h"
#include "base/tsv.h"
#include "nn/oracle.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every row finds a fault that the other rows let pass. Outputs are H-K+1 by W-K+1, so the
 * sizes that matter to a tiled program, 8, 16 and 32 and their neighbours, are those of H-K+1. */
static const struct gr_case_shape fixed_shapes[] = {
    /*  B   M   C   H   W  K */
    {{1, 1, 1, 1, 1, 1}, "all ones"},
    {{2, 3, 4, 9, 7, 1}, "K = 1"},
    {{3, 2, 2, 4, 4, 4}, "K = H = W, even"},
    {{2, 3, 4, 5, 5, 5}, "K = H = W, odd"},
    {{2, 2, 3, 5, 11, 5}, "K = H, one output row"},
    {{2, 3, 2, 11, 5, 5}, "K = W, one output column"},
    {{2, 3, 2, 10, 23, 3}, "wider than high"},
    {{2, 2, 3, 23, 10, 3}, "higher than wide"},
    /* Here x has as many elements as k, and swapping the two only transposes y in (b, m). */
    {{4, 4, 1, 3, 3, 3}, "B = M, one output element"},
    {{5, 5, 2, 2, 2, 2}, "B = M, one output element, C = 2"},
    {{4, 1, 3, 8, 9, 3}, "one output map, several images"},
    {{1, 6, 3, 9, 8, 3}, "one image, several maps"},
    {{1, 1, 5, 6, 7, 3}, "one image, one map"},
    {{2, 3, 3, 9, 12, 2}, "K = 2"},
    {{2, 2, 3, 13, 10, 4}, "K = 4"},
    {{2, 3, 2, 16, 14, 7}, "K = 7"},
    {{1, 2, 2, 1, 40, 1}, "a single row"},
    {{1, 2, 2, 40, 1, 1}, "a single column"},
    {{2, 2, 3, 9, 9, 3}, "7 x 7 outputs (tile 8 - 1)"},
    {{2, 3, 2, 10, 10, 3}, "8 x 8 outputs (tile 8)"},
    {{2, 2, 2, 11, 11, 3}, "9 x 9 outputs (tile 8 + 1)"},
    {{2, 3, 2, 17, 17, 3}, "15 x 15 outputs (tile 16 - 1)"},
    {{2, 2, 3, 20, 20, 5}, "16 x 16 outputs (tile 16)"},
    {{2, 3, 2, 19, 19, 3}, "17 x 17 outputs (tile 16 + 1)"},
    {{1, 2, 2, 18, 19, 3}, "16 x 17 outputs"},
    {{1, 2, 2, 19, 18, 3}, "17 x 16 outputs"},
    {{2, 2, 2, 33, 33, 3}, "31 x 31 outputs (tile 32 - 1)"},
    {{2, 2, 3, 34, 34, 3}, "32 x 32 outputs (tile 32)"},
    {{1, 3, 2, 35, 35, 3}, "33 x 33 outputs (tile 32 + 1)"},
    {{1, 2, 1, 34, 66, 3}, "32 x 64 outputs"},
    {{1, 2, 1, 6, 132, 3}, "rows of 130 outputs"},
    {{3, 5, 7, 13, 11, 3}, "primes"},
    {{1, 3, 33, 8, 7, 3}, "many input maps"},
    {{2, 2, 17, 6, 9, 2}, "17 input maps"},
    {{1, 65, 2, 6, 7, 3}, "many output maps"},
    {{19, 2, 2, 6, 5, 3}, "many images"},
    {{1, 2, 2, 16, 15, 11}, "K = 11"},
    {{2, 2, 2, 9, 12, 9}, "K = H = 9"},
    {{700, 6, 2, 12, 4, 3}, "more images than a GPU has room for blocks"},
    {{150, 6, 2, 12, 19, 3}, "more images than multiprocessors"},
    {{5, 13, 3, 14, 24, 3}, "13 output maps"},
    {{1, 96, 7, 14, 14, 5}, "more weights than constant memory, maps"},
    {{1, 12, 60, 10, 9, 5}, "more weights than constant memory, C"},
    {{1, 2, 2, 176, 172, 3}, "an image larger than shared memory"},
    {{2, 50, 1, 28, 28, 5}, "one-layer model"},
    {{2, 12, 1, 70, 70, 5}, "two-layer model, layer 1"},
    {{2, 24, 12, 33, 33, 5}, "two-layer model, layer 2"},
    {{1, 2, 1, 101, 102, 100}, "a filter of 100 x 100"},
};

enum {
    FIXED = sizeof fixed_shapes / sizeof fixed_shapes[0],
    RANDOM = 12,
    RANDOM_QUICK = 4,
    RANDOM_STREAM = 0x5a9e, /* apart from every other use of the seed */
};

static const double RANDOM_MAX_MACS = 3e6;

static struct conv_shape random_shape(struct rng *r)
{
    struct conv_shape s;
    do {
        s.B = rng_range(r, 1, 4);
        s.M = rng_range(r, 1, 30);
        s.C = rng_range(r, 1, 14);
        s.H = rng_range(r, 1, 40);
        s.W = rng_range(r, 1, 40);
        int side = s.H < s.W ? s.H : s.W;
        s.K = rng_range(r, 1, side < 7 ? side : 7);
    } while (nn_conv_macs(&s) > RANDOM_MAX_MACS);
    return s;
}

size_t gr_case_shapes(struct gr_case_shape *to, uint64_t seed, int quick)
{
    static_assert(FIXED + RANDOM + GR_MAX_HELD_OUT <= GR_MAX_CASES, "raise GR_MAX_CASES");
    size_t n = 0;
    while (n < FIXED) {
        to[n] = fixed_shapes[n];
        n++;
    }
    struct rng r = rng_make(seed, RANDOM_STREAM);
    int random = quick ? RANDOM_QUICK : RANDOM;
    for (int i = 1; i <= random; i++) {
        to[n].shape = random_shape(&r);
        snprintf(to[n].label, sizeof to[n].label, "random %d", i);
        n++;
    }
    return n;
}

/* ---- shapes from a file --------------------------------------------------------------------- */

static const double READ_MAX_MACS = 1e8;

static bool parse_size(const char *text, int *to)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    *to = (int)value;
    return isdigit((unsigned char)text[0]) && !*end && !errno && value >= 1 && value <= INT_MAX;
}

/* @param size  B, M, C, H, W, K */
static const char *why_not(const int size[6], struct conv_shape *s)
{
    *s = (struct conv_shape){size[0], size[1], size[2], size[3], size[4], size[5]};
    if (s->K > s->H || s->K > s->W)
        return "K at most H and at most W";
    /* In double: these numbers may be any. */
    double macs =
        (double)s->B * s->M * s->C * s->K * s->K * (s->H - s->K + 1.0) * (s->W - s->K + 1.0);
    double elems = (double)s->B * s->C * s->H * s->W + (double)s->M * s->C * s->K * s->K;
    return macs > READ_MAX_MACS || elems > READ_MAX_MACS
               ? "at most 10^8 multiply-adds, and elements of x and k"
               : NULL;
}

enum st_code gr_case_shapes_read(const char *path, struct gr_case_shape to[GR_MAX_HELD_OUT],
                                 size_t *n, struct st_error *err)
{
    static const char *const names[] = {"B", "M", "C", "H", "W", "K"};
    int column[6], label;
    struct tsv table;
    *n = 0;
    enum st_code code = tsv_read(path, &table, err);
    if (code)
        return code;
    for (int i = 0; i < 6 && !code; i++)
        if ((column[i] = tsv_column(&table, names[i])) < 0) {
            st_fail(err, code = ST_BAD_FORMAT, "a list of shapes has no column %s", names[i]);
            st_detail(err, ST_EXPECTED, "columns B M C H W K, with tabs between");
        }
    label = tsv_column(&table, "label");
    if (!code && (table.rows == 0 || table.rows > GR_MAX_HELD_OUT)) {
        st_fail(err, code = ST_TOO_LARGE, "a list of shapes has %zu rows", table.rows);
        st_detail(err, ST_EXPECTED, "1 to %d", GR_MAX_HELD_OUT);
    }
    for (size_t row = 0; row < table.rows && !code; row++) {
        int size[6];
        const char *expected = NULL;
        for (int i = 0; i < 6 && !expected; i++)
            if (!parse_size(tsv_cell(&table, row, column[i]), &size[i]))
                expected = "whole numbers from 1 on";
        if (!expected)
            expected = why_not(size, &to[row].shape);
        if (expected) {
            st_fail(err, code = ST_BAD_FORMAT, "row %zu is not a shape to grade with", row + 1);
            st_detail(err, ST_EXPECTED, "%s", expected);
        }
        snprintf(to[row].label, sizeof to[row].label, "%s",
                 label >= 0 && tsv_cell(&table, row, label)[0] ? tsv_cell(&table, row, label)
                                                               : "held out");
    }
    if (code)
        st_detail(err, ST_WHERE, "%s", path);
    else
        *n = table.rows;
    tsv_free(&table);
    return code;
}
