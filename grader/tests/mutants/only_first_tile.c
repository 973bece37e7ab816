/* expect: only_first_tile */
/* A grid of one block of 16 x 16 threads */
#define FOR_H for (int h = 0; h < (H_out < 16 ? H_out : 16); h++)
#define FOR_W for (int w = 0; w < (W_out < 16 ? W_out : 16); w++)
#include "plain.h"
