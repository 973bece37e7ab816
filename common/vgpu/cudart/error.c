/* Errors: the last one of each thread, sticky ones, names and texts. */
#include "vgpu/cudart/shim.h"

#include <stdatomic.h>

static _Thread_local cudaError_t last;
static atomic_int sticky; /* a kernel has faulted: every call fails from then on */

static const struct {
    int number;
    const char *name, *text;
} errors[] = {
#define X(number, name, text) {number, #name, text},
#include "vgpu/cudart/errors.def"
#undef X
};

static bool is_sticky(cudaError_t error)
{
    switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
        return true;
    default:
        return false;
    }
}

cudaError_t rt_return(cudaError_t error)
{
    if (error != cudaSuccess)
        last = error;
    if (is_sticky(error))
        atomic_store(&sticky, (int)error);
    return error;
}

API cudaError_t cudaGetLastError(void)
{
    int stuck = atomic_load(&sticky);
    cudaError_t error = stuck ? (cudaError_t)stuck : last;
    last = cudaSuccess;
    return error;
}

API cudaError_t cudaPeekAtLastError(void)
{
    int stuck = atomic_load(&sticky);
    return stuck ? (cudaError_t)stuck : last;
}

API const char *cudaGetErrorName(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].number == (int)error)
            return errors[i].name;
    }
    return "unrecognized error code";
}

API const char *cudaGetErrorString(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].number == (int)error)
            return errors[i].text;
    }
    return "unrecognized error code";
}
