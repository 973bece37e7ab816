/** @file
 * What vprof and the CUPTI library agree on: the columns of a trace of a real GPU, and the
 * variables of the environment that tell the library where to write it. trace/trace.h says what
 * the columns mean.
 *
 *     vprof ── makes the file with its first row ──▶ trace ◀── rows, whole ones at a time ──
 * library
 */
#ifndef CONVLAB_PROFILER_GPU_COLUMNS_H
#define CONVLAB_PROFILER_GPU_COLUMNS_H

#define GPU_COLUMNS(X)                                                                             \
    X(kind)                                                                                        \
    X(name)                                                                                        \
    X(client)                                                                                      \
    X(stream)                                                                                      \
    X(start_ns)                                                                                    \
    X(end_ns)                                                                                      \
    X(bytes)                                                                                       \
    X(grid)                                                                                        \
    X(block)                                                                                       \
    X(registers)                                                                                   \
    X(static_shared_bytes)                                                                         \
    X(dynamic_shared_bytes)                                                                        \
    X(shared_config_bytes)                                                                         \
    X(error)                                                                                       \
    X(symbol)                                                                                      \
    X(host_memory)                                                                                 \
    X(correlation)                                                                                 \
    X(thread)                                                                                      \
    X(device)                                                                                      \
    X(serial)

enum gpu_column {
#define GPU_ENUM(name) GPU_##name,
    GPU_COLUMNS(GPU_ENUM)
#undef GPU_ENUM
        GPU_COLUMNS_N
};

#define GPU_ENV_TRACE   "CONVLAB_GPU_TRACE" /**< the trace's path; without it nothing is recorded */
#define GPU_ENV_CLIENTS "CONVLAB_GPU_CLIENTS" /**< a file that gets a byte from each process */
#define GPU_ENV_START   "CONVLAB_GPU_START"   /**< nanoseconds of the real-time clock: time 0 */
#define GPU_ENV_KERNELS                                                                            \
    "CONVLAB_GPU_KERNELS" /**< on, off: record kernels as concurrent, or not                       \
                           */
#define GPU_ENV_FROM_START                                                                         \
    "CONVLAB_GPU_FROM_START"          /**< off: nothing before cudaProfilerStart()                 \
                                       */
#define GPU_ENV_CUPTI "CONVLAB_CUPTI" /**< the path or name of libcupti */

#endif
