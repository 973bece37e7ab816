/* expect: weights_stride */
#define K_INDEX (m * C + c) * K + p *K + q
#include "plain.h"
