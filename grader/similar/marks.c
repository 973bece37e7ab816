#include "grader/similar/marks.h"

#include <stdlib.h>

bool si_mark_add(struct si_marks *to, struct si_mark mark)
{
    if (to->n == to->room) {
        const size_t room = to->room ? 2 * to->room : 256;
        struct si_mark *more = realloc(to->mark, room * sizeof *more);
        if (!more)
            return false;
        to->mark = more;
        to->room = room;
    }
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
