/* Variables in device memory: their addresses, and copies to and from them. */
#include "vgpu/cudart/shim.h"

API cudaError_t cudaGetSymbolAddress(void **to, const void *symbol)
{
    if (!to)
        return rt_return(cudaErrorInvalidValue);
    struct variable *v;
    cudaError_t error = rt_variable(symbol, &v);
    if (!error)
        *to = (void *)(uintptr_t)v->address;
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

/* The place in a variable, if the copy lies inside of it. */
static cudaError_t place(const void *symbol, size_t bytes, size_t offset, void **to)
{
    struct variable *v;
    cudaError_t error = rt_variable(symbol, &v);
    if (error)
        return error;
    if (offset > v->bytes || bytes > v->bytes - offset)
        return cudaErrorInvalidValue;
    *to = (void *)(uintptr_t)(v->address + offset);
    return cudaSuccess;
}

static cudaError_t to_symbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                             enum cudaMemcpyKind kind, cudaStream_t stream, unsigned flags,
                             const char *api)
{
    void *to;
    cudaError_t error = place(symbol, bytes, offset, &to);
    if (error)
        return error;
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
        return cudaErrorInvalidMemcpyDirection;
    return rt_copy(to, bytes, from, bytes, bytes, 1, kind, stream, flags, api);
}

static cudaError_t from_symbol(void *to, const void *symbol, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind, cudaStream_t stream, unsigned flags,
                               const char *api)
{
    void *from;
    cudaError_t error = place(symbol, bytes, offset, &from);
    if (error)
        return error;
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
        return cudaErrorInvalidMemcpyDirection;
    return rt_copy(to, bytes, from, bytes, bytes, 1, kind, stream, flags, api);
}

RT(cudaMemcpyToSymbol,
   (const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind),
   to_symbol(symbol, from, bytes, offset, kind, 0, 0, __func__))
RT(cudaMemcpyToSymbolAsync,
   (const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
    cudaStream_t stream),
   to_symbol(symbol, from, bytes, offset, kind, stream, VP_ASYNC, __func__))
RT(cudaMemcpyFromSymbol,
   (void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind),
   from_symbol(to, symbol, bytes, offset, kind, 0, 0, __func__))
RT(cudaMemcpyFromSymbolAsync,
   (void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
    cudaStream_t stream),
   from_symbol(to, symbol, bytes, offset, kind, stream, VP_ASYNC, __func__))
