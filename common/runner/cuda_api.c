#include "runner/cuda_api.h"

#include "base/files.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Whether a lab was built with CUDA 12. */
static bool needs_12(const char *lab)
{
    enum { MOST_BYTES = 256 << 20 };
    static const char name[] = "libcudart.so.12";
    char *image;
    size_t bytes;
    struct st_error ignored;
    if (!lab || file_read(lab, MOST_BYTES, &image, &bytes, &ignored))
        return false;
    const bool found = memmem(image, bytes, name, sizeof name);
    free(image);
    return found;
}

enum st_code cuda_api_load(struct cuda_api *api, const char *lab, struct st_error *err)
{
    static const char *const names[] = {"libcudart.so.13", "libcudart.so.12"};
    const bool first = needs_12(lab);
    void *library = dlopen(names[first], RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        library = dlopen(names[!first], RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        st_fail(err, ST_MISSING_TOOL, "the CUDA runtime cannot be loaded");
        st_detail(err, ST_GOT, "%s", dlerror());
        st_detail(err, ST_HINT,
                  "use --device virtual, or put the CUDA Toolkit's lib64 into LD_LIBRARY_PATH");
        return ST_MISSING_TOOL;
    }
#define CUDA_API_FIND(result, name, parameters)                                                    \
    {                                                                                              \
        void *found = dlsym(library, #name);                                                       \
        if (!found)                                                                                \
            return st_fail(err, ST_MISSING_TOOL, "the CUDA runtime has no " #name);                \
        memcpy(&api->name, &found, sizeof found);                                                  \
    }
    CUDA_API_MAP(CUDA_API_FIND)
#undef CUDA_API_FIND
    return ST_OK;
}
