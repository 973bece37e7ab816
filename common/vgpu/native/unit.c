/* A unit's frame: which blocks it has, how it is entered and left, and its control flow. */
#include "vgpu/native/unit.h"

#include "vgpu/native/call_stub.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_INSTRUCTIONS = 6000 }; /* of a unit; blocks beyond are left to the interpreter */

/* ---- which blocks ---------------------------------------------------------------------------- */

/* Instructions at which a unit ends: their handlers may park the fragment or change its lanes. */
static bool ends_unit(const struct unit *u, const struct ir_insn *in)
{
    return in->op == IR_CALL || in->op == IR_RET || in->op == IR_EXIT || in->op == IR_TRAP ||
           u->native->services->rows[in->op].whole_warp;
}

static void add_start(struct unit *u, uint32_t index, uint32_t *list, uint32_t *count)
{
    if (u->at[index])
        return;
    u->at[index] = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    list[(*count)++] = index;
}

/* Finds where code starts in the unit: its entries, and the blocks that can be reached from them, until
 * it is large enough. @return the starts; the caller's */
static uint32_t *find_starts(struct unit *u, uint32_t *count)
{
    const struct ir_function *f = u->f;
    uint32_t *list = calloc(f->block_count + u->entry_count + 1, sizeof *list), size = 0;
    uint32_t *next = calloc(f->extra_count + 2, sizeof *next);
    if (!list || !next)
        abort();
    *count = 0;
    for (size_t i = 0; i < u->entry_count; i++)
        add_start(u, u->entries[i], list, count);
    for (uint32_t k = 0; k < *count && size < MOST_INSTRUCTIONS; k++) {
        const uint32_t end = ptx_block_end(f, list[k]);
        uint32_t i = list[k];
        while (i < end && !ends_unit(u, &f->insns[i]))
            i++;
        size += i - list[k];
        if (i < end)
            continue;
        const size_t n = u->native->services->flow_next(f, end - 1, next);
        for (size_t j = 0; j < n; j++)
            add_start(u, next[j], list, count);
    }
    free(next);
    return list;
}

/* ---- entering -------------------------------------------------------------------------------- */

static LLVMTypeRef code_type(struct unit *u)
{
    LLVMTypeRef types[] = {u->pointer, u->pointer};
    return LLVMFunctionType(u->pointer, types, 2, false);
}

static void make_function(struct unit *u, const char *name)
{
    u->code = LLVMAddFunction(u->module, name, code_type(u));
    add_attribute(u->code, "noredzone", NULL); /* the stub is called from assembly */
    add_attribute(u->code, "nounwind", NULL);
    add_attribute(u->code, "no-jump-tables",
                  "true"); /* (RuntimeDyld may place them too far away) */
    if (strcmp(u->native->target, "avx512") == 0) {
        add_attribute(u->code, "min-legal-vector-width", "512");
        add_attribute(u->code, "prefer-vector-width", "512");
    }
    u->in = LLVMGetParam(u->code, 0);
    u->warp = LLVMGetParam(u->code, 1);
    LLVMBasicBlockRef variables = LLVMAppendBasicBlockInContext(u->context, u->code, "variables");
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(u->context, u->code, "entry");
    LLVMPositionBuilderAtEnd(u->at_entry, variables);
    LLVMValueRef jump = LLVMBuildBr(u->at_entry, entry);
    LLVMPositionBuilderBefore(u->at_entry, jump);
    LLVMPositionBuilderAtEnd(u->b, entry);
}

