/* Takes the device away under the harness after its work. */
#define END                                                                                        \
    cudaDeviceSynchronize();                                                                       \
    cudaDeviceReset();
#include "plain.cuh"
