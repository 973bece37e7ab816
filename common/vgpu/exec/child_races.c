#include "vgpu/exec/child_races.h"

#include "vgpu/exec/block_races.h"
#include "vgpu/exec/block_order.h"
#include "vgpu/exec/child_work.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/proof.h"

enum { WORDS = 1024, NOTED_MOST = WORDS / 4 * 3 };

static struct child_watch *watch_new(const struct vg_block *b)
{
    struct child_watch *watch = calloc(1, sizeof *watch + WORDS * sizeof *watch->words);
    if (!watch)
        return NULL;
    watch->users = 1;
    for (int i = 0; i < 3; i++)
        watch->id[i] = b->id[i];
    watch->size = b->launch->block;
    watch->kernel = b->launch->kernel;
    return watch;
}

bool child_watch_applies(const struct vg_block *b)
{
    const struct vg_child *c = b->launch->child;
    return c && !c->is_tail && c->watch && c->watch->count && b->number < CHILD_WATCHED_BLOCKS;
}

/* @return the entry of a word, which is empty if it has not been recorded. */
static struct child_word *word_at(struct child_watch *watch, uint64_t address)
{
    size_t i = (size_t)(vg_scramble(address) % WORDS);
    while (watch->words[i].address && watch->words[i].address != address)
        i = (i + 1) % WORDS;
    return &watch->words[i];
}

static void note(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                 uint8_t bytes)
{
    struct child_watch **watch = child_watch_of(w->block);
    const uint32_t launches = child_launches(w->block);
    if (!*watch && !(*watch = watch_new(w->block)))
        return;
    struct child_word *word = word_at(*watch, address);
    if (!word->address && (*watch)->count == NOTED_MOST)
        return;
    (*watch)->count += !word->address;
    word->address = address;
    *(in->op == IR_ST ? &word->write : &word->read) =
        (struct child_access){.insn = in->number,
                              .launches = launches,
                              .thread = (uint16_t)(w->index * VG_LANES + lane),
                              .bytes = bytes};
}

static void look_up(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                    uint8_t bytes)
{
    const struct vg_child *c = w->block->launch->child;
    const struct child_word *word = word_at(c->watch, address);
    const struct child_access *other = in->op == IR_ST ? &word->read : &word->write;
    if (other->launches > c->number && other->bytes & bytes)
        vg_find_child_race(w, in, lane, address, other);
}

void child_races_access(struct vg_warp *w, const struct ir_insn *in)
{
    uint64_t at[VG_LANES];
    if ((in->op != IR_LD && in->op != IR_ST) ||
        in->mode & (MODE_STRONG | MODE_ACQUIRE | MODE_VOLATILE) ||
        (in->space != PTX_SPACE_GLOBAL && in->space != PTX_SPACE_GENERIC))
        return;
    const bool notes = child_launches(w->block) > 0, looks = child_watch_applies(w->block);
    const uint32_t bytes = (uint32_t)in->bytes * in->vector;
    proof_addresses(w, in, at);
    for (uint32_t left = proof_lanes(w, in); left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const uint64_t first = at[lane] & ~UINT64_C(3), end = at[lane] + bytes;
        for (uint64_t word = first; word < end && first >= VG_GLOBAL_BASE; word += 4) {
            const uint8_t part = vg_bytes_of_word(word, at[lane], bytes);
            if (looks)
                look_up(w, in, lane, word, part);
            if (notes)
                note(w, in, lane, word, part);
        }
    }
}
