/* A unit as a whole: its blocks, its entries, and the known values of registers in a block. */
#include "vgpu/native/unit.h"

#include "vgpu/exec/warp_size.h"
#include "vgpu/native/bodies.h"
#include "vgpu/native/call_stub.h"
#include "vgpu/native/spans.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_INSTRUCTIONS = 6000 }; /* of a unit; the interpreter executes further blocks */

/* ---- choice of blocks ------------------------------------------------------------------------ */

bool unit_ends(const struct unit *u, const struct ir_insn *in)
{
    return in->op == IR_CALL || in->op == IR_RET || in->op == IR_EXIT || in->op == IR_TRAP ||
           (u->native->services->rows[in->op].whole_warp && !unit_is_together(u, in));
}

bool unit_is_together(const struct unit *u, const struct ir_insn *in)
{
    return u->native->services->rows[in->op].is_together;
}

static void add_start(struct unit *u, uint32_t index, uint32_t *list, uint32_t *count)
{
    u->ways[index]++;
    if (u->at[index])
        return;
    u->at[index] = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    list[(*count)++] = index;
}

/* Finds where code starts in the unit: at its entries, and at the blocks that can be reached from
 * them, up to a limit of the unit's size. @return the starts, owned by the caller */
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
    for (size_t i = 0; i < u->entry_count; i++)
        u->ways[u->entries[i]]++;
    for (uint32_t k = 0; k < *count && size < MOST_INSTRUCTIONS; k++) {
        const uint32_t end = ptx_block_end(f, list[k]);
        uint32_t i = list[k];
        while (i < end && !unit_ends(u, &f->insns[i]))
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
    LLVMTypeRef types[] = {u->pointer, u->pointer, u->pointer};
    return LLVMFunctionType(u->pointer, types, 3, false);
}

/* Declares to LLVM that only the code's own loads and stores, and saved.c, access homes. */
static void name_homes(struct unit *u)
{
    LLVMMetadataRef name = LLVMMDStringInContext2(u->context, "homes", 5);
    LLVMMetadataRef domain = LLVMMDNodeInContext2(u->context, &name, 1), parts[] = {name, domain};
    LLVMMetadataRef scope = LLVMMDNodeInContext2(u->context, parts, 2);
    u->homes = LLVMMetadataAsValue(u->context, LLVMMDNodeInContext2(u->context, &scope, 1));
}

/* @return whether an instruction other than the code's own loads and stores may access homes: only
 * a call that gets the room may, and only functions of saved.c get it. */
static bool may_access_homes(LLVMValueRef in, LLVMValueRef room)
{
    if (!LLVMIsACallInst(in))
        return false;
    for (int i = 0; i < LLVMGetNumOperands(in); i++)
        if (LLVMGetOperand(in, (unsigned)i) == room)
            return true;
    return false;
}

/* Presents the room to LLVM as memory that only this function knows, like its own allocation. So
 * LLVM may keep homes in registers during a loop, and store them at the loop's exits. */
static const char own_room_name[] = "native_room";

static LLVMValueRef own_room_of(struct unit *u, LLVMValueRef room)
{
    LLVMTypeRef type = LLVMFunctionType(u->pointer, &u->pointer, 1, false);
    LLVMValueRef f = LLVMAddFunction(u->module, own_room_name, type);
    static const char *const attributes[] = {"noinline", "nounwind", "willreturn", "readnone",
                                             "memory"};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        add_attribute(f, attributes[i], NULL);
    LLVMValueRef call = LLVMBuildCall2(u->b, type, f, &room, 1, "");
    add_call_attribute(call, LLVMAttributeReturnIndex, "noalias", 0);
    add_call_attribute(call, LLVMAttributeReturnIndex, "align", 64);
    add_call_attribute(call, LLVMAttributeReturnIndex, "dereferenceable", vg_saved_bytes(u->f));
    return call;
}

static LLVMValueRef room_call(LLVMModuleRef module)
{
    LLVMUseRef use = LLVMGetFirstUse(LLVMGetNamedFunction(module, own_room_name));
    return use ? LLVMGetUser(use) : NULL;
}

