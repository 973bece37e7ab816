#include "vgpu/exec/proof_field.h"

#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/random.h>

enum { SMALL_BITS = 14, FEW_BITS = 10, MOST_POWER = 2300 };

struct field proof_field;
static uint32_t powers[2 * MOST_POWER + 1];

/* Odd denominators that a transform's constants, or products of two of them, may have. */
static const uint16_t denominators[] = {3,  5,  7,  9,   15,  21,  25,  27,  35,  45,
                                        63, 75, 81, 105, 135, 189, 225, 315, 405, 2025};

/* The largest error of the mantissa of a number that a program computed: its factors may be rounded,
 * too, a function of the device's library may have computed it, or the program has inverted the
 * matrix of a transform in float64 (2^-48.3 for 8 points). */
static double computed_error(int is_float)
{
    return is_float ? 0x1p-23 : 0x1p-47;
}

/* Cosines and sines of the multiples of a full turn / TURN, with which Fourier transforms multiply.
 * The prime is 1 modulo TURN, so that the field has a root of unity r of this order, and
 * (r^i + r^-i) / 2 stands for cos(2 pi i / TURN). */
enum { TURN = 960, COSINES = TURN / 4 };
static struct cosine {
    double mantissa; /* in [0.5, 1) */
    int exponent;
    uint32_t element;
} cosines[COSINES + 1];

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

/* ---- cosines --------------------------------------------------------------------------------- */

static uint32_t power(uint32_t a, uint32_t exponent)
{
    uint32_t result = proof_field.one;
    for (; exponent; exponent >>= 1, a = field_multiply(a, a))
        if (exponent & 1)
            result = field_multiply(result, a);
    return result;
}

static uint32_t root_of_unity(void)
{
    for (uint64_t i = 2;; i++) {
        const uint32_t r = power(field_of_integer(i), (proof_field.prime - 1) / TURN);
        if (power(r, TURN / 2) != proof_field.one && power(r, TURN / 3) != proof_field.one &&
            power(r, TURN / 5) != proof_field.one)
            return r;
    }
}

static int compare_cosines(const void *a, const void *b)
{
    const struct cosine *p = a, *q = b;
    return (p->mantissa > q->mantissa) - (p->mantissa < q->mantissa);
}

static void make_cosines(void)
{
    const double pi = acos(-1);
    const uint32_t root = root_of_unity(), inverse = field_inverse(root);
    uint32_t a = proof_field.one, b = proof_field.one;
    for (int i = 0; i < COSINES; i++) {
        struct cosine *c = &cosines[i];
        c->mantissa =
            frexp(i < TURN / 8 ? cos(2 * pi * i / TURN) : sin(2 * pi * (TURN / 4 - i) / TURN),
                  &c->exponent);
        c->element = field_multiply(field_add(a, b), field_power_of_2(-1));
        a = field_multiply(a, root);
        b = field_multiply(b, inverse);
    }
    cosines[COSINES] = (struct cosine){1, 0, proof_field.one}; /* 1/2, if it is a little smaller */
    qsort(cosines, COSINES + 1, sizeof *cosines, compare_cosines);
}

/* @return the cosine that a mantissa is nearest to, if a program may have computed it, or NULL */
static const struct cosine *cosine_near(double mantissa, int is_float)
{
    const double error = computed_error(is_float);
    size_t low = 0, high = COSINES + 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (cosines[middle].mantissa < mantissa - error)
            low = middle + 1;
        else
            high = middle;
    }
    return low <= COSINES && cosines[low].mantissa <= mantissa + error ? &cosines[low] : NULL;
}

static void choose(void)
{
    uint32_t prime;
    if (getrandom(&prime, sizeof prime, 0) != sizeof prime)
        return;
    const uint32_t least = UINT32_C(0x40000000) / TURN * TURN + TURN + 1;
    for (prime = least + prime % UINT32_C(0x3fffffff) / TURN * TURN; !is_prime(prime);
         prime += TURN)
        if (prime > FIELD_MASK - TURN)
            prime = least;
    take_prime(prime);
    make_cosines();
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
    return power(a, proof_field.prime - 2);
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

/* Finds a fraction with a numerator of a few bits that rounds to a positive number, or that is @p near
 * it. @return false if there is none */
static bool find_fraction(double number, int bits, bool near, int is_float, uint32_t *element)
{
    int exponent, scale;
    frexp(number, &exponent);
    for (size_t i = 0; i < sizeof denominators / sizeof *denominators; i++) {
        const uint16_t q = denominators[i];
        const double p = nearbyint(ldexp(frexp(number * q, &scale), bits));
        const double fraction = ldexp(p, scale - bits) / q;
        if (near ? fabs(fraction - number) > ldexp(computed_error(is_float), exponent)
                 : !is_nearest(fraction, number, is_float))
            continue;
        *element =
            field_multiply(scaled((uint64_t)p, scale - bits), field_inverse(field_of_integer(q)));
        return true;
    }
    return false;
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
    const struct cosine *cosine = exact ? NULL : cosine_near(mantissa, is_float);
    if (cosine) {
        element = field_multiply(cosine->element, field_power_of_2(exponent - cosine->exponent));
        exact = true;
    }
    if (!exact && !find_fraction(size, SMALL_BITS, false, is_float, &element))
        find_fraction(size, FEW_BITS, true, is_float, &element);
    return number < 0 ? field_negative(element) : element;
}

bool field_is_rounding(uint32_t element, double largest)
{
    enum { MOST_UNITS = 1 << 13, FIRST_POWER = 20, LAST_POWER = 64 };
    uint32_t units = field_multiply(field_multiply(element, field_power_of_2(FIRST_POWER)), 1);
    for (int k = FIRST_POWER; k <= LAST_POWER; k++) {
        const uint32_t size = units < proof_field.prime / 2 ? units : proof_field.prime - units;
        if (size <= MOST_UNITS && ldexp(size, FIRST_POWER - k) <= largest)
            return true;
        units = field_add(units, units);
    }
    return false;
}
