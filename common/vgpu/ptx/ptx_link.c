/* Joining the modules of one program, as a linker does: what separate compilation (nvcc -rdc=true)
 * left apart. Names are resolved later, when instructions are decoded (variable_find() and
 * function_find()): a unit's own local names first, then what any unit defines. */
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
        to->files = ptx_grow(to->files, to->file_count, &to->file_room, sizeof *to->files);
        to->files[to->file_count] = from->files[i];
        to->files[to->file_count++].number += offset;
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
        to->calls = ptx_grow(to->calls, to->call_count, &to->call_room, sizeof *to->calls);
        to->calls[to->call_count++] = *call;
    }
}

void ptx_ast_join(struct ptx_ast *to, struct ptx_ast *from)
{
    const int unit = ++to->units;
    join_files(to, from);
    for (size_t i = 0; i < from->variable_count; i++) {
        to->variables =
            ptx_grow(to->variables, to->variable_count, &to->variable_room, sizeof *to->variables);
        to->variables[to->variable_count] = from->variables[i];
        to->variables[to->variable_count++].unit = unit;
    }
    for (size_t i = 0; i < from->function_count; i++) {
        to->functions =
            ptx_grow(to->functions, to->function_count, &to->function_room, sizeof *to->functions);
        to->functions[to->function_count] = from->functions[i];
        to->functions[to->function_count++].unit = unit;
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
