/* The effect of atomic operations on origins. The lanes take turns as in the operation itself, so
 * that each lane finds the origins that earlier lanes left. */
#include "vgpu/exec/atoms.h"
#include "vgpu/exec/proof_log.h"

#include <math.h>
#include <string.h>

/* Counts products that a lane adds to a sum in global memory by an atomic operation. */
static void join(struct vg_warp *w, int lane, struct proof_place at, uint32_t products,
                 uint32_t maker)
{
    struct proof *p = proof_of(w);
    const uint32_t who = proof_thread(w, lane), by = maker ? maker : who;
    if (!products || at.space != PTX_SPACE_GLOBAL)
        return;
    struct proof_joins *joins = &p->joins[at.origin - p->global];
    p->running->joins = true;
    const bool is_new = joins->adder != who;
    joins->count += is_new;
    joins->adder = who;
    joins->part = products + (is_new ? 0 : joins->part);
    joins->largest = joins->part > joins->largest ? joins->part : joins->largest;
    joins->maker = joins->products && joins->maker != by ? PROOF_SEVERAL : by;
    joins->products += products;
}

/* The values that earlier lanes store: the operation itself is executed after its proof. */
struct pending {
    int count;
    struct {
        const struct origin *at;
        uint64_t value;
    } lane[VG_LANES];
};

/* @return the contents of a location at this lane's turn. */
static uint64_t value_at(const struct vg_warp *w, struct proof_place at, uint32_t bytes,
                         const struct pending *pending)
{
    uint64_t v = 0;
    for (int i = pending->count - 1; i >= 0; i--)
        if (pending->lane[i].at == at.origin)
            return pending->lane[i].value;
    const char *from = at.space == PTX_SPACE_SHARED
                           ? at.owner->shared + at.address
                           : vg_memory_host(&w->worker->device->memory, at.address);
    const struct vg_allocation *a = at.space == PTX_SPACE_SHARED
                                        ? NULL
                                        : vg_memory_below(&w->worker->device->memory, at.address);
    if (at.space == PTX_SPACE_SHARED ||
        (a && a->live && at.address - a->address + bytes <= a->bytes))
        memcpy(&v, from, bytes);
    return v;
}

static uint64_t register_at(const struct vg_warp *w, uint32_t slot, int lane, uint32_t bytes)
{
    const char *from = w->regs + slot;
    return bytes == 8 ? ((const uint64_t *)(const void *)from)[lane]
                      : ((const uint32_t *)(const void *)from)[lane];
}

/* @return the sum of two words, or of one half of each. */
static struct origin sum_of(struct origin a, struct origin b, uint64_t a_bits, uint64_t b_bits,
                            enum ptx_type type, int half)
{
    const struct proof_value p =
        proof_operand_of(a, proof_double(a_bits >> 16 * half, type), type, half);
    const struct proof_value q =
        proof_operand_of(b, proof_double(b_bits >> 16 * half, type), type, half);
    if (!p.element && !q.element)
        return (struct origin){0};
    return proof_origin(proof_sum(proof_number(p, type), proof_number(q, type)), type);
}

static struct origin sum_at(struct vg_warp *w, const struct ir_insn *in, int lane,
                            struct proof_place at, uint64_t old, struct origin b)
{
    const uint64_t by = register_at(w, in->b, lane, in->bytes);
    const enum ptx_type type = (enum ptx_type)in->type;
    const bool is_pair = type == PTX_TYPE_f16x2 || type == PTX_TYPE_bf16x2;
    struct origin sum = sum_of(*at.origin, b, old, by, type, 0);
    if (is_pair)
        sum = proof_joined(sum, sum_of(*at.origin, b, old, by, type, 1));
    join(w, lane, at, b.low || b.high ? way_products(b.way) : 0, b.maker);
    if (proof_of(w)->log)
        sum.step = proof_log_join(
            w, in, lane, at,
            (struct proof_log_operand){(float)proof_double(old, type), at.origin->step},
            (struct proof_log_operand){(float)proof_double(by, type), b.step});
    return sum;
}

/* A compare-and-swap succeeds, too, if other threads have meanwhile added numbers that were too small
 * to change the word's bits. Both origins of these bits then have nearly the same loss; otherwise the
 * losses are added. @return the origin of the new sum, with these numbers
 * @param now  the word's origin @param seen  the origin of the thread's copy of the word */
static struct origin with_missed(const struct proof *p, struct origin sum, struct origin now,
                                 struct origin seen)
{
    const double after = (double)f32_of_bits(now.lost), before = (double)f32_of_bits(seen.lost);
    const double apart = fabs((double)f32_of_bits(now.value) - (double)f32_of_bits(seen.value));
    const bool matters = after + before > 0x1p-12 * p->largest_x * p->largest_sum;
    const bool whole = sum.low && now.low && seen.low && !sum.high && !now.high && !seen.high;
    uint64_t missed = now.way;
    if (!whole || now.low == seen.low)
        return sum;
    const uint32_t more = field_add(now.low & FIELD_MASK, field_negative(seen.low & FIELD_MASK));
    sum.low = PROOF_ELEMENT | field_add(sum.low & FIELD_MASK, more);
    sum.lost = bits_of_f32((float)((double)f32_of_bits(sum.lost) + apart +
                                   (matters ? after + before : fabs(after - before))));
    for (int field = 0; field <= WAY_READ_ONLY; field++)
        if (way_count(now.way, field) >= way_count(seen.way, field))
            missed -= WAY_ONE(field) * way_count(seen.way, field);
    if (way_products(now.way) > way_products(seen.way))
        sum.way = way_sum(sum.way, missed);
    return sum;
}

