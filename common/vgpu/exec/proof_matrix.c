/* Matrix instructions of a proof. matrix.c says which lane holds which element. */
#include "vgpu/exec/handlers.h"
#include "vgpu/exec/matrix.h"
#include "vgpu/exec/proof.h"

#include <string.h>

/* ---- elements of fragments ------------------------------------------------------------------- */

/* @return the origin of a lane's element in a register that holds one or two. Narrower elements
 * have no origin. */
static inline struct origin element_get(const struct vg_warp *w, uint32_t slot, int per, int part,
                                        int lane)
{
    const uint32_t stride = proof_holds(w, slot);
    if (!stride || per > 2)
        return (struct origin){0};
    const struct origin o = proof_slot(w, slot)[(uint32_t)lane * stride];
    return per == 2 ? proof_part(o, part) : o;
}

static inline void element_set(struct vg_warp *w, uint32_t slot, int per, int part, int lane,
                               uint32_t stride, struct origin v)
{
    struct origin o = {0};
    if (per > 2 || !(proof_known(v) || proof_holds(w, slot)))
        return;
    struct origin *to = &proof_open(w, slot, stride)[(uint32_t)lane * stride];
    const struct origin other = proof_part(*to, 1 - part);
    if (per == 1)
        o = v;
    else if (part)
        o = proof_joined(other, v);
    else
        o = proof_joined(v, to->high ? other : o);
    proof_write(to, &o);
}

/* ---- products -------------------------------------------------------------------------------- */

/* Stores a factor. A number without an element is converted to one; a zero without an element does
 * not count. */
static void put_factor(struct proof_factors *to, int place, struct proof_value v)
{
    const bool counts = v.element || v.number != 0;
    const uint64_t known = v.element ? PROOF_ELEMENT : 0;
    const struct proof_value number = counts ? proof_number(v, PTX_TYPE_f32) : v;
    to->element[place] = (number.element & FIELD_MASK) | known | (counts ? PROOF_COUNTS : 0);
    to->way[place] = v.way;
    to->number[place] = v.number;
    to->lost[place] = (double)v.lost;
    to->ways |= v.way;
    to->wayless |= !v.way && number.element & FIELD_MASK;
}

static void take_factors(const struct vg_warp *w, const struct ir_insn *in,
                         enum matrix_operand which, struct proof_factors *to)
{
    struct matrix_lanes at;
    double number[16 * 256];
    w->worker->device->handlers->matrix_numbers(w, in, which, number);
    for (int e = 0; matrix_lanes(w, in, which, e, &at); e++)
        for (int lane = 0; lane < VG_LANES; lane++) {
            const int place = matrix_place(&at, lane);
            put_factor(to, place,
                       proof_operand_of(element_get(w, at.slot, at.per, at.part, lane),
                                        number[place], at.type, 0));
        }
}

/* An element of a or b loaded from shared memory is multiplied with a whole row or column of the
 * other matrix. It counts as a load for each of these products. */
static void count_reuse(struct vg_warp *w, const struct matrix_sizes *s,
                        const struct proof_factors *a, const struct proof_factors *b)
{
    const uint64_t shared = WAY_ONE(WAY_X_SHARED) | WAY_ONE(WAY_K_SHARED);
    uint64_t more = 0;
    for (int i = 0; i < s->m * s->k; i++)
        more += a->way[i] & shared ? (uint64_t)s->n - 1 : 0;
    for (int i = 0; i < s->k * s->n; i++)
        more += b->way[i] & shared ? (uint64_t)s->m - 1 : 0;
    proof_counts(w)->shared_loads += more;
}

/* @return the products of two values that both depend on x, or both on k. */
static uint32_t count_others(const struct matrix_sizes *s, const struct proof_factors *a,
                             const struct proof_factors *b)
{
    const uint64_t both = WAY_OF_X | WAY_OF_K, of_a = a->ways & both, of_b = b->ways & both;
    uint32_t count = 0;
    if (!of_a || !of_b || (of_a ^ of_b) == both)
        return 0;
    for (int i = 0; i < s->m; i++)
        for (int q = 0; q < s->k; q++)
            for (int j = 0; j < s->n; j++) {
                const uint64_t p = a->way[i * s->k + q], r = b->way[q * s->n + j];
                count += p && r && !way_multiplies(p, r);
            }
    return count;
}

static void put_result(struct vg_warp *w, const struct ir_insn *in, const struct proof_factors *d)
{
    struct matrix_lanes at;
    for (int e = 0; matrix_lanes(w, in, MATRIX_D, e, &at); e++)
        for (int lane = 0; lane < VG_LANES; lane++) {
            const int i = matrix_place(&at, lane);
            const bool known = d->element[i] & PROOF_ELEMENT;
            const struct proof_value v = {.element = known ? (uint32_t)d->element[i] : 0,
                                          .way = d->way[i],
                                          .number = d->number[i],
                                          .lost = proof_loss(d->lost[i])};
            element_set(w, at.slot, at.per, at.part, lane, at.type == PTX_TYPE_f64 ? 2 : 1,
                        proof_origin(v, at.type));
        }
}