static void read_warp(struct unit *u)
{
    u->registers = call_function(u, "native_registers", &u->warp, 1);
    u->mask = call_function(u, "native_mask", &u->warp, 1);
    u->mask_bits = bits_to_flags(u, u->mask);
    u->sites =
        LLVMBuildBitCast(u->b, call_function(u, "native_sites", &u->warp, 1), u->pointer, "");
    u->meeting =
        LLVMBuildBitCast(u->b, call_function(u, "native_meeting", &u->warp, 1), u->pointer, "");
    u->room = LLVMBuildBitCast(u->b, call_function(u, "native_room", &u->warp, 1), u->pointer, "");
    u->memory =
        LLVMBuildBitCast(u->b, call_function(u, "native_memory", &u->warp, 1), u->pointer, "");
    u->worker =
        LLVMBuildBitCast(u->b, call_function(u, "native_worker", &u->warp, 1), u->pointer, "");
    LLVMValueRef none = LLVMConstInt(u->i1, 1, false), arguments[] = {u->mask, none};
    u->lead = call_intrinsic(u, "llvm.cttz", &u->i32, 1, arguments, 2);
    u->threads = call_intrinsic(u, "llvm.ctpop", &u->i32, 1, &u->mask, 1);
}

/* Constants are numbers; parameters are read where the code begins. */
static void make_constant(struct unit *u, struct held *h)
{
    const struct ir_constant *c = h->constant;
    if (!c->is_param)
        h->base = number(u, h->bits, c->wide ? c->bits : c->bits & 0xffffffffu);
    else
        h->base = load_from(u, type_of_bits(u, h->bits), frame_place(u, h->offset));
}

static void make_variables(struct unit *u)
{
    for (uint32_t i = 0; i < u->f->slot_count; i++) {
        struct held *h = &u->held[i];
        if (!h->bits)
            continue;
        if (h->constant) {
            make_constant(u, h);
        } else if (h->bits == 1) {
            h->base = variable(u, u->i32);
        } else {
            if (h->uniform || h->affine)
                h->base = variable(u, type_of_bits(u, h->bits));
            if (!h->uniform)
                h->lanes = variable(u, lanes_of_bits(u, h->bits));
        }
    }
}

/* Reads a register and says where it is not what it is held for. @return NULL when it can hold anything;
 * else a vector or word that must be zero */
static LLVMValueRef enter_register(struct unit *u, struct held *h)
{
    if (h->bits == 1) {
        LLVMValueRef p = load_from(u, u->i32, frame_place(u, h->offset));
        if (!h->uniform) {
            store_to(u, p, h->base, u->i32);
            return NULL;
        }
        LLVMValueRef in = LLVMBuildAnd(u->b, p, u->mask, "");
        LLVMValueRef any = LLVMBuildICmp(u->b, LLVMIntNE, in, number(u, 32, 0), "");
        LLVMValueRef all = LLVMBuildICmp(u->b, LLVMIntEQ, in, u->mask, "");
        store_to(u, LLVMBuildSExt(u->b, any, u->i32, ""), h->base, u->i32);
        return LLVMBuildXor(u->b, any, all, "");
    }
    LLVMTypeRef type = type_of_bits(u, h->bits), vector = lanes_of_bits(u, h->bits);
    LLVMValueRef at = frame_place(u, h->offset), all = load_from(u, vector, at);
    LLVMSetAlignment(all, 64);
    if (!h->uniform && !h->affine) {
        store_to(u, all, h->lanes, vector);
        return NULL;
    }
    LLVMValueRef lane = LLVMBuildZExt(u->b, u->lead, u->i64, "");
    LLVMValueRef one =
        load_from(u, type, LLVMBuildGEP2(u->b, type, pointer_to(u, type, at), &lane, 1, ""));
    store_to(u, one, h->base, type);
    if (!h->uniform) {
        store_to(u, LLVMBuildSub(u->b, all, splat(u, one, h->bits), ""), h->lanes, vector);
        return NULL;
    }
    LLVMValueRef differ = LLVMBuildICmp(u->b, LLVMIntNE, all, splat(u, one, h->bits), "");
    LLVMValueRef bits = LLVMBuildBitCast(u->b, differ, u->i32, "");
    return LLVMBuildICmp(u->b, LLVMIntNE, LLVMBuildAnd(u->b, bits, u->mask, ""), number(u, 32, 0),
                         "");
}

