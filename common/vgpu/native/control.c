/* Control flow in a unit: jumps, blocks at which lanes meet, and branches at which lanes may
 * diverge. */
#include "vgpu/native/unit.h"

#include "vgpu/exec/access_sites.h"

/* ---- waiting lanes -------------------------------------------------------------------- */

/* @return the outermost region that ends at the target of a jump from the current block, or
 * NO_REGION */
static uint32_t ended_by(const struct unit *u, uint32_t target)
{
    uint32_t ended = NO_REGION;
    for (uint32_t r = u->inside; r != NO_REGION && u->regions[r].end == target;
         r = u->regions[r].around)
        ended = r;
    return ended;
}

static bool is_in(const struct unit *u, uint32_t region)
{
    uint32_t r = u->inside;
    while (r != NO_REGION && r != region)
        r = u->regions[r].around;
    return r == region;
}

/* @return whether a jump from the current block to @p target enters the loop of a region. */
static bool begins(const struct unit *u, uint32_t region, uint32_t target)
{
    const struct region *r = &u->regions[region];
    return r->end && r->is_loop && r->first == target && !is_in(u, region);
}

static bool begins_any(const struct unit *u, uint32_t target)
{
    for (uint32_t i = target; i < u->f->insn_count; i++)
        if (begins(u, i, target))
            return true;
    return false;
}

/* If a block has a single predecessor, the values known at the predecessor's end are known at the
 * block's start. */
void control_pass_on(struct unit *u, uint32_t to)
{
    if (to < u->f->insn_count && u->at[to] && u->ways[to] == 1 && !u->known[to])
        u->known[to] = known_copy(u);
}

/* ---- control --------------------------------------------------------------------------------- */

LLVMBasicBlockRef control_to(struct unit *u, uint32_t index)
{
    const uint32_t ended = ended_by(u, index);
    if (!u->at[index])
        return unit_leave(u, index, LEAVE_RETURN);
    if (ended == NO_REGION && !begins_any(u, index))
        return u->at[index];
    LLVMBasicBlockRef here = LLVMGetInsertBlock(u->b);
    LLVMBasicBlockRef way = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMPositionBuilderAtEnd(u->b, way);
    if (ended != NO_REGION)
        store_to(u, load_from(u, u->i32, u->regions[ended].outer), u->mask, u->i32);
    for (uint32_t i = index; i < u->f->insn_count; i++)
        if (begins(u, i, index))
            store_to(u, mask_of(u), u->regions[i].outer, u->i32);
    LLVMBuildBr(u->b, u->at[index]);
    LLVMPositionBuilderAtEnd(u->b, here);
    return way;
}

/* @return whether lanes that diverged in the unit may meet at an instruction. */
static bool may_meet(struct unit *u, const struct ir_insn *join)
{
    for (uint32_t i = 0; i < u->f->insn_count; i++) {
        const struct ir_insn *in = &u->f->insns[i];
        if (region_may_part(u, in) && in->imm == join->index && !u->regions[i].end)
            return true;
    }
    return false;
}

static LLVMValueRef meeting_here(struct unit *u, const struct ir_insn *in)
{
    return LLVMBuildICmp(u->b, LLVMIntEQ, of_warp(u, "native_meeting"), address_of(u, in), "");
}

/* Lets the fragment arrive at a meeting. If it arrives last, all fragments of the meeting continue
 * as one. */
static void meet(struct unit *u, const struct ir_insn *in, LLVMBasicBlockRef on)
{
    LLVMBasicBlockRef over = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMBasicBlockRef all = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMTypeRef types[] = {u->pointer, u->pointer};
    LLVMValueRef arguments[] = {u->warp, address_of(u, in)};
    leave_settle(u, in->index);
    LLVMValueRef next = call_address(u, (const void *)(uintptr_t)u->native->services->meet,
                                     LLVMFunctionType(u->pointer, types, 2, false), arguments, 2);
    LLVMBuildCondBr(u->b, LLVMBuildICmp(u->b, LLVMIntEQ, next, address_of(u, in + 1), ""), all,
                    over);
    LLVMPositionBuilderAtEnd(u->b, all);
    unit_read_mask(u);
    LLVMBuildCondBr(u->b, leave_enter(u, in->index + 1), on, over);
    LLVMPositionBuilderAtEnd(u->b, over);
    LLVMBuildRet(u->b, next);
}

