/* Exits and entries of a unit. For each, a plan lists the live registers and their homes. The code
 * itself does not move any register: one call moves all of them. */
#include "vgpu/native/unit.h"

#include <stdlib.h>

struct native_saved *leave_plan_of(struct unit *u, const uint64_t *set)
{
    struct native_saved *s = calloc(1, sizeof *s + u->f->slot_count * sizeof *s->of);
    if (!s)
        abort();
    s->kept.next = u->kept;
    u->kept = &s->kept;
    for (uint32_t i = 0; i < u->f->slot_count; i++) {
        const struct held *h = &u->held[i];
        if (!ptx_set_has(set, i) || !h->bits || h->constant)
            continue;
        s->of[s->count++] =
            (struct saved_register){.offset = h->offset,
                                    .base = h->base_home,
                                    .lanes = h->offset,
                                    .bits = (uint8_t)h->bits,
                                    .uniform = h->uniform,
                                    .any_nan = h->any_nan,
                                    .has_base = h->bits == 1 || h->uniform || h->affine,
                                    .has_lanes = h->bits != 1 && !h->uniform};
    }
    return s;
}

const struct native_saved *leave_plan(struct unit *u, uint32_t index)
{
    if (!u->plans[index]) {
        u->native->services->flow_live(u->flow, index, u->set);
        u->plans[index] = leave_plan_of(u, u->set);
    }
    return u->plans[index];
}

/* Calls one of saved.c's functions. */
static LLVMValueRef call_saved(struct unit *u, uintptr_t function, LLVMTypeRef result,
                               const struct native_saved *plan, LLVMValueRef room)
{
    LLVMTypeRef types[] = {u->pointer, u->pointer, u->pointer};
    LLVMValueRef arguments[] = {u->warp, address_of(u, plan), room};
    LLVMValueRef call = call_address(u, (const void *)function,
                                     LLVMFunctionType(result, types, 3, false), arguments, 3);
    add_call_attribute(call, 3, "nocapture", 0);
    return call;
}

void leave_write(struct unit *u, const struct native_saved *plan, LLVMValueRef room)
{
    if (plan->count)
        call_saved(u, (uintptr_t)saved_settle_as, LLVMVoidTypeInContext(u->context), plan, room);
}

LLVMValueRef leave_read(struct unit *u, const struct native_saved *plan, LLVMValueRef room)
{
    if (!plan->count)
        return LLVMConstInt(u->i1, 1, false);
    LLVMValueRef read = call_saved(u, (uintptr_t)saved_enter, u->i8, plan, room);
    return LLVMBuildTrunc(u->b, read, u->i1, "");
}

void leave_settle(struct unit *u, uint32_t index)
{
    leave_write(u, leave_plan(u, index), u->own_room);
}

void leave_settle_kept(struct unit *u)
{
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(u->context), &u->pointer, 1, false);
    call_address(u, (const void *)(uintptr_t)saved_settle, type, &u->warp, 1);
}

LLVMValueRef leave_enter(struct unit *u, uint32_t index)
{
    return leave_read(u, leave_plan(u, index), u->own_room);
}

/* If the warp only waits, returns and leaves the registers at home. */
static void keep(struct unit *u, uint32_t index, LLVMValueRef in)
{
    LLVMBasicBlockRef kept = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMBasicBlockRef not = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMValueRef arguments[] = {u->warp, address_of(u, leave_plan(u, index))};
    LLVMBuildCondBr(u->b, call_function(u, "native_keeps", arguments, 2), kept, not );
    LLVMPositionBuilderAtEnd(u->b, kept);
    LLVMBuildRet(u->b, in);
    LLVMPositionBuilderAtEnd(u->b, not );
}

/* Calls vg_yield() or vg_resume(). */
static LLVMValueRef end_turn(struct unit *u, enum leaving how, LLVMValueRef in)
{
    const struct vg_services *s = u->native->services;
    LLVMTypeRef types[] = {u->pointer, u->pointer};
    LLVMValueRef arguments[] = {u->warp, in};
    return call_address(u, (const void *)(uintptr_t)(how == LEAVE_YIELD ? s->yield : s->resume),
                        LLVMFunctionType(u->pointer, types, 2, false), arguments, 2);
}

LLVMValueRef outer_mask(struct unit *u, uint32_t region)
{
    while (u->regions[region].around != NO_REGION)
        region = u->regions[region].around;
    return load_from(u, u->i32, u->regions[region].outer);
}

/* At an exit inside a region, splits off the waiting lanes, of which the interpreter does not know.
 * @param some  the lanes that continue in this region, or in a region inside it */
static void part(struct unit *u, uint32_t region, LLVMValueRef some)
{
    const struct region *r = &u->regions[region];
    LLVMValueRef outer = load_from(u, u->i32, r->outer);
    if (r->around != NO_REGION)
        part(u, r->around, outer);
    LLVMTypeRef types[] = {u->pointer, u->pointer, u->i32};
    LLVMValueRef arguments[] = {u->warp, address_of(u, &u->f->insns[region]),
                                LLVMBuildAnd(u->b, outer, LLVMBuildNot(u->b, some, ""), "")};
    call_address(u, (const void *)(uintptr_t)u->native->services->wait,
                 LLVMFunctionType(LLVMVoidTypeInContext(u->context), types, 3, false), arguments,
                 3);
}

static void settle_all(struct unit *u, uint32_t index)
{
    leave_settle(u, index);
    for (uint32_t r = u->inside; r != NO_REGION; r = u->regions[r].around)
        leave_settle(u, u->regions[r].end);
    if (u->inside != NO_REGION)
        part(u, u->inside, mask_of(u));
}

LLVMBasicBlockRef unit_leave(struct unit *u, uint32_t index, enum leaving how)
{
    LLVMBasicBlockRef own = NULL, *at = u->inside == NO_REGION ? &u->leave[how][index] : &own;
    if (*at)
        return *at;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(u->b);
    *at = LLVMAppendBasicBlockInContext(u->context, u->code, "leave");
    LLVMPositionBuilderAtEnd(u->b, *at);
    LLVMValueRef in = address_of(u, &u->f->insns[index]);
    if (how == LEAVE_WAIT)
        keep(u, index + 1, in);
    settle_all(u, how == LEAVE_WAIT ? index + 1 : index);
    LLVMBuildRet(u->b, how == LEAVE_YIELD || how == LEAVE_RESUME ? end_turn(u, how, in) : in);
    LLVMBasicBlockRef made = *at;
    LLVMPositionBuilderAtEnd(u->b, here);
    return made;
}

void leave_if_copying(struct unit *u, uint32_t index)
{
    LLVMBasicBlockRef leave = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMBasicBlockRef on = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMValueRef copies = call_function(u, "native_copies_unset", &u->warp, 1);
    LLVMValueRef none = LLVMBuildICmp(u->b, LLVMIntEQ, copies, number(u, 32, 0), "");
    LLVMBuildCondBr(u->b, none, on, leave);
    LLVMPositionBuilderAtEnd(u->b, leave);
    u->native->services->flow_live(u->flow, index, u->set);
    for (uint32_t i = 0; i < u->f->slot_count; i++)
        if (ptx_set_has(u->set, i))
            store_at_home(u, &u->held[i]);
    LLVMBuildBr(u->b, unit_leave(u, index, LEAVE_RESUME));
    LLVMPositionBuilderAtEnd(u->b, on);
}