/* Whether warps come to the unit from a barrier, where one may have saved their registers. */
static bool continues(const struct unit *u, uint32_t entry)
{
    return entry > 0 && u->f->insns[entry - 1].op == IR_BAR;
}

static void enter_again(struct unit *u, uint32_t entry)
{
    LLVMBasicBlockRef again = LLVMAppendBasicBlockInContext(u->context, u->code, "again");
    LLVMBasicBlockRef anew = LLVMAppendBasicBlockInContext(u->context, u->code, "anew");
    LLVMValueRef arguments[] = {u->warp, address_of(u, &u->f->insns[entry])};
    LLVMBuildCondBr(u->b, call_function(u, "native_continues", arguments, 2), again, anew);
    LLVMPositionBuilderAtEnd(u->b, again);
    leave_restore(u, entry);
    LLVMBuildBr(u->b, u->at[entry]);
    LLVMPositionBuilderAtEnd(u->b, anew);
}

/* Returns at once, with nothing done, when the fragment is none that the code is for. */
static void enter(struct unit *u, uint32_t entry, LLVMBasicBlockRef declined)
{
    LLVMValueRef odd = LLVMConstInt(u->i1, 0, false);
    if (continues(u, entry))
        enter_again(u, entry);
    u->native->services->flow_live(u->flow, entry, u->set);
    for (uint32_t i = 0; i < u->f->slot_count; i++) {
        struct held *h = &u->held[i];
        if (!h->bits || h->constant || !ptx_set_has(u->set, i))
            continue;
        LLVMValueRef wrong = enter_register(u, h);
        if (wrong)
            odd = LLVMBuildOr(u->b, odd, wrong, "");
    }
    LLVMBuildCondBr(u->b, odd, declined, u->at[entry]);
}

static void enter_all(struct unit *u)
{
    LLVMBasicBlockRef declined = LLVMAppendBasicBlockInContext(u->context, u->code, "declined");
    LLVMValueRef index = call_function(u, "native_index", &u->in, 1);
    LLVMValueRef where = LLVMBuildSwitch(u->b, index, declined, (unsigned)u->entry_count);
    for (size_t i = 0; i < u->entry_count; i++) {
        LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(u->context, u->code, "enter");
        LLVMAddCase(where, number(u, 32, u->entries[i]), entry);
        LLVMPositionBuilderAtEnd(u->b, entry);
        enter(u, u->entries[i], declined);
    }
    LLVMPositionBuilderAtEnd(u->b, declined);
    LLVMBuildRet(u->b, u->in);
}

/* ---- one instruction by its handler ---------------------------------------------------------- */

