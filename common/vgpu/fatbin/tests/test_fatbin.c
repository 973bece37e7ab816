#include "base/rng.h"
#include "vgpu/fatbin/tests/image.h"

#include <criterion/criterion.h>
#include <elf.h>

static const char ptx[] = "\n.version 9.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry k() { ret; } // ................................\n";

Test(fatbin, reads_ptx_however_it_is_stored)
{
    for (enum fatbin_storage storage = FATBIN_RAW; storage <= FATBIN_ZSTD; storage++) {
        for (size_t more = 0; more <= 56; more += 8) {
            struct image image;
            struct fatbin_module module;
            struct st_error err;
            image_start(&image);
            image_add(&image, FATBIN_PTX, 75, ptx, sizeof ptx - 1, storage, more);
            cr_assert_eq(fatbin_module_read(&module, image.bytes, image.n, 90, &err), ST_OK);
            cr_assert_str_eq(module.ptx, ptx);
            cr_assert_eq(module.ptx_bytes, sizeof ptx - 1);
            fatbin_module_free(&module);
            free(image.bytes);
        }
    }
}

Test(fatbin, chooses_the_newest_ptx_that_the_device_can_run)
{
    struct image image;
    struct fatbin fatbin;
    struct st_error err;
    image_start(&image);
    for (int sm = 75; sm <= 120; sm += 5)
        image_add(&image, FATBIN_PTX, sm, ptx, sizeof ptx - 1, FATBIN_RAW, 0);
    image_add(&image, FATBIN_ELF, 90, "cubin", 5, FATBIN_RAW, 0);
    cr_assert_eq(fatbin_open(&fatbin, image.bytes, image.n, &err), ST_OK);
    cr_assert_eq(fatbin.n, 11);
    cr_assert_eq(fatbin_best_ptx(&fatbin, 90)->sm, 90);
    cr_assert_eq(fatbin_best_ptx(&fatbin, 92)->sm, 90);
    cr_assert_eq(fatbin_best_ptx(&fatbin, 37)->sm, 75, "older GPUs are timing profiles");
    cr_assert_eq(fatbin_best_cubin(&fatbin, 75)->sm, 90);
    fatbin_close(&fatbin);
    free(image.bytes);
}

Test(fatbin, prefers_the_ptx_of_an_architecture_specific_target)
{
    struct image image;
    struct fatbin fatbin;
    struct st_error err;
    image_start(&image);
    image_add(&image, FATBIN_PTX, 90, ptx, sizeof ptx - 1, FATBIN_RAW, 0);
    size_t specific = image.n;
    image_add(&image, FATBIN_PTX, 90, ptx, sizeof ptx - 1, FATBIN_RAW, 0);
    image.bytes[specific + 42] |= 0x10; /* compute_90a */
    image_add(&image, FATBIN_PTX, 90, ptx, sizeof ptx - 1, FATBIN_RAW, 0);
    cr_assert_eq(fatbin_open(&fatbin, image.bytes, image.n, &err), ST_OK);
    cr_assert_eq(fatbin_best_ptx(&fatbin, 90), &fatbin.entries[1]);
    fatbin_close(&fatbin);
    free(image.bytes);
}

static enum st_code read_code(const struct image *image, struct st_error *err)
{
    struct fatbin_module module;
    enum st_code code = fatbin_module_read(&module, image->bytes, image->n, 90, err);
    fatbin_module_free(&module);
    return code;
}

Test(fatbin, says_that_machine_code_alone_cannot_run)
{
    struct image image;
    struct st_error err;
    image_start(&image);
    image_add(&image, FATBIN_ELF, 80, "cubin", 5, FATBIN_RAW, 0);
    cr_assert_eq(read_code(&image, &err), ST_NOT_FOUND);
    cr_assert(strstr(err.got, "sm_80"));
    cr_assert(strstr(err.hint, "-arch=compute_75"));
    free(image.bytes);
}

