/* expect: h_out_off_by_one */
/* Because a launch of no blocks would be refused, one row of blocks exists even if K = H. */
#define H_OUT (H - K)
#define GRID  dim3((W_out + 15) / 16, H_out / 16 + 1, B * M)
#include "plain.cuh"
