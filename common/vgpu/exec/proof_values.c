/* Values and registers of a proof, used by its other files. */
#include "vgpu/exec/proof.h"

#include <string.h>

/* ---- registers ------------------------------------------------------------------------------- */

void proof_clear(struct vg_warp *w, uint32_t slot, uint32_t lanes)
{
    const uint32_t stride = w->frame->holds[slot / 4];
    struct origin *to = proof_slot(w, slot);
    if (!stride)
        return;
    for (uint32_t left = lanes; left; left &= left - 1)
        memset(to + (uint32_t)__builtin_ctz(left) * stride, 0, stride * sizeof *to);
    if (lanes == VG_FULL)
        w->frame->holds[slot / 4] = 0;
}

struct origin *proof_open(struct vg_warp *w, uint32_t slot, uint32_t stride)
{
    struct origin *to = proof_slot(w, slot);
    if (!proof_holds(w, slot))
        memset(to, 0, VG_LANES * stride * sizeof *to);
    w->frame->holds[slot / 4] = (uint8_t)stride;
    return to;
}

void proof_put(struct vg_warp *w, uint32_t slot, uint32_t lanes, const struct origin *from,
               uint32_t stride, uint32_t word)
{
    uint32_t any = 0;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const struct origin *o = &from[__builtin_ctz(left)];
        any |= o->low | o->high | o->step;
    }
    if (!any && !proof_holds(w, slot))
        return;
    struct origin *to = proof_open(w, slot, stride);
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left);
        to[i * stride + word] = from[i];
    }
}

uint32_t proof_lanes(const struct vg_warp *w, const struct ir_insn *in)
{
    if (!in->guard)
        return w->mask;
    const uint32_t p = *(const uint32_t *)(const void *)(w->regs + in->guard);
    return w->mask & (in->guard_not ? ~p : p);
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* Programs multiply by few different constants: the scale of an image, or those of a transform. */
struct proof_value proof_plain_number(double number, enum ptx_type type)
{
    enum { KEPT = 64 };
    static _Thread_local struct {
        double number;
        uint32_t element; /* 0: free */
    } kept[2][KEPT];
    const bool is_float = ptx_type_is_float(type) && type != PTX_TYPE_f64;
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    const size_t at = (bits * UINT64_C(0x9e3779b97f4a7c15)) >> 58;
    if (!kept[is_float][at].element || kept[is_float][at].number != number) {
        kept[is_float][at].number = number;
        kept[is_float][at].element = PROOF_ELEMENT | field_of_number(number, is_float);
    }
    return (struct proof_value){.element = kept[is_float][at].element, .number = number};
}

void proof_multiplied(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes, uint32_t count)
{
    struct proof_kernel *k = proof_of(w)->running;
    if (!count)
        return;
    k->counts.products += count;
    k->sites[in->number].products += count;
    w->proof.multiplied |= lanes;
    w->proof.multiplies |= lanes;
}
