/* nvcc puts the fat binaries of a library, one container for each source, into one section. */
#include "base/files.h"
#include "vgpu/fatbin/elf_sections.h"
#include "vgpu/fatbin/fatbin.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 28, ANY_SM = 1000 };

/* Finds the PTX of the first container that has PTX. */
static enum st_code first_ptx(struct elf_view section, char **ptx, size_t *bytes,
                              struct st_error *err)
{
    enum st_code code = st_fail(err, ST_NOT_FOUND, "the library has no PTX");
    while (code && section.n >= FATBIN_HEADER_BYTES) {
        struct fatbin_container head;
        struct fatbin fatbin;
        memcpy(&head, section.p, sizeof head);
        if (head.magic != FATBIN_MAGIC || head.bytes > section.n - FATBIN_HEADER_BYTES ||
            fatbin_open(&fatbin, section.p, section.n, NULL))
            break;
        const struct fatbin_entry *entry = fatbin_best_ptx(&fatbin, ANY_SM);
        if (entry)
            code = fatbin_extract(entry, ptx, bytes, err);
        fatbin_close(&fatbin);
        const size_t step = FATBIN_HEADER_BYTES + (size_t)head.bytes;
        section.p += step;
        section.n -= step;
    }
    return code;
}

enum st_code fatbin_library_ptx(const char *path, char **ptx, size_t *bytes, struct st_error *err)
{
    char *image;
    size_t size;
    struct elf_file elf;
    struct elf_view contents;
    Elf64_Shdr s;
    *ptx = NULL;
    enum st_code code = file_read(path, MOST_BYTES, &image, &size, err);
    if (code)
        return code;
    code = st_fail(err, ST_NOT_FOUND, "no code for a GPU in the library");
    st_detail(err, ST_WHERE, "%s", path);
    if (elf_open(&elf, image, size))
        for (size_t i = 0; code && elf_section(&elf, i, &s); i++) {
            const char *name = elf_string(elf.names, s.sh_name);
            if (name && strcmp(name, ".nv_fatbin") == 0 && elf_contents(&elf, &s, &contents))
                code = first_ptx(contents, ptx, bytes, err);
        }
    free(image);
    return code;
}
