/* The linker: what is added is put together, and the device links it when the result is loaded. */
#include "vgpu/driver/driver.h"
#include "vgpu/driver/driver_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct CUlinkState_st {
    struct driver_images images;
    struct driver_log log;
    void *result;
    size_t bytes;
};

static bool complete(struct CUlinkState_st *state)
{
    free(state->result);
    state->result = driver_images_join(&state->images, &state->bytes);
    return state->result != NULL;
}

static void state_free(struct CUlinkState_st *state)
{
    driver_images_free(&state->images);
    free(state->result);
    free(state);
}

/* Calls @p add with a file's contents. */
static cudaError_t with_file(const char *path,
                             cudaError_t (*add)(struct CUlinkState_st *, int, const void *, size_t),
                             struct CUlinkState_st *state, int type)
{
    FILE *file = path ? fopen(path, "rb") : NULL;
    struct stat facts;
    char *data = NULL;
    if (!file)
        return (cudaError_t)CUDA_ERROR_FILE_NOT_FOUND;
    const bool is_read = fstat(fileno(file), &facts) == 0 && facts.st_size > 0 &&
                         (data = malloc((size_t)facts.st_size)) &&
                         fread(data, (size_t)facts.st_size, 1, file) == 1;
    fclose(file);
    cudaError_t error =
        is_read ? add(state, type, data, (size_t)facts.st_size) : cudaErrorInvalidKernelImage;
    free(data);
    return error;
}

static cudaError_t add_image(struct CUlinkState_st *state, bool is_known, const void *data,
                             size_t bytes, const char *api)
{
    static bool said;
    if (!state || !data || !bytes)
        return cudaErrorInvalidValue;
    if (!is_known) {
        rt_say_once(&said,
                    "%s: only PTX and fat binaries can be linked, not machine code, objects, "
                    "libraries or LTO-IR",
                    api);
        return cudaErrorNotSupported;
    }
    return driver_image_add(&state->images, data, bytes) ? cudaSuccess
                                                         : cudaErrorInvalidKernelImage;
}

/* ---- of the driver -------------------------------------------------------------------------- */

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
    return add_image(state, type == CU_JIT_INPUT_PTX || type == CU_JIT_INPUT_FATBINARY, data, bytes,
                     "cuLinkAddData");
}

static cudaError_t link_complete(CUlinkState state, void **to, size_t *bytes)
{
    if (!state || !to)
        return cudaErrorInvalidValue;
    cudaError_t error = complete(state) ? cudaSuccess : cudaErrorMemoryAllocation;
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
    state_free(state);
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
       with_file(path, link_add, state, (int)type))
DRIVER(cuLinkComplete, (CUlinkState state, void **to, size_t *bytes),
       link_complete(state, to, bytes))
DRIVER(cuLinkDestroy, (CUlinkState state), link_destroy(state))
