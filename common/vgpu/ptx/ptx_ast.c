/* A parsed module as a whole: freeing it, and joining the modules of a separately compiled program
 * (nvcc -rdc=true), like a linker. Names are resolved later, when instructions are decoded
 * (variable_find() and function_find()): a unit's local names first, then the definitions of all
 * units. */
#include "vgpu/ptx/ptx_ast.h"

#include <stdlib.h>
#include <string.h>

static void join_files(struct ptx_ast *to, struct ptx_ast *from)
{
    int offset = 0, calls = (int)to->call_count;
    for (size_t i = 0; i < to->file_count; i++)
        if (to->files[i].number >= offset)
            offset = to->files[i].number + 1;
    for (size_t i = 0; i < from->file_count; i++) {
        struct ptx_file *added = PTX_ADD(to, file);
        *added = from->files[i];
        added->number += offset;
    }
    for (size_t f = 0; f < from->function_count; f++)
        for (size_t i = 0; i < from->functions[f].instruction_count; i++) {
            struct ptx_location *at = &from->functions[f].instructions[i].location;
            at->file += offset;
            at->caller += at->caller ? calls : 0;
        }
    for (size_t i = 0; i < from->call_count; i++) {
        struct ptx_inlined_call *call = &from->calls[i];
        call->file += offset;
        call->caller += call->caller ? calls : 0;
        *PTX_ADD(to, call) = *call;
    }
}

void ptx_ast_join(struct ptx_ast *to, struct ptx_ast *from)
{
    const int unit = ++to->units;
    join_files(to, from);
    for (size_t i = 0; i < from->variable_count; i++) {
        struct ptx_variable *added = PTX_ADD(to, variable);
        *added = from->variables[i];
        added->unit = unit;
    }
    for (size_t i = 0; i < from->function_count; i++) {
        struct ptx_function *added = PTX_ADD(to, function);
        *added = from->functions[i];
        added->unit = unit;
    }
    for (size_t i = 0; i < from->alias_count; i++) {
        to->aliases = ptx_grow(to->aliases, to->alias_count, &to->alias_room, sizeof *to->aliases);
        to->aliases[to->alias_count++] = from->aliases[i];
    }
    if (from->version_major > to->version_major)
        to->version_major = from->version_major;
    ptx_arena_join(&to->arena, &from->arena);
    free(from->variables);
    free(from->functions);
    free(from->files);
    free(from->aliases);
    free(from->calls);
    memset(from, 0, sizeof *from);
}

static void free_variables(struct ptx_variable *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list[i].init);
    free(list);
}

void ptx_ast_free(struct ptx_ast *ast)
{
    free_variables(ast->variables, ast->variable_count);
    for (size_t i = 0; i < ast->function_count; i++) {
        struct ptx_function *f = &ast->functions[i];
        free_variables(f->params, f->param_count);
        free_variables(f->returns, f->return_count);
        free_variables(f->variables, f->variable_count);
        free(f->registers);
        free(f->instructions);
        free(f->labels);
        free(f->targets);
        free(f->scope_parent);
    }
    free(ast->functions);
    free(ast->files);
    free(ast->aliases);
    free(ast->calls);
    ptx_arena_free(&ast->arena);
    memset(ast, 0, sizeof *ast);
}
