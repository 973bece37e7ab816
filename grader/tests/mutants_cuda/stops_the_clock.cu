/* expect: pass (behaviour) */
/* op time: that of right */
/* Records the harness's first event again after its kernel, so that no time seems to have passed
 * between the two events. The outputs are right; the grader must get the time right too. */
#define END                                                                                        \
    cudaDeviceSynchronize();                                                                       \
    cudaEventRecord((cudaEvent_t)0x100, 0);                                                        \
    cudaEventRecord((cudaEvent_t)0x101, 0);
#include "plain.cuh"