/* @return the origin of a word that an atomic operation returns. An element of x or k has been loaded. */
static struct origin returned(struct vg_warp *w, const struct ir_insn *in, struct proof_place from)
{
    const uint64_t way = from.origin->way;
    return in->d && way && way_is_raw(way) ? proof_fetch(w, in, from, -1) : *from.origin;
}

static void atomic_lane(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                        struct pending *pending, struct origin old[2])
{
    const struct proof_place at = proof_place(w, in, lane, address);
    const uint32_t words = in->bytes == 8 ? 2 : 1;
    const struct origin none[2] = {{0}};
    if (!at.origin || in->bytes < 4 || in->bytes > 8)
        return;
    const struct origin *b =
        proof_holds(w, in->b) ? proof_slot(w, in->b) + (uint32_t)lane * words : none;
    for (uint32_t k = 0; k < words; k++) {
        struct proof_place word = at;
        word.origin += k;
        word.address += 4 * (uint64_t)k;
        old[k] = returned(w, in, word);
    }
    struct origin new[2] = {{0}};
    const uint64_t now = value_at(w, at, in->bytes, pending),
                   by = register_at(w, in->b, lane, in->bytes),
                   c = in->sub == ATOM_CAS ? register_at(w, in->c, lane, in->bytes) : 0;
    pending->lane[pending->count].at = at.origin;
    pending->lane[pending->count++].value =
        atom_value(atom_of(in), now, by, c) & atom_keep(in->bytes);
    const bool is_plain = !proof_known(b[0]) && !proof_known(b[words - 1]);
    if (is_plain && in->sub != ATOM_CAS && pending->lane[pending->count - 1].value == now)
        return; /* such as an atomicOr() of 0, which only reads */
    if (in->sub == ATOM_ADD) {
        new[0] = sum_at(w, in, lane, at, now, b[0]);
    } else if (in->sub == ATOM_EXCH) {
        memcpy(new, b, words * sizeof *new);
    } else if (in->sub == ATOM_CAS) {
        if (now != by)
            return;
        if (proof_holds(w, in->c))
            memcpy(new, proof_slot(w, in->c) + (uint32_t)lane * words, words * sizeof *new);
        for (uint32_t k = 0; k < words; k++)
            new[k] = with_missed(proof_of(w), new[k], at.origin[k], b[k]);
        /* the new sum replaces the value to which products were added */
        if (new[0].low && way_products(new[0].way) > way_products(at.origin->way))
            join(w, lane, at, way_products(new[0].way) - way_products(at.origin->way), 0);
    }
    for (uint32_t k = 0; k < words; k++) {
        struct proof_place word = at;
        word.origin += k;
        proof_keep_atomic(w, in, word, new[k]);
    }
}

static void atomic_vector(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes,
                          const uint64_t *at)
{
    const uint32_t *slots = w->frame->function->extra + in->extra;
    for (uint32_t k = 0; k < in->vector; k++) {
        struct ir_insn one = *in;
        struct origin old[2][VG_LANES] = {{{0}}};
        struct pending pending;
        pending.count = 0;
        one.b = slots[k];
        for (uint32_t left = lanes; left; left &= left - 1) {
            const int i = __builtin_ctz(left);
            struct origin was[2] = {{0}};
            atomic_lane(w, &one, i, at[i] + (uint64_t)k * in->bytes, &pending, was);
            old[0][i] = was[0];
        }
        if (in->extras > in->vector)
            proof_put(w, slots[in->vector + k], lanes, old[0], 1, 0);
    }
}

void proof_atomic(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    uint64_t at[VG_LANES];
    struct origin old[2][VG_LANES] = {{{0}}};
    struct pending pending;
    pending.count = 0;
    proof_addresses(w, in, at);
    if (in->op == IR_ATOM_VECTOR) {
        atomic_vector(in, w, lanes, at);
        return;
    }
    for (uint32_t left = lanes; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        struct origin was[2] = {{0}};
        atomic_lane(w, in, i, at[i], &pending, was);
        old[0][i] = was[0];
        old[1][i] = was[1];
    }
    w->worker->drew |= in->d && in->space == PTX_SPACE_GLOBAL &&
                       (in->sub == ATOM_ADD || in->sub == ATOM_INC) &&
                       !ptx_type_is_float((enum ptx_type)in->type);
    const uint32_t stride = in->bytes == 8 ? 2 : 1;
    for (uint32_t word = 0; in->d && word < stride; word++)
        proof_put(w, in->d, lanes, old[word], stride, word);
}
