/** @file
 * A parsed PTX module, with names not yet resolved. ptx_decode.h translates its functions to IR.
 *
 * The module's arena owns everything except the arrays; ptx_ast_free() frees both.
 */
#pragma once

#include "base/status.h"
#include "vgpu/ptx/ptx_arena.h"
#include "vgpu/ptx/ptx_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Part of an initialiser: a number, or the address of a name. */
struct ptx_init {
    uint64_t bits;
    bool is_float, is_single;
    const char *symbol; /**< NULL for a number */
    int64_t offset;
};

/** A variable in a state space, or a parameter. */
struct ptx_variable {
    const char *name;
    enum ptx_space space;
    enum ptx_type type;
    size_t bytes, alignment;
    bool is_extern, unsized;
    bool is_local; /**< has no linkage: visible only in its own unit */
    int unit;      /**< number of its unit, see ptx_ast.units */
    struct ptx_init *init;
    size_t inits;
    int scope, line;
    uint64_t address; /**< set by the loader: address, or offset in the state space */
};

enum ptx_operand_kind {
    PTX_NAME,    /**< register, variable, label, function, "_" */
    PTX_LITERAL, /**< number */
    PTX_ADDRESS, /**< [name + offset] or [number] */
    PTX_VECTOR,  /**< {a, b, ...}: elements follow in the instruction's operand list */
    PTX_LIST,    /**< (a, b, ...) of a call */
};

struct ptx_operand {
    enum ptx_operand_kind kind;
    const char *name;  /**< of names and addresses; NULL: an address without a name */
    const char *name2; /**< "p|q": the second destination */
    bool negated;      /**< "!%p" */
    bool is_float, is_single;
    uint64_t bits;
    int64_t offset;
    int elements; /**< of a vector or list: they are operands[first ...] of the instruction */
    int first;
};

/** The source line of an instruction. */
struct ptx_location {
    int file, line;
    int caller; /**< index into ptx_ast.calls of its inlined call, plus 1; 0: none */
};

/** An inlined call, and the call at which the calling function was inlined. */
struct ptx_inlined_call {
    int file, line, column;
    int caller; /**< like ptx_location.caller */
};

struct ptx_instruction {
    const char *opcode; /**< with all suffixes */
    const char *guard;  /**< predicate register, or NULL */
    bool guard_negated;
    struct ptx_operand *operands;
    int count; /**< number of top-level operands */
    int scope; /**< index of the innermost { } that contains it */
    int line;  /**< in the PTX text */
    int row;   /**< in opcodes.def, set by ptx_decode(); -1: not supported */
    struct ptx_location location;
};

struct ptx_label {
    const char *name;
    int scope;
    size_t instruction; /**< index of the first instruction after the label */
};

/** "name: .branchtargets a, b;" and "name: .callprototype ..." */
struct ptx_targets {
    const char *name;
    const char **labels;
    size_t count;
    int scope;
};

struct ptx_register {
    const char *name; /**< "%r" for a numbered family */
    int count;        /**< size of the family, 0 for a single register */
    enum ptx_type type;
    int scope;
};

struct ptx_function {
    const char *name;
    bool is_entry, has_body;
    bool is_local; /**< see struct ptx_variable */
    int unit;
    struct ptx_variable *params, *returns;
    size_t param_count, return_count, param_room, return_room;
    struct ptx_variable *variables;
    size_t variable_count, variable_room;
    struct ptx_register *registers;
    size_t register_count, register_room;
    struct ptx_instruction *instructions;
    size_t instruction_count, instruction_room;
    struct ptx_label *labels;
    size_t label_count, label_room;
    struct ptx_targets *targets;
    size_t target_count, target_room;
    int *scope_parent; /**< [scopes]; scope 0 is the body, its parent -1 */
    size_t scope_count, scope_room;
    uint32_t max_threads[3], required_threads[3];
    int64_t min_blocks, max_registers; /**< .minnctapersm and .maxnreg, 0 for none */
    uint32_t cluster[3];               /**< size in blocks; 0: not given */
    uint32_t max_cluster;              /**< .maxclusterrank, 0 for none */
    bool explicit_cluster;             /**< every launch must give the size of its clusters */
    bool blocks_are_clusters;          /**< a launch's grid counts clusters, not blocks */
    int line;
};

struct ptx_file {
    int number;
    const char *path;
};

struct ptx_ast {
    struct ptx_arena arena;
    int version_major, version_minor;
    int target; /**< 75 for sm_75; 0: not given */
    struct ptx_variable *variables;
    size_t variable_count, variable_room;
    struct ptx_function *functions;
    size_t function_count, function_room;
    struct ptx_file *files;
    size_t file_count, file_room;
    struct ptx_aliases {
        const char *name, *target;
    } * aliases;
    size_t alias_count, alias_room;
    struct ptx_inlined_call *calls;
    size_t call_count, call_room;
    int units; /**< number of joined units, minus 1 */
};

/** Parses a module. @return ST_OK, or ST_BAD_FORMAT with line, expected and got; @p ast is then
 * empty. */
enum st_code ptx_parse(struct ptx_ast *ast, const char *text, size_t bytes, struct st_error *err);
/** Links two modules: moves the contents of @p from into @p to as a further unit; @p from is then
 * empty. */
void ptx_ast_join(struct ptx_ast *to, struct ptx_ast *from);
/** Frees a module; harmless on a zeroed one. */
void ptx_ast_free(struct ptx_ast *ast);
