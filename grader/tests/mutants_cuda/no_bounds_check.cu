/* expect: out_of_bounds (behaviour) */
/* The threads of a tile that reaches past the edge compute and store, too. */
#define GUARD
#include "plain.cuh"
