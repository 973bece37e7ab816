// Shared by the programs that use the driver API. They look its functions up by name, as most
// programs do, so they need no library when they are linked.
#pragma once

#include "vgpu/tests/check.cuh"

#include <cuda.h>
#include <dlfcn.h>

static inline void *driver_function(const char *name)
{
    static void *library = dlopen("libcuda.so.1", RTLD_NOW);
    static auto find =
        (CUresult(*)(const char *, void **, int, cuuint64_t,
                     CUdriverProcAddressQueryResult *))dlsym(library, "cuGetProcAddress_v2");
    void *found = NULL;
    EXPECT(find && find(name, &found, CUDA_VERSION, 0, NULL) == CUDA_SUCCESS && found);
    return found;
}

// cuda.h defines names as macros, so the string is the name without its version
#define RESULT(name, ...) ((decltype(&name))driver_function(#name))(__VA_ARGS__)
#define DO(name, ...)                                                                              \
    do {                                                                                           \
        const CUresult result_ = ((decltype(&name))driver_function(#name))(__VA_ARGS__);           \
        const char *text_ = "?";                                                                   \
        if (result_ != CUDA_SUCCESS) {                                                             \
            RESULT(cuGetErrorName, result_, &text_);                                               \
            printf("FAIL %s:%d: %s: %s\n", __FILE__, __LINE__, #name, text_);                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
