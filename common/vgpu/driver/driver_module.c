/* Modules, and libraries (CUDA's newer name for modules). A CUmodule or CUlibrary points to a
 * struct binary, a CUfunction or CUkernel to a struct function, which the runtime also accepts as a
 * kernel. */
#include "vgpu/driver/driver.h"
#include "vgpu/driver/driver_image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BINARY(handle) ((struct binary *)(void *)(handle))

/* ---- options and messages of the PTX compiler --------------------------------------- */

struct driver_log driver_log_of(unsigned n, const CUjit_option *options, void **values)
{
    struct driver_log errors = {0};
    for (unsigned i = 0; i < n; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            errors.to = values[i];
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
            errors.room = (size_t)HANDLE(values[i]) & UINT32_MAX;
            errors.size = &values[i];
        }
        if (options[i] == CU_JIT_INFO_LOG_BUFFER && values[i])
            *(char *)values[i] = '\0';
        if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES || options[i] == CU_JIT_WALL_TIME)
            values[i] = NULL; /* no remarks; 0 ms */
    }
    return errors;
}

void driver_log_write(const struct driver_log *log, cudaError_t error)
{
    int n = 0;
    if (log->to && log->room)
        n = snprintf(log->to, log->room, "%s",
                     error ? "the virtual GPU refused the code: the reason is on stderr\n" : "");
    if (log->size)
        *log->size = POINTER(n);
}

/* ---- loading -------------------------------------------------------------------------------- */

static cudaError_t load(struct driver_images *images, void **to)
{
    void **list = malloc(sizeof images->list);
    struct binary *binary = list ? rt_binary_new(list, images->n) : NULL;
    if (!binary) {
        free(list);
        driver_images_free(images);
        return cudaErrorMemoryAllocation;
    }
    memcpy(list, images->list, sizeof images->list);
    cudaError_t error = rt_binary_load(binary);
    if (error)
        rt_binary_free(binary);
    *to = error ? NULL : binary;
    return error;
}

static cudaError_t load_data(void **to, const void *data, size_t bytes, unsigned n,
                             CUjit_option *options, void **values)
{
    struct driver_images images = {.n = 0};
    const struct driver_log log = driver_log_of(n, options, values);
    if (!to || !data)
        return cudaErrorInvalidValue;
    cudaError_t error =
        driver_image_add(&images, data, bytes) ? load(&images, to) : cudaErrorInvalidKernelImage;
    driver_log_write(&log, error);
    return error;
}

/* Calls load_data() with a file's contents. */
static cudaError_t load_file(void **to, const char *path, unsigned n, CUjit_option *options,
                             void **values)
{
    void *data;
    size_t bytes;
    cudaError_t error = rt_file_map(path, &data, &bytes);
    if (error)
        return error;
    error = load_data(to, data, bytes, n, options, values);
    munmap(data, bytes);
    return error;
}

static cudaError_t unload(struct binary *binary)
{
    if (!binary)
        return cudaErrorInvalidResourceHandle;
    rt_binary_free(binary);
    return cudaSuccess;
}

static cudaError_t find(void *to, struct binary *binary, const char *name)
{
    if (!to || !binary || !name)
        return cudaErrorInvalidValue;
    struct function *f;
    cudaError_t error = rt_binary_function(binary, name, &f);
    if (!error)
        *(struct function **)to = f;
    return error;
}

static cudaError_t count_kernels(unsigned *to, struct binary *binary)
{
    return to && binary ? rt_binary_functions(binary, NULL, 0, to) : cudaErrorInvalidValue;
}

static cudaError_t list_kernels(void *to, unsigned n, struct binary *binary)
{
    unsigned count;
    return to && binary ? rt_binary_functions(binary, to, n, &count) : cudaErrorInvalidValue;
}

/* Both result pointers may be NULL. */
static cudaError_t find_variable(CUdeviceptr *to, size_t *bytes, struct binary *binary,
                                 const char *name)
{
    uint64_t address;
    size_t size;
    if (!binary || !name)
        return cudaErrorInvalidValue;
    cudaError_t error = rt_binary_variable(binary, name, &address, &size);
    if (!error && to)
        *to = address;
    if (!error && bytes)
        *bytes = size;
    return error;
}

DRIVER(cuModuleLoad, (CUmodule * to, const char *path), load_file((void **)to, path, 0, NULL, NULL))
DRIVER(cuModuleLoadData, (CUmodule * to, const void *image),
       load_data((void **)to, image, 0, 0, NULL, NULL))
DRIVER(cuModuleLoadDataEx,
       (CUmodule * to, const void *image, unsigned n, CUjit_option *options, void **values),
       load_data((void **)to, image, 0, n, options, values))
