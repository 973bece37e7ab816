/* The largest possible blocks. */
#define BLOCK dim3(32, 32)
#define GRID  dim3((W_out + 31) / 32, (H_out + 31) / 32, B * M)
#include "../../mutants_cuda/plain.cuh"
