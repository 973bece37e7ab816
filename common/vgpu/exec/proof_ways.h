/** @file
 * The way of a value: which memories its operands passed through (proof.h).
 *
 *     | read | joined | of k | of x | read_only | k_const | x_buffer | k_shared | x_shared | products |
 *       63     62       61     60     50          40        30         20         10         0
 *
 * For an element of x or k, or a sum of elements, "products" is 0 and the other fields are 0 or 1.
 * For products and their sums, each field counts the products to which it applies. A sum of more
 * than 1022 products keeps only their proportions. A product of values that contain products counts
 * as one product that came through no memory. "joined" marks sums to which several threads
 * added by atomic operations in another word of memory. "read" marks words in global memory to
 * which x was copied and from which it was loaded again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** The fields after the number of products. */
enum way_field { WAY_X_SHARED = 1, WAY_K_SHARED, WAY_X_BUFFER, WAY_K_CONST, WAY_READ_ONLY };

enum { WAY_BITS = 10, WAY_MOST = (1 << WAY_BITS) - 1 };

#define WAY_ONE(field) (UINT64_C(1) << WAY_BITS * (field))
#define WAY_OF_X       (UINT64_C(1) << 60)
#define WAY_OF_K       (UINT64_C(1) << 61)
#define WAY_JOINED     (UINT64_C(1) << 62)
#define WAY_READ       (UINT64_C(1) << 63)
#define WAY_COUNTS     (WAY_OF_X - 1)
#define WAYS_OF_X                                                                                  \
    (WAY_OF_X | WAY_ONE(WAY_X_SHARED) | WAY_ONE(WAY_X_BUFFER) | WAY_ONE(WAY_READ_ONLY))
#define WAYS_OF_K (WAY_OF_K | WAY_ONE(WAY_K_SHARED) | WAY_ONE(WAY_K_CONST) | WAY_ONE(WAY_READ_ONLY))

static inline uint32_t way_count(uint64_t way, int field)
{
    return (uint32_t)(way >> WAY_BITS * field) & WAY_MOST;
}

static inline uint32_t way_products(uint64_t way)
{
    return way_count(way, 0);
}

/** @return whether a way belongs to elements of x or k, or their sums, not to products. */
static inline bool way_is_raw(uint64_t way)
{
    return way_products(way) == 0;
}

/** The lowest bit of each count. */
#define WAY_ONES (WAY_ONE(0) | WAY_ONE(1) | WAY_ONE(2) | WAY_ONE(3) | WAY_ONE(4) | WAY_ONE(5))

/** @return the way with each count halved. All counts are rounded like the number of products, so
 * that a count equal to it remains equal, and a smaller count remains smaller. */
static inline uint64_t way_halved(uint64_t way)
{
    const uint64_t half = (way & WAY_COUNTS) >> 1 & ~(WAY_ONES << (WAY_BITS - 1));
    return (way & ~WAY_COUNTS) | (half + (way & WAY_ONE(0) ? way & WAY_ONES : 0));
}

/** @return the way of a sum. For a sum of elements, a memory counts only if all of them came
 * through it. */
static inline uint64_t way_sum(uint64_t a, uint64_t b)
{
    if (!a || !b)
        return a | b;
    if (way_is_raw(a) && way_is_raw(b))
        return (a & b & WAY_COUNTS) | ((a | b) & ~WAY_COUNTS);
    if (way_is_raw(a) || way_is_raw(b))
        return way_is_raw(a) ? b : a;
    while (way_products(a) + way_products(b) >= WAY_MOST) {
        a = way_halved(a);
        b = way_halved(b);
    }
    return ((a & WAY_COUNTS) + (b & WAY_COUNTS)) | ((a | b) & (WAY_OF_X | WAY_OF_K)) |
           (a & b & WAY_JOINED);
}

/** @return whether values with these ways contain x and k, so that their product is a product of x
 * and k. */
static inline bool way_multiplies(uint64_t a, uint64_t b)
{
    return (a & WAY_OF_X && b & WAY_OF_K) || (a & WAY_OF_K && b & WAY_OF_X);
}

/** @return the way of a product. */
static inline uint64_t way_product(uint64_t a, uint64_t b)
{
    if (!way_multiplies(a, b))
        return way_sum(a, b);
    if (!way_is_raw(a) || !way_is_raw(b))
        return WAY_OF_X | WAY_OF_K | WAY_ONE(0);
    const uint64_t x = a & WAY_OF_X ? a : b, k = a & WAY_OF_X ? b : a;
    return (x & WAYS_OF_X) | (k & WAYS_OF_K) | WAY_ONE(0);
}
