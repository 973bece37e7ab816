/** @file
 * The halves of pairs that computed the products of a value (proof.h): of pairs in half precision, a
 * program may use only one half.
 *
 *     | 1 | in upper halves | in lower halves |
 *       31  15                0
 *
 * The number is in the step of an origin, and never the number of a log's entry. It counts at most
 * the products that the value has: products that reached the other half of a word do not count. For
 * a word of two halves, the counts are those of its lower half's products in lower halves, and its
 * upper half's in upper halves.
 */
#pragma once

#include <stdint.h>

#define HALVES_KNOWN (UINT32_C(1) << 31)
enum { HALVES_BITS = 15, HALVES_MOST = (1 << HALVES_BITS) - 1 };

/** The products of a pair: one in each half. */
#define HALVES_OF_PAIR (HALVES_KNOWN | 1 | UINT32_C(1) << HALVES_BITS)

/** @return the products that were computed in lower (0) or upper (1) halves. */
static inline uint32_t halves_count(uint32_t halves, int upper)
{
    return halves & HALVES_KNOWN ? halves >> HALVES_BITS * upper & HALVES_MOST : 0;
}

/** @return the counts of one half of a word. */
static inline uint32_t halves_part(uint32_t halves, int half)
{
    return halves & HALVES_KNOWN ? halves & (HALVES_KNOWN | HALVES_MOST << HALVES_BITS * half) : 0;
}

/** @return the counts of a sum, or 0 if they are too large. */
static inline uint32_t halves_sum(uint32_t a, uint32_t b)
{
    const uint32_t lower = halves_count(a, 0) + halves_count(b, 0),
                   upper = halves_count(a, 1) + halves_count(b, 1);
    return (lower | upper) && lower <= HALVES_MOST && upper <= HALVES_MOST
               ? HALVES_KNOWN | upper << HALVES_BITS | lower
               : 0;
}

/** @return the counts of a word made of two halves. */
static inline uint32_t halves_joined(uint32_t low, uint32_t high)
{
    return halves_sum(halves_part(low, 0), halves_part(high, 1));
}
