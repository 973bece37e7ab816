/** @file
 * Checks whether the wrong elements fill a region of y. A region is a predicate on an element's
 * coordinates and one number (a tile size, a limit). It is accepted if, in every case, all wrong
 * elements are in the region and all its elements are wrong, except a few that are right by chance.
 */
#include "grader/diagnose/clues.h"

#include <stdio.h>

/* An element of y, its flat index, and the sizes of its tensor. */
struct element {
    int b, m, h, w, B, M, H_out, W_out, K;
    size_t i, elems;
};

struct region {
    const char *missing_id, *wrong_id;
    const char *says; /* printf format for n */
    const char *hint;
    bool (*has)(const struct element *e, int n);
    const int *sizes;                           /* values of n to try; 0 ends the list */
    int (*limit)(const struct gr_clues *clues); /* or a function that returns n; 0: none */
    bool partly;                                /* also accepted if only a large part of the region
                                                   is wrong */
};

/* ---- the predicates ------------------------------------------------------------------------- */

#define REGION(name, expression)                                                                   \
    static bool name(const struct element *e, int n)                                               \
    {                                                                                              \
        __attribute__((unused)) const int b = e->b, m = e->m, h = e->h, w = e->w, B = e->B,        \
                                          M = e->M, H_out = e->H_out, W_out = e->W_out, K = e->K;  \
        (void)n;                                                                                   \
        return expression;                                                                         \
    }

/* Whether i is in the remainder of a dimension that is cut into pieces of n. */
static bool left_over(int i, int size, int n)
{
    return i >= size - size % n;
}

REGION(last_row, h == H_out - 1)
REGION(last_column, w == W_out - 1)
REGION(last_row_or_column, h == H_out - 1 || w == W_out - 1)
REGION(first_row, h == 0)
REGION(first_column, w == 0)
REGION(first_row_or_column, h == 0 || w == 0)
REGION(rim, h == 0 || w == 0 || h == H_out - 1 || w == W_out - 1)
REGION(half_filter_rim, h < K / 2 || w < K / 2 || h >= H_out - K / 2 || w >= W_out - K / 2)
REGION(last_rows, h >= H_out - (K - 1))
REGION(last_columns, w >= W_out - (K - 1))
REGION(last_rows_or_columns, h >= H_out - (K - 1) || w >= W_out - (K - 1))
REGION(last_image, b == B - 1)
REGION(first_image, b == 0)
REGION(last_map, m == M - 1)
REGION(first_map, m == 0)
REGION(last_element, e->i == e->elems - 1)
REGION(first_element, e->i == 0)
REGION(image_limit, b >= n)
REGION(map_limit, m >= n)
REGION(row_limit, h >= n)
REGION(column_limit, w >= n)
REGION(element_limit, e->i >= (size_t)n)
REGION(partial_tiles, left_over(h, H_out, n) || left_over(w, W_out, n))
REGION(partial_tile_rows, left_over(h, H_out, n))
REGION(partial_tile_columns, left_over(w, W_out, n))
REGION(partial_corner, left_over(h, H_out, n) && left_over(w, W_out, n))
REGION(last_tiles, h >= (H_out - 1) / n * n || w >= (W_out - 1) / n * n)
REGION(last_tile_rows, h >= (H_out - 1) / n * n)
REGION(last_tile_columns, w >= (W_out - 1) / n * n)
REGION(beyond_first_tile, h >= n || w >= n)
REGION(halo, h % n + K > n || w % n + K > n)
REGION(halo_rows, h % n + K > n)
REGION(halo_columns, w % n + K > n)
REGION(leftover_maps, left_over(m, M, n))
REGION(leftover_images, left_over(b, B, n))
REGION(leftover_elements, e->i >= e->elems - e->elems % (size_t)n)
REGION(leftover_in_map, left_over(h *W_out + w, H_out *W_out, n))
REGION(odd_images, b % 2 == 1)
REGION(odd_maps, m % 2 == 1)
REGION(nth_maps, m % (n / 16) == n % 16)
REGION(odd_rows, h % 2 == 1)
REGION(odd_columns, w % 2 == 1)

/* ---- limits, taken from the data ------------------------------------------------------------ */

static void coordinates(const struct conv_shape *s, size_t i, struct element *e)
{
    *e = (struct element){.B = s->B, .M = s->M, .K = s->K, .i = i};
    e->H_out = s->H - s->K + 1, e->W_out = s->W - s->K + 1;
    e->elems = (size_t)s->B * s->M * e->H_out * e->W_out;
    e->w = (int)(i % e->W_out), i /= e->W_out;
    e->h = (int)(i % e->H_out), i /= e->H_out;
    e->m = (int)(i % s->M);
    e->b = (int)(i / s->M);
}

