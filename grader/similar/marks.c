#include "grader/similar/marks.h"

#include "base/array_room.h"

#include <stdlib.h>

bool si_mark_add(struct si_marks *to, struct si_mark mark)
{
    if (!ARRAY_ROOM(to->mark, to->n))
        return false;
    to->mark[to->n++] = mark;
    return true;
}

void si_marks_free(struct si_marks *marks)
{
    free(marks->mark);
    *marks = (struct si_marks){0};
}

uint64_t si_hash(uint64_t hash, const void *bytes, size_t n)
{
    for (const unsigned char *at = bytes, *end = at + n; at < end; at++)
        hash = (hash ^ *at) * UINT64_C(0x100000001b3);
    return hash;
}
