/* Matrix instructions of a proof. Which lane holds which element is matrix.c's to say. */
#include "vgpu/exec/matrix.h"
#include "vgpu/exec/proof.h"

#include <string.h>

/* ---- elements of fragments ------------------------------------------------------------------- */

/* Element e of a lane: types of 16 bits lie in pairs. Narrower ones have no origin. */
static struct proof_value element_get(const struct vg_warp *w, const uint32_t *regs, int e,
                                      int lane, enum ptx_type type)
{
    const int per = ptx_type_per_register(type);
    const uint32_t slot = regs[1 + e / per], stride = proof_holds(w, slot);
    if (!stride || per > 2)
        return (struct proof_value){0};
    const struct origin o = proof_slot(w, slot)[(uint32_t)lane * stride];
    const uint32_t element = e % per ? o.high : o.low;
    return (struct proof_value){element, element ? o.way : 0};
}

static void element_set(struct vg_warp *w, const uint32_t *regs, int e, int lane,
                        enum ptx_type type, struct proof_value v)
{
    const int per = ptx_type_per_register(type);
    const uint32_t slot = regs[1 + e / per], stride = type == PTX_TYPE_f64 ? 2 : 1;
    struct origin o[VG_LANES] = {{0}};
    if (per > 2)
        return;
    if (proof_holds(w, slot))
        o[lane] = proof_slot(w, slot)[(uint32_t)lane * stride];
    if (e % per == 0)
        o[lane] = (struct origin){.high = per == 2 ? o[lane].high : 0,
                                  .way = per == 2 && o[lane].high ? o[lane].way : 0};
    *(e % per ? &o[lane].high : &o[lane].low) = v.element;
    o[lane].way = way_sum(o[lane].way, v.way);
    proof_put(w, slot, 1u << lane, o, stride, 0);
}

/* ---- products -------------------------------------------------------------------------------- */

enum { MOST = 16 * 256 };

struct product {
    struct proof_value a[MOST], b[MOST], c[1024];
    double plain_a[MOST], plain_b[MOST], plain_c[1024];
};

static struct proof_value element_or_number(struct proof_value v, double number)
{
    return v.element ? v : (struct proof_value){PROOF_ELEMENT | field_of_number(number, true), 0};
}

/* One element of d. */
static struct proof_value dot(const struct product *p, const struct matrix_sizes *s, int i, int j,
                              uint32_t *count)
{
    struct proof_value sum = p->c[i * s->n + j];
    double plain = p->plain_c[i * s->n + j];
    for (int q = 0; q < s->k; q++) {
        const struct proof_value a = p->a[i * s->k + q], b = p->b[q * s->n + j];
        const double x = p->plain_a[i * s->k + q], y = p->plain_b[q * s->n + j];
        bool multiplied;
        if (!a.element && !b.element) {
            plain += sum.element ? 0 : x * y;
            continue;
        }
        if ((!a.element && x == 0) || (!b.element && y == 0))
            continue;
        const struct proof_value product =
            proof_product(element_or_number(a, x), element_or_number(b, y), &multiplied);
        sum =
            sum.element || plain != 0 ? proof_sum(element_or_number(sum, plain), product) : product;
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
    struct matrix_element at;
    struct proof_value *const values[] = {NULL, p->a, p->b, p->c};
    double *const numbers[] = {NULL, p->plain_a, p->plain_b, p->plain_c};
    for (int which = MATRIX_A; which <= MATRIX_C; which++)
        for (int i = 0; matrix_element(w, in, (enum matrix_operand)which, i, &at); i++) {
            values[which][at.index] = element_get(w, at.regs, at.e, at.lane, at.type);
            numbers[which][at.index] = matrix_number(w, &at);
        }
    for (int i = 0; matrix_element(w, in, MATRIX_D, i, &at); i++)
        element_set(w, at.regs, at.e, at.lane, at.type,
                    dot(p, s, at.index / s->n, at.index % s->n, &count));
    count_reuse(w, s, p);
    proof_counts(w)->matrix_products += count;
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
            const struct proof_value v = element_get(w, at.regs, at.e, at.lane, type);
            proof_keep(w, &one, place, half, (struct origin){.low = v.element, .way = v.way});
        } else {
            const struct origin o = proof_fetch(w, &one, place, half);
            element_set(w, at.regs, at.e, at.lane, type, (struct proof_value){o.low, o.way});
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
        for (int lane = 0; lane < VG_LANES; lane++)
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
                    const uint32_t element = half ? r.high : r.low;
                    proof_keep(w, &one, place, (int)(at >> 1 & 1),
                               (struct origin){.low = element, .way = element ? r.way : 0});
                    continue;
                }
                const struct origin r = proof_fetch(w, &one, place, (int)(at >> 1 & 1));
                *(half ? &o[k][lane].high : &o[k][lane].low) = r.low;
                o[k][lane].way = way_sum(o[k][lane].way, r.way);
            }
    for (int k = 0; !is_store && k < in->vector && k < 4; k++)
        proof_put(w, regs[k], w->mask, o[k], 1, 0);
}

static void transpose(struct vg_warp *w, const struct ir_insn *in)
{
    struct origin o[VG_LANES] = {{0}};
    for (int lane = 0; lane < VG_LANES && proof_holds(w, in->a); lane++)
        for (int half = 0; half < 2; half++) {
            const int row = lane % 4 * 2 + half, column = lane / 4;
            const struct origin from = proof_slot(w, in->a)[4 * row + column / 2];
            const uint32_t element = column & 1 ? from.high : from.low;
            *(half ? &o[lane].high : &o[lane].low) = element;
            o[lane].way = way_sum(o[lane].way, element ? from.way : 0);
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
