/* Reads facts about kernels from a cubin. Attributes are in the sections .nv.info (for all kernels)
 * and .nv.info.KERNEL; each section is a list of
 *
 *     u8 format | u8 attribute | u16 value or size | [size bytes, format 4 only]
 *
 *     0x2f  { u32 symbol, u32 registers }     in .nv.info; the symbol names the kernel
 *     0x11  { u32 symbol, u32 frame bytes }   in .nv.info; local memory of a thread, with spills
 *     0x55  { u32 1, u32 offset } ...         in .nv.info.KERNEL: each load or store of a spilled value
 *
 * Attribute 0x55 has the form of ptxas 13; it was found by comparing with ptxas -v. Machine code is
 * in .text.KERNEL, 16 bytes per instruction since Volta. */
#include "base/array_room.h"
#include "vgpu/fatbin/elf_sections.h"
#include "vgpu/fatbin/fatbin.h"

#include <string.h>

#define FORMAT_SIZED        4
#define ATTRIBUTE_FRAME     0x11
#define ATTRIBUTE_REGISTERS 0x2f
#define ATTRIBUTE_SPILLS    0x55
#define INSTRUCTION_BYTES   16

static enum st_code nonsense(struct st_error *err, const char *what)
{
    return st_fail(err, ST_BAD_FORMAT, "an embedded cubin is damaged: %s", what);
}

/* The kernels found so far. */
struct kernels {
    struct vg_kernel_info *list;
    size_t n;
};

/* @return the entry for a name, a new one if necessary; NULL: out of memory. */
static struct vg_kernel_info *kernel_of(struct kernels *k, const char *name)
{
    for (size_t i = 0; i < k->n; i++)
        if (strcmp(k->list[i].name, name) == 0)
            return &k->list[i];
    if (!ARRAY_ROOM(k->list, k->n))
        return NULL;
    struct vg_kernel_info *info = &k->list[k->n++];
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
    size_t size; /* 0 unless the format is 4 */
};

/* Reads the next attribute of a list. @return false at its end, or if the list is truncated. */
static bool attribute_next(struct elf_view *info, struct attribute *to)
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

static void registers_read(struct elf_view info, struct elf_view symbols, struct elf_view names,
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
        const char *name = elf_string(names, symbol.st_name);
        struct vg_kernel_info *kernel = name && *name ? kernel_of(to, name) : NULL;
        if (kernel && a.number == ATTRIBUTE_REGISTERS)
            kernel->registers = value > 255 ? 255 : (int)value;
        else if (kernel)
            kernel->local_bytes = value;
    }
}

/* Reads a kernel's section: its attributes, or its machine code. */
static void section_read(const char *name, struct elf_view section, struct kernels *to)
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
    struct elf_file elf;
    struct elf_view names = {0}, info = {0}, symbols = {0}, section;
    struct kernels found = {0};
    Elf64_Shdr s, link;
    if (bytes < sizeof elf.header)
        return nonsense(err, "its header is cut off");
    if (!elf_open(&elf, cubin, bytes))
        return nonsense(err, "not a 64-bit ELF file");
    if (!elf.names.p)
        return nonsense(err, "its section names are missing");
    for (size_t i = 0; elf_section(&elf, i, &s); i++) {
        const char *name = elf_string(elf.names, s.sh_name);
        if (!name)
            continue;
        if (strcmp(name, ".nv.info") == 0)
            elf_contents(&elf, &s, &info);
        else if (elf_contents(&elf, &s, &section))
            section_read(name, section, &found);
        if (s.sh_type == SHT_SYMTAB && elf_contents(&elf, &s, &symbols) &&
            elf_section(&elf, s.sh_link, &link))
            elf_contents(&elf, &link, &names);
    }
    registers_read(info, symbols, names, &found);
    *list = found.list;
    *n = found.n;
    return ST_OK;
}
