#include "vgpu/ptx/ptx_arena.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 64 * 1024 };

struct ptx_arena_chunk {
    struct ptx_arena_chunk *next;
    _Alignas(16) char data[];
};

void *ptx_arena_alloc(struct ptx_arena *arena, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (!arena->first || arena->used + bytes > arena->room) {
        size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        struct ptx_arena_chunk *chunk = calloc(1, sizeof *chunk + room);
        if (!chunk)
            abort();
        chunk->next = arena->first;
        arena->first = chunk;
        arena->used = 0;
        arena->room = room;
    }
    void *p = arena->first->data + arena->used;
    arena->used += bytes;
    return p;
}

char *ptx_arena_text(struct ptx_arena *arena, const char *text, size_t n)
{
    char *copy = ptx_arena_alloc(arena, n + 1);
    memcpy(copy, text, n);
    return copy;
}

void ptx_arena_join(struct ptx_arena *to, struct ptx_arena *from)
{
    if (!to->first) {
        *to = *from;
    } else {
        struct ptx_arena_chunk *last = to->first;
        while (last->next)
            last = last->next;
        last->next = from->first; /* only the first block is filled further */
    }
    memset(from, 0, sizeof *from);
}

void ptx_arena_free(struct ptx_arena *arena)
{
    while (arena->first) {
        struct ptx_arena_chunk *next = arena->first->next;
        free(arena->first);
        arena->first = next;
    }
    arena->used = arena->room = 0;
}

void *ptx_grow(void *array, size_t n, size_t *room, size_t element_bytes)
{
    if (n < *room)
        return array;
    size_t wanted = *room ? *room * 2 : 16;
    while (wanted <= n)
        wanted *= 2;
    char *bigger = realloc(array, wanted * element_bytes);
    if (!bigger)
        abort();
    memset(bigger + *room * element_bytes, 0, (wanted - *room) * element_bytes);
    *room = wanted;
    return bigger;
}