/* The smallest wrong coordinate in any case, at most the case's size: from this coordinate on,
 * everything would be wrong. */
#define LIMIT(name, coordinate)                                                                    \
    static int name(const struct gr_clues *clues)                                                  \
    {                                                                                              \
        int least = INT32_MAX;                                                                     \
        for (size_t at = 0; at < clues->n; at++) {                                                 \
            for (size_t i = 0; i < clues->compared[at].elems; i++) {                               \
                struct element e;                                                                  \
                if (!clues->is_wrong[at][i])                                                       \
                    continue;                                                                      \
                coordinates(&clues->cases[at].spec.shape, i, &e);                                  \
                if ((int)(coordinate) < least)                                                     \
                    least = (int)(coordinate);                                                     \
            }                                                                                      \
        }                                                                                          \
        return least;                                                                              \
    }

LIMIT(least_image, e.b)
LIMIT(least_map, e.m)
LIMIT(least_row, e.h)
LIMIT(least_column, e.w)
LIMIT(least_element, e.i)

static int one_image(const struct gr_clues *clues)
{
    return least_image(clues) == 1;
}

static int one_map(const struct gr_clues *clues)
{
    return least_map(clues) == 1;
}

/* ---- the table ------------------------------------------------------------------------------ */

static const int once[] = {1, 0};
static const int tiles[] = {2,  3,  4,  5,  6,  7,  8,  10, 12, 14,  15,
                            16, 20, 24, 28, 30, 31, 32, 48, 64, 128, 0};
static const int groups[] = {2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 64, 0};
/* 16 * a + b: every a-th map from map b on */
static const int every_nth[] = {0x30, 0x31, 0x32, 0x40, 0x41, 0x42, 0x43, 0x60, 0x61, 0x62, 0x63,
                                0x64, 0x65, 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0};
static const int runs[] = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 0};

#define HINT_END                                                                                   \
    "Check the ends of your loops: y has H_out = H - K + 1 rows and W_out = W - K + 1 columns, counted from 0."
#define HINT_BEGIN "Check the beginning of your loops: rows and columns of y are counted from 0."
#define HINT_BORDER                                                                                \
    "In a valid convolution every output has a whole window inside the image: y has no border to leave out. Which input elements does y[b, m, 0, 0] need?"
#define HINT_IMAGES "Follow b through the loops and through the indices of x and y."
#define HINT_MAPS   "Follow m through the loops and through the indices of k and y."
#define HINT_TILES                                                                                 \
    "Sizes need not be multiples of the tile: how many tiles does a map of 17 rows need, and what does the last tile do with its empty part?"
#define HINT_LAST_TILE                                                                             \
    "How many tiles of 16 rows do maps of 15, 16 and 17 rows need? Check the end of the loop over tiles."
#define HINT_HALO                                                                                  \
    "A tile of n x n outputs needs (n+K-1) x (n+K-1) inputs. Which threads load the K-1 rows and columns beyond the tile?"
#define HINT_LEFTOVER                                                                              \
    "A loop that processes several elements at a time needs a second loop for the rest."
#define HINT_LIMIT                                                                                 \
    "Look for a fixed size in your code: an array, a bound, a number of threads that fits only the sizes you tried. Or for a return inside a loop."

/* A part that exists in every map, or in every y, and whose elements are missing or wrong. */
#define PLACE(id, in, hint, says)                                                                  \
    {                                                                                              \
        id "_missing", id "_wrong", says, hint, in, once, NULL, false                              \
    }
/* The remainders that are left if a length is cut into pieces of one of several sizes. */
#define CUT(id, in, sizes, hint, says)                                                             \
    {                                                                                              \
        id, id, says, hint, in, sizes, NULL, false                                                 \
    }
#define TILED(id, in, hint, says)                                                                  \
    {                                                                                              \
        id, id, says, hint, in, tiles, NULL, true                                                  \
    }
/* Elements beyond a number taken from the data. */
#define LIMITED(id, in, limit, hint, says)                                                         \
    {                                                                                              \
        id, id, says, hint, in, NULL, limit, false                                                 \
    }

