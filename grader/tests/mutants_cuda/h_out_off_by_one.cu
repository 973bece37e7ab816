/* expect: h_out_off_by_one */
/* A launch of no blocks would be refused, so one row of blocks there is even if K = H. */
#define H_OUT (H - K)
#define GRID  dim3((W_out + 15) / 16, H_out / 16 + 1, B * M)
#include "plain.cuh"
