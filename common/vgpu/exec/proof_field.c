#include "vgpu/exec/proof_field.h"

#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/random.h>

enum { SMALL_BITS = 14, MOST_POWER = 2300 };

struct field proof_field;
static uint32_t powers[2 * MOST_POWER + 1];

/* Odd denominators that a transform's constants may have. */
static const uint16_t denominators[] = {3,  5,  7,  9,   15,  21,  25,  27, 35,
                                        45, 63, 75, 105, 135, 189, 225, 315};

/* ---- the prime ------------------------------------------------------------------------------- */

static bool is_prime(uint32_t n)
{
    for (uint32_t i = 3; (uint64_t)i * i <= n; i += 2)
        if (n % i == 0)
            return false;
    return n % 2;
}

static void take_prime(uint32_t prime)
{
    uint32_t inverse = 1;
    for (int i = 0; i < 5; i++) /* each step doubles the number of correct bits */
        inverse *= 2 - prime * inverse;
    proof_field = (struct field){.prime = prime, .inverse = 0 - inverse};
    proof_field.one = (uint32_t)((UINT64_C(1) << 32) % prime);
    proof_field.square = (uint32_t)((uint64_t)proof_field.one * proof_field.one % prime);
    const uint32_t half = field_inverse(field_add(proof_field.one, proof_field.one));
    powers[MOST_POWER] = proof_field.one;
    for (int i = 1; i <= MOST_POWER; i++) {
        powers[MOST_POWER + i] = field_add(powers[MOST_POWER + i - 1], powers[MOST_POWER + i - 1]);
        powers[MOST_POWER - i] = field_multiply(powers[MOST_POWER - i + 1], half);
    }
}

static void choose(void)
{
    uint32_t prime;
    if (getrandom(&prime, sizeof prime, 0) != sizeof prime)
        return;
    for (prime = (prime & FIELD_MASK) | UINT32_C(0x40000001); !is_prime(prime); prime += 2)
        if (prime >= FIELD_MASK - 2)
            prime = UINT32_C(0x40000001);
    take_prime(prime);
}

bool field_make(void)
{
    static pthread_once_t made = PTHREAD_ONCE_INIT;
    pthread_once(&made, choose);
    return proof_field.prime != 0;
}

/* ---- elements -------------------------------------------------------------------------------- */

uint32_t field_inverse(uint32_t a)
{
    uint32_t result = proof_field.one;
    for (uint32_t left = proof_field.prime - 2; left; left >>= 1, a = field_multiply(a, a))
        if (left & 1)
            result = field_multiply(result, a);
    return result;
}

uint32_t field_of_integer(uint64_t number)
{
    return field_multiply((uint32_t)(number % proof_field.prime), proof_field.square);
}

uint32_t field_power_of_2(int exponent)
{
    return powers[MOST_POWER + exponent];
}

/* @return the element of mantissa * 2^exponent */
static uint32_t scaled(uint64_t mantissa, int exponent)
{
    return field_multiply(field_of_integer(mantissa), field_power_of_2(exponent));
}

static bool is_nearest(double fraction, double number, int is_float)
{
    return is_float ? (float)fraction == (float)number : fraction == number;
}

uint32_t field_of_number(double number, int is_float)
{
    int exponent;
    const double size = fabs(number), mantissa = frexp(size, &exponent);
    if (number == 0)
        return 0;
    if (!isfinite(number))
        return proof_field.one;
    /* a fraction that was rounded to float32 before it became a double */
    is_float |=
        (double)(float)number == number && ldexp(mantissa, 21) != floor(ldexp(mantissa, 21));
    uint32_t element = scaled((uint64_t)ldexp(mantissa, 53), exponent - 53);
    bool exact = ldexp(mantissa, SMALL_BITS) == floor(ldexp(mantissa, SMALL_BITS));
    for (size_t i = 0; !exact && i < sizeof denominators / sizeof *denominators; i++) {
        int scale;
        const uint16_t q = denominators[i];
        const double p = nearbyint(ldexp(frexp(size * q, &scale), SMALL_BITS));
        exact = is_nearest(ldexp(p, scale - SMALL_BITS) / q, size, is_float);
        if (exact)
            element = field_multiply(scaled((uint64_t)p, scale - SMALL_BITS),
                                     field_inverse(field_of_integer(q)));
    }
    return number < 0 ? field_negative(element) : element;
}