static const struct region regions[] = {
    PLACE("last_row", last_row, HINT_END, "those of the last row (h = H_out - 1)"),
    PLACE("last_column", last_column, HINT_END, "those of the last column (w = W_out - 1)"),
    PLACE("last_row_and_column", last_row_or_column, HINT_END,
          "those of the last row and the last column"),
    PLACE("first_row", first_row, HINT_BEGIN, "those of the first row (h = 0)"),
    PLACE("first_column", first_column, HINT_BEGIN, "those of the first column (w = 0)"),
    PLACE("first_row_and_column", first_row_or_column, HINT_BEGIN,
          "those of the first row and the first column"),
    PLACE("border", rim, HINT_BORDER,
          "those of the border of each map (first and last rows and columns)"),
    PLACE("border", half_filter_rim, HINT_BORDER,
          "those of the border of each map, K/2 elements wide"),
    PLACE("last_rows", last_rows, HINT_END, "those of the last K-1 rows"),
    PLACE("last_columns", last_columns, HINT_END, "those of the last K-1 columns"),
    PLACE("last_rows_and_columns", last_rows_or_columns, HINT_END,
          "those of the last K-1 rows and columns"),
    LIMITED("only_image_0", image_limit, one_image, HINT_IMAGES, "those of all images but image 0"),
    LIMITED("only_map_0", map_limit, one_map, HINT_MAPS, "those of all output maps but map 0"),
    PLACE("last_image", last_image, HINT_IMAGES, "those of the last image (b = B - 1)"),
    PLACE("last_map", last_map, HINT_MAPS, "those of the last output map (m = M - 1)"),
    PLACE("first_image", first_image, HINT_IMAGES, "those of image 0"),
    PLACE("first_map", first_map, HINT_MAPS, "those of output map 0"),
    PLACE("last_element", last_element, HINT_END, "the very last element of y"),
    PLACE("first_element", first_element, HINT_BEGIN, "the very first element of y"),
    /* In ascending order of n: if only a part of a region is wrong, larger regions contain this
     * part too. */
    TILED("boundary_tiles", partial_corner, HINT_TILES,
          "the boundary tiles: the corner that remains when a map is cut into tiles of %d x %d"),
    TILED("boundary_tiles", partial_tile_rows, HINT_TILES,
          "the boundary tiles: the rows that remain when a map is cut into tiles of %d rows"),
    TILED("boundary_tiles", partial_tile_columns, HINT_TILES,
          "the boundary tiles: the columns that remain when a map is cut into tiles of %d columns"),
    TILED(
        "boundary_tiles", partial_tiles, HINT_TILES,
        "the boundary tiles: the incomplete ones at the bottom and right of a map cut into tiles of %d x %d"),
    CUT("boundary_tiles", last_tiles, tiles, HINT_LAST_TILE,
        "the boundary tiles: the bottom and right ones of a map cut into tiles of %d x %d, including whole tiles"),
    CUT("boundary_tiles", last_tile_rows, tiles, HINT_LAST_TILE,
        "the boundary tiles: the bottom ones of a map cut into tiles of %d rows, including whole tiles"),
    CUT("boundary_tiles", last_tile_columns, tiles, HINT_LAST_TILE,
        "the boundary tiles: the right ones of a map cut into tiles of %d columns, including whole tiles"),
    CUT("tile_halo", halo, tiles, HINT_HALO,
        "the outputs of each tile of %d x %d whose window reaches into the next tile"),
    CUT("tile_halo", halo_rows, tiles, HINT_HALO,
        "the outputs of each tile of %d rows whose window reaches into the next tile"),
    CUT("tile_halo", halo_columns, tiles, HINT_HALO,
        "the outputs of each tile of %d columns whose window reaches into the next tile"),
    CUT("leftover_maps", leftover_maps, groups, HINT_LEFTOVER,
        "those of the output maps after the last whole group of %d"),
    CUT("leftover_images", leftover_images, groups, HINT_LEFTOVER,
        "those of the images after the last whole group of %d"),
    CUT("leftover_elements", leftover_elements, runs, HINT_LEFTOVER,
        "the elements of y after the last whole run of %d"),
    CUT("leftover_elements", leftover_in_map, runs, HINT_LEFTOVER,
        "the elements of each map after the last whole run of %d"),
    CUT("only_first_tile", beyond_first_tile, tiles, HINT_TILES,
        "those outside of the first %d x %d outputs of each map"),
    LIMITED("only_first_images", image_limit, least_image, HINT_LIMIT,
            "those of the images from number %d on"),
    LIMITED("only_first_maps", map_limit, least_map, HINT_LIMIT,
            "those of the output maps from number %d on"),
    LIMITED("only_first_rows", row_limit, least_row, HINT_LIMIT,
            "those of the rows from number %d on"),
    LIMITED("only_first_columns", column_limit, least_column, HINT_LIMIT,
            "those of the columns from number %d on"),
    LIMITED("only_first_elements", element_limit, least_element, HINT_LIMIT,
            "the elements of y from number %d on, in any shape"),
    PLACE("odd_images", odd_images, HINT_IMAGES, "those of every second image (1, 3, 5, ...)"),
    PLACE("odd_maps", odd_maps, HINT_MAPS, "those of every second output map (1, 3, 5, ...)"),
    CUT("every_nth_map", nth_maps, every_nth, HINT_MAPS,
        "those of the output maps m with m %% %d = %d"),
    PLACE("odd_rows", odd_rows, HINT_END, "those of every second row (1, 3, 5, ...)"),
    PLACE("odd_columns", odd_columns, HINT_END, "those of every second column (1, 3, 5, ...)"),
};

