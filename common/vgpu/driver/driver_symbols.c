/* Finds functions by name, has the texts of errors, and reports libraries that need more of
 * NVIDIA's driver. */
#include "vgpu/driver/driver.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CALLERS_MOST = 16, NAME_MOST = 128 };

/* ---- errors --------------------------------------------------------------------------------- */

static const struct {
    CUresult number;
    const char *name;
} error_names[] = {
#define ERROR(name) {name, #name},
#include "driver_errors.inc"
#undef ERROR
};

API CUresult cuGetErrorName(CUresult error, const char **to)
{
    for (size_t i = 0; to && i < sizeof error_names / sizeof *error_names; i++)
        if (error_names[i].number == error) {
            *to = error_names[i].name;
            return CUDA_SUCCESS;
        }
    if (to)
        *to = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuGetErrorString(CUresult error, const char **to)
{
    CUresult known = cuGetErrorName(error, to);
    if (known == CUDA_SUCCESS)
        *to = cudaGetErrorString((cudaError_t)error);
    return known;
}

/* ---- NVIDIA's libraries --------------------------------------------------------------------- */

/* @return whether the calling program or library has not been reported yet. */
static bool is_new(const void *caller)
{
    static _Atomic(const void *) named[CALLERS_MOST];
    for (int i = 0; i < CALLERS_MOST; i++) {
        const void *none = NULL;
        if (atomic_compare_exchange_strong(&named[i], &none, caller))
            return true;
        if (none == caller)
            return false;
    }
    return false;
}

/* NVIDIA's runtime, which its libraries (cuBLAS, cuFFT, cuRAND) contain, uses undocumented tables
 * of the driver. Without them it only returns an error, which many programs ignore. */
API CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    char line[512];
    Dl_info caller = {0};
    if (table)
        *table = NULL;
    if (!dladdr(__builtin_return_address(0), &caller) || !caller.dli_fname)
        return CUDA_ERROR_NOT_SUPPORTED;
    const char *name = strrchr(caller.dli_fname, '/');
    /* NVRTC also requests a table, but works without it */
    if ((name && strncmp(name, "/libnvrtc", 9) == 0) || !is_new(caller.dli_fbase))
        return CUDA_ERROR_NOT_SUPPORTED;
    const int n = snprintf(
        line, sizeof line,
        "virtual GPU: %s needs internal functions of NVIDIA's driver (cuGetExportTable of libcuda.so.1), which the virtual GPU does not have\n",
        name ? name + 1 : caller.dli_fname);
    const ssize_t ignored =
        write(STDERR_FILENO, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
    (void)ignored;
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* ---- functions by name ---------------------------------------------------------------------- */

/* Functions whose versions take different parameters: the version that a program for CUDA @c since
 * or newer expects. */
static const struct {
    const char *name;
    int since;
    const char *symbol;
} versions[] = {
    {"cuCtxCreate", 13000, "cuCtxCreate_v4"},
    {"cuCtxCreate", 11040, "cuCtxCreate_v3"},
    {"cuCtxCreate", 0, "cuCtxCreate_v2"},
    {"cuMemAdvise", 12020, "cuMemAdvise_v2"},
    {"cuMemAdvise", 0, "cuMemAdvise"},
    {"cuMemPrefetchAsync", 12020, "cuMemPrefetchAsync_v2"},
    {"cuMemPrefetchAsync", 0, "cuMemPrefetchAsync"},
    {"cuStreamGetCtx", 12050, "cuStreamGetCtx_v2"},
    {"cuStreamGetCtx", 0, "cuStreamGetCtx"},
    {"cuGetProcAddress", 12000, "cuGetProcAddress_v2"},
    {"cuGetProcAddress", 0, "cuGetProcAddress"},
    {"cuGraphInstantiate", 0, "cuGraphInstantiateWithFlags"},
};

static void *symbol_find(const char *name)
{
    static void *library;
    Dl_info self;
    if (!library && dladdr((void *)(uintptr_t)cuGetErrorName, &self))
        library = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    return library ? dlsym(library, name) : NULL;
}

static void *function_find(const char *name, int version)
{
    const char *const end = strrchr(name, '_');
    if (end && end[1] == 'v' && isdigit((unsigned char)end[2]))
        return NULL; /* the name of a version */
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (strcmp(versions[i].name, name) == 0 && version >= versions[i].since)
            return symbol_find(versions[i].symbol);
    static const char *const suffixes[] = {"_v3", "_v2", ""};
    void *found = NULL;
    for (size_t i = 0; !found && i < sizeof suffixes / sizeof *suffixes; i++) {
        char symbol[NAME_MOST];
        snprintf(symbol, sizeof symbol, "%s%s", name, suffixes[i]);
        found = symbol_find(symbol);
    }
    return found;
}

/* the functions for per-thread default streams are the same, because all streams run in order */
API CUresult cuGetProcAddress(const char *name, void **to, int version, cuuint64_t flags,
                              CUdriverProcAddressQueryResult *status)
{
    if (!name || !to)
        return CUDA_ERROR_INVALID_VALUE;
    *to = strncmp(name, "cu", 2) == 0 ? function_find(name, version) : NULL;
    if (status)
        *status = *to ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *to || status ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

#undef cuGetProcAddress
API CUresult cuGetProcAddress(const char *name, void **to, int version, cuuint64_t flags);
API CUresult cuGetProcAddress(const char *name, void **to, int version, cuuint64_t flags)
{
    return cuGetProcAddress_v2(name, to, version, flags, NULL);
}

/* The runtime's functions that find driver functions. */
static cudaError_t entry_point(const char *name, void **to, int version,
                               enum cudaDriverEntryPointQueryResult *status)
{
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
    cudaError_t error = (cudaError_t)cuGetProcAddress_v2(name, to, version, 0, &found);
    if (!error && status)
        *status = (enum cudaDriverEntryPointQueryResult)found;
    return error;
}

RT(cudaGetDriverEntryPoint,
   (const char *name, void **to, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *status),
   entry_point(name, to, CUDA_VERSION, status))
RT(cudaGetDriverEntryPointByVersion,
   (const char *name, void **to, unsigned version, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *status),
   entry_point(name, to, (int)version, status))
