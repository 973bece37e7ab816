/** @file
 * The contract of vprof and the CUPTI library: the columns of a trace of a real GPU, and the
 * environment variables that name the file to write.
 *
 *     vprof ── makes the file with its first row ──▶ trace ◀── whole rows ── library
 */
#pragma once

#include "vgpu/api/vgpu.h"

enum gpu_column {
#define COMMON(name, ...) GPU_##name,
#define REAL(name, ...)   GPU_##name,
#include "vgpu/api/trace_columns.def"
    GPU_COLUMNS_N
};

/** The path of the trace; if unset, nothing is recorded. */
#define GPU_ENV_TRACE "CONVLAB_GPU_TRACE"
/** A file to which each process appends a byte. */
#define GPU_ENV_CLIENTS "CONVLAB_GPU_CLIENTS"
/** Nanoseconds of the real-time clock: time 0. */
#define GPU_ENV_START "CONVLAB_GPU_START"
/** on: record kernels as concurrent; off: one by one. */
#define GPU_ENV_KERNELS "CONVLAB_GPU_KERNELS"
/** off: record nothing before cudaProfilerStart(). */
#define GPU_ENV_FROM_START "CONVLAB_GPU_FROM_START"
/** The path or name of libcupti. */
#define GPU_ENV_CUPTI "CONVLAB_CUPTI"