Test(fatbin, takes_every_ptx_of_version_9)
{
    static const char last[] = ".version 9.57\n.target sm_75\n";
    struct image image;
    struct st_error err;
    image_start(&image);
    image_add(&image, FATBIN_PTX, 75, last, sizeof last - 1, FATBIN_ZSTD, 0);
    cr_assert_eq(read_code(&image, &err), ST_OK);
    free(image.bytes);
}

Test(fatbin, refuses_ptx_of_a_newer_architecture_as_hardware_does)
{
    struct image image;
    struct st_error err;
    image_start(&image);
    image_add(&image, FATBIN_ELF, 100, "cubin", 5, FATBIN_RAW, 0);
    image_add(&image, FATBIN_PTX, 100, ptx, sizeof ptx - 1, FATBIN_ZSTD, 0);
    cr_assert_eq(read_code(&image, &err), ST_NOT_FOUND);
    cr_assert_str_eq(err.got, "PTX for compute_100");
    image_add(&image, FATBIN_ELF, 80, "cubin", 5, FATBIN_RAW, 0);
    cr_assert_eq(read_code(&image, &err), ST_NOT_FOUND);
    struct image older = image_part(&image, image.n);
    image_add(&image, FATBIN_PTX, 90, ptx, sizeof ptx - 1, FATBIN_ZSTD, 0);
    cr_assert_eq(read_code(&image, &err), ST_OK);
    image_add(&older, FATBIN_ELF, 90, "cubin", 5, FATBIN_RAW, 0); /* a GPU of sm_90 has code here */
    cr_assert_eq(read_code(&older, &err), ST_OK);
    free(older.bytes);
    free(image.bytes);
}

Test(fatbin, refuses_newer_ptx)
{
    static const char newer[] = ".version 10.0\n.target sm_75\n";
    struct image image;
    struct st_error err;
    image_start(&image);
    image_add(&image, FATBIN_PTX, 75, newer, sizeof newer - 1, FATBIN_ZSTD, 0);
    cr_assert_eq(read_code(&image, &err), ST_TOO_LARGE);
    cr_assert_str_eq(err.got, "PTX 10.0");
    free(image.bytes);
}

Test(fatbin, finds_every_truncation)
{
    for (enum fatbin_storage storage = FATBIN_RAW; storage <= FATBIN_ZSTD; storage++) {
        struct image image;
        struct st_error err;
        image_start(&image);
        image_add(&image, FATBIN_PTX, 75, ptx, sizeof ptx - 1, storage, 40);
        for (size_t n = 0; n < image.n; n++) {
            struct image part = image_part(&image, n);
            cr_assert_eq(read_code(&part, &err), ST_TRUNCATED, "cut at %zu", n);
            cr_assert(strstr(err.what, "damaged"));
            free(part.bytes);
        }
        free(image.bytes);
    }
}

Test(fatbin, survives_mutations)
{
    struct rng r = rng_make(3, 0);
    struct st_error err;
    int refused = 0;
    for (int i = 0; i < 30000; i++) {
        struct image image;
        image_start(&image);
        image_add(&image, i % 5 ? FATBIN_PTX : FATBIN_ELF, 75, ptx, sizeof ptx - 1,
                  (enum fatbin_storage)(i % 3), (size_t)(i % 8) * 8);
        image_add(&image, FATBIN_PTX, 80, ptx, sizeof ptx - 1, FATBIN_RAW, 0);
        for (int k = rng_range(&r, 1, 4); k > 0; k--) {
            size_t at = (size_t)rng_range(&r, 0, (int)image.n - 1);
            int how = rng_range(&r, 0, 3);
            image.bytes[at] = how == 0   ? 0xff
                              : how == 1 ? 0
                              : how == 2 ? (unsigned char)(image.bytes[at] ^ (1u << (i % 8)))
                                         : (unsigned char)rng_u64(&r);
        }
        refused += read_code(&image, &err) != ST_OK;
        free(image.bytes);
    }
    cr_assert_gt(refused, 1000, "mutations must be noticed: %d were", refused);
}

/* ---- cubins --------------------------------------------------------------------------------- */

