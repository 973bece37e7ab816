/* Prepares an image for vg_module_load(): chooses the best PTX, and reads facts about its kernels
 * from a cubin. */
#include "vgpu/fatbin/fatbin.h"

#include <stdlib.h>
#include <string.h>

static enum st_code no_ptx(const struct fatbin *fatbin, int sm, struct st_error *err)
{
    const struct fatbin_entry *cubin = fatbin_best_cubin(fatbin, sm);
    const struct fatbin_entry *newer = fatbin_best_ptx(fatbin, 0);
    st_fail(err, ST_NOT_FOUND, "the program has no PTX for the virtual GPU");
    if (newer) {
        st_detail(err, ST_EXPECTED, "PTX for compute_%d or older", sm);
        st_detail(err, ST_GOT, "PTX for compute_%d", newer->sm);
        st_detail(err, ST_HINT, "compile with -arch=sm_%d or -arch=compute_%d", sm,
                  FATBIN_OLDEST_SM);
        return ST_NOT_FOUND;
    }
    if (cubin)
        st_detail(err, ST_GOT, "machine code for sm_%d only", cubin->sm);
    else
        st_detail(err, ST_GOT, "an empty fat binary");
    st_detail(err, ST_HINT,
              "compile with -arch=compute_%d, or with -arch=sm_NN alone, not with "
              "-gencode ...,code=sm_NN",
              FATBIN_OLDEST_SM);
    return ST_NOT_FOUND;
}

/* Checks the version that the PTX text states; the version in the entry's header does not
 * matter. */
static enum st_code version_check(const char *ptx, struct st_error *err)
{
    const char *at = strstr(ptx, ".version");
    int major, minor;
    if (!at || sscanf(at + 8, "%d.%d", &major, &minor) != 2) {
        st_fail(err, ST_BAD_FORMAT, "the program's PTX has no .version line");
        st_detail(err, ST_HINT, "compile the program again");
        return ST_BAD_FORMAT;
    }
    if (major <= FATBIN_PTX_MAJOR)
        return ST_OK;
    st_fail(err, ST_TOO_LARGE, "the program's PTX is newer than the virtual GPU");
    st_detail(err, ST_EXPECTED, "PTX %d.x or older", FATBIN_PTX_MAJOR);
    st_detail(err, ST_GOT, "PTX %d.%d", major, minor);
    st_detail(err, ST_HINT, "compile with CUDA Toolkit 13");
    return ST_TOO_LARGE;
}

enum st_code fatbin_module_read(struct fatbin_module *to, const void *image, size_t bytes, int sm,
                                struct st_error *err)
{
    *to = (struct fatbin_module){0};
    struct fatbin fatbin;
    enum st_code code = fatbin_open(&fatbin, image, bytes, err);
    if (code)
        return code;
    const struct fatbin_entry *ptx = fatbin_best_ptx(&fatbin, sm);
    code = ptx ? fatbin_extract(ptx, &to->ptx, &to->ptx_bytes, err) : no_ptx(&fatbin, sm, err);
    if (!code)
        code = version_check(to->ptx, err);
    const struct fatbin_entry *cubin = code ? NULL : fatbin_best_cubin(&fatbin, sm);
    char *elf;
    size_t elf_bytes;
    if (cubin && fatbin_extract(cubin, &elf, &elf_bytes, NULL) == ST_OK) {
        cubin_kernels(elf, elf_bytes, &to->kernels, &to->kernel_count, NULL);
        for (size_t i = 0; i < to->kernel_count; i++)
            to->kernels[i].sm = cubin->sm;
        free(elf);
    }
    if (code)
        fatbin_module_free(to);
    fatbin_close(&fatbin);
    return code;
}

void fatbin_module_free(struct fatbin_module *module)
{
    free(module->ptx);
    free(module->kernels);
    *module = (struct fatbin_module){0};
}
