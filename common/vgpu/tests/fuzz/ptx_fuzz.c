/* libFuzzer entry: treats any bytes as PTX. A module that can be loaded is unloaded again and never
 * run. */
#include "vgpu/api/vgpu.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static struct vg_device *device(void)
{
    static struct vg_device *opened;
    struct vg_profile profile = {.name = "fuzz",
                                 .compute_major = 9,
                                 .multiprocessors = 1,
                                 .max_threads_per_multiprocessor = 2048,
                                 .max_blocks_per_multiprocessor = 32,
                                 .max_threads_per_block = 1024,
                                 .registers_per_multiprocessor = 65536,
                                 .registers_per_block = 65536,
                                 .shared_per_multiprocessor_bytes = 1 << 17,
                                 .shared_per_block_bytes = 49152,
                                 .shared_per_block_optin_bytes = 1 << 17,
                                 .global_bytes = (size_t)1 << 30,
                                 .constant_bytes = 65536,
                                 .clock_hz = 1e9};
    struct st_error err;
    if (!opened && vg_device_open(&opened, &profile, 1, &err) != ST_OK)
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
