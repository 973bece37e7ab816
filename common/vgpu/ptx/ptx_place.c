/* Lays out variables. Shared memory contains the module's variables first, then those of device
 * functions, then each kernel's own; a kernel's shared memory ends after the last variable that it
 * uses. Parameters and locals are in the local memory of a call, but a kernel's parameters are in
 * its parameter block. */
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

/* @return the end of a shared variable of the module; 0: no such variable. */
static size_t shared_end_of(const struct ptx_ast *ast, const char *name)
{
    size_t end = 0;
    for (size_t i = 0; i < ast->variable_count; i++) {
        const struct ptx_variable *v = &ast->variables[i];
        if (v->space == PTX_SPACE_SHARED && strcmp(v->name, name) == 0 &&
            v->address + v->bytes > end)
            end = v->address + v->bytes;
    }
    return end;
}

/* Reads the names in an instruction: functions, and shared variables. A named variable's end is the
 * least amount of shared memory that the function needs. */
static void read_names(struct decoder *d, const struct ptx_instruction *in, size_t *end,
                       bool *calls)
{
    const bool is_call = strncmp(in->opcode, "call", 4) == 0;
    int n = in->count;
    for (int k = 0; k < n; k++) {
        const struct ptx_operand *o = &in->operands[k];
        if (o->elements && o->first + o->elements > n)
            n = o->first + o->elements;
        if (is_call && k < in->count && o->kind == PTX_NAME && o->name[0] == '%')
            for (size_t g = 0; g < d->ast->function_count; g++)
                calls[g] |= !d->ast->functions[g].is_entry; /* indirect: any function */
        if (!o->name || o->name[0] == '%')
            continue;
        const size_t named = shared_end_of(d->ast, o->name);
        *end = named > *end ? named : *end;
        if (is_call || strncmp(in->opcode, "mov", 3) == 0) {
            int callee = function_find(d, o->name);
            if (callee >= 0)
                calls[callee] = true;
        }
    }
}

/* Places a function's own shared variables. @return their end; @p end if it has none */
static size_t place_own(struct ptx_function *f, size_t end)
{
    for (size_t i = 0; i < f->variable_count; i++)
        place_shared(&f->variables[i], &end);
    return end;
}

static bool has_shared(const struct ptx_function *f)
{
    for (size_t i = 0; i < f->variable_count; i++)
        if (f->variables[i].space == PTX_SPACE_SHARED)
            return true;
    return false;
}

/* Adds to a function's needs those of the functions that it calls. */
static void spread(size_t n, const bool *calls, size_t *ends)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t f = 0; f < n; f++)
            for (size_t g = 0; g < n; g++)
                if (calls[f * n + g] && ends[g] > ends[f]) {
                    ends[f] = ends[g];
                    changed = true;
                }
    }
}

/* @return the strictest alignment of all dynamic arrays, which begin at the same offset. */
static size_t dynamic_alignment(const struct ptx_ast *ast)
{
    size_t most = 16;
    for (size_t i = 0; i < ast->variable_count; i++) {
        const struct ptx_variable *v = &ast->variables[i];
        if (v->space == PTX_SPACE_SHARED && v->is_extern && v->unsized && v->alignment > most)
            most = v->alignment;
    }
    return most;
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
        if (!ast->functions[f].is_entry && has_shared(&ast->functions[f]))
            ends[f] = end = place_own(&ast->functions[f], end);
    for (size_t f = 0; f < n; f++) {
        d->function = &ast->functions[f];
        for (size_t i = 0; i < d->function->instruction_count; i++)
            read_names(d, &d->function->instructions[i], &ends[f], calls + f * n);
    }
    spread(n, calls, ends);
    for (size_t f = 0; f < n; f++)
        if (ast->functions[f].is_entry) {
            d->module->functions[f].shared_bytes = place_own(&ast->functions[f], ends[f]);
            d->module->functions[f].shared_alignment = dynamic_alignment(ast);
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
