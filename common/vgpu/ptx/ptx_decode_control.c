/* Decoders of branches, calls, barriers, and operations between the lanes of a warp. */
#include "vgpu/ptx/ptx_decoder.h"

#include <string.h>

/* sub: the mode; d: a predicate, or a register for ballot and popc */
void decode_VOTE(struct decoder *d, struct ir_insn *in)
{
    const bool is_number = in->sub == SUB_BALLOT || in->sub == SUB_POPC;
    if (is_number == (d->suffixes.types[0] == PTX_TYPE_pred))
        decode_problem(d, "the result's type does not fit this instruction");
    decode_PLAIN(d, in);
}

/* sub: enum ir_atom */
void decode_REDUX(struct decoder *d, struct ir_insn *in)
{
    decode_PLAIN(d, in);
    in->sub = (uint8_t)d->suffixes.atom;
}

/* a: barrier number, b: threads (0: all) */
void decode_BAR(struct decoder *d, struct ir_insn *in)
{
    if (!d->in->count)
        in->a = constant(d, 0, false);
    decode_PLAIN(d, in);
}

/* @return whether a scope has two labels with a name. */
static bool is_ambiguous(const struct ptx_function *f, const char *name)
{
    for (const struct ptx_label *l = f->labels, *end = l + f->label_count; l < end; l++)
        for (const struct ptx_label *k = strcmp(l->name, name) == 0 ? l + 1 : end; k < end; k++)
            if (k->scope == l->scope && strcmp(k->name, name) == 0)
                return true;
    return false;
}

static uint32_t label_block(struct decoder *d, const char *name)
{
    long at = name ? ptx_label_find(d->function, name, d->in->scope) : -1;
    if (at < 0) {
        decode_problem(d, "no label '%.60s'", name ? name : "");
        return 0;
    }
    if (is_ambiguous(d->function, name))
        decode_problem(d, "the label '%.60s' is defined twice", name);
    if ((size_t)at >= d->function->instruction_count)
        return (uint32_t)d->cfg.block_count; /* the end of the function */
    return (uint32_t)d->cfg.block_of[at];
}

/* target: a block at first; ptx_decode.c replaces it by an instruction */
void decode_BRA(struct decoder *d, struct ir_insn *in)
{
    in->target = label_block(d, operand(d, 0)->name);
}

void decode_BRX(struct decoder *d, struct ir_insn *in)
{
    const struct ptx_operand *list = operand(d, 1);
    in->a = source(d, operand(d, 0), 4, PTX_TYPE_u32);
    for (size_t i = 0; list->name && i < d->function->target_count; i++) {
        const struct ptx_targets *t = &d->function->targets[i];
        if (strcmp(t->name, list->name) != 0)
            continue;
        for (size_t k = 0; k < t->count; k++)
            decode_extra(d, in, label_block(d, t->labels[k]));
        return;
    }
    decode_problem(d, "the branch has no list of targets");
}

static void call_list(struct decoder *d, struct ir_insn *in, const struct ptx_operand *list)
{
    decode_extra(d, in, list ? (uint32_t)list->elements : 0);
    for (int i = 0; list && i < list->elements; i++) {
        const struct ptx_operand *o = &d->in->operands[list->first + i];
        struct ptx_variable *v = o->kind == PTX_NAME && o->name ? variable_find(d, o->name) : NULL;
        if (!v || v->space != PTX_SPACE_PARAM)
            decode_problem(d, "arguments of a call must be .param variables");
        else
            decode_extra(d, in, (uint32_t)v->address);
    }
}

static void missing_function(struct decoder *d, const char *name)
{
    if (strncmp(name, "cuda", 4) == 0)
        decode_problem(d, "'%.60s' cannot be called from a kernel on the virtual GPU", name);
    else
        decode_problem(d, "no module of the program defines function '%.80s'", name);
}

/* extra: number of results and their local offsets, number of arguments and their local offsets;
 * target: function, or if wide_address is set, a: its address */
void decode_CALL(struct decoder *d, struct ir_insn *in)
{
    int i = 0;
    const struct ptx_operand *results = NULL, *arguments = NULL;
    if (operand(d, i)->kind == PTX_LIST)
        results = operand(d, i++);
    const struct ptx_operand *callee = operand(d, i++);
    if (i < d->in->count && operand(d, i)->kind == PTX_LIST)
        arguments = operand(d, i);
    struct slot s;
    if (callee->name && slot_exists(d, callee->name, &s)) {
        in->wide_address = true;
        in->a = s.offset;
        d->to->recursive_or_indirect = true;
    } else {
        int f = callee->name ? function_find(d, callee->name) : -1;
        if (f < 0 || (!d->module->functions[f].has_body && !d->module->functions[f].builtin))
            missing_function(d, callee->name ? callee->name : "");
        else
            in->target = (uint32_t)f;
    }
    call_list(d, in, results);
    call_list(d, in, arguments);
}
