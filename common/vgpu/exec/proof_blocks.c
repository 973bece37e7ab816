/* The origins that frames and blocks hold during a proof: of registers, local memory and shared
 * memory. A new block clears only the words that the previous one used. */
#include "vgpu/exec/proof_log.h"

#include <stdlib.h>
#include <string.h>

/* ---- frames --------------------------------------------------------------------------------- */

bool proof_frame_new(struct vg_worker *worker, struct vg_frame *frame)
{
    if (!worker->device->proof)
        return true;
    const size_t words = frame->room / 4;
    if (!frame->origins) {
        frame->origins = malloc(words * sizeof *frame->origins);
        frame->holds = malloc(words);
    }
    if (!frame->origins || !frame->holds)
        return false;
    memset(frame->holds, 0, words);
    return true;
}

/* Sets the origins of parameters whose value is an element of k. */
void proof_frame_fill(struct vg_frame *frame, const struct vg_launch *launch)
{
    const struct ir_function *f = frame->function;
    const struct proof *p = launch->device->proof;
    for (size_t i = 0; p && i < f->constant_count; i++) {
        const struct ir_constant *c = &f->constants[i];
        uint32_t value = 0;
        if (!c->is_param || c->wide || c->param_bytes != 4)
            continue;
        memcpy(&value, launch->parameter_copy + c->bits, sizeof value);
        const struct origin o = proof_by_value(p, value);
        if (!o.low)
            continue;
        frame->holds[c->offset / 4] = 1;
        for (int lane = 0; lane < VG_LANES; lane++)
            frame->origins[c->offset / 4 + (uint32_t)lane] = o;
    }
}

void proof_frame_free(struct vg_frame *frame)
{
    free(frame->origins);
    free(frame->holds);
}

/* ---- blocks --------------------------------------------------------------------------------- */

static bool reserve_words(struct proof_words *b, size_t words)
{
    if (words <= b->room)
        return true;
    free(b->words);
    b->used = 0;
    b->words = calloc(words, sizeof *b->words);
    b->room = b->words ? words : 0;
    return b->words != NULL;
}

/* Clears the words that were used since the last call. */
static void clear_words(struct proof_words *b)
{
    memset(b->words, 0, b->used * sizeof *b->words);
    b->used = b->staged = 0;
}

bool proof_block_prepare(struct vg_block *b)
{
    const struct vg_launch *l = b->launch;
    if (!l->device->proof)
        return true;
    const size_t room = b->proof.room;
    bool good = reserve_words(&b->proof, l->shared_bytes / 4 + 1);
    if (good && b->proof.room != room) {
        free(b->proof.places);
        free(b->proof.users);
        b->proof.places = calloc(b->proof.room, sizeof *b->proof.places);
        b->proof.users = calloc(b->proof.room, sizeof *b->proof.users);
        good = b->proof.places && b->proof.users;
    }
    for (uint32_t i = 0; i < b->warp_count && good; i++) {
        struct proof_warp *w = &b->warps[i].proof;
        good = reserve_words(&w->local, VG_LANES * (l->local_bytes / 4 + 1));
        if (l->device->proof->log && !w->recent)
            w->recent = calloc(VG_LANES, sizeof *w->recent);
        good &= !l->device->proof->log || w->recent;
    }
    return good;
}

void proof_block_start(struct vg_block *b)
{
    if (!b->launch->device->proof)
        return;
    memset(b->proof.users, 0, b->proof.used * sizeof *b->proof.users);
    clear_words(&b->proof);
    b->proof.watched = proof_tile_chosen(b);
    b->proof.outputs_start = 0;
    for (uint32_t i = 0; i < b->warp_count; i++) {
        struct proof_warp *p = &b->warps[i].proof;
        clear_words(&p->local);
        free(p->bytes);
        if (p->recent)
            memset(p->recent, 0, VG_LANES * sizeof *p->recent);
        *p = (struct proof_warp){.local = p->local, .recent = p->recent};
    }
}

