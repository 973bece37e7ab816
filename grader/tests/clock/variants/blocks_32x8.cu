/* Rows of 32 lanes: full lines of 128 bytes. */
#define BLOCK dim3(32, 8)
#define GRID  dim3((W_out + 31) / 32, (H_out + 7) / 8, B * M)
#include "../../mutants_cuda/plain.cuh"
