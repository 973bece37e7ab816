/* The linker only concatenates its inputs; the device links them when the result is loaded. */
#include "vgpu/driver/driver.h"
#include "vgpu/driver/driver_image.h"

#include <stdlib.h>
#include <string.h>
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
        rt_say_once(&said, "cuLinkAddData and nvJitLinkAddData: only PTX and fat binaries can be "
                           "linked, not machine code, objects, libraries or LTO-IR");
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

/* ---- nvJitLink ---------------------------------------------------------------------------------
 * NVIDIA's linker as a library. Its header adds the toolkit's version to each name. The plain names
 * do not exist here: Python packages that do not find these use the driver's functions. */

/* nvJitLinkResult and nvJitLinkInputType */
enum { LINKED, MISSING_ARCH = 2, INVALID_INPUT, INTERNAL = 6, NULL_INPUT = 10 };
enum { INPUT_PTX = 2, INPUT_FATBIN = 4, INPUT_ANY = 10 };

static int result_of(cudaError_t error)
{
    return error == cudaSuccess             ? LINKED
           : error == cudaErrorInvalidValue ? INVALID_INPUT
                                            : INTERNAL;
}

static int input_of(int type)
{
    return type == INPUT_PTX || type == INPUT_ANY ? CU_JIT_INPUT_PTX
           : type == INPUT_FATBIN                 ? CU_JIT_INPUT_FATBINARY
                                                  : CU_JIT_INPUT_LIBRARY;
}

static int jit_create(CUlinkState *to, uint32_t n, const char *const *options)
{
    bool has_arch = false;
    if (!to || !options)
        return NULL_INPUT;
    for (uint32_t i = 0; i < n; i++)
        has_arch |= strncmp(options[i], "-arch=", 6) == 0;
    return has_arch ? result_of(link_create(0, NULL, NULL, to)) : MISSING_ARCH;
}

static int jit_destroy(CUlinkState *state)
{
    const cudaError_t error = state ? link_destroy(*state) : cudaErrorInvalidValue;
    if (state)
        *state = NULL;
    return result_of(error);
}

static int jit_add_data(CUlinkState state, int type, const void *data, size_t bytes,
                        const char *name)
{
    return result_of(link_add(state, input_of(type), data, bytes));
}

static int jit_add_file(CUlinkState state, int type, const char *path)
{
    return result_of(link_add_file(state, input_of(type), path));
}

static int jit_complete(CUlinkState state)
{
    void *ignored;
    return result_of(link_complete(state, &ignored, NULL));
}

static int jit_cubin_size(CUlinkState state, size_t *to)
{
    if (!state || !state->result || !to)
        return INVALID_INPUT;
    *to = state->bytes;
    return LINKED;
}

static int jit_cubin(CUlinkState state, void *to)
{
    if (!state || !state->result || !to)
        return INVALID_INPUT;
    memcpy(to, state->result, state->bytes);
    return LINKED;
}

/* PTX is the result of linking LTO-IR only. */
static int jit_no_ptx(CUlinkState state, void *to)
{
    return INTERNAL;
}

static int jit_log_size(CUlinkState state, size_t *to)
{
    *to = 1;
    return LINKED;
}

static int jit_log(CUlinkState state, char *to)
{
    *to = '\0';
    return LINKED;
}

#define NAMED(function, name, version)                                                             \
    extern __typeof__(function) __nvJitLink##name##_##version                                      \
        __attribute__((alias(#function), visibility("default")));
#define VERSIONS(function, name)                                                                   \
    NAMED(function, name, 12_0)                                                                    \
    NAMED(function, name, 12_1)                                                                    \
    NAMED(function, name, 12_2)                                                                    \
    NAMED(function, name, 12_3)                                                                    \
    NAMED(function, name, 12_4)                                                                    \
    NAMED(function, name, 12_5)                                                                    \
    NAMED(function, name, 12_6)                                                                    \
    NAMED(function, name, 12_8)                                                                    \
    NAMED(function, name, 12_9)                                                                    \
    NAMED(function, name, 13_0)                                                                    \
    NAMED(function, name, 13_1)                                                                    \
    NAMED(function, name, 13_2)
VERSIONS(jit_create, Create)
VERSIONS(jit_destroy, Destroy)
VERSIONS(jit_add_data, AddData)
VERSIONS(jit_add_file, AddFile)
VERSIONS(jit_complete, Complete)
VERSIONS(jit_cubin_size, GetLinkedCubinSize)
VERSIONS(jit_cubin, GetLinkedCubin)
VERSIONS(jit_no_ptx, GetLinkedPtxSize)
VERSIONS(jit_no_ptx, GetLinkedPtx)
VERSIONS(jit_log_size, GetErrorLogSize)
VERSIONS(jit_log, GetErrorLog)
VERSIONS(jit_log_size, GetInfoLogSize)
VERSIONS(jit_log, GetInfoLog)
