/* expect: pass */
#define FOR_B _Pragma("omp parallel for firstprivate(sum)") for (int b = 0; b < B; b++)
#include "plain.h"