static void count_block(struct unit *u, const struct ir_insn *in)
{
    LLVMValueRef arguments[] = {u->warp, number(u, 32, in->target), mask_threads(u)};
    call_function(u, "native_count", arguments, 3);
}

void control_begin(struct unit *u, const struct ir_insn *in)
{
    const bool some = u->inside != NO_REGION;
    const bool loops =
        some && u->regions[u->inside].is_loop && u->regions[u->inside].first == in->index;
    if (in->op == IR_ENTER || (some && !loops)) { /* (in regions, lanes meet only before loops) */
        count_block(u, in);
        return;
    }
    LLVMBasicBlockRef alone = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMBasicBlockRef on = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    const bool goes_on = !some && may_meet(u, in);
    LLVMBasicBlockRef meets = goes_on ? LLVMAppendBasicBlockInContext(u->context, u->code, "")
                                      : unit_leave(u, in->index, LEAVE_RETURN);
    mark_likely(LLVMBuildCondBr(u->b, meeting_here(u, in), meets, alone), false);
    if (goes_on) {
        known_set(u, NULL);
        LLVMPositionBuilderAtEnd(u->b, meets);
        meet(u, in, on);
    }
    LLVMPositionBuilderAtEnd(u->b, alone);
    count_block(u, in);
    LLVMBuildBr(u->b, on);
    LLVMPositionBuilderAtEnd(u->b, on);
}

/* Jumps to a branch's target. A backward jump may end the fragment's turn. */
static LLVMBasicBlockRef jump_to(struct unit *u, const struct ir_insn *in)
{
    if (in->target > in->index)
        return control_to(u, in->target);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(u->b);
    LLVMBasicBlockRef back = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMPositionBuilderAtEnd(u->b, back);
    LLVMValueRef over = call_function(u, "native_turn_over", &u->warp, 1);
    mark_likely(LLVMBuildCondBr(u->b, over, unit_leave(u, in->target, LEAVE_YIELD),
                                control_to(u, in->target)),
                false);
    LLVMPositionBuilderAtEnd(u->b, here);
    return back;
}

/* @return the instruction at which the lanes that do not continue now will start, see
 * vg_split(). */
static uint32_t other_side(const struct ir_insn *in)
{
    const uint32_t target = in->target, next = in->index + 1;
    return in->imm == (int64_t)target                  ? target
           : in->imm == (int64_t)next || target < next ? next
                                                       : target;
}

/* Splits the lanes. Those that wait will find their registers in the frame. */
static void split(struct unit *u, const struct ir_insn *in, LLVMValueRef taken)
{
    leave_settle(u, other_side(in));
    LLVMTypeRef types[] = {u->pointer, u->pointer, u->i32};
    LLVMValueRef arguments[] = {u->warp, address_of(u, in), taken};
    LLVMValueRef next = call_address(u, (const void *)(uintptr_t)u->native->services->split,
                                     LLVMFunctionType(u->pointer, types, 3, false), arguments, 3);
    unit_read_mask(u);
    LLVMValueRef target = address_of(u, &u->f->insns[in->target]);
    LLVMBuildCondBr(u->b, LLVMBuildICmp(u->b, LLVMIntEQ, next, target, ""),
                    control_to(u, in->target), control_to(u, in->index + 1));
}

static LLVMValueRef equal(struct unit *u, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildICmp(u->b, LLVMIntEQ, a, b, "");
}

