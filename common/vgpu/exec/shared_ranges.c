/* Accesses of one thread to many bytes of shared memory: bulk copies, and matrices that a warpgroup
 * reads. */
#include "vgpu/exec/clusters.h"
#include "vgpu/exec/shared_ranges.h"

#include "vgpu/exec/async_copies.h"
#include "vgpu/exec/bulk_copies.h"
#include "vgpu/exec/distributed.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/vg_warp.h"
#include "vgpu/exec/workers.h"

static struct race_hit race_of(const struct vg_block *b, uint32_t address, uint32_t bytes)
{
    for (const struct vg_bulk *c = b->bulk; c; c = c->next)
        if (!bulk_reduces(c->in) && b->shared_set[address / 4] & VG_COPY_PENDING &&
            c->at < address + bytes && address < c->at + c->bytes)
            return (struct race_hit){.kind = RACE_RAW,
                                     .other_insn = c->in->number,
                                     .other_thread =
                                         (uint16_t)(c->warp->index * VG_LANES + c->lane),
                                     .other_writes = true,
                                     .is_copy = true,
                                     .is_bulk = true};
    return (struct race_hit){.kind = RACE_NONE};
}

struct race_hit bulk_race(struct vg_block *b, uint32_t address, uint32_t bytes)
{
    const struct race_hit hit = race_of(b, address, bytes),
                          other = vg_copies_race(b, address, bytes); /* reports a word only once */
    return hit.kind == RACE_NONE ? other : hit;
}

struct vg_block *shared_range_find(struct vg_warp *w, const struct ir_insn *in, int lane,
                                   uint64_t *at, uint32_t bytes, bool is_write)
{
    const uint64_t address = *at;
    if (*at - VG_SHARED_BASE < (uint64_t)1 << 40)
        *at -= VG_SHARED_BASE;
    struct vg_block *b = vg_shared_owner(w->block, at);
    if (b && *at <= b->shared_bytes && bytes <= b->shared_bytes - *at)
        return b;
    vg_find(
        w, in, VG_FAULT_OUT_OF_BOUNDS, lane, address, bytes, is_write,
        "%u bytes of shared memory; the block has %zu, %zu of them from the launch's third parameter",
        bytes, w->block->shared_bytes, w->block->launch->dynamic_bytes);
    return NULL;
}

static struct race_access access_of(const struct vg_warp *w, const struct ir_insn *in, int lane)
{
    return (struct race_access){in->number, w->step, (uint16_t)(w->index * VG_LANES + lane),
                                w->warp_epoch};
}

void shared_range_enter(struct vg_warp *w, const struct ir_insn *in, int lane, struct vg_block *b,
                        uint32_t at, uint32_t bytes, enum race_access_kind kind)
{
    if (b != w->block) {
        distributed_enter(b, at, (struct distributed_access){w, in, lane, bytes, kind});
        return;
    }
    const struct race_hit hit = race_enter(&b->race, at, bytes, access_of(w, in, lane), kind);
    if (hit.kind != RACE_NONE)
        vg_find_race(w, in, lane, at, bytes, kind != RACE_READ, hit);
}

/* ---- writes of threads, asynchronous reads --------------------------------------------------------- */

bool shared_ranges_are_read(const struct ir_function *f)
{
    for (size_t i = 0; i < f->insn_count; i++) {
        const struct ir_insn *in = &f->insns[i];
        if (bulk_is_store(in) || in->op == IR_BULK_SEND || in->op == IR_BULK_REDUCE_SEND ||
            in->op == IR_WGMMA)
            return true;
    }
    return false;
}

/* The last write to a word since the block started. */
struct write {
    struct vg_moment at;
    uint32_t thread, insn;
};

static void take_later(struct write *last, const struct race_table *t, uint32_t i)
{
    if (t->written[i] >= last->at.epoch)
        *last = (struct write){
            {t->written[i], t->writer.step[i]}, t->writer.who[i] >> 16, t->writer.insn[i]};
}

static struct write last_write(const struct vg_block *b, uint32_t word)
{
    const struct race_shadow *s = &b->race;
    struct write last = {.at.epoch = b->started_at};
    take_later(&last, &s->words, word);
    for (uint32_t k = 0; s->parted_at && s->parted_at[word] >= b->started_at && k < 4; k++)
        take_later(&last, &s->parts, word * 4 + k);
    return last;
}

static bool is_fenced(const struct vg_warp *w, struct vg_moment write)
{
    return w->fenced.epoch > write.epoch ||
           (w->fenced.epoch == write.epoch && w->fenced.step >= write.step);
}

/* Bulk copies and wgmma read through the async proxy, while threads write through the generic one:
 * the writer or the reader must fence between write and read. Writes by bulk copies need no
 * fence. */
static void check_fence(struct vg_warp *w, const struct ir_insn *in, int lane, struct vg_block *b,
                        uint32_t at, uint32_t bytes)
{
    for (uint32_t word = at / 4; b->launch->reads_async && word < (at + bytes) / 4; word++) {
        const struct write last = last_write(b, word);
        const struct ir_insn *by = b->launch->module->insns[last.insn];
        if (!last.at.step || bulk_is_load(by) || by->op == IR_BULK_SEND || is_fenced(w, last.at) ||
            is_fenced(&b->warps[last.thread / VG_LANES], last.at))
            continue;
        const struct vg_dim t = vg_place(b->launch->block, last.thread);
        const struct ir_module *m = &b->launch->module->ir;
        vg_find(
            w, in, VG_FAULT_ASYNC_PROXY, lane, word * 4, 4, false,
            "shared memory at 0x%x: written by thread (%u,%u,%u) at line %d, but no fence.proxy.async followed",
            word * 4, t.x, t.y, t.z, by->location >= 0 ? m->locations[by->location].line : 0);
        return;
    }
}

void shared_range_read(struct vg_warp *w, const struct ir_insn *in, int lane, struct vg_block *b,
                       uint32_t at, uint32_t bytes)
{
    uint32_t unset = at;
    while (unset < at + bytes && b->shared_set[unset / 4] == 0xf)
        unset += 4;
    if (unset < at + bytes) {
        const struct race_hit hit = bulk_race(b, unset, 4);
        if (hit.kind != RACE_NONE)
            vg_find_race(w, in, lane, unset, 4, false, hit);
        else
            vg_find_unset_shared(w, in, lane, unset, 4, NULL);
    }
    shared_range_enter(w, in, lane, b, at, bytes, RACE_READ);
    check_fence(w, in, lane, b, at, bytes);
}
