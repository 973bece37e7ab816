/* Variables in device memory: their addresses, and copies to and from them. */
#include "vgpu/cudart/shim.h"

API cudaError_t cudaGetSymbolAddress(void **to, const void *symbol)
{
    if (!to)
        return rt_return(cudaErrorInvalidValue);
    struct variable *v;
    cudaError_t error = rt_variable(symbol, &v);
    if (!error)
        *to = POINTER(v->address);
    return rt_return(error);
}

API cudaError_t cudaGetSymbolSize(size_t *to, const void *symbol)
{
    if (!to)
        return rt_return(cudaErrorInvalidValue);
    struct variable *v;
    cudaError_t error = rt_variable(symbol, &v);
    if (!error)
        *to = v->bytes;
    return rt_return(error);
}

/* Copies to or from an offset in a variable, if the range is inside the variable. */
static cudaError_t copy(bool to_symbol, const void *symbol, const void *other, size_t bytes,
                        size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream,
                        unsigned flags, const char *api)
{
    struct variable *v;
    cudaError_t error = rt_variable(symbol, &v);
    if (error) {
        /* So that the call is recorded: the device rejects a copy of host memory. */
        if (error == cudaErrorInvalidSymbol && !rt_is_device_address(symbol))
            rt_copy(POINTER(HANDLE(symbol)), bytes, POINTER(HANDLE(symbol)), bytes, bytes, 1,
                    cudaMemcpyDeviceToDevice, stream, flags, api);
        return error;
    }
    if (offset > v->bytes || bytes > v->bytes - offset) {
        /* The device rejects this copy and records its own message; no host memory is read. */
        void *beyond = POINTER(v->address + offset);
        error = rt_copy(beyond, bytes, beyond, bytes, bytes, 1, cudaMemcpyDeviceToDevice, stream,
                        flags, api);
        return error ? error : cudaErrorInvalidValue;
    }
    if (kind == cudaMemcpyHostToHost ||
        kind == (to_symbol ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice))
        return cudaErrorInvalidMemcpyDirection;
    void *at = POINTER(v->address + offset), *with = POINTER(other);
    return rt_copy(to_symbol ? at : with, bytes, to_symbol ? with : at, bytes, bytes, 1, kind,
                   stream, flags, api);
}

RT(cudaMemcpyToSymbol,
   (const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind),
   copy(true, symbol, from, bytes, offset, kind, 0, 0, __func__))
RT(cudaMemcpyToSymbolAsync,
   (const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
    cudaStream_t stream),
   copy(true, symbol, from, bytes, offset, kind, stream, VP_ASYNC, __func__))
RT(cudaMemcpyFromSymbol,
   (void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind),
   copy(false, symbol, to, bytes, offset, kind, 0, 0, __func__))
RT(cudaMemcpyFromSymbolAsync,
   (void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
    cudaStream_t stream),
   copy(false, symbol, to, bytes, offset, kind, stream, VP_ASYNC, __func__))
