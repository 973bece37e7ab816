/* The linker only concatenates its inputs; the device links them when the result is loaded. */
#include "vgpu/driver/driver.h"
#include "vgpu/driver/driver_image.h"

#include <stdlib.h>
#include <sys/mman.h>

struct CUlinkState_st {
    struct driver_images images;
    struct driver_log log;
    void *result;
    size_t bytes;
};

static cudaError_t link_create(unsigned n, CUjit_option *options, void **values, CUlinkState *to)
{
    CUlinkState state = to ? calloc(1, sizeof *state) : NULL;
    if (!state)
        return to ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
    state->log = driver_log_of(n, options, values);
    *to = state;
    return cudaSuccess;
}

static cudaError_t link_add(CUlinkState state, int type, const void *data, size_t bytes)
{
    static bool said;
    if (!state || !data || !bytes)
        return cudaErrorInvalidValue;
    if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY) {
        rt_say_once(&said, "cuLinkAddData: only PTX and fat binaries can be linked, not machine "
                           "code, objects, libraries or LTO-IR");
        return cudaErrorNotSupported;
    }
    return driver_image_add(&state->images, data, bytes) ? cudaSuccess
                                                         : cudaErrorInvalidKernelImage;
}

static cudaError_t link_add_file(CUlinkState state, int type, const char *path)
{
    void *data;
    size_t bytes;
    cudaError_t error = rt_file_map(path, &data, &bytes);
    if (error)
        return error;
    error = link_add(state, type, data, bytes);
    munmap(data, bytes);
    return error;
}

static cudaError_t link_complete(CUlinkState state, void **to, size_t *bytes)
{
    if (!state || !to)
        return cudaErrorInvalidValue;
    free(state->result);
    state->result = driver_images_join(&state->images, &state->bytes);
    cudaError_t error = state->result ? cudaSuccess : cudaErrorMemoryAllocation;
    driver_log_write(&state->log, error);
    *to = state->result;
    if (bytes)
        *bytes = state->bytes;
    return error;
}

static cudaError_t link_destroy(CUlinkState state)
{
    if (!state)
        return cudaErrorInvalidValue;
    driver_images_free(&state->images);
    free(state->result);
    free(state);
    return cudaSuccess;
}

DRIVER(cuLinkCreate, (unsigned n, CUjit_option *options, void **values, CUlinkState *to),
       link_create(n, options, values, to))
DRIVER(cuLinkAddData,
       (CUlinkState state, CUjitInputType type, void *data, size_t bytes, const char *name,
        unsigned n, CUjit_option *options, void **values),
       link_add(state, (int)type, data, bytes))
DRIVER(cuLinkAddFile,
       (CUlinkState state, CUjitInputType type, const char *path, unsigned n, CUjit_option *options,
        void **values),
       link_add_file(state, (int)type, path))
DRIVER(cuLinkComplete, (CUlinkState state, void **to, size_t *bytes),
       link_complete(state, to, bytes))
DRIVER(cuLinkDestroy, (CUlinkState state), link_destroy(state))
