/* expect: last_row_missing */
/* Blocks of one row, one block too few (but never none, because such a launch would be refused) */
#define BLOCK dim3(32, 1)
#define GRID  dim3((W_out + 31) / 32, H_out > 1 ? H_out - 1 : 1, B * M)
#define GUARD if (h < (H_out > 1 ? H_out : 0) && w < W_out)
#include "plain.cuh"
