/** @file
 * The few functions of the CUDA runtime that the runner itself calls, looked up at run time.
 *
 * The runner is not linked with libcudart: it also serves CPU milestones on machines without CUDA,
 * and the library path decides between NVIDIA's library and the virtual GPU's.
 */
#ifndef CONVLAB_RUNNER_CUDA_API_H
#define CONVLAB_RUNNER_CUDA_API_H

#include "base/status.h"

#include <stddef.h>

/** X(result, name, parameters): the table that declares them and looks them up. */
#define CUDA_API_MAP(X)                                                                            \
    X(int, cudaMalloc, (void **to, size_t bytes))                                                  \
    X(int, cudaFree, (void *device))                                                               \
    X(int, cudaMallocHost, (void **to, size_t bytes))                                              \
    X(int, cudaFreeHost, (void *host))                                                             \
    X(int, cudaMemGetInfo, (size_t * free, size_t * total))                                        \
    X(int, cudaMemcpy, (void *to, const void *from, size_t bytes, int kind))                       \
    X(int, cudaMemset, (void *to, int value, size_t bytes))                                        \
    X(int, cudaCtxResetPersistingL2Cache, (void))                                                  \
    X(int, cudaDeviceSetLimit, (int limit, size_t value))                                          \
    X(int, cudaDeviceSynchronize, (void))                                                          \
    X(int, cudaGetLastError, (void))                                                               \
    X(int, cudaGetDeviceCount, (int *count))                                                       \
    X(int, cudaGetDeviceProperties, (void *properties, int device))                                \
    X(const char *, cudaGetErrorName, (int error))                                                 \
    X(const char *, cudaGetErrorString, (int error))                                               \
    X(int, cudaEventCreate, (void **event))                                                        \
    X(int, cudaEventRecord, (void *event, void *stream))                                           \
    X(int, cudaEventSynchronize, (void *event))                                                    \
    X(int, cudaEventElapsedTime, (float *ms, void *begin, void *end))                              \
    X(int, cudaProfilerStart, (void))                                                              \
    X(int, cudaProfilerStop, (void))

/** cudaLimitPersistingL2CacheSize. */
enum { CUDA_LIMIT_PERSISTING_L2 = 6 };

/** cudaErrorMemoryAllocation. */
enum { CUDA_OUT_OF_MEMORY = 2 };

/** Values of cudaMemcpyKind. */
enum { CUDA_HOST_TO_DEVICE = 1, CUDA_DEVICE_TO_HOST = 2 };

/** The functions, under CUDA's names. */
struct cuda_api {
#define CUDA_API_FIELD(result, name, parameters) result(*name) parameters;
    CUDA_API_MAP(CUDA_API_FIELD)
#undef CUDA_API_FIELD
};

/** Loads libcudart.so.13 or .12, and looks up all functions. @param lab  the lab's library, or
 * NULL: loads the version of the runtime that the lab uses, because only that version returns the
 * errors of the lab's calls
 * @return ST_OK, or ST_MISSING_TOOL with a hint. */
enum st_code cuda_api_load(struct cuda_api *api, const char *lab, struct st_error *err);

#endif
