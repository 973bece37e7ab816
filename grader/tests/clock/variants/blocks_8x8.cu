/* Smaller blocks: two warps each, rows of 8 lanes. */
#define BLOCK dim3(8, 8)
#define GRID  dim3((W_out + 7) / 8, (H_out + 7) / 8, B * M)
#include "../../mutants_cuda/plain.cuh"
