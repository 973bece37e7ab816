/* Bulk copies: one instruction of one thread moves a whole tile.
 *
 *     global (or an array's box) ─▶ shared memory of one or more blocks of the cluster    completes on a barrier object
 *     shared ─▶ shared memory of another block                                             completes on a barrier object
 *     shared ─▶ global (or an array's box), perhaps with a reduction                       groups, for which a thread waits
 *
 * The source is read when the copy begins. The bytes arrive at the last permitted moment: when a
 * thread tests the barrier object, or waits for the group. Until then no thread may read them in
 * shared memory, or change the source of a copy to global memory. */
#include "vgpu/exec/bulk_copies.h"

#include "vgpu/exec/bulk_memory.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/mbarrier.h"
#include "vgpu/exec/shared_ranges.h"

#include <stdio.h>
#include <stdlib.h>

enum { UNIT = BULK_UNIT, TENSOR_ALIGNMENT = 128, SECTOR_BYTES = 32, ROW_BYTES = 128 };
enum { HAS_WIDE_TO = 1, HAS_WIDE_FROM = 2, HAS_WIDE_BARRIER = 4 }; /* bits of in->vector */

/* ---- operands -------------------------------------------------------------------------------- */

enum operand { TO, FROM, SIZE, BARRIER, MASK, COORDINATES };

static uint32_t slot_of(const struct vg_warp *w, const struct ir_insn *in, int i)
{
    return w->frame->function->extra[in->extra + (uint32_t)i];
}

static uint64_t value_of(const struct vg_warp *w, const struct ir_insn *in, int i, int lane,
                         bool wide)
{
    const char *slot = w->regs + slot_of(w, in, i);
    return wide ? ((const uint64_t *)(const void *)slot)[lane]
                : ((const uint32_t *)(const void *)slot)[lane];
}

static bool is_tensor(const struct ir_insn *in)
{
    return in->op == IR_TENSOR_LOAD || in->op == IR_TENSOR_STORE || in->op == IR_TENSOR_REDUCE;
}

/* ---- shared memory ----------------------------------------------------------------------------- */

static void mark_pending(struct vg_block *b, uint32_t at, uint32_t bytes)
{
    for (uint32_t word = at / 4; word < (at + bytes + 3) / 4; word++)
        b->shared_set[word] |= VG_COPY_PENDING;
    b->has_copies = true;
}

