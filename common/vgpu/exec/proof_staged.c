/* Which elements of x a block has stored to its shared memory: a hash table of all elements of x, each
 * with the last block that stored it. Blocks run one after another, unless they wait for each other. */
#include "vgpu/exec/proof.h"

#include <stdlib.h>

struct proof_staged {
    uint32_t element; /* 0: free */
    uint32_t block;   /* its serial number, 0: none yet */
};

static struct proof_staged *find(const struct proof *p, uint32_t element)
{
    size_t at = (element * UINT32_C(2654435761)) & p->staged_mask;
    while (p->staged[at].element && p->staged[at].element != element)
        at = (at + 1) & p->staged_mask;
    return &p->staged[at];
}

bool proof_staged_make(struct proof *p, const uint32_t *elements, size_t n)
{
    size_t room = 64;
    while (room < 2 * n)
        room *= 2;
    free(p->staged);
    p->staged = calloc(room, sizeof *p->staged);
    p->staged_mask = room - 1;
    for (size_t i = 0; p->staged && i < n; i++)
        if (elements[i])
            find(p, elements[i])->element = elements[i];
    return p->staged != NULL;
}

void proof_staged_note(struct vg_warp *w, uint32_t element)
{
    struct proof *p = proof_of(w);
    struct proof_staged *s = p->staged && element ? find(p, element) : NULL;
    if (!s || !s->element) /* 0, or a sum of elements */
        return;
    proof_counts(w)->x_staged++;
    proof_counts(w)->x_staged_new += s->block != w->block->proof.serial;
    s->block = w->block->proof.serial;
}
