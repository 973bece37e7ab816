/* One launch whose blocks all run at the same time on 132 multiprocessors. */
#define LAUNCHES 1
#define BLOCKS   (16 * 132)
#include "launches.cuh"
