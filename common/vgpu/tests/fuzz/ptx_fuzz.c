/* libFuzzer entry: treats any bytes as PTX. A module that can be loaded is unloaded again and never
 * run. */
#include "vgpu/exec/tests/test_gpu.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static struct vg_device *device(void)
{
    static struct vg_device *opened;
    struct st_error err;
    if (!opened && vg_device_open(&opened, &test_gpu, 1, &err) != ST_OK)
        abort();
    return opened;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct vg_module *module;
    struct st_error err;
    char *text = malloc(bytes + 1);
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    if (vg_module_load(device(), &module, text, bytes, NULL, 0, &err) == ST_OK)
        vg_module_unload(device(), module);
    free(text);
    return 0;
}
