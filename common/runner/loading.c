/* The runner is linked so that these are its dlopen() and dlmopen() (compile.mk), which the loader
 * prefers to the C library's. Headers of the CUDA Toolkit (nvtx, in CUB and Thrust) contain calls
 * that are never made, so a library may name these functions but not call them. */
#include "runner/loading.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

static const char *lab;
static void (*refused)(const char *function, const void *caller);

void loading_refuse(const char *path, void (*report)(const char *function, const void *caller))
{
    lab = path;
    refused = report;
}

static bool is_lab(const void *caller)
{
    Dl_info where;
    return lab && dladdr(caller, &where) && where.dli_fname && strcmp(where.dli_fname, lab) == 0;
}

/* For other callers it must look as if they had called the C library, which searches the paths of
 * its caller's library. So these functions end in a jump. */
void *loading_dlopen(const char *file, int mode)
{
    static void *(*next)(const char *, int);
    const void *caller = __builtin_return_address(0);
    if (is_lab(caller))
        refused("dlopen", caller);
    if (!next) {
        void *found = dlsym(RTLD_NEXT, "dlopen");
        memcpy(&next, &found, sizeof next);
    }
    return next(file, mode);
}

void *loading_dlmopen(Lmid_t space, const char *file, int mode)
{
    static void *(*next)(Lmid_t, const char *, int);
    const void *caller = __builtin_return_address(0);
    if (is_lab(caller))
        refused("dlmopen", caller);
    if (!next) {
        void *found = dlsym(RTLD_NEXT, "dlmopen");
        memcpy(&next, &found, sizeof next);
    }
    return next(space, file, mode);
}
