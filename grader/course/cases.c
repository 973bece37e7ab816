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

enum {
    MOST_FIXED = 52,
    RANDOM = 12,
    RANDOM_QUICK = 4,
    RANDOM_STREAM = 0x5a9e, /* differs from every other use of the seed */
};

static const double RANDOM_MAX_MACS = 3e6;

static struct conv_shape random_shape(const struct exercise *exercise, struct rng *r)
{
    struct conv_shape s;
    do
        s = exercise->random(r);
    while (nn_conv_macs(&s) > RANDOM_MAX_MACS);
    return s;
}

size_t gr_case_shapes(const struct exercise *exercise, struct gr_case_shape *to, uint64_t seed,
                      int quick)
{
    static_assert(MOST_FIXED + RANDOM + GR_MAX_HELD_OUT <= GR_MAX_CASES, "raise GR_MAX_CASES");
    assert(exercise->shapes_count <= MOST_FIXED);
    size_t n = 0;
    for (; n < exercise->shapes_count; n++) {
        to[n].shape = exercise->shapes[n].shape;
        snprintf(to[n].label, sizeof to[n].label, "%s", exercise->shapes[n].label);
    }
    struct rng r = rng_make(seed, RANDOM_STREAM);
    int random = quick ? RANDOM_QUICK : RANDOM;
    for (int i = 1; i <= random; i++) {
        to[n].shape = random_shape(exercise, &r);
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

static const char *why_not(const struct conv_shape *s)
{
    if (s->K > s->H || s->K > s->W)
        return "K at most H and at most W";
    /* Computed in double, because the numbers may be arbitrarily large. */
    double macs =
        (double)s->B * s->M * s->C * s->K * s->K * (s->H - s->K + 1.0) * (s->W - s->K + 1.0);
    double elems = (double)s->B * s->C * s->H * s->W + (double)s->M * s->C * s->K * s->K;
    return macs > READ_MAX_MACS || elems > READ_MAX_MACS
               ? "at most 10^8 multiply-adds, and at most 10^8 elements of x and k"
               : NULL;
}

/* Finds the columns of the sizes. @return their number, or -1 with err set. */
static int find_columns(const struct exercise *exercise, const struct tsv *table,
                        int column[EXERCISE_COLUMNS], struct st_error *err)
{
    char names[64] = "";
    int n = 0;
    for (; n < EXERCISE_COLUMNS && exercise->column[n]; n++) {
        strcat(strcat(names, " "), exercise->column[n]);
        column[n] = tsv_column(table, exercise->column[n]);
    }
    for (int i = 0; i < n; i++)
        if (column[i] < 0) {
            st_fail(err, ST_BAD_FORMAT, "a list of shapes has no column %s", exercise->column[i]);
            st_detail(err, ST_EXPECTED, "columns%s, separated by tabs", names);
            return -1;
        }
    return n;
}

enum st_code gr_case_shapes_read(const struct exercise *exercise, const char *path,
                                 struct gr_case_shape to[GR_MAX_HELD_OUT], size_t *n,
                                 struct st_error *err)
{
    int column[EXERCISE_COLUMNS], label;
    struct tsv table;
    *n = 0;
    enum st_code code = tsv_read(path, &table, err);
    if (code)
        return code;
    const int columns = find_columns(exercise, &table, column, err);
    if (columns < 0)
        code = err->code;
    label = tsv_column(&table, "label");
    if (!code && (table.rows == 0 || table.rows > GR_MAX_HELD_OUT)) {
        st_fail(err, code = ST_TOO_LARGE, "a list of shapes has %zu rows", table.rows);
        st_detail(err, ST_EXPECTED, "1 to %d", GR_MAX_HELD_OUT);
    }
    for (size_t row = 0; row < table.rows && !code; row++) {
        int size[EXERCISE_COLUMNS];
        const char *expected = NULL;
        for (int i = 0; i < columns && !expected; i++)
            if (!parse_size(tsv_cell(&table, row, column[i]), &size[i]))
                expected = "whole numbers of at least 1";
        if (!expected) {
            to[row].shape = exercise->shape(size);
            expected = why_not(&to[row].shape);
        }
        if (expected) {
            st_fail(err, code = ST_BAD_FORMAT, "row %zu is not a valid shape", row + 1);
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
