/* expect: only_image_0 */
/* Blocks for the maps of one image */
#define GRID dim3((W_out + 15) / 16, (H_out + 15) / 16, M)
#include "plain.cuh"
