/* libcuda.so.1 for programs on the virtual GPU, which has no driver: a function for each one of the driver's
 * that says who needs it and fails. NVIDIA's libraries (cuBLAS, cuFFT, cuRAND) load the driver when they are first
 * used and only return an error without it, which many programs do not look at. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SUCCESS = 0, NO_DEVICE = 100, CALLERS_MOST = 16 };

#define EXPORT __attribute__((visibility("default")))

/* Whether a program or library is told for the first time. */
static int is_new(const void *caller)
{
    static _Atomic(const void *) told[CALLERS_MOST];
    for (int i = 0; i < CALLERS_MOST; i++) {
        const void *none = NULL;
        if (atomic_compare_exchange_strong(&told[i], &none, caller))
            return 1;
        if (none == caller)
            return 0;
    }
    return 0;
}

static int absent(const char *function, void *from)
{
    char line[512];
    Dl_info caller = {0};
    if (!dladdr(from, &caller) || !caller.dli_fname || !is_new(caller.dli_fbase))
        return NO_DEVICE;
    const char *name = strrchr(caller.dli_fname, '/');
    const int n =
        snprintf(line, sizeof line,
                 "virtual GPU: %s needs NVIDIA's driver (%s of libcuda.so.1), which is not "
                 "there: it cannot work on the virtual GPU\n",
                 name ? name + 1 : caller.dli_fname, function);
    const ssize_t ignored =
        write(STDERR_FILENO, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
    (void)ignored;
    return NO_DEVICE;
}

#define FUNCTION(name)                                                                             \
    EXPORT int name(void);                                                                         \
    EXPORT int name(void)                                                                          \
    {                                                                                              \
        return absent(#name, __builtin_return_address(0));                                         \
    }
#include "driver_functions.inc"

EXPORT int cuGetErrorName(int error, const char **text);
EXPORT int cuGetErrorString(int error, const char **text);

EXPORT int cuGetErrorName(int error, const char **text)
{
    *text = error ? "CUDA_ERROR_NO_DEVICE" : "CUDA_SUCCESS";
    return SUCCESS;
}

EXPORT int cuGetErrorString(int error, const char **text)
{
    *text = error ? "no CUDA-capable device is detected" : "no error";
    return SUCCESS;
}