DRIVER(cuModuleLoadFatBinary, (CUmodule * to, const void *image),
       load_data((void **)to, image, 0, 0, NULL, NULL))
DRIVER(cuModuleUnload, (CUmodule module), unload(BINARY(module)))
DRIVER(cuModuleGetFunction, (CUfunction * to, CUmodule module, const char *name),
       find(to, BINARY(module), name))
DRIVER(cuModuleGetFunctionCount, (unsigned *to, CUmodule module), count_kernels(to, BINARY(module)))
DRIVER(cuModuleEnumerateFunctions, (CUfunction * to, unsigned n, CUmodule module),
       list_kernels(to, n, BINARY(module)))
DRIVER(cuModuleGetGlobal, (CUdeviceptr * to, size_t *bytes, CUmodule module, const char *name),
       find_variable(to, bytes, BINARY(module), name))
DRIVER_NEEDS(DRIVER_ANY, cuModuleGetLoadingMode, (CUmoduleLoadingMode * mode),
             PUT(mode, CU_MODULE_EAGER_LOADING, cudaSuccess))

DRIVER_NEEDS(DRIVER_INITIALIZED, cuLibraryLoadData,
             (CUlibrary * to, const void *code, CUjit_option *options, void **values, unsigned n,
              CUlibraryOption *library_options, void **library_values, unsigned library_n),
             load_data((void **)to, code, 0, n, options, values))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuLibraryLoadFromFile,
             (CUlibrary * to, const char *path, CUjit_option *options, void **values, unsigned n,
              CUlibraryOption *library_options, void **library_values, unsigned library_n),
             load_file((void **)to, path, n, options, values))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuLibraryUnload, (CUlibrary library), unload(BINARY(library)))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuLibraryGetKernel,
             (CUkernel * to, CUlibrary library, const char *name), find(to, BINARY(library), name))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuLibraryGetKernelCount, (unsigned *to, CUlibrary library),
             count_kernels(to, BINARY(library)))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuLibraryEnumerateKernels,
             (CUkernel * to, unsigned n, CUlibrary library), list_kernels(to, n, BINARY(library)))
DRIVER(cuLibraryGetModule, (CUmodule * to, CUlibrary library),
       PUT(to, (CUmodule)(void *)library, cudaSuccess))
DRIVER(cuLibraryGetGlobal, (CUdeviceptr * to, size_t *bytes, CUlibrary library, const char *name),
       find_variable(to, bytes, BINARY(library), name))
DRIVER(cuKernelGetFunction, (CUfunction * to, CUkernel kernel),
       PUT(to, (CUfunction)(void *)kernel, cudaSuccess))

/* ---- the runtime's functions for libraries --------------------------------------------------- */

static cudaError_t found(cudaError_t error)
{
    return error == cudaErrorInvalidDeviceFunction ? cudaErrorSymbolNotFound : error;
}

RT(cudaLibraryLoadData,
   (cudaLibrary_t * to, const void *code, enum cudaJitOption *options, void **values, unsigned n,
    enum cudaLibraryOption *library_options, void **library_values, unsigned library_n),
   load_data((void **)to, code, 0, n, (CUjit_option *)options, values))
RT(cudaLibraryLoadFromFile,
   (cudaLibrary_t * to, const char *path, enum cudaJitOption *options, void **values, unsigned n,
    enum cudaLibraryOption *library_options, void **library_values, unsigned library_n),
   load_file((void **)to, path, n, (CUjit_option *)options, values))
RT(cudaLibraryUnload, (cudaLibrary_t library), unload(BINARY(library)))
RT(cudaLibraryGetKernel, (cudaKernel_t * to, cudaLibrary_t library, const char *name),
   found(find(to, BINARY(library), name)))
RT(cudaLibraryGetKernelCount, (unsigned *to, cudaLibrary_t library),
   count_kernels(to, BINARY(library)))
RT(cudaLibraryEnumerateKernels, (cudaKernel_t * to, unsigned n, cudaLibrary_t library),
   list_kernels(to, n, BINARY(library)))
RT(cudaLibraryGetGlobal, (void **to, size_t *bytes, cudaLibrary_t library, const char *name),
   found(find_variable((CUdeviceptr *)(void *)to, bytes, BINARY(library), name)))
RT(cudaLibraryGetManaged, (void **to, size_t *bytes, cudaLibrary_t library, const char *name),
   found(find_variable((CUdeviceptr *)(void *)to, bytes, BINARY(library), name)))
RT(cudaKernelSetAttributeForDevice,
   (cudaKernel_t kernel, enum cudaFuncAttribute attribute, int value, int device),
   device ? cudaErrorInvalidDevice : cudaFuncSetAttribute(kernel, attribute, value))
