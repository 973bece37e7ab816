/* The same blocks in 16 launches, each in its stream. */
#define LAUNCHES 16
#define BLOCKS   132
#include "launches.cuh"
