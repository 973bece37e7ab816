#include "base/array_room.h"

#include <stdlib.h>
#include <string.h>

bool array_room(void *array, size_t n, size_t element_bytes)
{
    if (n & (n - 1))
        return true;
    void *now;
    memcpy(&now, array, sizeof now); /* the pointer has another type */
    now = realloc(now, (n ? 2 * n : 1) * element_bytes);
    if (!now)
        return false;
    memcpy(array, &now, sizeof now);
    return true;
}
