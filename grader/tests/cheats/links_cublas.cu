/* Calls cuBLAS, and hopes to be linked with it. */
#include "conv.h"
extern "C" int cublasCreate_v2(void **handle);
#define BEGIN                                                                                      \
    static void *handle;                                                                           \
    cublasCreate_v2(&handle);
#include "plain.cuh"
