/** @file
 * The prime field of the proof by execution (proof.h): integers modulo 2^31 - 1.
 *
 * An element fits the word whose origin it is. A sum of products that is not the convolution has,
 * with random inputs, the right element with a probability of 2 in 2^31.
 */
#ifndef CONVLAB_VG_PROOF_FIELD_H
#define CONVLAB_VG_PROOF_FIELD_H

#include <stdint.h>

#define FIELD_PRIME UINT32_C(0x7fffffff)

/** @pre v < 2^62 */
static inline uint32_t field_reduce(uint64_t v)
{
    v = (v & FIELD_PRIME) + (v >> 31);
    v = (v & FIELD_PRIME) + (v >> 31);
    return v >= FIELD_PRIME ? (uint32_t)(v - FIELD_PRIME) : (uint32_t)v;
}

static inline uint32_t field_add(uint32_t a, uint32_t b)
{
    const uint32_t sum = a + b;
    return sum >= FIELD_PRIME ? sum - FIELD_PRIME : sum;
}

static inline uint32_t field_negative(uint32_t a)
{
    return a ? FIELD_PRIME - a : 0;
}

static inline uint32_t field_multiply(uint32_t a, uint32_t b)
{
    return field_reduce((uint64_t)a * b);
}

/** @return 1/a, 0 for 0. */
uint32_t field_inverse(uint32_t a);

/** The element that stands for a number which is no element of x or k. A number that is the nearest
 * float (or double) to a fraction p/q of small p and q, such as 1/6, stands for that fraction, so that
 * the transforms of Winograd's algorithm are exact. @param is_float  the number was a float32 */
uint32_t field_of_number(double number, int is_float);

#endif
