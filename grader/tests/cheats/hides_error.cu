/* A launch that fails, and the error taken away before the harness can read it. */
#define BLOCK dim3(64, 64)
#define END   cudaGetLastError();
#include "plain.cuh"
