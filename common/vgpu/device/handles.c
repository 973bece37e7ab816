#include "vgpu/device/handles.h"

#include <stdlib.h>

uint64_t handles_add(struct handles *table, void *object)
{
    if (table->live == HANDLES_MAX)
        return 0;
    if (table->n == table->room) {
        size_t room = table->room ? 2 * table->room : 16;
        void **more = realloc(table->objects, room * sizeof *more);
        if (!more)
            return 0;
        table->objects = more;
        table->room = room;
    }
    table->objects[table->n] = object;
    table->live++;
    return table->base + table->n++;
}

void *handles_get(const struct handles *table, uint64_t number)
{
    return number >= table->base && number - table->base < table->n
               ? table->objects[number - table->base]
               : NULL;
}

void *handles_remove(struct handles *table, uint64_t number)
{
    void *object = handles_get(table, number);
    if (object) {
        table->objects[number - table->base] = NULL;
        table->live--;
    }
    return object;
}

void handles_clear(struct handles *table, void (*free_one)(void *object))
{
    for (size_t i = 0; i < table->n; i++) {
        if (table->objects[i] && free_one)
            free_one(table->objects[i]);
    }
    free(table->objects);
    table->objects = NULL;
    table->n = table->room = table->live = 0;
}