void unit_name_room(LLVMModuleRef module)
{
    LLVMValueRef call = room_call(module);
    if (call) {
        LLVMReplaceAllUsesWith(call, LLVMGetOperand(call, 0));
        LLVMInstructionEraseFromParent(call);
    }
    LLVMDeleteFunction(LLVMGetNamedFunction(module, own_room_name));
}

void unit_mark_homes(LLVMModuleRef module, const char *name)
{
    struct unit u = {.context = LLVMGetModuleContext(module)};
    LLVMValueRef f = LLVMGetNamedFunction(module, name), room = room_call(module);
    const unsigned homes = homes_kind(u.context), others = others_kind(u.context);
    name_homes(&u);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in)) {
            const bool accesses =
                LLVMIsALoadInst(in) || LLVMIsAStoreInst(in) || LLVMIsACallInst(in);
            if (accesses && !LLVMGetMetadata(in, homes) && !may_access_homes(in, room))
                LLVMSetMetadata(in, others, u.homes);
        }
}

static void make_function(struct unit *u, const char *name)
{
    u->code = LLVMAddFunction(u->module, name, code_type(u));
    add_attribute(u->code, "noredzone", NULL); /* the stub is called from assembly */
    add_attribute(u->code, "nounwind", NULL);
    add_attribute(u->code, "no-jump-tables", "true"); /* RuntimeDyld may place them too far away */
    if (native_has_masks(u->native)) {
        add_attribute(u->code, "min-legal-vector-width", "512");
        add_attribute(u->code, "prefer-vector-width", "512");
    }
    u->in = LLVMGetParam(u->code, 0);
    u->warp = LLVMGetParam(u->code, 1);
    name_homes(u);
    LLVMBasicBlockRef variables = LLVMAppendBasicBlockInContext(u->context, u->code, "variables");
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(u->context, u->code, "entry");
    LLVMPositionBuilderAtEnd(u->at_entry, variables);
    LLVMValueRef jump = LLVMBuildBr(u->at_entry, entry);
    LLVMPositionBuilderBefore(u->at_entry, jump);
    LLVMPositionBuilderAtEnd(u->b, entry);
    u->room = LLVMGetParam(u->code, 2);
    u->own_room = own_room_of(u, u->room);
}

void unit_read_mask(struct unit *u)
{
    store_to(u, call_function(u, "native_mask", &u->warp, 1), u->mask, u->i32);
}

LLVMValueRef of_warp(struct unit *u, const char *name)
{
    return LLVMBuildBitCast(u->b, call_function(u, name, &u->warp, 1), u->pointer, "");
}

static void read_warp(struct unit *u)
{
    u->registers = of_warp(u, "native_registers");
    u->sites = of_warp(u, "native_sites");
    u->span_edges = of_warp(u, "native_span_edges");
    u->memory = of_warp(u, "native_memory");
    u->worker = of_warp(u, "native_worker");
    u->mask = variable(u, u->i32);
    u->passed = LLVMBuildArrayAlloca(u->at_entry, u->i8, number(u, 32, 0), "");
    LLVMSetAlignment(u->passed, 64);
    for (uint32_t i = 0; i < u->f->insn_count; i++)
        if (u->regions[i].end)
            u->regions[i].outer = variable(u, u->i32);
    unit_read_mask(u);
}

/* Makes the base of a constant slot: a number, or a parameter, which is read where the code
 * begins. */
static void make_constant(struct unit *u, struct held *h)
{
    const struct ir_constant *c = h->constant;
    if (!c->is_param)
        h->base = number(u, h->bits, c->wide ? c->bits : c->bits & 0xffffffffu);
    else
        h->base = load_from(u, type_of_bits(u, h->bits), frame_place(u, h->offset));
}

/* @return whether the unit may be left before an instruction. */
static bool unit_may_leave_at(struct unit *u, const struct ir_insn *in)
{
    return unit_ends(u, in) || unit_is_together(u, in) || may_widen(u, in) ||
           region_is_left_at(u, in);
}

