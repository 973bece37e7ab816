#include "vgpu/device/handles.h"

#include "base/array_room.h"

#include <stdlib.h>

uint64_t handles_add(struct handles *table, void *object)
{
    if (table->live == HANDLES_MAX)
        return 0;
    if (!ARRAY_ROOM(table->objects, table->n))
        return 0;
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
    table->n = table->live = 0;
}
