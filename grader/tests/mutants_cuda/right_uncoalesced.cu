/* expect: pass */
/* Right but slow: neighbouring threads read elements of different rows. */
#define GRID   dim3((H_out + 15) / 16, (W_out + 15) / 16, B * M)
#define H_MINE (blockIdx.x * blockDim.x + threadIdx.x)
#define W_MINE (blockIdx.y * blockDim.y + threadIdx.y)
#include "plain.cuh"
