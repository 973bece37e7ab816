/* Registers per kernel from a cubin. The global section .nv.info is a list of attributes:
 *
 *     u8 format | u8 attribute | u16 value or size | [size bytes, format 4 only]
 *
 * Attribute 0x2f in format 4 is { u32 symbol, u32 registers }; the symbol names the kernel. */
#include "vgpu/fatbin/fatbin.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT_SIZED        4
#define ATTRIBUTE_REGISTERS 0x2f

struct view {
    const unsigned char *p;
    size_t n;
};

static enum st_code nonsense(struct st_error *err, const char *what)
{
    return st_fail(err, ST_BAD_FORMAT, "an embedded cubin makes no sense: %s", what);
}

/* The i-th section header, copied because nothing says that it is aligned. */
static bool section_header(struct view elf, const Elf64_Ehdr *h, unsigned i, Elf64_Shdr *to)
{
    if (h->e_shentsize != sizeof *to || h->e_shoff > elf.n)
        return false;
    size_t room = (elf.n - h->e_shoff) / sizeof *to;
    if (i >= room || i >= h->e_shnum)
        return false;
    memcpy(to, elf.p + h->e_shoff + i * sizeof *to, sizeof *to);
    return true;
}

static bool section_view(struct view elf, const Elf64_Shdr *s, struct view *to)
{
    if (s->sh_type == SHT_NOBITS || s->sh_offset > elf.n || s->sh_size > elf.n - s->sh_offset)
        return false;
    *to = (struct view){elf.p + s->sh_offset, s->sh_size};
    return true;
}

/* A NUL-terminated string inside a table, or NULL. */
static const char *string_at(struct view table, size_t offset)
{
    if (offset >= table.n || !memchr(table.p + offset, '\0', table.n - offset))
        return NULL;
    return (const char *)table.p + offset;
}

static bool add(struct vg_kernel_info **list, size_t *n, const char *name, uint32_t registers)
{
    struct vg_kernel_info *more = realloc(*list, (*n + 1) * sizeof **list);
    if (!more)
        return false;
    *list = more;
    struct vg_kernel_info *info = &more[(*n)++];
    memset(info, 0, sizeof *info);
    snprintf(info->name, sizeof info->name, "%s", name);
    info->registers = registers > 255 ? 255 : (int)registers;
    return true;
}

static void attributes_read(struct view info, struct view symbols, struct view names,
                            struct vg_kernel_info **list, size_t *n)
{
    for (size_t at = 0; info.n - at >= 4;) {
        const unsigned char *p = info.p + at;
        size_t size = p[0] == FORMAT_SIZED ? (size_t)(p[2] | p[3] << 8) : 0;
        at += 4;
        if (size > info.n - at)
            return;
        if (p[0] == FORMAT_SIZED && p[1] == ATTRIBUTE_REGISTERS && size >= 8) {
            uint32_t index, registers;
            Elf64_Sym symbol;
            memcpy(&index, p + 4, 4);
            memcpy(&registers, p + 8, 4);
            if (index < symbols.n / sizeof symbol) {
                memcpy(&symbol, symbols.p + index * sizeof symbol, sizeof symbol);
                const char *name = string_at(names, symbol.st_name);
                if (name && *name && !add(list, n, name, registers))
                    return;
            }
        }
        at += size;
    }
}

enum st_code cubin_registers(const void *cubin, size_t bytes, struct vg_kernel_info **list,
                             size_t *n, struct st_error *err)
{
    *list = NULL;
    *n = 0;
    struct view elf = {cubin, bytes}, names = {0}, section_names = {0}, info = {0}, symbols = {0};
    Elf64_Ehdr h;
    Elf64_Shdr s;
    if (bytes < sizeof h)
        return nonsense(err, "its header is cut off");
    memcpy(&h, cubin, sizeof h);
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64)
        return nonsense(err, "it is not a 64-bit ELF file");
    if (!section_header(elf, &h, h.e_shstrndx, &s) || !section_view(elf, &s, &section_names))
        return nonsense(err, "its section names are missing");
    for (unsigned i = 0; section_header(elf, &h, i, &s); i++) {
        const char *name = string_at(section_names, s.sh_name);
        if (!name)
            continue;
        if (strcmp(name, ".nv.info") == 0)
            section_view(elf, &s, &info);
        if (s.sh_type == SHT_SYMTAB && section_view(elf, &s, &symbols)) {
            Elf64_Shdr link;
            if (section_header(elf, &h, s.sh_link, &link))
                section_view(elf, &link, &names);
        }
    }
    attributes_read(info, symbols, names, list, n);
    return ST_OK;
}