/* ---- fitting -------------------------------------------------------------------------------- */

/* The overlap of a region and the wrong elements, in one case. */
struct overlap {
    size_t wrong_in, right_in, right_out;
};

/* @return false if an element outside the region is wrong. */
static bool overlap_of(const struct gr_clues *clues, size_t at, const struct region *region, int n,
                       struct overlap *to)
{
    size_t elems = clues->compared[at].elems;
    struct element e;
    coordinates(&clues->cases[at].spec.shape, 0, &e);
    *to = (struct overlap){0};
    for (; e.i < elems; e.i++) {
        bool has = region->has(&e, n), wrong = clues->is_wrong[at][e.i];
        if (wrong && !has)
            return false;
        to->wrong_in += wrong && has;
        to->right_in += !wrong && has;
        to->right_out += !wrong && !has;
        if (++e.w == e.W_out)
            e.w = 0, e.h++;
        if (e.h == e.H_out)
            e.h = 0, e.m++;
        if (e.m == e.M)
            e.m = 0, e.b++;
    }
    return true;
}

/* Whether the region is wrong and nothing else is. By chance, one wrong value in several thousand
 * is within the tolerance, so among many wrong elements a few may be right. */
static bool is_filled(const struct gr_clues *clues, const struct region *region, int n)
{
    struct overlap all = {0}, one;
    bool has_right_part = false;
    for (size_t i = 0; i < clues->n; i++) {
        if (!overlap_of(clues, clues->by_work[i], region, n, &one))
            return false;
        if (one.right_in > 2 + one.wrong_in / 100)
            return false;
        has_right_part |= one.wrong_in && one.right_out;
        all.wrong_in += one.wrong_in;
        all.right_in += one.right_in;
    }
    /* A region that fills every wrong case entirely proves nothing. */
    return has_right_part && all.right_in * 100 <= all.wrong_in + 50;
}

/* Whether all wrong elements are in the region, and in most cases a large part of it is wrong. To
 * rule out a larger region, a wrong case must have right elements outside the region, and at least
 * two cases without such a region must have more than one output, all of them right. */
static bool is_filled_partly(const struct gr_clues *clues, const struct region *region, int n)
{
    size_t with_right_part = 0, without = 0, wrong_cases = 0, spared_cases = 0;
    struct overlap all = {0}, one;
    for (size_t i = 0; i < clues->n; i++) {
        if (!overlap_of(clues, clues->by_work[i], region, n, &one))
            return false;
        without += one.wrong_in + one.right_in == 0 && one.right_out > 1;
        if (one.wrong_in == 0) {
            spared_cases += one.right_in > 0;
            continue;
        }
        with_right_part += one.right_out > 0;
        wrong_cases++;
        all.wrong_in += one.wrong_in;
        all.right_in += one.right_in;
    }
    return with_right_part > 0 && without > 1 && spared_cases * 2 <= wrong_cases &&
           all.wrong_in * 4 >= all.right_in;
}

static bool find(const struct gr_clues *clues, bool partly, struct gr_region_found *to)
{
    for (size_t i = 0; i < sizeof regions / sizeof regions[0]; i++) {
        const struct region *region = &regions[i];
        int limit[2] = {0, 0};
        if (partly && !region->partly)
            continue;
        if (region->limit)
            limit[0] = region->limit(clues);
        for (const int *n = region->limit ? limit : region->sizes; *n; n++) {
            if (partly ? !is_filled_partly(clues, region, *n) : !is_filled(clues, region, *n))
                continue;
            to->missing_id = region->missing_id;
            to->wrong_id = region->wrong_id;
            to->hint = region->hint;
            bool pair = region->sizes == every_nth;
            snprintf(to->says, sizeof to->says, region->says, pair ? *n / 16 : *n,
                     pair ? *n % 16 : *n);
            return true;
        }
    }
    return false;
}

bool gr_find_region(const struct gr_clues *clues, bool whole_only, struct gr_region_found *to)
{
    to->whole = find(clues, false, to);
    return to->whole || (!whole_only && find(clues, true, to));
}
