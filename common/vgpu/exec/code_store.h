/** @file
 * Machine code in memory shared by several processes: the device processes of one grading, which
 * run the same kernels with more and more images. Entries are never removed.
 *
 * A process that writes here can make the others execute any code, so only processes that serve the
 * same program may share it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { CODE_NAME = 64 };

struct code_store {
    unsigned char *memory; /**< shared, initially zero; NULL: nothing is stored */
    size_t bytes;
};

/** @param bytes  becomes the code's size @return a copy of the code with this name, to be freed, or
 * NULL. */
void *code_store_find(const struct code_store *store, const char *name, size_t *bytes);
/** Adds code if there is room for it. */
void code_store_add(const struct code_store *store, const char *name, const void *code,
                    size_t bytes);
