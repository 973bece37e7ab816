/* expect: window_step */
#define X_INDEX ((b * C + c) * H + h * K + p) * W + w *K + q
#include "plain.h"