/* Finds the registers that need a home: values that later code or the interpreter may need. */
static void find_homes(struct unit *u)
{
    for (uint32_t i = 0; i < u->f->insn_count; i++) {
        const struct ir_insn *in = &u->f->insns[i];
        const bool starts = i == 0 || in->block != in[-1].block || u->at[i];
        if (!starts && !unit_may_leave_at(u, in))
            continue;
        u->native->services->flow_live(u->flow, i, u->set);
        for (uint32_t k = 0; k < u->f->slot_count; k++)
            u->held[k].has_home |= ptx_set_has(u->set, k) && u->held[k].bits;
    }
    for (uint32_t k = 0; k < u->f->slot_count; k++)
        if (u->held[k].constant && u->held[k].bits)
            make_constant(u, &u->held[k]);
}

/* @return whether warps enter the unit from a barrier, at which they may have left their registers
 * at home. */
static bool continues(const struct unit *u, uint32_t entry)
{
    return entry > 0 && u->f->insns[entry - 1].op == IR_BAR;
}

/* Enters the unit. If the code does not apply to the fragment, it returns at once, without
 * effect. */
static void enter(struct unit *u, uint32_t entry, LLVMBasicBlockRef declined)
{
    if (continues(u, entry)) {
        LLVMBasicBlockRef anew = LLVMAppendBasicBlockInContext(u->context, u->code, "");
        LLVMValueRef arguments[] = {u->warp, address_of(u, leave_plan(u, entry))};
        LLVMBuildCondBr(u->b, call_function(u, "native_continues", arguments, 2),
                        control_to(u, entry), anew);
        LLVMPositionBuilderAtEnd(u->b, anew);
        leave_settle_kept(u);
    }
    mark_likely(LLVMBuildCondBr(u->b, leave_enter(u, entry), control_to(u, entry), declined), true);
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

/* ---- known values --------------------------------------------------------------------------- */

struct known *known_copy(struct unit *u)
{
    struct known *k = calloc(u->f->slot_count + 1, sizeof *k);
    if (!k)
        abort();
    for (uint32_t i = 0; i < u->f->slot_count; i++)
        k[i] = (struct known){u->held[i].base, u->held[i].lanes};
    return k;
}

void known_set(struct unit *u, const struct known *k)
{
    for (uint32_t i = 0; i < u->f->slot_count; i++) {
        struct held *h = &u->held[i];
        if (h->constant)
            continue;
        h->base = k ? k[i].base : NULL;
        h->lanes = k ? k[i].lanes : NULL;
    }
}

void known_free(struct known *k)
{
    free(k);
}

/* ---- instructions executed by handlers ------------------------------------------------------- */

/* Sets the warp's mask, for handlers. */
static void set_mask(struct unit *u, LLVMValueRef mask)
{
    LLVMValueRef arguments[] = {u->warp, mask};
    call_function(u, "native_set_mask", arguments, 2);
}

/* Calls the handlers of instructions. A rare call keeps all vector registers, so that LLVM need not
 * save any; an ordinary one is quicker. @return the next instruction */
static LLVMValueRef call_handlers(struct unit *u, uint32_t first, LLVMValueRef end, bool is_rare)
{
    LLVMValueRef arguments[4] = {address_of(u, &u->f->insns[first]), u->warp, end};
    LLVMTypeRef types[] = {u->pointer, u->pointer, u->pointer};
    if (!is_rare)
        return call_address(u, (const void *)(uintptr_t)native_steps_to,
                            LLVMFunctionType(u->pointer, types, 3, false), arguments, 3);
    arguments[3] = address_of(u, native_stub(u->native->target));
    return stub_call(u->b, arguments);
}

static void run_handlers(struct unit *u, uint32_t first, uint32_t last, LLVMValueRef room,
                         const struct native_saved *reads, const struct native_saved *results,
                         bool is_rare)
{
    LLVMValueRef end = address_of(u, &u->f->insns[last + 1]);
    const bool some = u->inside != NO_REGION;
    if (some)
        set_mask(u, mask_of(u));
    if (room)
        leave_write(u, reads, room);
    LLVMValueRef next = call_handlers(u, first, end, is_rare);
    LLVMBasicBlockRef gone = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMBasicBlockRef on = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMValueRef same = LLVMBuildICmp(u->b, LLVMIntEQ, next, end, "");
    mark_likely(LLVMBuildCondBr(u->b, same, on, gone), true);
    LLVMPositionBuilderAtEnd(u->b, gone);
    LLVMBuildRet(u->b, next); /* a fault has ended the block */
    LLVMPositionBuilderAtEnd(u->b, on);
    if (room)
        leave_read(u, results, room); /* always true: uniform registers stay uniform */
    if (some)
        set_mask(u, outer_mask(u, u->inside));
}

void unit_run_handlers(struct unit *u, uint32_t first, uint32_t last, LLVMValueRef room,
                       const struct native_saved *reads, const struct native_saved *results)
{
    run_handlers(u, first, last, room, reads, results, true);
}

void unit_step(struct unit *u, const struct ir_insn *in, bool is_rare)
{
    struct ptx_operands o;
    u->native->services->flow_operands(u->flow, in, &o);
    for (int i = 0; i < o.read_count; i++)
        write_back(u, &u->held[o.reads[i]]);
    for (int i = 0; i < o.write_count && !o.certain; i++)
        write_back(u, &u->held[o.writes[i]]);
    run_handlers(u, in->index, in->index, NULL, NULL, NULL, is_rare);
}

static void step(struct unit *u, const struct ir_insn *in)
{
    struct ptx_operands o;
    u->native->services->flow_operands(u->flow, in, &o);
    unit_step(u, in, false);
    for (int i = 0; i < o.write_count; i++) {
        struct held *h = &u->held[o.writes[i]];
        if (h->bits && !h->constant)
            set_read(u, h, read_frame(u, h));
    }
    if (is_followed_load(in))
        leave_if_copying(u, in->index + 1);
}

void unit_translate_one(struct unit *u, const struct ir_insn *in)
{
    if (!lanes_translate(u, in) && !accesses_translate(u, in))
        step(u, in);
}

/* @return whether an instruction is a barrier that reads no registers. */
static bool waits(struct unit *u, const struct ir_insn *in)
{
    const struct held *a = held_at(u, in->a), *b = held_at(u, in->b);
    return in->op == IR_BAR && (!a || a->constant) && (!b || b->constant);
}

/* Translates an instruction that waits at most for other lanes of the warp. If some are elsewhere,
 * leaves the unit. */
static void translate_together(struct unit *u, const struct ir_insn *in)
{
    LLVMBasicBlockRef on = LLVMAppendBasicBlockInContext(u->context, u->code, "");
    LLVMValueRef all = call_function(u, "native_alive", &u->warp, 1);
    LLVMValueRef here = LLVMBuildICmp(u->b, LLVMIntEQ, mask_of(u), all, "");
    mark_likely(LLVMBuildCondBr(u->b, here, on, unit_leave(u, in->index, LEAVE_RETURN)), true);
    LLVMPositionBuilderAtEnd(u->b, on);
    unit_translate_one(u, in);
}

/* Translates from an instruction to the end of its block. */
static void translate_block(struct unit *u, uint32_t first)
{
    const uint32_t end = ptx_block_end(u->f, first);
    known_set(u, u->known[first]);
    u->inside = u->regions[first].inside;
    struct span span;
    for (uint32_t i = first; i < end; i++) {
        const struct ir_insn *in = &u->f->insns[i];
        if (i > first && u->at[i]) {
            LLVMBuildBr(u->b, control_to(u, i));
            return;
        }
        if (in->op == IR_ENTER || in->op == IR_ENTER_JOIN) {
            control_begin(u, in);
        } else if (in->op == IR_BRA) {
            control_branch(u, in);
            return;
        } else if (unit_ends(u, in)) {
            LLVMBuildBr(u->b, unit_leave(u, i, waits(u, in) ? LEAVE_WAIT : LEAVE_RETURN));
            return;
        } else if (unit_is_together(u, in)) {
            translate_together(u, in);
        } else if (span_find(u, i, &span)) {
            span_translate(u, &span);
            span_free(&span);
            i = span.last;
        } else {
            unit_translate_one(u, in);
        }
    }
    control_pass_on(u, end);
    if (end < u->f->insn_count)
        LLVMBuildBr(u->b, control_to(u, end));
    else
        LLVMBuildUnreachable(u->b);
}

/* ---- the whole unit -------------------------------------------------------------------------- */

static void make_types(struct unit *u)
{
    u->i1 = LLVMInt1TypeInContext(u->context);
    u->i8 = LLVMInt8TypeInContext(u->context);
    u->i32 = LLVMInt32TypeInContext(u->context);
    u->i64 = LLVMInt64TypeInContext(u->context);
    u->v32 = LLVMVectorType(u->i32, VG_LANES);
    u->v64 = LLVMVectorType(u->i64, VG_LANES);
    u->pointer = LLVMPointerType(u->i8, 0);
}

static void make_held(struct unit *u)
{
    for (uint32_t i = 0; i < u->f->slot_count; i++) {
        const struct ir_slot *slot = &u->f->slots[i];
        u->held[i] = (struct held){.offset = slot->offset,
                                   .base_home = (uint32_t)(u->f->frame_bytes + 16 * i),
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
    make_function(u, name);
    uint32_t count, *starts = find_starts(u, &count);
    regions_find(u);
    u->inside = NO_REGION;
    read_warp(u);
    find_homes(u);
    enter_all(u);
    for (uint32_t i = 0; i < count; i++) {
        LLVMPositionBuilderAtEnd(u->b, u->at[starts[i]]);
        translate_block(u, starts[i]);
    }
    LLVMSetOperand(u->passed, 0, number(u, 32, u->passed_bytes));
    free(starts);
}

bool unit_translate(const struct native *native, LLVMModuleRef module, const struct ir_function *f,
                    const uint32_t *entries, size_t entry_count, const uint8_t *kinds,
                    const char *name, struct address_table *addresses, struct native_kept **kept)
{
    struct unit u = {.native = native,
                     .f = f,
                     .kinds = kinds,
                     .entries = entries,
                     .entry_count = entry_count,
                     .module = module,
                     .addresses = addresses};
    u.context = LLVMGetModuleContext(module);
    struct ptx_flow *flow = native->services->flow_new(f);
    if (!flow)
        return false;
    u.flow = flow;
    u.held = calloc(f->slot_count + 1, sizeof *u.held);
    u.set = calloc(flow->words + 1, sizeof *u.set);
    u.at = calloc(f->insn_count + 1, sizeof *u.at);
    u.regions = calloc(f->insn_count + 1, sizeof *u.regions);
    u.plans = calloc(f->insn_count + 1, sizeof *u.plans);
    u.known = calloc(f->insn_count + 1, sizeof *u.known);
    u.ways = calloc(f->insn_count + 1, sizeof *u.ways);
    for (int i = 0; i < LEAVES; i++)
        u.leave[i] = calloc(f->insn_count + 1, sizeof **u.leave);
    const bool made = u.held && u.set && u.at && u.regions && u.plans && u.known && u.ways &&
                      u.leave[0] && u.leave[1] && u.leave[2] && u.leave[3];
    if (made) {
        u.b = LLVMCreateBuilderInContext(u.context);
        u.at_entry = LLVMCreateBuilderInContext(u.context);
        translate_all(&u, name);
        LLVMDisposeBuilder(u.b);
        LLVMDisposeBuilder(u.at_entry);
    }
    for (int i = 0; i < LEAVES; i++)
        free(u.leave[i]);
    for (size_t i = 0; u.known && i < f->insn_count; i++)
        known_free(u.known[i]);
    free(u.ways);
    free(u.known);
    free(u.plans);
    free(u.regions);
    free(u.at);
    free(u.set);
    free(u.held);
    native->services->flow_free(flow);
    *kept = u.kept;
    return made;
}
