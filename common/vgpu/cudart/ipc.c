/* Memory and events of other processes that one vgpu-run started. */
#include "vgpu/cudart/shim.h"

#include <string.h>

/* The contents of both kinds of handles; the remaining bytes are zero. */
struct words {
    char magic[8];
    uint64_t key[2];
};
static const char magic[8] = "vgpu-ipc";
_Static_assert(sizeof(struct words) <= CUDA_IPC_HANDLE_SIZE, "the words fit into a handle");

static cudaError_t get(void *handle, size_t bytes, enum vp_ipc what, const void *of,
                       const char *api)
{
    struct call c = rt_call(VP_IPC, api, 0, what, HANDLE(of));
    if (!handle || !of)
        return cudaErrorInvalidValue;
    cudaError_t error = rt_exchange(&c);
    if (error)
        return error;
    struct words w = {.key = {c.reply.r[0], c.reply.r[1]}};
    memcpy(w.magic, magic, sizeof magic);
    memset(handle, 0, bytes);
    memcpy(handle, &w, sizeof w);
    return cudaSuccess;
}

static cudaError_t open(void **to, const void *handle, enum vp_ipc what, const char *api)
{
    struct words w;
    memcpy(&w, handle, sizeof w);
    if (!to || memcmp(w.magic, magic, sizeof magic) != 0)
        return to ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
    struct call c = rt_call(VP_IPC, api, 0, what, w.key[0], w.key[1]);
    cudaError_t error = rt_exchange(&c);
    if (!error)
        *to = POINTER(c.reply.r[0]);
    return error;
}

RT(cudaIpcGetMemHandle, (cudaIpcMemHandle_t * handle, void *p),
   get(handle, sizeof *handle, VP_IPC_GET, p, __func__))
RT(cudaIpcOpenMemHandle, (void **to, cudaIpcMemHandle_t handle, unsigned flags),
   flags == cudaIpcMemLazyEnablePeerAccess ? open(to, &handle, VP_IPC_OPEN, __func__)
                                           : cudaErrorInvalidValue)
RT(cudaIpcCloseMemHandle, (void *p), rt_request(VP_IPC, __func__, 0, VP_IPC_CLOSE, HANDLE(p)))
RT(cudaIpcGetEventHandle, (cudaIpcEventHandle_t * handle, cudaEvent_t event),
   get(handle, sizeof *handle, VP_IPC_GET_EVENT, event, __func__))
RT(cudaIpcOpenEventHandle, (cudaEvent_t * to, cudaIpcEventHandle_t handle),
   open((void **)to, &handle, VP_IPC_OPEN_EVENT, __func__))
