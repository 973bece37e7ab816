/** @file
 * The sections of a 64-bit ELF file in memory. Every field of the file is checked before use.
 */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

/** A range of bytes in a file. */
struct elf_view {
    const unsigned char *p;
    size_t n;
};

/** An opened file. It points into the image, which must outlive it. */
struct elf_file {
    struct elf_view all;
    Elf64_Ehdr header;
    struct elf_view names; /**< names of sections; empty: missing */
};

/** @return whether an image is a 64-bit ELF file. */
bool elf_open(struct elf_file *to, const void *image, size_t bytes);
/** Copies section header @p i. @return false past the last one. */
bool elf_section(const struct elf_file *f, size_t i, Elf64_Shdr *to);
/** @return whether a section's contents are inside the file; then @p to becomes the contents. */
bool elf_contents(const struct elf_file *f, const Elf64_Shdr *s, struct elf_view *to);
/** Calls @p visit for each symbol that has a name. @param table  SHT_DYNSYM, or SHT_SYMTAB, which
 * stripped files lack, because only linkers need it. @return whether the file has this table. */
bool elf_symbols_each(const struct elf_file *f, unsigned table,
                      void (*visit)(const char *name, const Elf64_Sym *symbol, void *context),
                      void *context);
/** @return a NUL-terminated string inside a table, or NULL. */
const char *elf_string(struct elf_view table, size_t offset);
