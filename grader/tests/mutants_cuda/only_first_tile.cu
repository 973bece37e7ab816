/* expect: only_first_tile */
/* One block for each map, however large the map is */
#define GRID dim3(1, 1, M *B)
#include "plain.cuh"
