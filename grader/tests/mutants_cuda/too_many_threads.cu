/* expect: launch_failed (behaviour) */
/* 2048 threads in a block: the launch is refused, and the code does not check for the error. */
#define BLOCK dim3(32, 64)
#define GRID  dim3((W_out + 31) / 32, (H_out + 63) / 64, B * M)
#include "plain.cuh"