void unit_step(struct unit *u, const struct ir_insn *in)
{
    struct ptx_operands o;
    u->native->services->flow_operands(u->flow, in, &o);
    for (int i = 0; i < o.read_count; i++)
        write_back(u, &u->held[o.reads[i]]);
    for (int i = 0; i < o.write_count && !o.certain; i++)
        write_back(u, &u->held[o.writes[i]]);
    LLVMTypeRef types[] = {u->pointer, u->pointer, u->pointer};
    LLVMTypeRef type = LLVMFunctionType(u->pointer, types, 3, false);
    LLVMValueRef arguments[] = {
        address_of(u, in), u->warp,
        address_of(u, (const void *)(uintptr_t)native_stub(u->native->target))};
    static const char text[] = "callq *$3";
    static const char constraints[] =
        "={rax},{rdi},{rsi},{rax},~{memory},~{dirflag},~{fpsr},~{flags}";
    LLVMValueRef stub =
        LLVMGetInlineAsm(type, (char *)text, sizeof text - 1, (char *)constraints,
                         sizeof constraints - 1, true, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef next = LLVMBuildCall2(u->b, type, stub, arguments, 3, "");
    LLVMBasicBlockRef gone = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMBasicBlockRef on = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMValueRef same = LLVMBuildICmp(u->b, LLVMIntEQ, next, address_of(u, in + 1), "");
    LLVMBuildCondBr(u->b, same, on, gone);
    LLVMPositionBuilderAtEnd(u->b, gone);
    LLVMBuildRet(u->b, next); /* a fault has ended the block */
    LLVMPositionBuilderAtEnd(u->b, on);
    for (int i = 0; i < o.write_count; i++)
        read_back(u, &u->held[o.writes[i]]);
}

/* ---- control --------------------------------------------------------------------------------- */

/* The code at an instruction that starts a block: inside, or the interpreter. */
static LLVMBasicBlockRef code_at(struct unit *u, uint32_t index)
{
    return u->at[index] ? u->at[index] : unit_leave(u, index, LEAVE_RETURN);
}

static void begin_block(struct unit *u, const struct ir_insn *in)
{
    if (in->op == IR_ENTER_JOIN) {
        LLVMBasicBlockRef on = LLVMAppendBasicBlockInContext(u->context, u->code, "");
        LLVMValueRef meets = LLVMBuildICmp(u->b, LLVMIntEQ, u->meeting, address_of(u, in), "");
        LLVMBuildCondBr(u->b, meets, unit_leave(u, in->index, LEAVE_RETURN), on);
        LLVMPositionBuilderAtEnd(u->b, on);
    }
    LLVMValueRef arguments[] = {u->warp, number(u, 32, in->target), u->threads};
    call_function(u, "native_count", arguments, 3);
}

/* Jumps to a branch's target. A jump backwards may end the fragment's turn. */
static LLVMBasicBlockRef jump_to(struct unit *u, const struct ir_insn *in)
{
    if (in->target > in->index)
        return code_at(u, in->target);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(u->b);
    LLVMBasicBlockRef back = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMPositionBuilderAtEnd(u->b, back);
    LLVMValueRef over = call_function(u, "native_turn_over", &u->warp, 1);
    LLVMBuildCondBr(u->b, over, unit_leave(u, in->target, LEAVE_YIELD), code_at(u, in->target));
    LLVMPositionBuilderAtEnd(u->b, here);
    return back;
}

static void branch(struct unit *u, const struct ir_insn *in)
{
    if (!in->guard) {
        LLVMBuildBr(u->b, jump_to(u, in));
        return;
    }
    LLVMBasicBlockRef taken = jump_to(u, in), next = code_at(u, in->index + 1);
    LLVMValueRef lanes = guard_bits(u, in), none = number(u, 32, 0);
    if (is_uniform(u, in->guard)) {
        LLVMBuildCondBr(u->b, LLVMBuildICmp(u->b, LLVMIntNE, lanes, none, ""), taken, next);
        return;
    }
    lanes = LLVMBuildAnd(u->b, lanes, u->mask, "");
    LLVMBasicBlockRef some = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMBuildCondBr(u->b, LLVMBuildICmp(u->b, LLVMIntEQ, lanes, none, ""), next, some);
    LLVMPositionBuilderAtEnd(u->b, some);
    store_to(u, lanes, u->taken, u->i32);
    LLVMBuildCondBr(u->b, LLVMBuildICmp(u->b, LLVMIntEQ, lanes, u->mask, ""), taken,
                    unit_leave(u, in->index, LEAVE_SPLIT));
}

/* Whether an instruction is a barrier that reads no register. */
static bool waits(struct unit *u, const struct ir_insn *in)
{
    const struct held *a = held_at(u, in->a), *b = held_at(u, in->b);
    return in->op == IR_BAR && (!a || a->constant) && (!b || b->constant);
}

/* Translates from an instruction to the end of its block. */
static void translate_block(struct unit *u, uint32_t first)
{
    const uint32_t end = ptx_block_end(u->f, first);
    for (uint32_t i = first; i < end; i++) {
        const struct ir_insn *in = &u->f->insns[i];
        if (i > first && u->at[i]) {
            LLVMBuildBr(u->b, u->at[i]);
            return;
        }
        if (in->op == IR_ENTER || in->op == IR_ENTER_JOIN) {
            begin_block(u, in);
        } else if (in->op == IR_BRA) {
            branch(u, in);
            return;
        } else if (ends_unit(u, in)) {
            LLVMBuildBr(u->b, unit_leave(u, i, waits(u, in) ? LEAVE_WAIT : LEAVE_RETURN));
            return;
        } else if (!lanes_translate(u, in) && !accesses_translate(u, in)) {
            unit_step(u, in);
        }
    }
    if (end < u->f->insn_count)
        LLVMBuildBr(u->b, code_at(u, end));
    else
        LLVMBuildUnreachable(u->b);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void make_types(struct unit *u)
{
    u->i1 = LLVMInt1TypeInContext(u->context);
    u->i8 = LLVMInt8TypeInContext(u->context);
    u->i32 = LLVMInt32TypeInContext(u->context);
    u->i64 = LLVMInt64TypeInContext(u->context);
    u->bits32 = LLVMVectorType(u->i1, VG_LANES);
    u->v32 = LLVMVectorType(u->i32, VG_LANES);
    u->v64 = LLVMVectorType(u->i64, VG_LANES);
    u->pointer = LLVMPointerType(u->i8, 0);
}

static void make_held(struct unit *u)
{
    for (uint32_t i = 0; i < u->f->slot_count; i++) {
        const struct ir_slot *slot = &u->f->slots[i];
        u->held[i] = (struct held){.offset = slot->offset,
                                   .bits = slot->bytes == 4     ? 1
                                           : slot->bytes == 128 ? 32
                                           : slot->bytes == 256 ? 64
                                                                : 0,
                                   .constant = u->flow->constant[i]};
    }
}

static void translate_all(struct unit *u, const char *name)
{
    make_types(u);
    make_held(u);
    classes_find(u);
    make_function(u, name);
    read_warp(u);
    make_variables(u);
    u->taken = variable(u, u->i32);
    uint32_t count, *starts = find_starts(u, &count);
    enter_all(u);
    for (uint32_t i = 0; i < count; i++) {
        LLVMPositionBuilderAtEnd(u->b, u->at[starts[i]]);
        translate_block(u, starts[i]);
    }
    free(starts);
}

bool unit_translate(const struct native *native, LLVMModuleRef module, const struct ir_function *f,
                    const uint32_t *entries, size_t entry_count, const uint8_t *kinds,
                    const char *name, struct native_saved **saved)
{
    struct unit u = {.native = native,
                     .f = f,
                     .kinds = kinds,
                     .entries = entries,
                     .entry_count = entry_count,
                     .module = module};
    u.context = LLVMGetModuleContext(module);
    struct ptx_flow *flow = native->services->flow_new(f);
    if (!flow)
        return false;
    u.flow = flow;
    u.held = calloc(f->slot_count + 1, sizeof *u.held);
    u.set = calloc(flow->words + 1, sizeof *u.set);
    u.at = calloc(f->insn_count + 1, sizeof *u.at);
    for (int i = 0; i < LEAVES; i++)
        u.leave[i] = calloc(f->insn_count + 1, sizeof **u.leave);
    const bool made =
        u.held && u.set && u.at && u.leave[0] && u.leave[1] && u.leave[2] && u.leave[3];
    if (made) {
        u.b = LLVMCreateBuilderInContext(u.context);
        u.at_entry = LLVMCreateBuilderInContext(u.context);
        translate_all(&u, name);
        LLVMDisposeBuilder(u.b);
        LLVMDisposeBuilder(u.at_entry);
    }
    for (int i = 0; i < LEAVES; i++)
        free(u.leave[i]);
    free(u.at);
    free(u.set);
    free(u.held);
    native->services->flow_free(flow);
    *saved = u.saved;
    return made;
}