void proof_run_end(struct vg_warp *w, int lane)
{
    struct proof_run *r = &w->proof.run[lane];
    const double direct = (double)proof_of(w)->taps * r->outputs;
    r->direct += r->last - r->first >= 0.9 * direct ? r->outputs : 0;
    r->first = r->last;
    r->outputs = 0;
}

/* Adds the work of a lane that stored or exchanged a result. */
static void count_lane(struct vg_proof_kernel *k, const struct proof_warp *w, int lane, size_t taps)
{
    const uint32_t made = w->made[lane], outputs = w->outputs[lane];
    const uint32_t kept = w->kept[lane] < made ? w->kept[lane] : made;
    const double direct = (double)taps * outputs; /* products of a direct sum */
    const bool stores = outputs || kept;
    /* (products of background pixels are 0: a sum in scratch memory does not count them) */
    const uint32_t counted = outputs ? made : made - w->zeros[lane];
    const bool is_alone = 4.0 * w->loaded[lane] >= 7.0 * made;
    k->alone_products += is_alone ? made : 0;
    k->direct_outputs += w->run[lane].direct;
    k->stored_outputs += outputs;
    k->kept_products += kept;
    k->own_products += (uint64_t)(direct < made - kept ? direct : made - kept);
    k->stored_products += stores ? made : 0;
    k->stored_loads += stores && w->loaded[lane] > 0 ? (uint64_t)w->loaded[lane] : 0;
    k->needed_products += stores && direct + kept >= 0.6 * counted ? made : 0;
}

void proof_block_end(struct vg_block *b)
{
    if (!b->launch->device->proof)
        return;
    struct vg_proof_kernel *k = &b->launch->device->proof->running->counts;
    const size_t taps = b->launch->device->proof->taps;
    uint64_t threads = 0;
    for (uint32_t i = 0; i < b->warp_count; i++) {
        struct vg_warp *w = &b->warps[i];
        threads += (uint64_t)__builtin_popcount(w->proof.multiplied);
        for (uint32_t left = ~w->proof.used; left; left &= left - 1) {
            const int lane = __builtin_ctz(left);
            k->idle_products += w->proof.made[lane];
            k->idle_singly += w->proof.made[lane] - w->proof.zeros[lane] - w->proof.paired[lane];
            k->idle_padded += w->proof.padded[lane];
            k->idle_loads += w->proof.loaded[lane] > 0 ? (uint64_t)w->proof.loaded[lane] : 0;
        }
        for (uint32_t left = w->proof.used; left; left &= left - 1) {
            proof_run_end(w, __builtin_ctz(left));
            count_lane(k, &w->proof, __builtin_ctz(left), taps);
        }
        for (uint32_t left = w->proof.multiplied; left; left &= left - 1) {
            const uint64_t columns = 1 + (uint64_t)w->tid[0][__builtin_ctz(left)];
            k->multiplying_columns =
                columns > k->multiplying_columns ? columns : k->multiplying_columns;
        }
    }
    k->product_threads += threads;
    k->multiplying_threads = threads > k->multiplying_threads ? threads : k->multiplying_threads;
    k->shared_words = b->proof.staged > k->shared_words ? b->proof.staged : k->shared_words;
}

void proof_local_copy(const struct vg_warp *w, int lane, size_t to, size_t from, size_t bytes)
{
    if (!proof_of(w) || to % 4 || from % 4)
        return;
    for (size_t i = 0; i < (bytes + 3) / 4; i++)
        *proof_local(w, lane, to / 4 + i) = *proof_local(w, lane, from / 4 + i);
}

struct origin *proof_local(const struct vg_warp *w, int lane, size_t word)
{
    struct proof_words *local = &w->block->warps[w->index].proof.local;
    const size_t at = word * VG_LANES;
    if (at + VG_LANES > local->used)
        local->used = at + VG_LANES;
    return &local->words[at + (size_t)lane];
}

struct origin *proof_shared(struct vg_block *b, size_t word)
{
    if (word >= b->proof.used)
        b->proof.used = word + 1;
    return &b->proof.words[word];
}
