/* Facts of kernels from a cubin. Sections of attributes are named .nv.info (of all kernels) and
 * .nv.info.KERNEL; each is a list of
 *
 *     u8 format | u8 attribute | u16 value or size | [size bytes, format 4 only]
 *
 *     0x2f  { u32 symbol, u32 registers }      in .nv.info; the symbol names the kernel
 *     0x11  { u32 symbol, u32 frame bytes }    in .nv.info; local memory of a thread, spills
 * included 0x55  { u32 1, u32 offset } ...          in .nv.info.KERNEL: each load or store of a
 * spilled value
 *
 * (the last as ptxas 13 writes it; found by comparing with ptxas -v). Machine code lies in
 * .text.KERNEL, 16 bytes an instruction since Volta. */
#include "vgpu/fatbin/fatbin.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT_SIZED        4
#define ATTRIBUTE_FRAME     0x11
#define ATTRIBUTE_REGISTERS 0x2f
#define ATTRIBUTE_SPILLS    0x55
#define INSTRUCTION_BYTES   16

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

/* The kernels found so far. */
struct kernels {
    struct vg_kernel_info *list;
    size_t n;
};

/* The entry of that name; a new one if there is none yet. NULL: no memory. */
static struct vg_kernel_info *kernel_of(struct kernels *k, const char *name)
{
    for (size_t i = 0; i < k->n; i++)
        if (strcmp(k->list[i].name, name) == 0)
            return &k->list[i];
    struct vg_kernel_info *more = realloc(k->list, (k->n + 1) * sizeof *k->list);
    if (!more)
        return NULL;
    k->list = more;
    struct vg_kernel_info *info = &more[k->n++];
    memset(info, 0, sizeof *info);
    snprintf(info->name, sizeof info->name, "%s", name);
    return info;
}

static uint32_t word_at(const unsigned char *p)
{
    uint32_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

struct attribute {
    unsigned char number;
    const unsigned char *value;
    size_t size; /* 0 unless it is of format 4 */
};

/* Takes the next attribute of a list. @return false at its end, or where it is cut off. */
static bool attribute_next(struct view *info, struct attribute *to)
{
    if (info->n < 4)
        return false;
    const unsigned char *p = info->p;
    size_t size = p[0] == FORMAT_SIZED ? (size_t)(p[2] | p[3] << 8) : 0;
    if (size > info->n - 4)
        return false;
    *to = (struct attribute){p[1], p + 4, size};
    info->p += 4 + size;
    info->n -= 4 + size;
    return true;
}

static void registers_read(struct view info, struct view symbols, struct view names,
                           struct kernels *to)
{
    struct attribute a;
    while (attribute_next(&info, &a)) {
        if ((a.number != ATTRIBUTE_REGISTERS && a.number != ATTRIBUTE_FRAME) || a.size < 8)
            continue;
        uint32_t index = word_at(a.value), value = word_at(a.value + 4);
        Elf64_Sym symbol;
        if (index >= symbols.n / sizeof symbol)
            continue;
        memcpy(&symbol, symbols.p + index * sizeof symbol, sizeof symbol);
        const char *name = string_at(names, symbol.st_name);
        struct vg_kernel_info *kernel = name && *name ? kernel_of(to, name) : NULL;
        if (kernel && a.number == ATTRIBUTE_REGISTERS)
            kernel->registers = value > 255 ? 255 : (int)value;
        else if (kernel)
            kernel->local_bytes = value;
    }
}

/* A section that belongs to one kernel: its attributes, or its machine code. */
static void section_read(const char *name, struct view section, struct kernels *to)
{
    struct attribute a;
    struct vg_kernel_info *kernel;
    if (strncmp(name, ".nv.info.", 9) == 0 && (kernel = kernel_of(to, name + 9)))
        while (attribute_next(&section, &a))
            if (a.number == ATTRIBUTE_SPILLS)
                kernel->spills += (uint32_t)(a.size / 8);
    if (strncmp(name, ".text.", 6) == 0 && (kernel = kernel_of(to, name + 6)))
        kernel->instructions = (uint32_t)(section.n / INSTRUCTION_BYTES);
}

enum st_code cubin_kernels(const void *cubin, size_t bytes, struct vg_kernel_info **list, size_t *n,
                           struct st_error *err)
{
    *list = NULL;
    *n = 0;
    struct view elf = {cubin, bytes}, names = {0}, section_names = {0}, info = {0}, symbols = {0};
    struct view section;
    struct kernels found = {0};
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
        else if (section_view(elf, &s, &section))
            section_read(name, section, &found);
        if (s.sh_type == SHT_SYMTAB && section_view(elf, &s, &symbols)) {
            Elf64_Shdr link;
            if (section_header(elf, &h, s.sh_link, &link))
                section_view(elf, &link, &names);
        }
    }
    registers_read(info, symbols, names, &found);
    *list = found.list;
    *n = found.n;
    return ST_OK;
}
