/* Matrix instructions of a proof. Which lane holds which element is matrix.c's to say. */
#include "vgpu/exec/matrix.h"
#include "vgpu/exec/proof.h"

#include <string.h>

/* ---- elements of fragments ------------------------------------------------------------------- */

/* Element e of a lane: types of 16 bits are in pairs. Narrower ones have no origin. */
static struct origin element_get(const struct vg_warp *w, const uint32_t *regs, int e, int lane,
                                 enum ptx_type type)
{
    const int per = ptx_type_per_register(type);
    const uint32_t slot = regs[1 + e / per], stride = proof_holds(w, slot);
    if (!stride || per > 2)
        return (struct origin){0};
    const struct origin o = proof_slot(w, slot)[(uint32_t)lane * stride];
    return per == 2 ? proof_part(o, e % per) : o;
}

static void element_set(struct vg_warp *w, const uint32_t *regs, int e, int lane,
                        enum ptx_type type, struct origin v)
{
    const int per = ptx_type_per_register(type);
    const uint32_t slot = regs[1 + e / per], stride = type == PTX_TYPE_f64 ? 2 : 1;
    struct origin o[VG_LANES] = {{0}};
    if (per > 2)
        return;
    if (proof_holds(w, slot))
        o[lane] = proof_slot(w, slot)[(uint32_t)lane * stride];
    const struct origin other = proof_part(o[lane], 1 - e % per), none = {0};
    if (per == 1)
        o[lane] = v;
    else if (e % per)
        o[lane] = proof_joined(other, v);
    else
        o[lane] = proof_joined(v, o[lane].high ? other : none);
    proof_put(w, slot, 1u << lane, o, stride, 0);
}

/* ---- products -------------------------------------------------------------------------------- */

enum { MOST = 16 * 256 };

struct product {
    struct proof_value a[MOST], b[MOST], c[1024];
};

/* One element of d. */
static struct proof_value dot(const struct product *p, const struct matrix_sizes *s, int i, int j,
                              uint32_t *count)
{
    struct proof_value sum = p->c[i * s->n + j];
    for (int q = 0; q < s->k; q++) {
        const struct proof_value a = p->a[i * s->k + q], b = p->b[q * s->n + j];
        bool multiplied;
        if (!a.element && !b.element) {
            sum.number += sum.element ? 0 : a.number * b.number;
            continue;
        }
        if ((!a.element && a.number == 0) || (!b.element && b.number == 0))
            continue;
        const struct proof_value product = proof_product(
            proof_number(a, PTX_TYPE_f32), proof_number(b, PTX_TYPE_f32), &multiplied);
        sum = sum.element || sum.number != 0 ? proof_sum(proof_number(sum, PTX_TYPE_f32), product)
                                             : product;
        *count += multiplied;
    }
    return sum;
}

/* An element of a or b that came from shared memory meets a row or a column of the other matrix, which
 * is as good as loading it so often. */
static void count_reuse(struct vg_warp *w, const struct matrix_sizes *s, const struct product *p)
{
    const uint64_t x_shared = WAY_ONE(WAY_X_SHARED), k_shared = WAY_ONE(WAY_K_SHARED);
    uint64_t more = 0;
    for (int i = 0; i < s->m * s->k; i++)
        more += p->a[i].way & (x_shared | k_shared) ? (uint64_t)s->n - 1 : 0;
    for (int i = 0; i < s->k * s->n; i++)
        more += p->b[i].way & (x_shared | k_shared) ? (uint64_t)s->m - 1 : 0;
    proof_counts(w)->shared_loads += more;
}

static void multiply(struct vg_warp *w, const struct ir_insn *in, const struct matrix_sizes *s,
                     struct product *p)
{
    uint32_t count = 0;
    bool halves = false;
    struct matrix_element at;
    struct proof_value *const values[] = {NULL, p->a, p->b, p->c};
    for (int which = MATRIX_A; which <= MATRIX_C; which++)
        for (int i = 0; matrix_element(w, in, (enum matrix_operand)which, i, &at); i++) {
            halves |= which == MATRIX_A && (at.type == PTX_TYPE_f16 || at.type == PTX_TYPE_bf16);
            values[which][at.index] = proof_operand_of(
                element_get(w, at.regs, at.e, at.lane, at.type), matrix_number(w, &at), at.type, 0);
        }
    for (int i = 0; matrix_element(w, in, MATRIX_D, i, &at); i++)
        element_set(w, at.regs, at.e, at.lane, at.type,
                    proof_origin(dot(p, s, at.index / s->n, at.index % s->n, &count), at.type));
    count_reuse(w, s, p);
    proof_counts(w)->matrix_products += count;
    proof_counts(w)->paired_products += halves ? count : 0;
    proof_multiplied(w, in, count ? w->mask : 0, count);
}

/* ---- loads and stores ------------------------------------------------------------------------ */

static void wmma_access(struct vg_warp *w, const struct ir_insn *in, bool is_store)
{
    struct matrix_access at;
    struct ir_insn one = *in;
    for (int i = 0; matrix_wmma_place(w, in, is_store, i, &at); i++) {
        if (!at.regs)
            continue;
        const enum ptx_type type = (enum ptx_type)in->type;
        const int half = at.bytes >= 4 ? -1 : (int)(at.address >> 1 & 1);
        const struct proof_place place = proof_place(w, &one, at.lane, at.address);
        if (is_store) {
            proof_keep(w, &one, place, half, element_get(w, at.regs, at.e, at.lane, type));
        } else {
            element_set(w, at.regs, at.e, at.lane, type, proof_fetch(w, &one, place, half));
        }
    }
}

static void rows_access(struct vg_warp *w, const struct ir_insn *in, bool is_store)
{
    const uint32_t *regs = w->frame->function->extra + in->extra;
    struct ir_insn one = *in;
    one.space = PTX_SPACE_SHARED;
    struct origin o[4][VG_LANES] = {{{0}}};
    for (int k = 0; k < in->vector && k < 4; k++)
        for (int lane = 0; lane < VG_LANES; lane++) {
            struct origin read[2] = {{0}};
            for (int half = 0; half < 2; half++) {
                int row = lane / 4, column = lane % 4 * 2 + half;
                if (in->mode & MODE_TRANS) {
                    const int swap = row;
                    row = column;
                    column = swap;
                }
                const char *a = w->regs + in->a;
                const int from = 8 * k + row;
                const uint64_t at = (in->wide_address ? ((const uint64_t *)(const void *)a)[from]
                                                      : ((const uint32_t *)(const void *)a)[from]) +
                                    2 * (uint64_t)column;
                const struct proof_place place = proof_place(w, &one, lane, at);
                if (is_store) {
                    const struct origin r =
                        proof_holds(w, regs[k]) ? proof_slot(w, regs[k])[lane] : (struct origin){0};
                    proof_keep(w, &one, place, (int)(at >> 1 & 1), proof_part(r, half));
                    continue;
                }
                read[half] = proof_fetch(w, &one, place, (int)(at >> 1 & 1));
            }
            o[k][lane] = proof_joined(read[0], read[1]);
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
    const struct matrix_sizes sizes = matrix_sizes_of(in);
    struct product p;
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
        multiply(w, in, &sizes, &p);
        break;
    }
}
