/* expect: out_of_bounds (behaviour) */
/* Threads of a tile that are beyond the edge also compute and store. */
#define GUARD
#include "plain.cuh"
