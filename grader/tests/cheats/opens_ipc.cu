/* Exports a handle of its input for other processes and pins the harness's memory. Its answer is
 * right. */
#define BEGIN                                                                                      \
    cudaIpcMemHandle_t handle;                                                                     \
    static char page[8192];                                                                        \
    cudaIpcGetMemHandle(&handle, (void *)x);                                                       \
    cudaHostRegister((void *)(((size_t)page + 4095) & ~(size_t)4095), 4096, 0);                    \
    cudaGetLastError();
#include "plain.cuh"
