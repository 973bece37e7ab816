/* expect: low_precision */
/* Inputs cut to bfloat16 */
#include <stdint.h>
#include <string.h>
static float cut(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits &= 0xffff0000u;
    memcpy(&value, &bits, sizeof value);
    return value;
}
#define TERM sum += cut(x[X_INDEX]) * cut(k[K_INDEX]);
#include "plain.h"
