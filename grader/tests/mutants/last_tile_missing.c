/* expect: boundary_tiles */
/* The loop over tiles ends one tile too early. */
#define FOR_W                                                                                      \
    for (int w0 = 0; w0 + 16 < W_out; w0 += 16)                                                    \
        for (int w = w0; w < w0 + 16; w++)
#include "plain.h"
