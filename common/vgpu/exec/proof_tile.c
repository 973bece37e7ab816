/* Recognises tiles of the unrolled matrix in shared memory: each word of such a tile belongs to a
 * row of the matrix, so only weights at one window position multiply it, of any maps. Weights at
 * all positions multiply a word of a tile of x itself. One of eight successive blocks is watched,
 * which a submission cannot predict.
 *
 * If there is no log, the step of an element of x loaded from shared memory is the number of its
 * word plus 1. */
#include "vgpu/exec/proof.h"

#include <stdlib.h>

enum { MIXED = 0x7fffffff };

struct proof_weight {
    uint32_t element; /**< 0: free */
    uint32_t place;   /**< position in the window of one input map, plus 1 */
};

static struct proof_weight *find(const struct proof *p, uint32_t element)
{
    size_t at = (element * UINT32_C(2654435761)) & p->weight_mask;
    while (p->weights[at].element && p->weights[at].element != element)
        at = (at + 1) & p->weight_mask;
    return &p->weights[at];
}

bool proof_tile_weights(struct proof *p, const uint32_t *elements, size_t n)
{
    size_t room = 64;
    free(p->weights);
    p->weights = NULL;
    if (!p->watches_tiles || !p->taps)
        return true;
    while (room < 2 * n)
        room *= 2;
    p->weights = calloc(room, sizeof *p->weights);
    p->weight_mask = room - 1;
    for (size_t i = 0; p->weights && i < n; i++)
        *find(p, elements[i]) = (struct proof_weight){elements[i], (uint32_t)(i % p->taps) + 1};
    return p->weights;
}

bool proof_tile_chosen(const struct vg_block *b)
{
    enum { GROUP = 8 };
    const struct proof *p = b->launch->device->proof;
    const uint64_t group = b->number / GROUP + b->launch->number * UINT64_C(0x100000001),
                   random = (p->key + group) * UINT64_C(0x9e3779b97f4a7c15) >> 32,
                   most = b->launch->blocks < GROUP ? b->launch->blocks : GROUP;
    return p->weights && !p->log && b->number % GROUP == random % most;
}

void proof_tile_stored(struct vg_warp *w, size_t word)
{
    if (!proof_tile_watched(w))
        return;
    proof_counts(w)->x_staged++;
    w->block->proof.places[word] = 0;
}

void proof_tile_loaded(const struct vg_warp *w, size_t word, struct origin *to)
{
    if (proof_tile_watched(w))
        to->step = (uint32_t)word + 1;
}

void proof_tile_multiplied(struct vg_warp *w, struct origin a, struct origin b)
{
    const struct origin x = a.way & WAY_OF_X ? a : b, k = a.way & WAY_OF_X ? b : a;
    const uint32_t element = k.low & FIELD_MASK;
    if (!x.step || !element)
        return;
    const uint32_t place = find(proof_of(w), element)->place;
    uint32_t *seen = &w->block->proof.places[x.step - 1];
    if (!place || *seen == MIXED || *seen == place)
        return;
    proof_counts(w)->x_mixed += *seen != 0;
    *seen = *seen ? MIXED : place;
}
