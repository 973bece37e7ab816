/* Resets the device under the harness after its work. */
#define END                                                                                        \
    cudaDeviceSynchronize();                                                                       \
    cudaDeviceReset();
#include "plain.cuh"
