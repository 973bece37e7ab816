/* Where a unit is left: live registers are saved as they are kept, lanes first, then bases; then they go
 * to the frame, unless the warp only waits at a barrier and the next unit takes them as they are. */
#include "vgpu/native/unit.h"

#include <stdlib.h>

static void add_register(struct native_saved *s, const struct held *h, uint32_t *at)
{
    struct saved_register *r = &s->of[s->count++];
    *r = (struct saved_register){.offset = h->offset,
                                 .bits = (uint8_t)h->bits,
                                 .has_base = h->bits == 1 || h->uniform || h->affine,
                                 .has_lanes = h->bits != 1 && !h->uniform};
    if (!r->has_lanes)
        return;
    r->lanes = *at;
    *at += h->bits == 64 ? 256 : 128;
}

/* How the registers that are live before an instruction are saved: the same for every unit. */
static struct native_saved *plan(struct unit *u, uint32_t index)
{
    struct native_saved *s = calloc(1, sizeof *s + u->f->slot_count * sizeof *s->of);
    uint32_t at = 0;
    if (!s)
        abort();
    s->at = &u->f->insns[index];
    u->native->services->flow_live(u->flow, index, u->set);
    for (uint32_t i = 0; i < u->f->slot_count; i++)
        if (ptx_set_has(u->set, i) && u->held[i].bits && !u->held[i].constant)
            add_register(s, &u->held[i], &at);
    for (uint32_t i = 0; i < s->count; i++) {
        if (!s->of[i].has_base)
            continue;
        s->of[i].base = at;
        at += 8;
    }
    return s;
}

static LLVMValueRef place_of(struct unit *u, uint32_t offset)
{
    LLVMValueRef at = number(u, 64, offset);
    return LLVMBuildGEP2(u->b, u->i8, u->room, &at, 1, "");
}

static void save(struct unit *u, const struct saved_register *r)
{
    const struct held *h = held_at(u, r->offset);
    LLVMTypeRef type = type_of_bits(u, r->bits), lanes = lanes_of_bits(u, r->bits);
    if (r->has_base)
        store_to(u, load_from(u, type, h->base), place_of(u, r->base), type);
    if (r->has_lanes)
        store_to(u, load_from(u, lanes, h->lanes), place_of(u, r->lanes), lanes);
}

static void restore(struct unit *u, const struct saved_register *r)
{
    const struct held *h = held_at(u, r->offset);
    LLVMTypeRef type = type_of_bits(u, r->bits), lanes = lanes_of_bits(u, r->bits);
    if (r->has_base)
        store_to(u, load_from(u, type, place_of(u, r->base)), h->base, type);
    if (r->has_lanes) {
        LLVMValueRef v = load_from(u, lanes, place_of(u, r->lanes));
        LLVMSetAlignment(v, 64);
        store_to(u, v, h->lanes, lanes);
    }
}

void leave_restore(struct unit *u, uint32_t index)
{
    struct native_saved *s = plan(u, index);
    for (uint32_t i = 0; i < s->count; i++)
        restore(u, &s->of[i]);
    free(s);
}

static void settle(struct unit *u, const struct native_saved *s)
{
    LLVMTypeRef types[] = {u->pointer, u->pointer};
    LLVMValueRef arguments[] = {u->warp, address_of(u, s)};
    call_address(u, (const void *)(uintptr_t)saved_settle_as,
                 LLVMFunctionType(LLVMVoidTypeInContext(u->context), types, 2, false), arguments,
                 2);
}

/* Keeps what is saved, if the warp can. */
static void keep(struct unit *u, const struct native_saved *s, LLVMValueRef in)
{
    LLVMBasicBlockRef kept = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMBasicBlockRef not = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMValueRef arguments[] = {u->warp, address_of(u, s)};
    LLVMBuildCondBr(u->b, call_function(u, "native_keeps", arguments, 2), kept, not );
    LLVMPositionBuilderAtEnd(u->b, kept);
    LLVMBuildRet(u->b, in);
    LLVMPositionBuilderAtEnd(u->b, not );
}

static LLVMValueRef go(struct unit *u, LLVMValueRef in, enum leaving how)
{
    const struct vg_services *s = u->native->services;
    LLVMTypeRef types[] = {u->pointer, u->pointer, u->i32};
    if (how == LEAVE_YIELD) {
        LLVMValueRef arguments[] = {u->warp, in};
        return call_address(u, (const void *)(uintptr_t)s->yield,
                            LLVMFunctionType(u->pointer, types, 2, false), arguments, 2);
    }
    if (how == LEAVE_SPLIT) {
        LLVMValueRef arguments[] = {u->warp, in, load_from(u, u->i32, u->taken)};
        return call_address(u, (const void *)(uintptr_t)s->split,
                            LLVMFunctionType(u->pointer, types, 3, false), arguments, 3);
    }
    return in;
}

LLVMBasicBlockRef unit_leave(struct unit *u, uint32_t index, enum leaving how)
{
    LLVMBasicBlockRef *at = &u->leave[how][index];
    if (*at)
        return *at;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(u->b);
    *at = LLVMAppendBasicBlockInContext(u->context, u->code, "leave");
    LLVMPositionBuilderAtEnd(u->b, *at);
    LLVMValueRef in = address_of(u, &u->f->insns[index]);
    struct native_saved *s = plan(u, how == LEAVE_WAIT ? index + 1 : index);
    s->next = u->saved;
    u->saved = s;
    for (uint32_t i = 0; i < s->count; i++)
        save(u, &s->of[i]);
    if (how == LEAVE_WAIT)
        keep(u, s, in);
    if (s->count)
        settle(u, s);
    LLVMBuildRet(u->b, go(u, in, how));
    LLVMPositionBuilderAtEnd(u->b, here);
    return *at;
}
