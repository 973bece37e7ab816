/* The runner exports these functions as dlopen() and dlmopen() (compile.mk), which the loader
 * prefers to the C library's. A lab may contain calls of them, as headers of the CUDA Toolkit do
 * (nvtx, in CUB and Thrust), but must not execute the calls. */
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

/* The C library searches the paths of its caller's library. So for other callers than the lab,
 * these functions must end in a jump to the C library, not a call. */
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
