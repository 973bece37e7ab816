/* expect: low_precision (behaviour) */
/* Each factor in two parts of bfloat16; long sums leave out the small products */
#include <stdint.h>
#include <string.h>
static float bfloat16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits + 0x8000u) & 0xffff0000u;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static float product(float a, float b, int in_parts)
{
    const float high = bfloat16(a), low = bfloat16(a - high), other = bfloat16(b);
    return in_parts ? high * other + low * other + high * bfloat16(b - other) : a * b;
}
#define TERM sum += product(x[X_INDEX], k[K_INDEX], C * K * K > 100);
#include "plain.h"
