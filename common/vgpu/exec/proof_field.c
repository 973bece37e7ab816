#include "vgpu/exec/proof_field.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

enum { SMALL_BITS = 14 };

/* Odd denominators that a transform's constants may have. */
static const uint16_t denominators[] = {3,  5,  7,  9,   15,  21,  25,  27, 35,
                                        45, 63, 75, 105, 135, 189, 225, 315};

uint32_t field_inverse(uint32_t a)
{
    uint32_t result = 1;
    for (uint32_t left = FIELD_PRIME - 2; left; left >>= 1, a = field_multiply(a, a))
        if (left & 1)
            result = field_multiply(result, a);
    return result;
}

/* mantissa * 2^exponent; 2^31 is 1 here. */
static uint32_t scaled(uint64_t mantissa, int exponent)
{
    const unsigned shift = (unsigned)(exponent % 31 + 31) % 31;
    return field_reduce((uint64_t)field_reduce(mantissa) << shift);
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
        return 1;
    uint32_t element = scaled((uint64_t)ldexp(mantissa, 53), exponent - 53);
    bool exact = ldexp(mantissa, SMALL_BITS) == floor(ldexp(mantissa, SMALL_BITS));
    for (size_t i = 0; !exact && i < sizeof denominators / sizeof *denominators; i++) {
        int scale;
        const uint16_t q = denominators[i];
        const double p = nearbyint(ldexp(frexp(size * q, &scale), SMALL_BITS));
        exact = is_nearest(ldexp(p, scale - SMALL_BITS) / q, size, is_float);
        if (exact)
            element = field_multiply(scaled((uint64_t)p, scale - SMALL_BITS), field_inverse(q));
    }
    return number < 0 ? field_negative(element) : element;
}