/* Continues with some lanes; from here on, the other lanes may wait. */
static void go_on_with(struct unit *u, const struct ir_insn *in, LLVMValueRef some, uint32_t to)
{
    LLVMValueRef at = number(u, 64, in->site * sizeof(struct vg_site));
    LLVMValueRef parts = LLVMBuildICmp(u->b, LLVMIntNE, some, mask_of(u), "");
    LLVMValueRef arguments[] = {u->warp, LLVMBuildGEP2(u->b, u->i8, u->sites, &at, 1, ""),
                                LLVMBuildZExt(u->b, parts, u->i32, "")};
    call_function(u, "native_part", arguments, 3);
    store_to(u, some, u->mask, u->i32);
    LLVMBuildBr(u->b, control_to(u, to));
}

/* Translates a branch that has a region, or that leaves a loop which is a region. */
static void branch_in_region(struct unit *u, const struct ir_insn *in)
{
    const bool is_loop = u->regions[in->index].is_loop;
    const uint32_t stay = is_loop ? in->target : in->index + 1,
                   wait = is_loop ? in->index + 1 : in->target;
    LLVMValueRef mask = mask_of(u), taken = guard_bits(u, in);
    LLVMValueRef lanes =
        LLVMBuildAnd(u->b, mask, is_loop ? taken : LLVMBuildNot(u->b, taken, ""), "");
    LLVMBasicBlockRef some = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    if (!is_loop)
        control_pass_on(u, stay);
    if (u->regions[in->index].end && !is_loop)
        store_to(u, mask, u->regions[in->index].outer, u->i32);
    LLVMBuildCondBr(u->b, equal(u, lanes, number(u, 32, 0)), control_to(u, wait), some);
    LLVMPositionBuilderAtEnd(u->b, some);
    if (is_loop) {
        LLVMBasicBlockRef fewer = LLVMAppendBasicBlockInContext(u->context, u->code, "");
        LLVMBuildCondBr(u->b, equal(u, lanes, mask), jump_to(u, in), fewer);
        LLVMPositionBuilderAtEnd(u->b, fewer);
    }
    const uint32_t inside = u->inside;
    if (u->regions[in->index].end && !is_loop) /* the code at `stay` is in this branch's region */
        u->inside = in->index;
    go_on_with(u, in, lanes, stay);
    u->inside = inside;
}

void control_branch(struct unit *u, const struct ir_insn *in)
{
    const bool leaves = u->inside != NO_REGION && region_may_part(u, in) &&
                        region_has_way_out(&u->regions[u->inside], in);
    if (u->regions[in->index].end || leaves) {
        branch_in_region(u, in);
        return;
    }
    control_pass_on(u, in->target);
    if (!in->guard) {
        LLVMBuildBr(u->b, jump_to(u, in));
        return;
    }
    control_pass_on(u, in->index + 1);
    LLVMBasicBlockRef taken = jump_to(u, in), next = control_to(u, in->index + 1);
    LLVMValueRef lanes = guard_bits(u, in), none = number(u, 32, 0);
    if (is_uniform(u, in->guard)) {
        LLVMBuildCondBr(u->b, LLVMBuildICmp(u->b, LLVMIntNE, lanes, none, ""), taken, next);
        return;
    }
    LLVMValueRef mask = mask_of(u);
    lanes = LLVMBuildAnd(u->b, lanes, mask, "");
    LLVMBasicBlockRef some = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMBasicBlockRef parts = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMBuildCondBr(u->b, equal(u, lanes, none), next, some);
    LLVMPositionBuilderAtEnd(u->b, some);
    LLVMBuildCondBr(u->b, equal(u, lanes, mask), taken, parts);
    LLVMPositionBuilderAtEnd(u->b, parts);
    if (region_is_left_at(u, in))
        LLVMBuildBr(u->b, unit_leave(u, in->index, LEAVE_RETURN));
    else
        split(u, in, lanes);
}
