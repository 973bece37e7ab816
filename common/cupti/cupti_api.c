#include "cupti/cupti_api.h"

#include <dlfcn.h>
#include <stdio.h>

bool cupti_api_load(struct cupti_api *api, const char *path, char *why, size_t room)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(why, room, "CUPTI cannot be loaded: %s", dlerror());
        return false;
    }
    const struct {
        const char *name;
        void *to;
    } wanted[] = {
#define CUPTI_WANTED(name) {#name, &api->name},
        CUPTI_API_MAP(CUPTI_WANTED)
#undef CUPTI_WANTED
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        *(void **)wanted[i].to = dlsym(library, wanted[i].name);
        if (!*(void **)wanted[i].to) {
            snprintf(why, room, "CUPTI has no function %s: %s", wanted[i].name, path);
            return false;
        }
    }
    *(void **)&api->cuptiFinalize = dlsym(library, "cuptiFinalize");
    *(void **)&api->cuptiActivityEnableDriverApi = dlsym(library, "cuptiActivityEnableDriverApi");
    return true;
}
