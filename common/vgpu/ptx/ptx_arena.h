/** @file
 * Memory that lives as long as a loaded PTX module: allocated piece by piece, freed as a whole.
 */
#pragma once

#include <stddef.h>

struct ptx_arena_chunk;

/** A zeroed arena is empty and ready to use. */
struct ptx_arena {
    struct ptx_arena_chunk *first;
    size_t used, room;
};

/** @return zeroed memory, aligned to 16 bytes; aborts if out of memory. */
void *ptx_arena_alloc(struct ptx_arena *arena, size_t bytes);
/** @return a NUL-terminated copy of @p n characters. */
char *ptx_arena_text(struct ptx_arena *arena, const char *text, size_t n);
/** Moves all memory of @p from to @p to; @p from is then empty. */
void ptx_arena_join(struct ptx_arena *to, struct ptx_arena *from);
/** Frees all memory of the arena. */
void ptx_arena_free(struct ptx_arena *arena);

/** Grows an array if it has no room for element number @p n. @return the array */
void *ptx_grow(void *array, size_t n, size_t *room, size_t element_bytes);
/** Appends an element to the array NAMEs of an owner, which also has NAME_count and NAME_room.
 * @return the element. */
#define PTX_ADD(owner, name)                                                                       \
    ((owner)->name##s = ptx_grow((owner)->name##s, (owner)->name##_count, &(owner)->name##_room,   \
                                 sizeof *(owner)->name##s),                                        \
     &(owner)->name##s[(owner)->name##_count++])
