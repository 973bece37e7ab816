#include "vgpu/device/program_check.h"

#include "base/files.h"
#include "base/process.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM_BYTES_MAX ((size_t)2 << 30)

struct elf {
    const unsigned char *p;
    size_t n;
    Elf64_Ehdr header;
};

static bool section_at(const struct elf *elf, size_t i, Elf64_Shdr *to)
{
    size_t at = elf->header.e_shoff;
    if (elf->header.e_shentsize != sizeof *to || i >= elf->header.e_shnum || at > elf->n ||
        i >= (elf->n - at) / sizeof *to)
        return false;
    memcpy(to, elf->p + at + i * sizeof *to, sizeof *to);
    return to->sh_type == SHT_NOBITS ||
           (to->sh_offset <= elf->n && to->sh_size <= elf->n - to->sh_offset);
}

/* Whether the string at an offset of a string table starts with a text. */
static bool string_starts(const struct elf *elf, const Elf64_Shdr *table, size_t offset,
                          const char *text)
{
    size_t length = strlen(text);
    return table->sh_type == SHT_STRTAB && offset <= table->sh_size &&
           table->sh_size - offset > length &&
           memcmp(elf->p + table->sh_offset + offset, text, length) == 0;
}

static void needed_check(const struct elf *elf, const Elf64_Shdr *dynamic, bool *shared,
                         bool *other_version)
{
    Elf64_Shdr names;
    if (!section_at(elf, dynamic->sh_link, &names))
        return;
    for (size_t i = 0; i < dynamic->sh_size / sizeof(Elf64_Dyn); i++) {
        Elf64_Dyn entry;
        memcpy(&entry, elf->p + dynamic->sh_offset + i * sizeof entry, sizeof entry);
        if (entry.d_tag != DT_NEEDED ||
            !string_starts(elf, &names, entry.d_un.d_val, "libcudart.so"))
            continue;
        if (string_starts(elf, &names, entry.d_un.d_val, "libcudart.so.13") ||
            string_starts(elf, &names, entry.d_un.d_val, "libcudart.so.12"))
            *shared = true;
        else
            *other_version = true;
    }
}

enum st_code program_check_image(const void *image, size_t bytes, struct st_error *err)
{
    struct elf elf = {.p = image, .n = bytes};
    if (bytes < sizeof elf.header)
        return ST_OK;
    memcpy(&elf.header, image, sizeof elf.header);
    if (memcmp(elf.header.e_ident, ELFMAG, SELFMAG) != 0 ||
        elf.header.e_ident[EI_CLASS] != ELFCLASS64)
        return ST_OK;
    Elf64_Shdr names, s;
    bool gpu_code = false, shared = false, other_version = false;
    if (!section_at(&elf, elf.header.e_shstrndx, &names))
        return ST_OK;
    for (size_t i = 0; i < elf.header.e_shnum; i++) {
        if (!section_at(&elf, i, &s))
            continue;
        gpu_code |= string_starts(&elf, &names, s.sh_name, ".nvFatBinSegment");
        if (s.sh_type == SHT_DYNAMIC)
            needed_check(&elf, &s, &shared, &other_version);
    }
    if (!gpu_code || shared)
        return ST_OK;
    if (other_version) {
        st_fail(err, ST_USAGE, "the program was compiled with another version of CUDA");
        st_detail(err, ST_EXPECTED, "a program that needs libcudart.so.12 or .13");
        st_detail(err, ST_HINT, "compile it with a CUDA Toolkit from 12.4 on");
    } else {
        st_fail(err, ST_USAGE, "the program carries NVIDIA's CUDA runtime in itself");
        st_detail(err, ST_EXPECTED, "a program that needs libcudart.so.12 or .13");
        st_detail(err, ST_HINT, "link it with: nvcc -cudart shared ...");
    }
    return ST_USAGE;
}

enum st_code program_check(const char *path, struct st_error *err)
{
    char *image;
    size_t bytes;
    struct st_error why;
    /* What cannot be read may still be executable; exec() will say what is wrong with it. */
    if (file_read(path, PROGRAM_BYTES_MAX, &image, &bytes, &why) != ST_OK)
        return ST_OK;
    enum st_code code = program_check_image(image, bytes, err);
    if (code)
        st_detail(err, ST_WHERE, "%s", path);
    free(image);
    return code;
}

enum st_code program_find(char *to, const char *name, struct st_error *err)
{
    const char *path = getenv("PATH");
    if (process_find(strchr(name, '/') ? ":" : path ? path : "/usr/bin:/bin", name, to))
        return ST_OK;
    st_fail(err, ST_NOT_FOUND, "there is no program '%s' that can be run", name);
    if (strchr(name, '/'))
        st_detail(err, ST_HINT, "check the path and its permissions");
    else
        st_detail(err, ST_HINT, "write ./%s for a program in this folder", name);
    return ST_NOT_FOUND;
}
