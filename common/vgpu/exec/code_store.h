/** @file
 * Machine code used by several processes: the device processes of one grading, which run the same
 * kernels with more and more images. It is in shared memory. Entries are only added.
 *
 * A writer can make other processes execute any code, so only processes that serve the same program
 * may share it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { CODE_NAME = 64 };

struct code_store {
    unsigned char *memory; /**< shared, at first zero; NULL: nothing is stored */
    size_t bytes;
};

/** @param bytes  becomes the size @return a copy of the code with a name, to be freed, or NULL. */
void *code_store_find(const struct code_store *store, const char *name, size_t *bytes);
/** Adds code if it fits. */
void code_store_add(const struct code_store *store, const char *name, const void *code,
                    size_t bytes);
