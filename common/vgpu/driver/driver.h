/** @file
 * libcuda.so.1 of the virtual GPU: the CUDA driver API, in one library with the runtime (cudart/),
 * so that a program that uses both has one device, one address space and one set of streams, as on
 * a real GPU.
 *
 * Most functions of the driver correspond to a function of the runtime: they have the same handles,
 * and mostly the same error numbers. Each of these is one row, DRIVER(name, parameters, the
 * runtime's error). Modules, contexts and launches have ordinary functions. The rest of cuda.h is
 * generated stubs.
 */
#pragma once

#include "vgpu/cudart/shim.h"

#include <cuda.h>

/** Target of a CUcontext. */
struct CUctx_st {
    unsigned flags;
    uint64_t number;
    unsigned sms; /**< multiprocessors of a green context; 0 for other contexts */
};
/** @return a new context, which is not current, or NULL: out of memory. */
CUcontext driver_context_new(unsigned flags, unsigned sms);
/** @return the current context of the calling thread, or NULL. If the program uses the runtime, this
 * is at least the primary context. */
CUcontext driver_context_current(void);
/** @return the green context in which a stream was made, or NULL. The default stream belongs to the
 * current context. */
CUgreenCtx driver_green_of(CUstream stream);

/** State that a function requires. */
enum driver_state {
    DRIVER_ANY,         /**< nothing */
    DRIVER_INITIALIZED, /**< cuInit() */
    DRIVER_CONTEXT,     /**< a context is current in the calling thread */
};

/** Begins a call: the trace records it as @p name, and the runtime's last error is unchanged.
 * @return CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_INVALID_CONTEXT or CUDA_SUCCESS. */
CUresult driver_begin(const char *name, enum driver_state needed);
/** Ends a call. @return the driver's number for an error of the runtime. */
CUresult driver_end(cudaError_t error);

/** Counts what outlives contexts and was made (1) or freed (-1): reserved addresses and memory.
 * @return @p error; after an error nothing is counted */
cudaError_t driver_outlives(cudaError_t error, int change);

enum { DRIVER_PARAMETERS = 1024 };
/** Finds the parameters of a launch that may pass them in one buffer, @p extra. @param parameters
 * then becomes @p room, which has DRIVER_PARAMETERS pointers */
cudaError_t driver_parameters(CUfunction function, void **extra, void ***parameters, void **room);
/** Converts a copy between memories that are not arrays. */
cudaError_t driver_copy_of(const CUDA_MEMCPY3D *p, struct cudaMemcpy3DParms *to);

/** The program's buffer for compilation errors. */
struct driver_log {
    char *to;
    size_t room;
    void **size; /**< receives the length */
};
/** @return the buffer for errors in the options. The buffer for remarks is emptied. */
struct driver_log driver_log_of(unsigned n, const CUjit_option *options, void **values);
/** Writes that the code was rejected, or an empty text without an error. */
void driver_log_write(const struct driver_log *log, cudaError_t error);

#define DRIVER_BODY(needed, name, error)                                                           \
    {                                                                                              \
        const CUresult begun = driver_begin(name, needed);                                         \
        return driver_end(begun ? (cudaError_t)begun : (error));                                   \
    }

/** A function of the driver whose error is the value of one expression with runtime functions. The
 * compiler sees the versioned name, cuMemAlloc_v2; traces show the plain name. */
#define DRIVER_NEEDS(needed, name, parameters, error)                                              \
    API CUresult name parameters DRIVER_BODY(needed, #name, error)
#define DRIVER(name, parameters, error) DRIVER_NEEDS(DRIVER_CONTEXT, name, parameters, error)

/** One version of a function that has several versions in the headers: @p symbol is its name in the
 * library. */
#define DRIVER_VERSION(needed, symbol, name, parameters, error)                                    \
    API CUresult versioned_##symbol parameters __asm__(#symbol);                                   \
    API CUresult versioned_##symbol parameters DRIVER_BODY(needed, name, error)
