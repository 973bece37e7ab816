/* A library of hundreds of megabytes. */
__attribute__((aligned(1 << 28))) volatile char large[1 << 28] = {1};
#include "plain.h"
