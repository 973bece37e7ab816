/** @file
 * Machine code that several processes make use of: the device processes of one grading, which run the
 * same kernels with more and more images. It is in memory that they share. Entries are only added.
 *
 * A writer can make other processes execute anything, so only processes that serve the same program
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

/** @param bytes  set to the size @return a copy of the code of that name, to be freed, or NULL. */
void *code_store_find(const struct code_store *store, const char *name, size_t *bytes);
/** Adds code, if there is room. */
void code_store_add(const struct code_store *store, const char *name, const void *code,
                    size_t bytes);
