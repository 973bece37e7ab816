/* The fat binary inside a program or shared library: the section .nv_fatbin of an ELF file. It
 * holds several containers, one for each object file; that of nvcc's own linking step is empty. */
#include "vgpu/fatbin/fatbin.h"

#include <elf.h>
#include <string.h>

struct file {
    const unsigned char *p;
    size_t n;
    Elf64_Ehdr header;
};

static bool section(const struct file *f, size_t i, Elf64_Shdr *to)
{
    size_t at = f->header.e_shoff;
    if (f->header.e_shentsize != sizeof *to || i >= f->header.e_shnum || at > f->n ||
        i >= (f->n - at) / sizeof *to)
        return false;
    memcpy(to, f->p + at + i * sizeof *to, sizeof *to);
    return to->sh_type != SHT_NOBITS && to->sh_offset <= f->n &&
           to->sh_size <= f->n - to->sh_offset;
}

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
    static const char wanted[] = ".nv_fatbin";
    struct file f = {.p = elf, .n = bytes};
    Elf64_Shdr names, s;
    if (bytes >= sizeof f.header)
        memcpy(&f.header, elf, sizeof f.header);
    bool is_elf = bytes >= sizeof f.header && memcmp(f.header.e_ident, ELFMAG, SELFMAG) == 0 &&
                  f.header.e_ident[EI_CLASS] == ELFCLASS64;
    for (size_t i = 0; is_elf && section(&f, f.header.e_shstrndx, &names) && i < f.header.e_shnum;
         i++) {
        if (!section(&f, i, &s) || s.sh_name > names.sh_size ||
            names.sh_size - s.sh_name < sizeof wanted ||
            memcmp(f.p + names.sh_offset + s.sh_name, wanted, sizeof wanted) != 0)
            continue;
        if (find_ptx(f.p + s.sh_offset, s.sh_size, image, image_bytes))
            return ST_OK;
    }
    st_fail(err, ST_NOT_FOUND, "no PTX in this file");
    st_detail(err, ST_EXPECTED, "a program or library made by nvcc with code=compute_NN");
    return ST_NOT_FOUND;
}