static void multiply(struct vg_warp *w, const struct ir_insn *in)
{
    struct proof_factors a, b, d;
    struct matrix_sizes s = matrix_sizes_of(in);
    const enum ptx_type type = matrix_type(in, MATRIX_A);
    a.ways = b.ways = d.ways = 0;
    a.wayless = b.wayless = d.wayless = false;
    if (ptx_type_per_register(type) > 2) /* these numbers have no origin */
        s.k = 0;
    if (s.k) {
        take_factors(w, in, MATRIX_A, &a);
        take_factors(w, in, MATRIX_B, &b);
    }
    take_factors(w, in, MATRIX_C, &d);
    const uint32_t count = w->worker->device->handlers->multiply_factors(&d, &a, &b, &s);
    put_result(w, in, &d);
    count_reuse(w, &s, &a, &b);
    proof_counts(w)->matrix_products += count;
    proof_counts(w)->other_products += count_others(&s, &a, &b);
    proof_of(w)->running->matrix_pairs += proof_is_half(type) ? count : 0;
    proof_multiplied(w, in, count ? w->mask : 0, count);
}

/* ---- loads and stores ------------------------------------------------------------------------ */

static void wmma_access(struct vg_warp *w, const struct ir_insn *in, bool is_store)
{
    const enum ptx_type type = (enum ptx_type)in->type;
    const int per = ptx_type_per_register(type);
    struct matrix_access at;
    struct ir_insn one = *in;
    for (int i = 0; matrix_wmma_place(w, in, is_store, i, &at); i++) {
        if (!at.regs)
            continue;
        const uint32_t slot = at.regs[1 + at.e / per];
        const int part = at.e % per;
        const int half = at.bytes >= 4 ? -1 : (int)(at.address >> 1 & 1);
        const struct proof_place place = proof_place(w, &one, at.lane, at.address);
        if (is_store) {
            proof_keep(w, &one, place, half, element_get(w, slot, per, part, at.lane));
        } else {
            element_set(w, slot, per, part, at.lane, type == PTX_TYPE_f64 ? 2 : 1,
                        proof_fetch(w, &one, place, half));
        }
    }
}

/* Rows of 32-bit numbers are moved as rows of halves, two columns for each number. */
static void rows_access(struct vg_warp *w, const struct ir_insn *in, bool is_store)
{
    const uint32_t *regs = w->frame->function->extra + in->extra;
    const bool turned = in->mode & MODE_TRANS;
    struct ir_insn one = *in;
    one.space = PTX_SPACE_SHARED;
    struct origin o[4][VG_LANES] = {{{0}}};
    for (int k = 0; k < in->vector && k < 4; k++)
        for (int lane = 0; lane < VG_LANES; lane++) {
            struct origin read[2] = {{0}};
            bool whole = false;
            for (int half = 0; half < 2 && !whole; half++) {
                const int first = lane / 4, second = lane % 4 * 2 + half;
                const int row = turned ? second : first, column = turned ? first : second;
                const char *a = w->regs + in->a;
                const int from = 8 * k + row;
                const uint64_t at = (in->wide_address ? ((const uint64_t *)(const void *)a)[from]
                                                      : ((const uint32_t *)(const void *)a)[from]) +
                                    2 * (uint64_t)column;
                const struct proof_place place = proof_place(w, &one, lane, at);
                const struct origin r = is_store && proof_holds(w, regs[k])
                                            ? proof_slot(w, regs[k])[lane]
                                        : !is_store && place.origin ? *place.origin
                                                                    : (struct origin){0};
                whole = !turned && proof_is_whole(r);
                const int part = whole ? -1 : (int)(at >> 1 & 1);
                if (is_store)
                    proof_keep(w, &one, place, part, whole ? r : proof_part(r, half));
                else
                    read[half] = proof_fetch(w, &one, place, part);
            }
            o[k][lane] = whole ? read[0] : proof_joined(read[0], read[1]);
        }
    for (int k = 0; !is_store && k < in->vector && k < 4; k++)
        proof_put(w, regs[k], w->mask, o[k], 1, 0);
}

static void transpose(struct vg_warp *w, const struct ir_insn *in)
{
    struct origin o[VG_LANES] = {{0}};
    for (int lane = 0; lane < VG_LANES && proof_holds(w, in->a); lane++) {
        const struct origin *from = proof_slot(w, in->a) + lane % 4 * 8 + lane / 8;
        o[lane] =
            proof_joined(proof_part(from[0], lane / 4 & 1), proof_part(from[4], lane / 4 & 1));
    }
    proof_put(w, in->d, w->mask, o, 1, 0);
}

void proof_matrix(const struct ir_insn *in, struct vg_warp *w)
{
    switch (in->op) {
    case IR_WMMA_LOAD:
        wmma_access(w, in, false);
        break;
    case IR_WMMA_STORE:
        wmma_access(w, in, true);
        break;
    case IR_LDMATRIX:
        rows_access(w, in, false);
        break;
    case IR_STMATRIX:
        rows_access(w, in, true);
        break;
    case IR_MOVMATRIX:
        transpose(w, in);
        break;
    default:
        multiply(w, in);
        break;
    }
}
