/* Host functions in streams. The device process executes everything in order, so a host function
 * may run once all earlier requests have been answered. */
#include "vgpu/cudart/graph.h"

#include <stdlib.h>

struct callback {
    cudaHostFn_t function;
    cudaStreamCallback_t with_status; /* if not NULL: the older kind of function */
    cudaStream_t stream;
    void *data;
};

static void callback_run(void *context)
{
    struct callback *c = context;
    cudaError_t status = rt_request(VP_FENCE, "", 0);
    if (c->with_status)
        c->with_status(c->stream, status, c->data);
    else
        c->function(c->data);
    free(c);
}

cudaError_t rt_host_function(cudaStream_t stream, cudaHostFn_t function,
                             cudaStreamCallback_t with_status, void *data, const char *api)
{
    if (capture_host(stream, function, with_status, data))
        return cudaSuccess;
    cudaError_t error = rt_request(VP_CALL, api, stream);
    if (error)
        return error;
    struct callback *c = malloc(sizeof *c);
    if (!c)
        return cudaErrorMemoryAllocation;
    *c = (struct callback){function, with_status, stream, data};
    error = rt_queue_add(callback_run, c);
    if (error)
        free(c);
    return error;
}

RT(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t function, void *data),
   function ? rt_host_function(stream, function, NULL, data, __func__) : cudaErrorInvalidValue)
RT(cudaStreamAddCallback,
   (cudaStream_t stream, cudaStreamCallback_t function, void *data, unsigned flags),
   function && !flags ? rt_host_function(stream, NULL, function, data, __func__)
                      : cudaErrorInvalidValue)