struct cubin {
    Elf64_Ehdr header;
    Elf64_Shdr sections[7];
    char names[64], strings[32];
    Elf64_Sym symbols[3];
    unsigned char info[36], spills[20], code[160];
};

static void cubin_make(struct cubin *c)
{
    memset(c, 0, sizeof *c);
    memcpy(c->header.e_ident, ELFMAG, SELFMAG);
    c->header.e_ident[EI_CLASS] = ELFCLASS64;
    c->header.e_shoff = offsetof(struct cubin, sections);
    c->header.e_shentsize = sizeof(Elf64_Shdr);
    c->header.e_shnum = 7;
    c->header.e_shstrndx = 1;
    memcpy(c->names, "\0.nv.info\0.nv.info._Z1gv\0.text._Z1gv", 37);
    memcpy(c->strings, "\0_Z1kPf\0_Z1gv", 14);
    c->symbols[1].st_name = 1;
    c->symbols[2].st_name = 8;
    const unsigned char info[] = {4, 0x11, 8, 0, 2, 0, 0, 0, 48, 0, 0, 0, 3, 0x1b, 7, 0,
                                  4, 0x2f, 8, 0, 2, 0, 0, 0, 40, 0, 0, 0, 4, 0x2f, 8, 0};
    memcpy(c->info, info, sizeof info);
    c->info[32] = 1;
    const unsigned char spills[] = {4, 0x55, 16, 0, 1, 0, 0,  0, 16, 0,
                                    0, 0,    1,  0, 0, 0, 64, 0, 0,  0};
    memcpy(c->spills, spills, sizeof spills);
    const struct {
        uint32_t type, name, link;
        size_t at, n;
    } s[7] = {{0, 0, 0, 0, 0},
              {SHT_STRTAB, 0, 0, offsetof(struct cubin, names), sizeof c->names},
              {SHT_STRTAB, 0, 0, offsetof(struct cubin, strings), sizeof c->strings},
              {SHT_SYMTAB, 0, 2, offsetof(struct cubin, symbols), sizeof c->symbols},
              {SHT_PROGBITS, 1, 0, offsetof(struct cubin, info), sizeof c->info},
              {SHT_PROGBITS, 10, 0, offsetof(struct cubin, spills), sizeof c->spills},
              {SHT_PROGBITS, 25, 0, offsetof(struct cubin, code), sizeof c->code}};
    for (int i = 0; i < 7; i++) {
        c->sections[i].sh_type = s[i].type;
        c->sections[i].sh_name = s[i].name;
        c->sections[i].sh_link = s[i].link;
        c->sections[i].sh_offset = s[i].at;
        c->sections[i].sh_size = s[i].n;
    }
}

Test(cubin, has_the_registers_and_spills_of_each_kernel)
{
    struct cubin c;
    struct vg_kernel_info *list;
    size_t n;
    struct st_error err;
    cubin_make(&c);
    cr_assert_eq(cubin_kernels(&c, sizeof c, &list, &n, &err), ST_OK);
    cr_assert_eq(n, 1, "the second attribute is cut off");
    cr_assert_str_eq(list[0].name, "_Z1gv");
    cr_assert_eq(list[0].registers, 40);
    cr_assert_eq(list[0].local_bytes, 48);
    cr_assert_eq(list[0].spills, 2);
    cr_assert_eq(list[0].instructions, 10);
    free(list);
}

Test(cubin, survives_mutations)
{
    struct rng r = rng_make(4, 0);
    struct cubin c;
    for (int i = 0; i < 30000; i++) {
        struct vg_kernel_info *list;
        size_t n;
        struct st_error err;
        cubin_make(&c);
        for (int k = rng_range(&r, 1, 3); k > 0; k--)
            ((unsigned char *)&c)[rng_range(&r, 0, (int)sizeof c - 1)] = (unsigned char)rng_u64(&r);
        size_t cut = i % 4 ? sizeof c : (size_t)rng_range(&r, 0, (int)sizeof c);
        unsigned char *part = malloc(cut + 1);
        memcpy(part, &c, cut);
        cubin_kernels(part, cut, &list, &n, &err);
        free(list);
        free(part);
    }
}
