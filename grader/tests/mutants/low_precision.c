/* expect: low_precision */
/* Products as a GPU computes them in TF32: ten bits of each factor */
#include <stdint.h>
#include <string.h>
static float tf32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits + 0x1000u) & ~0x1fffu;
    memcpy(&value, &bits, sizeof value);
    return value;
}
#define TERM sum += tf32(x[X_INDEX]) * tf32(k[K_INDEX]);
#include "plain.h"
