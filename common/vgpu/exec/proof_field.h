/** @file
 * The prime field of the proof by execution (proof.h): integers modulo a random prime of 31 bits.
 *
 * An element is as large as the word whose origin it is. With random inputs, a sum of products that
 * is not the convolution has the right element with a probability of 2 in 2^30. The prime is chosen
 * when the process starts: if it were known before, a submission could multiply by constants that
 * are almost 0 but stand for 1 (2^-93 modulo 2^31 - 1).
 *
 * Element a is stored in Montgomery's form, as a * 2^32, so that a product needs no division.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** The bits of an element. */
#define FIELD_MASK UINT32_C(0x7fffffff)

struct field {
    uint32_t prime;
    uint32_t inverse; /**< -1 / prime modulo 2^32 */
    uint32_t one;     /**< the element of 1 */
    uint32_t square;  /**< 2^64 modulo the prime: converts an integer to an element */
};

/** The field of this process; set by field_make(). */
extern struct field proof_field;

/** Chooses the prime, once in a process. @return false: the system has no random numbers */
bool field_make(void);

static inline uint32_t field_add(uint32_t a, uint32_t b)
{
    const uint32_t sum = a + b;
    return sum >= proof_field.prime ? sum - proof_field.prime : sum;
}

static inline uint32_t field_negative(uint32_t a)
{
    return a ? proof_field.prime - a : 0;
}

static inline uint32_t field_multiply(uint32_t a, uint32_t b)
{
    const uint64_t product = (uint64_t)a * b;
    const uint64_t multiple =
        (uint64_t)((uint32_t)product * proof_field.inverse) * proof_field.prime;
    const uint32_t r = (uint32_t)((product + multiple) >> 32);
    return r >= proof_field.prime ? r - proof_field.prime : r;
}

/** @return 1/a; 0 if a is 0. */
uint32_t field_inverse(uint32_t a);
uint32_t field_of_integer(uint64_t number);
/** @pre |exponent| < 2300 */
uint32_t field_power_of_2(int exponent);

/** @return the field element of a number that is not an element of x or k. A number that is the
 * nearest float (or double) to a fraction p/q of small p and q, such as 1/6, stands for this
 * fraction, so that the transforms of Winograd's algorithm are exact. A number that is nearly a sine
 * or cosine of a multiple of 1/960 of a turn, times a power of two, stands for that, so that Fourier
 * transforms are exact, too.
 * @param is_float  the number was a float32 */
uint32_t field_of_number(double number, int is_float);

/** @return whether an element is that of a number that is almost nothing beside @p largest (at most
 * 2^-20 of it) and has at most 13 binary digits: what remains if a program adds halves of units, so
 * that integers are rounded and not truncated. The host's numbers have more digits, and an unknown
 * element is rarely such a number. */
bool field_is_rounding(uint32_t element, double largest);
