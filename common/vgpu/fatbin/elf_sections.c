#include "vgpu/fatbin/elf_sections.h"

#include <string.h>

bool elf_open(struct elf_file *to, const void *image, size_t bytes)
{
    *to = (struct elf_file){.all = {image, bytes}};
    if (bytes < sizeof to->header)
        return false;
    memcpy(&to->header, image, sizeof to->header);
    if (memcmp(to->header.e_ident, ELFMAG, SELFMAG) != 0 ||
        to->header.e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    Elf64_Shdr s;
    if (elf_section(to, to->header.e_shstrndx, &s))
        elf_contents(to, &s, &to->names);
    return true;
}

bool elf_section(const struct elf_file *f, size_t i, Elf64_Shdr *to)
{
    const Elf64_Ehdr *h = &f->header;
    if (h->e_shentsize != sizeof *to || i >= h->e_shnum || h->e_shoff > f->all.n ||
        i >= (f->all.n - h->e_shoff) / sizeof *to)
        return false;
    memcpy(to, f->all.p + h->e_shoff + i * sizeof *to, sizeof *to); /* may be unaligned */
    return true;
}

bool elf_contents(const struct elf_file *f, const Elf64_Shdr *s, struct elf_view *to)
{
    if (s->sh_type == SHT_NOBITS || s->sh_offset > f->all.n || s->sh_size > f->all.n - s->sh_offset)
        return false;
    *to = (struct elf_view){f->all.p + s->sh_offset, s->sh_size};
    return true;
}

const char *elf_string(struct elf_view table, size_t offset)
{
    if (offset >= table.n || !memchr(table.p + offset, '\0', table.n - offset))
        return NULL;
    return (const char *)table.p + offset;
}

bool elf_symbols_each(const struct elf_file *f, unsigned table,
                      void (*visit)(const char *name, const Elf64_Sym *symbol, void *context),
                      void *context)
{
    Elf64_Shdr s, link;
    Elf64_Sym symbol;
    struct elf_view symbols = {0}, names = {0};
    for (size_t i = 0; elf_section(f, i, &s) && !symbols.p; i++)
        if (s.sh_type == table && elf_section(f, s.sh_link, &link) &&
            elf_contents(f, &link, &names))
            elf_contents(f, &s, &symbols);
    for (size_t i = 0; i < symbols.n / sizeof symbol; i++) {
        memcpy(&symbol, symbols.p + i * sizeof symbol, sizeof symbol);
        const char *name = elf_string(names, symbol.st_name);
        if (name && *name)
            visit(name, &symbol, context);
    }
    return symbols.p != NULL;
}
