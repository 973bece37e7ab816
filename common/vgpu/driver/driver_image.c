#include "vgpu/driver/driver_image.h"

#include "vgpu/fatbin/fatbin_wrapper.h"

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_PTX = 1, KIND_ELF = 2, DEFAULT_SM = 75, PADDING = 8 };

/* The header of an entry, see fatbin.h. */
struct entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes;
    uint32_t compressed, options;
    uint16_t minor, major;
    uint32_t sm, name, name_bytes;
    uint64_t flags, zero, uncompressed;
};

static bool list_add(struct driver_images *to, void *image)
{
    if (!image || to->n == DRIVER_IMAGES_MAX) {
        free(image);
        return false;
    }
    to->list[to->n++] = image;
    return true;
}

void driver_images_free(struct driver_images *images)
{
    while (images->n)
        free(images->list[--images->n]);
}

/* @return a container with one entry. */
static void *wrap(struct entry entry, const void *data, size_t bytes)
{
    const size_t padded = (bytes + PADDING) / PADDING * PADDING; /* at least one NUL */
    const struct fatbin_container head = {FATBIN_MAGIC, 1, sizeof head, sizeof entry + padded};
    entry.version = 0x101;
    entry.header_bytes = sizeof entry;
    entry.bytes = padded;
    char *image = calloc(1, sizeof head + sizeof entry + padded);
    if (image) {
        memcpy(image, &head, sizeof head);
        memcpy(image + sizeof head, &entry, sizeof entry);
        memcpy(image + sizeof head + sizeof entry, data, bytes);
    }
    return image;
}

static void *wrap_ptx(const char *text, size_t bytes)
{
    unsigned major = 0, minor = 0, sm = DEFAULT_SM;
    const char *version = memmem(text, bytes, ".version", 8);
    const char *target = memmem(text, bytes, ".target", 7);
    if (version)
        sscanf(version, ".version %u.%u", &major, &minor);
    if (target)
        sscanf(target, ".target sm_%u", &sm);
    return wrap(
        (struct entry){
            .kind = KIND_PTX, .major = (uint16_t)major, .minor = (uint16_t)minor, .sm = sm},
        text, bytes);
}

static size_t elf_bytes(const void *data)
{
    Elf64_Ehdr h;
    memcpy(&h, data, sizeof h);
    const size_t sections = h.e_shoff + (size_t)h.e_shnum * h.e_shentsize;
    const size_t segments = h.e_phoff + (size_t)h.e_phnum * h.e_phentsize;
    return sections > segments ? sections : segments;
}

static void *copy_container(const void *data, size_t bytes)
{
    struct fatbin_container head;
    memcpy(&head, data, sizeof head);
    const size_t all = head.header_bytes + head.bytes;
    void *image = head.bytes < SIZE_MAX / 2 && (!bytes || all <= bytes) ? malloc(all) : NULL;
    return image ? memcpy(image, data, all) : NULL;
}

static bool wrapped_add(struct driver_images *to, const struct fatbin_wrapper *w)
{
    if (w->version != FATBIN_WRAPPER_LINKED || !w->images)
        return list_add(to, copy_container(w->data, 0));
    for (size_t i = 0; w->images[i]; i++)
        if (!list_add(to, copy_container(w->images[i], 0)))
            return false;
    return true;
}

/* ---- output of the linker: a header, then the containers ------------------------- */

#define JOINED_MAGIC UINT32_C(0x444E4A56)

struct joined {
    uint32_t magic, n;
};

static size_t container_bytes(const void *image)
{
    struct fatbin_container head;
    memcpy(&head, image, sizeof head);
    return head.header_bytes + head.bytes;
}

void *driver_images_join(const struct driver_images *images, size_t *bytes)
{
    const struct joined head = {JOINED_MAGIC, (uint32_t)images->n};
    size_t at = sizeof head;
    *bytes = at;
    for (size_t i = 0; i < images->n; i++)
        *bytes += container_bytes(images->list[i]);
    char *block = malloc(*bytes);
    if (!block)
        return NULL;
    memcpy(block, &head, sizeof head);
    for (size_t i = 0; i < images->n; i++) {
        const size_t n = container_bytes(images->list[i]);
        memcpy(block + at, images->list[i], n);
        at += n;
    }
    return block;
}

static bool joined_add(struct driver_images *to, const char *block)
{
    struct joined head;
    memcpy(&head, block, sizeof head);
    block += sizeof head;
    for (uint32_t i = 0; i < head.n; i++) {
        if (!list_add(to, copy_container(block, 0)))
            return false;
        block += container_bytes(block);
    }
    return head.n > 0;
}

bool driver_image_add(struct driver_images *to, const void *data, size_t bytes)
{
    uint32_t magic = 0;
    memcpy(&magic, data, bytes && bytes < sizeof magic ? bytes : sizeof magic);
    if (magic == FATBIN_WRAPPER_MAGIC)
        return wrapped_add(to, data);
    if (magic == JOINED_MAGIC)
        return joined_add(to, data);
    if (magic == FATBIN_MAGIC)
        return list_add(to, copy_container(data, bytes));
    if (memcmp(&magic, ELFMAG, SELFMAG) == 0)
        return list_add(to, wrap((struct entry){.kind = KIND_ELF, .sm = DEFAULT_SM}, data,
                                 bytes ? bytes : elf_bytes(data)));
    const size_t length = bytes ? strnlen(data, bytes) : strlen(data);
    return list_add(to, wrap_ptx(data, length));
}
