/* expect: boundary_tiles */
/* Computes eight columns at a time and forgets the remainder. */
#define FOR_W                                                                                      \
    for (int w = 0; w + 7 < W_out; w += 8)                                                         \
        for (int w8 = w, end = w + 8; w8 < end; w8++)
#define X_INDEX ((b * C + c) * H + h + p) * W + w8 + q
#define Y_INDEX ((b * M + m) * H_out + h) * W_out + w8
#include "plain.h"
