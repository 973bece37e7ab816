#include "vgpu/device/native_library.h"

#include "base/checkout.h"
#include "base/files.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

static const struct vg_translator *translator;
static atomic_bool begun;
static struct st_error failure;

static enum st_code find_path(char path[PATH_MAX], struct st_error *err)
{
    const char *build = checkout_build(err);
    if (!build)
        return err->code;
    path_format(path, PATH_MAX, "%s/vgpu/libvgpu-native.so", build);
    if (file_exists(path))
        return ST_OK;
    st_fail(err, ST_NOT_FOUND, "no native code: its library was not built");
    st_detail(err, ST_WHERE, "%s", path);
    return st_detail(err, ST_HINT,
                     "kernels are interpreted; install llvm-dev and clang, and run: make vgpu");
}

bool native_library_exists(void)
{
    char path[PATH_MAX];
    struct st_error ignored;
    return !find_path(path, &ignored);
}

static void load(void)
{
    char path[PATH_MAX];
    if (find_path(path, &failure))
        return;
    atomic_store(&begun, true);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    translator = library ? dlsym(library, "vg_translator") : NULL;
    if (translator)
        return;
    st_fail(&failure, ST_NOT_FOUND, "no native code: %s", dlerror());
    st_detail(
        &failure, ST_HINT,
        "kernels are interpreted; install the LLVM version that the native library was built with");
}

bool native_library_is_begun(void)
{
    return atomic_load(&begun);
}

const struct vg_translator *native_library_load(struct st_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (!translator && err)
        *err = failure;
    return translator;
}
