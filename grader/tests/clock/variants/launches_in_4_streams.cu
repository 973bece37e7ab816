/* A quarter of the blocks, in four launches. */
#define LAUNCHES 4
#define BLOCKS   132
#include "launches.cuh"
