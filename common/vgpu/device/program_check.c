#include "vgpu/device/program_check.h"

#include "base/files.h"
#include "base/process.h"
#include "vgpu/fatbin/elf_sections.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM_BYTES_MAX ((size_t)2 << 30)

static bool starts(const char *text, const char *with)
{
    return text && strncmp(text, with, strlen(with)) == 0;
}

/* @return the version of the shared runtime that a program needs: 12 or 13; -1: another version, 0:
 * none. */
static int runtime_needed(const struct elf_file *elf, const Elf64_Shdr *dynamic)
{
    Elf64_Shdr link;
    struct elf_view entries, names;
    if (!elf_section(elf, dynamic->sh_link, &link) || !elf_contents(elf, &link, &names) ||
        !elf_contents(elf, dynamic, &entries))
        return 0;
    for (size_t i = 0; i < entries.n / sizeof(Elf64_Dyn); i++) {
        Elf64_Dyn entry;
        memcpy(&entry, entries.p + i * sizeof entry, sizeof entry);
        const char *name = entry.d_tag == DT_NEEDED ? elf_string(names, entry.d_un.d_val) : NULL;
        if (starts(name, "libcudart.so"))
            return starts(name, "libcudart.so.13") ? 13 : starts(name, "libcudart.so.12") ? 12 : -1;
    }
    return 0;
}

static void find_runtime(const char *name, const Elf64_Sym *symbol, void *context)
{
    (void)symbol;
    if (strcmp(name, "__cudaRegisterFatBinary") == 0)
        *(bool *)context = true;
}

static enum st_code wrong_runtime(const char *what, const char *hint, struct st_error *err)
{
    st_fail(err, ST_USAGE, "%s", what);
    st_detail(err, ST_EXPECTED, "a program that needs libcudart.so.12 or .13, or has its symbols");
    return st_detail(err, ST_HINT, "%s", hint);
}

enum st_code program_check_image(const void *image, size_t bytes, enum vg_preload *preload,
                                 struct st_error *err)
{
    struct elf_file elf;
    Elf64_Shdr s;
    bool gpu_code = false;
    int version = 0;
    bool has_runtime = false;
    *preload = VG_PRELOAD_ALL;
    if (!elf_open(&elf, image, bytes))
        return ST_OK;
    for (size_t i = 0; elf_section(&elf, i, &s); i++) {
        gpu_code |= starts(elf_string(elf.names, s.sh_name), ".nvFatBinSegment");
        if (s.sh_type == SHT_DYNAMIC)
            version = runtime_needed(&elf, &s);
    }
    if (!gpu_code)
        return ST_OK;
    *preload = VG_PRELOAD_NONE;
    if (version > 0)
        return ST_OK;
    if (version < 0)
        return wrong_runtime("the program was compiled with another version of CUDA",
                             "compile it with CUDA Toolkit 12.4 or newer", err);
    elf_symbols_each(&elf, SHT_SYMTAB, find_runtime, &has_runtime);
    if (!has_runtime)
        return wrong_runtime("the program contains NVIDIA's CUDA runtime, and was stripped",
                             "do not strip it, or link it with: nvcc -cudart shared ...", err);
    *preload = VG_PRELOAD_RUNTIME;
    return ST_OK;
}

enum st_code program_check(const char *path, enum vg_preload *preload, struct st_error *err)
{
    char *image;
    size_t bytes;
    struct st_error why;
    *preload = VG_PRELOAD_ALL;
    /* An unreadable file may still be executable; otherwise exec() reports the error. */
    if (file_read(path, PROGRAM_BYTES_MAX, &image, &bytes, &why) != ST_OK)
        return ST_OK;
    enum st_code code = program_check_image(image, bytes, preload, err);
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
    st_fail(err, ST_NOT_FOUND, "cannot find an executable program '%s'", name);
    if (strchr(name, '/'))
        st_detail(err, ST_HINT, "check the path and its permissions");
    else
        st_detail(err, ST_HINT, "write ./%s for a program in this folder", name);
    return ST_NOT_FOUND;
}
