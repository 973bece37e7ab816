/* The fat binary inside a program or shared library: the section .nv_fatbin of an ELF file. It
 * holds several containers, one for each object file; that of nvcc's own linking step is empty. */
#include "vgpu/fatbin/elf_sections.h"
#include "vgpu/fatbin/fatbin.h"

#include <string.h>

/* The first container with PTX. */
static bool find_ptx(const unsigned char *p, size_t n, const void **image, size_t *image_bytes)
{
    for (size_t at = 0; at + FATBIN_HEADER_BYTES <= n; at += 8) {
        struct fatbin fatbin;
        uint32_t magic;
        memcpy(&magic, p + at, sizeof magic);
        if (magic != FATBIN_MAGIC || fatbin_open(&fatbin, p + at, n - at, NULL))
            continue;
        bool has_ptx = fatbin_best_ptx(&fatbin, 0) != NULL;
        fatbin_close(&fatbin);
        if (has_ptx) {
            *image = p + at;
            *image_bytes = n - at;
            return true;
        }
    }
    return false;
}

enum st_code fatbin_find(const void *elf, size_t bytes, const void **image, size_t *image_bytes,
                         struct st_error *err)
{
    struct elf_file f;
    struct elf_view section;
    Elf64_Shdr s;
    if (!elf_open(&f, elf, bytes))
        f.header.e_shnum = 0;
    for (size_t i = 0; elf_section(&f, i, &s); i++) {
        const char *name = elf_string(f.names, s.sh_name);
        if (name && strcmp(name, ".nv_fatbin") == 0 && elf_contents(&f, &s, &section) &&
            find_ptx(section.p, section.n, image, image_bytes))
            return ST_OK;
    }
    st_fail(err, ST_NOT_FOUND, "no PTX in this file");
    st_detail(err, ST_EXPECTED, "a program or library made by nvcc with code=compute_NN");
    return ST_NOT_FOUND;
}