static void count(struct vg_warp *w, const struct ir_insn *in, uint32_t bytes)
{
    struct vg_site *s = &w->sites[in->site];
    const bool has_global = in->op != IR_BULK_SEND && in->op != IR_BULK_REDUCE_SEND &&
                            in->op != IR_ST_ASYNC && in->op != IR_RED_ASYNC;
    s->shared_requests++;
    s->wavefronts += (bytes + ROW_BYTES - 1) / ROW_BYTES;
    s->requests += has_global;
    s->sectors += has_global ? (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES : 0;
}

/* Copies between shared memory and the data of a copy, unit by unit: a swizzle changes the order of
 * units. */
static void swizzled(const struct vg_bulk *c, bool store, char *data)
{
    for (uint32_t i = 0; i < c->bytes; i += UNIT) {
        char *p = c->owner->shared + tensor_map_swizzle(c->at + i, c->map.swizzle);
        if (store)
            bulk_put(c, p, data + i, UNIT);
        else
            memcpy(data + i, p, UNIT);
    }
}

/* ---- beginning --------------------------------------------------------------------------------- */

static struct vg_bulk *new_copy(struct vg_warp *w, const struct ir_insn *in, int lane,
                                uint32_t bytes)
{
    struct vg_bulk *c = calloc(1, sizeof *c + bytes);
    if (!c)
        abort();
    c->in = in;
    c->warp = w;
    c->lane = lane;
    c->bytes = bytes;
    return c;
}

static void append(struct vg_bulk **list, struct vg_bulk *c)
{
    while (*list)
        list = &(*list)->next;
    *list = c;
}

/* Adds a pending copy to shared memory. @param barrier  must be in the same block */
static bool send(struct vg_bulk *c, uint64_t to, uint64_t barrier)
{
    struct vg_warp *w = c->warp;
    struct vg_block *b = c->owner = shared_range_find(w, c->in, c->lane, &to, c->bytes, true);
    struct vg_block *of = b ? shared_range_find(w, c->in, c->lane, &barrier, 8, true) : NULL;
    if (!of)
        return false;
    if (of != b) {
        vg_find(
            w, c->in, VG_FAULT_INVALID_OBJECT, c->lane, barrier, 8, true,
            "the barrier object and the destination of a bulk copy must be in the same block's shared memory");
        return false;
    }
    if (!bulk_is_aligned(w, c->in, c->lane, "the address of the barrier object", barrier, 8))
        return false;
    c->at = (uint32_t)to;
    c->barrier = (uint32_t)barrier;
    if (b->shared_set[barrier / 4] != 0xf)
        vg_find(w, c->in, VG_FAULT_UNINITIALISED, c->lane, barrier, 8, false,
                "a barrier object that was never written");
    shared_range_enter(w, c->in, c->lane, b, c->at, c->bytes,
                       bulk_reduces(c->in) ? RACE_ATOMIC : RACE_WRITE);
    if (b != w->block)
        distributed_enter(b, c->barrier,
                          (struct distributed_access){w, c->in, c->lane, 8, RACE_ATOMIC});
    if (!bulk_reduces(c->in))
        mark_pending(b, c->at, c->bytes);
    append(&b->bulk, c);
    b->has_bulk = true;
    return true;
}

/* Sends a copy, with multicast to the same offset in several blocks. */
static bool send_all(struct vg_bulk *c, uint64_t to, uint64_t barrier, uint32_t mask)
{
    const uint64_t offset = (UINT64_C(1) << VG_RANK_SHIFT) - 1;
    const struct vg_cluster *cluster = c->warp->block->cluster;
    if (!(c->in->mode & MODE_MULTICAST))
        return send(c, to, barrier);
    if (!mask || mask >> cluster->size) {
        vg_find(c->warp, c->in, VG_FAULT_INVALID_OBJECT, c->lane, to, c->bytes, true,
                "the mask 0x%x does not fit the cluster, which has %u blocks", mask, cluster->size);
        return false;
    }
    for (; mask; mask &= mask - 1) {
        struct vg_bulk *one = c;
        const uint64_t rank = (uint64_t)(__builtin_ctz(mask) + 1) << VG_RANK_SHIFT;
        if (mask & (mask - 1)) {
            one = new_copy(c->warp, c->in, c->lane, c->bytes);
            memcpy(one, c, sizeof *c + c->bytes);
        }
        if (!send(one, (to & offset) | rank, (barrier & offset) | rank)) {
            if (one != c)
                free(one);
            return false;
        }
    }
    return true;
}

/* Adds a pending copy to global memory. */
static void store(struct vg_bulk *c)
{
    c->group = c->warp->bulk_groups[c->lane];
    append(&c->warp->bulk, c);
    c->warp->block->has_bulk = true;
}

/* Begins a lane's copy, whose addresses are known. @return false after a finding that ends the
 * kernel */
static bool begin(struct vg_bulk *c, uint64_t to, uint64_t from)
{
    struct vg_warp *w = c->warp;
    const struct ir_insn *in = c->in;
    const uint32_t unit = is_tensor(in) ? TENSOR_ALIGNMENT : UNIT;
    const char *p = NULL;
    count(w, in, c->bytes);
    if (!bulk_is_store(in) || !is_tensor(in))
        if (!bulk_is_aligned(w, in, c->lane, "the destination", to,
                             bulk_is_store(in) ? UNIT : unit))
            return false;
    if (in->op != IR_TENSOR_LOAD &&
        !bulk_is_aligned(w, in, c->lane, "the source", from, in->op == IR_BULK_LOAD ? UNIT : unit))
        return false;
    if (in->op == IR_TENSOR_LOAD)
        return bulk_load_box(c);
    if (in->op == IR_BULK_LOAD) {
        p = bulk_global(w, in, c->lane, from, c->bytes, false);
        if (p)
            memcpy(c->data, p, c->bytes);
        return p != NULL;
    }
    struct vg_block *b = shared_range_find(w, in, c->lane, &from, c->bytes, false);
    if (!b)
        return false;
    if (b != w->block) {
        vg_find(w, in, VG_FAULT_INVALID_OBJECT, c->lane, from, c->bytes, false,
                "a bulk copy reads the shared memory of its own block only");
        return false;
    }
    c->owner = b;
    c->at = (uint32_t)from;
    shared_range_read(w, in, c->lane, b, c->at, c->bytes);
    swizzled(c, false, c->data);
    if (bulk_is_store(in) && !is_tensor(in))
        return bulk_global(w, in, c->lane, to, c->bytes, true) != NULL;
    return true;
}

/* A store to a box that begins before the array ends a kernel on an H100 with
 * cudaErrorIllegalInstruction; the part of a box past the array's end is dropped. */
static bool begins_inside(const struct vg_bulk *c)
{
    for (int i = 0; i < c->map.dimensions; i++) {
        if (c->coordinates[i] >= 0)
            continue;
        vg_find(c->warp, c->in, VG_FAULT_INVALID_OBJECT, c->lane, c->map.address, c->bytes, true,
                "a store to a box that begins before the array: coordinate %d is %d", i,
                c->coordinates[i]);
        return false;
    }
    return true;
}

static bool copy_lane(struct vg_warp *w, const struct ir_insn *in, int lane)
{
    const uint64_t to = value_of(w, in, TO, lane, in->vector & HAS_WIDE_TO),
                   from = value_of(w, in, FROM, lane, in->vector & HAS_WIDE_FROM);
    struct tensor_map map = {0};
    uint64_t bytes;
    if (is_tensor(in)) {
        if (!bulk_read_map(w, in, lane, bulk_is_store(in) ? to : from, &map))
            return false;
        bytes = tensor_map_box_bytes(&map);
    } else {
        bytes = (uint32_t)value_of(w, in, SIZE, lane, false);
        if (!bulk_is_aligned(w, in, lane, "the size", bytes, UNIT))
            return false;
        if (!bytes)
            return true;
    }
    /* larger than shared memory */
    if (bytes > w->block->shared_bytes) {
        uint64_t at = bulk_is_store(in) ? from : to;
        const uint32_t size = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
        shared_range_find(w, in, lane, &at, size, !bulk_is_store(in));
        return false;
    }
    struct vg_bulk *c = new_copy(w, in, lane, (uint32_t)bytes);
    c->map = map;
    for (int i = 0; i < map.dimensions; i++)
        c->coordinates[i] = (int32_t)value_of(w, in, COORDINATES + i, lane, false);
    /* An H200 ends such a kernel with cudaErrorIllegalInstruction. */
    bool ok = !is_tensor(in) ||
              bulk_is_aligned(w, in, lane, "the offset of the box's first element",
                              map.address + (uint64_t)c->coordinates[0] * map.element_bytes, UNIT);
    ok = ok && (!bulk_is_store(in) || begins_inside(c)) && begin(c, to, from);
    if (ok && bulk_is_store(in)) {
        c->global = is_tensor(in) ? map.address : to;
        store(c);
    } else if (ok) {
        const uint64_t barrier = value_of(w, in, BARRIER, lane, in->vector & HAS_WIDE_BARRIER);
        ok = send_all(c, to, barrier, (uint32_t)value_of(w, in, MASK, lane, false) & 0xffff);
    }
    if (!ok)
        free(c);
    return ok;
}

const struct ir_insn *bulk_copy(struct vg_warp *w, const struct ir_insn *in)
{
    vg_shared_step(w);
    for (uint32_t lanes = w->mask; lanes; lanes &= lanes - 1)
        if (!copy_lane(w, in, __builtin_ctz(lanes)) && w->block->stop)
            return NULL;
    vg_progressed(w->worker);
    return in + 1;
}

const struct ir_insn *bulk_store_async(struct vg_warp *w, const struct ir_insn *in)
{
    const uint32_t bytes = (uint32_t)in->bytes * in->compare;
    vg_shared_step(w);
    for (uint32_t lanes = w->mask; lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        const uint64_t to = value_of(w, in, TO, lane, in->vector & HAS_WIDE_TO),
                       barrier = value_of(w, in, BARRIER, lane, in->vector & HAS_WIDE_BARRIER);
        if (to % bytes) {
            vg_find(
                w, in, VG_FAULT_MISALIGNED, lane, to, bytes, true,
                "an access of %u bytes to shared memory needs an address that is a multiple of %u",
                bytes, bytes);
            return NULL;
        }
        struct vg_bulk *c = new_copy(w, in, lane, bytes);
        for (int k = 0; k < in->compare; k++) {
            const uint64_t v = value_of(w, in, COORDINATES + k, lane, in->bytes == 8);
            memcpy(c->data + k * in->bytes, &v, in->bytes);
        }
        count(w, in, bytes);
        if (!send(c, to, barrier)) {
            free(c);
            if (w->block->stop)
                return NULL;
        }
    }
    vg_progressed(w->worker);
    return in + 1;
}

/* ---- arriving ---------------------------------------------------------------------------------- */

static void deliver(struct vg_bulk *c)
{
    struct vg_block *b = c->owner;
    if (c->bytes % UNIT || !c->map.dimensions)
        bulk_put(c, b->shared + c->at, c->data, c->bytes);
    else
        swizzled(c, true, c->data);
    if (!bulk_reduces(c->in))
        memset(b->shared_set + c->at / 4, 0xf, (c->bytes + 3) / 4);
}

void bulk_arrive(struct vg_warp *w, struct vg_block *b, uint32_t barrier)
{
    for (struct vg_bulk **at = &b->bulk; *at;) {
        struct vg_bulk *c = *at;
        if (c->barrier != barrier) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        deliver(c);
        struct mbarrier object = mbarrier_read(b, barrier);
        object.bytes -= (s32)c->bytes;
        mbarrier_write(b, barrier, object, w, c->warp->block != b);
        free(c);
    }
}

/* Checks that the source of a copy to global memory is unchanged since the copy began. */
static void check_source(struct vg_bulk *c)
{
    char unit[UNIT];
    if (c->is_read)
        return;
    c->is_read = true;
    for (uint32_t i = 0; i < c->bytes; i += UNIT) {
        const uint32_t at = tensor_map_swizzle(c->at + i, c->map.swizzle);
        memcpy(unit, c->owner->shared + at, UNIT);
        if (memcmp(unit, c->data + i, UNIT) == 0)
            continue;
        vg_find(
            c->warp, c->in, VG_FAULT_RACE_WAR, c->lane, at, UNIT, false,
            "shared memory at 0x%x: read by this bulk copy and changed before its thread waited for the read (cp.async.bulk.wait_group.read)",
            at);
        return;
    }
}

static void finish(struct vg_bulk *c)
{
    check_source(c);
    if (c->map.dimensions)
        bulk_store_box(c);
    else
        bulk_put(c, vg_memory_host(&c->warp->worker->device->memory, c->global), c->data, c->bytes);
    vg_progressed(c->warp->worker);
}

static void end_groups(struct vg_warp *w, uint32_t lanes, uint32_t groups, bool all,
                       bool reads_only)
{
    for (struct vg_bulk **at = &w->bulk; *at;) {
        struct vg_bulk *c = *at;
        const bool is_due =
            lanes >> c->lane & 1 && (all || (uint64_t)c->group + groups < w->bulk_groups[c->lane]);
        if (is_due && reads_only)
            check_source(c);
        if (!is_due || reads_only) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        finish(c);
        free(c);
    }
}

void bulk_wait(struct vg_warp *w, uint32_t lanes, uint32_t groups, bool reads_only)
{
    end_groups(w, lanes, groups, false, reads_only);
}

void bulk_lanes_ended(struct vg_warp *w, uint32_t lanes)
{
    end_groups(w, lanes, 0, true, false);
}

static void free_list(struct vg_bulk **list)
{
    while (*list) {
        struct vg_bulk *next = (*list)->next;
        free(*list);
        *list = next;
    }
}

void bulk_block_start(struct vg_block *b)
{
    if (!b->has_bulk)
        return;
    b->has_bulk = false;
    free_list(&b->bulk);
    for (uint32_t i = 0; i < b->warp_room; i++) {
        free_list(&b->warps[i].bulk);
        memset(b->warps[i].bulk_groups, 0, sizeof b->warps[i].bulk_groups);
    }
}
