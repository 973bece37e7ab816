/* Half a warp per block: the other half of its lanes is never used. */
#define BLOCK dim3(4, 4)
#define GRID  dim3((W_out + 3) / 4, (H_out + 3) / 4, B * M)
#include "../../mutants_cuda/plain.cuh"
