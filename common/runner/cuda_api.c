#include "runner/cuda_api.h"

#include <dlfcn.h>
#include <string.h>

enum st_code cuda_api_load(struct cuda_api *api, struct st_error *err)
{
    void *library = dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);
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
