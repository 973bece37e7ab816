/* Errors: the last error of each thread, names and texts. After a fault, the device process answers
 * every request with the fault's error. */
#include "vgpu/cudart/shim.h"

static _Thread_local cudaError_t last;

static const struct {
    int number;
    const char *name, *text;
} errors[] = {
#define X(number, name, text) {number, #name, text},
#include "vgpu/api/errors.def"
#undef X
};

/* Unfinished work is an answer, not an error: an H200 keeps the last error then. */
cudaError_t rt_return(cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady && !rt_driver_call)
        last = error;
    return error;
}

API cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last;
    last = cudaSuccess;
    return error;
}

API cudaError_t cudaPeekAtLastError(void)
{
    return last;
}

#define LOOK_UP(error, field)                                                                      \
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)                                    \
        if (errors[i].number == (int)(error))                                                      \
            return errors[i].field;                                                                \
    return "unrecognized error code"

API const char *cudaGetErrorName(cudaError_t error)
{
    LOOK_UP(error, name);
}

API const char *cudaGetErrorString(cudaError_t error)
{
    LOOK_UP(error, text);
}
