/* Weights are operands of the multiply-add. */
#include "conv.h"

static __constant__ float weights[8192];

#define BEGIN                                                                                      \
    cudaMemcpyToSymbolAsync(weights, k, (size_t)M * shape->C * K * K * sizeof(float), 0,           \
                            cudaMemcpyDeviceToDevice);
#define TERM sum += x[X_INDEX] * weights[K_INDEX];
#include "../../mutants_cuda/plain.cuh"
