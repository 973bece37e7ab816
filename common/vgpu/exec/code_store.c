#include "vgpu/exec/code_store.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The head of the store: the bytes in use. */
struct head {
    _Atomic uint64_t used;
};

struct entry {
    uint64_t bytes; /* of the code, which follows the entry */
    _Atomic uint32_t is_complete;
    char name[CODE_NAME];
};

enum { ALIGNMENT = 16 };

static size_t size_of(uint64_t bytes)
{
    return (sizeof(struct entry) + bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Checks everything that it reads, since another process may have changed it. */
void *code_store_find(const struct code_store *store, const char *name, size_t *bytes)
{
    if (!store->memory)
        return NULL;
    const uint64_t used = atomic_load(&((struct head *)store->memory)->used);
    const uint64_t end = used < store->bytes ? used : store->bytes;
    for (uint64_t at = ALIGNMENT; at < end && end - at >= sizeof(struct entry);) {
        struct entry *e = (struct entry *)(store->memory + at);
        const bool is_complete = atomic_load_explicit(&e->is_complete, memory_order_acquire);
        const uint64_t size = e->bytes;
        if (!is_complete || size > end - at - sizeof *e)
            return NULL; /* another process is writing the entry: the next call finds it */
        if (strncmp(e->name, name, sizeof e->name) == 0) {
            void *copy = malloc(size);
            if (copy)
                memcpy(copy, e + 1, size);
            *bytes = size;
            return copy;
        }
        at += size_of(size);
    }
    return NULL;
}

void code_store_add(const struct code_store *store, const char *name, const void *code,
                    size_t bytes)
{
    if (!store->memory || bytes > store->bytes)
        return;
    struct head *head = (struct head *)store->memory;
    uint64_t none = 0;
    atomic_compare_exchange_strong(&head->used, &none, ALIGNMENT);
    uint64_t at = atomic_load(&head->used);
    do {
        if (at > store->bytes || store->bytes - at < size_of(bytes))
            return;
    } while (!atomic_compare_exchange_weak(&head->used, &at, at + size_of(bytes)));
    struct entry *e = (struct entry *)(store->memory + at);
    e->bytes = bytes;
    strncpy(e->name, name, sizeof e->name - 1);
    memcpy(e + 1, code, bytes);
    atomic_store_explicit(&e->is_complete, 1, memory_order_release);
}
