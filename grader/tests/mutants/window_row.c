/* expect: window_row_stride */
#define X_INDEX ((b * C + c) * H + h) * W + w + p *K + q
#include "plain.h"
