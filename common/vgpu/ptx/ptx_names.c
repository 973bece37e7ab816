/* Names in operands, except register families: variables, functions and special registers. */
#include "vgpu/ptx/ptx_decoder.h"

#include <string.h>

struct ptx_variable *variable_find(struct decoder *d, const char *name)
{
    struct ptx_function *f = d->function;
    for (int scope = d->in ? d->in->scope : 0; scope >= 0; scope = f->scope_parent[scope])
        for (size_t i = 0; i < f->variable_count; i++)
            if (f->variables[i].scope == scope && strcmp(f->variables[i].name, name) == 0)
                return &f->variables[i];
    for (size_t i = 0; i < f->param_count; i++)
        if (strcmp(f->params[i].name, name) == 0)
            return &f->params[i];
    for (size_t i = 0; i < f->return_count; i++)
        if (strcmp(f->returns[i].name, name) == 0)
            return &f->returns[i];
    struct ptx_variable *defined = NULL, *declared = NULL;
    for (size_t i = 0; i < d->ast->variable_count; i++) {
        struct ptx_variable *v = &d->ast->variables[i];
        if (strcmp(v->name, name) != 0)
            continue;
        if (v->is_local && v->unit == f->unit)
            return v;
        if (v->is_extern && v->unit == f->unit)
            declared = v;
        else if (!v->is_local && !v->is_extern && !defined)
            defined = v;
    }
    return defined ? defined : declared;
}

int function_find(const struct decoder *d, const char *name)
{
    for (int tries = 0; tries < 4; tries++) {
        int declared = -1, defined = -1;
        for (size_t i = 0; i < d->ast->function_count; i++) {
            const struct ptx_function *f = &d->ast->functions[i];
            if (strcmp(f->name, name) != 0 || (f->is_local && f->unit != d->function->unit))
                continue;
            declared = (int)i;
            if (f->has_body && (defined < 0 || f->is_local))
                defined = declared;
        }
        if (defined >= 0)
            return defined;
        const char *target = NULL;
        for (size_t i = 0; i < d->ast->alias_count; i++)
            if (strcmp(d->ast->aliases[i].name, name) == 0)
                target = d->ast->aliases[i].target;
        if (!target)
            return declared;
        name = target;
    }
    return -1;
}

enum ir_sreg sreg_find(const char *name, bool *wide)
{
#define SREG(name, text, bits) {text, SREG_##name, (bits) == 64},
    static const struct {
        const char *name;
        enum ir_sreg sreg;
        bool wide;
    } table[] = {
        IR_SREG_MAP(SREG){"%reserved_smem_offset_0", SREG_RESERVED_SMEM, false},
        {"%reserved_smem_offset_1", SREG_RESERVED_SMEM, false},
        {"%reserved_smem_offset_cap", SREG_RESERVED_SMEM_END, false},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, name) == 0) {
            *wide = table[i].wide;
            return table[i].sreg;
        }
    *wide = false;
    return SREG_NONE;
}
