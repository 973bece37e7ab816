/* libFuzzer entry: treats any bytes as a fat binary. */
#include "vgpu/fatbin/fatbin.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct fatbin_module module;
    struct vg_kernel_info *list;
    size_t n;
    struct st_error err;
    if (fatbin_module_read(&module, data, bytes, 90, &err) == ST_OK)
        fatbin_module_free(&module);
    cubin_kernels(data, bytes, &list, &n, &err);
    free(list);
    return 0;
}
