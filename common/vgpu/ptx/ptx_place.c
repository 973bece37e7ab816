/* The places of variables. Shared ones: those of the module first, then those of device functions, then
 * each kernel's own (what a kernel does not use behind its last one costs it nothing). Parameters and
 * locals lie in the local memory of a call, a kernel's parameters in its parameter block. */
#include "vgpu/ptx/ptx_decoder.h"

#include <stdlib.h>
#include <string.h>

static size_t align_up(size_t n, size_t alignment)
{
    return alignment ? (n + alignment - 1) / alignment * alignment : n;
}

/* ---- shared memory ------------------------------------------------------------------------ */

static void place_shared(struct ptx_variable *v, size_t *end)
{
    if (v->space != PTX_SPACE_SHARED || (v->is_extern && v->unsized))
        return;
    *end = align_up(*end, v->alignment);
    v->address = *end;
    *end += v->bytes;
}

/* The end of the shared variables that a function names itself, and the functions it calls. */
static size_t shared_end_of(struct decoder *d, size_t f, bool *calls)
{
    const struct ptx_function *from = &d->ast->functions[f];
    size_t end = 0;
    for (size_t i = 0; i < from->instruction_count; i++) {
        const struct ptx_instruction *in = &from->instructions[i];
        int n = in->count;
        for (int k = 0; k < n; k++) {
            const struct ptx_operand *o = &in->operands[k];
            if (o->elements && o->first + o->elements > n)
                n = o->first + o->elements;
            if (!o->name || o->name[0] == '%')
                continue;
            for (size_t v = 0; v < d->ast->variable_count; v++) {
                const struct ptx_variable *var = &d->ast->variables[v];
                if (var->space == PTX_SPACE_SHARED && strcmp(var->name, o->name) == 0 &&
                    var->address + var->bytes > end)
                    end = var->address + var->bytes;
            }
            if (strncmp(in->opcode, "call", 4) == 0 || strncmp(in->opcode, "mov", 3) == 0) {
                int callee = function_find(d, o->name);
                if (callee >= 0)
                    calls[callee] = true;
            }
        }
        if (strncmp(in->opcode, "call", 4) == 0 && in->count && n > 0)
            for (int k = 0; k < in->count; k++)
                if (in->operands[k].kind == PTX_NAME && in->operands[k].name[0] == '%')
                    for (size_t g = 0; g < d->ast->function_count; g++)
                        calls[g] |= !d->ast->functions[g].is_entry; /* indirect: any of them */
    }
    return end;
}

void place_all_shared(struct decoder *d)
{
    struct ptx_ast *ast = d->ast;
    size_t n = ast->function_count, end = 0;
    bool *calls = calloc(n * n + 1, sizeof *calls);
    size_t *ends = calloc(n + 1, sizeof *ends);
    if (!calls || !ends)
        abort();
    for (size_t i = 0; i < ast->variable_count; i++)
        place_shared(&ast->variables[i], &end);
    for (size_t f = 0; f < n; f++)
        if (!ast->functions[f].is_entry)
            for (size_t i = 0; i < ast->functions[f].variable_count; i++) {
                struct ptx_variable *v = &ast->functions[f].variables[i];
                place_shared(v, &end);
                if (v->space == PTX_SPACE_SHARED)
                    ends[f] = end;
            }
    for (size_t f = 0; f < n; f++) {
        d->function = &ast->functions[f];
        size_t own = shared_end_of(d, f, calls + f * n);
        ends[f] = ends[f] > own ? ends[f] : own;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t f = 0; f < n; f++)
            for (size_t g = 0; g < n; g++)
                if (calls[f * n + g] && ends[g] > ends[f]) {
                    ends[f] = ends[g];
                    changed = true;
                }
    }
    for (size_t f = 0; f < n; f++)
        if (ast->functions[f].is_entry) {
            for (size_t i = 0; i < ast->functions[f].variable_count; i++)
                place_shared(&ast->functions[f].variables[i], &ends[f]);
            d->module->functions[f].shared_bytes = ends[f];
            d->module->functions[f].shared_alignment = 16;
        }
    free(calls);
    free(ends);
}

/* ---- parameters and locals ---------------------------------------------------------------- */

static struct ir_parameter *place_parameters(struct ptx_variable *v, size_t n, size_t *end)
{
    struct ir_parameter *to = calloc(n + 1, sizeof *to);
    if (!to)
        abort();
    for (size_t i = 0; i < n; i++) {
        *end = align_up(*end, v[i].alignment);
        v[i].address = *end;
        to[i] = (struct ir_parameter){*end, v[i].bytes};
        *end += v[i].bytes;
    }
    return to;
}

void place_locals(struct ptx_function *f, struct ir_function *to)
{
    size_t end = 0;
    to->params = place_parameters(f->params, f->param_count, &end);
    to->param_count = f->param_count;
    if (f->is_entry) {
        to->param_bytes = end;
        end = 0;
    }
    to->returns = place_parameters(f->returns, f->return_count, &end);
    to->return_count = f->return_count;
    for (size_t i = 0; i < f->variable_count; i++) {
        struct ptx_variable *v = &f->variables[i];
        if (v->space != PTX_SPACE_LOCAL && v->space != PTX_SPACE_PARAM)
            continue;
        end = align_up(end, v->alignment);
        v->address = end;
        end += v->bytes;
    }
    to->local_bytes = align_up(end, 16);
}
