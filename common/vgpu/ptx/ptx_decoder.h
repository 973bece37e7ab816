/** @file
 * What the parts of the decoder share: ptx_decode.c walks functions, ptx_operands.c turns operands
 * into slots, ptx_shapes.c reads the operands of each shape of instruction.
 */
#ifndef CONVLAB_PTX_DECODER_H
#define CONVLAB_PTX_DECODER_H

#include "vgpu/ptx/ptx_cfg.h"
#include "vgpu/ptx/ptx_decode.h"

#include <stdarg.h>

enum { SINK_BYTES = 256, MAX_PROBLEMS = 400 };

struct problems {
    int count;
    char text[512];
    size_t used;
};

struct decoder {
    struct ptx_ast *ast;
    struct ir_module *module;
    struct problems *problems;
    struct ptx_function *function;
    struct ir_function *to;
    struct ptx_cfg cfg;
    const struct ptx_instruction *in; /* being decoded */
    struct ir_suffixes suffixes;
    const struct ir_row *row;
    uint32_t **slots;        /* [register families][number]: offset, 0 while unused */
    uint32_t predicate_room; /* predicates left in the current 64-byte group */
    uint32_t predicate_next;
    uint32_t *block_label; /* [blocks] index of ENTER */
    uint32_t block;
    int32_t location;
};

/** A register's slot and type. */
struct slot {
    uint32_t offset;
    enum ptx_type type;
};

__attribute__((format(printf, 2, 3))) void decode_problem(struct decoder *d, const char *text, ...);

/** Appends an instruction with the row's op and the current place in the source. */
struct ir_insn *decode_emit(struct decoder *d, enum ir_op op);
/** The same in two steps, for instructions whose operands need instructions before them. */
struct ir_insn decode_start(const struct decoder *d, enum ir_op op);
struct ir_insn *decode_append(struct decoder *d, const struct ir_insn *in);
void decode_extra(struct decoder *d, struct ir_insn *in, uint32_t word);

uint32_t slot_new(struct decoder *d, uint32_t bytes);
uint32_t predicate_new(struct decoder *d);
uint32_t slot_bytes(enum ptx_type type);
/** Finds a register; reports a problem (and gives the sink) when there is none. */
struct slot slot_find(struct decoder *d, const char *name);
bool slot_exists(struct decoder *d, const char *name, struct slot *to);
/** Operand i of the instruction; reports a problem and gives a dummy when it is missing. */
const struct ptx_operand *operand(struct decoder *d, int i);
/** A source of so many bytes (4 or 8) and that type for literals. */
uint32_t source(struct decoder *d, const struct ptx_operand *o, uint32_t bytes, enum ptx_type type);
/** A source that keeps its register's width. */
struct slot source_any(struct decoder *d, const struct ptx_operand *o, enum ptx_type type);
uint32_t destination(struct decoder *d, const char *name, uint32_t bytes);
uint32_t predicate(struct decoder *d, const char *name);
/** A predicate operand, which may be negated or a literal; what is negated gets a NOT first. */
uint32_t predicate_source(struct decoder *d, const struct ptx_operand *o);
uint32_t constant(struct decoder *d, uint64_t bits, bool wide);
void address(struct decoder *d, const struct ptx_operand *o, struct ir_insn *in);
struct ptx_variable *variable_find(struct decoder *d, const char *name);
int function_find(const struct decoder *d, const char *name);

/** Decodes the current instruction with the current row. */
void shape_decode(struct decoder *d, enum ir_op op);
/** @return whether the current instruction's operands are of the kind that a row is for. */
bool shape_accepts(struct decoder *d, const struct ir_row *row);
enum ir_sreg sreg_find(const char *name, bool *wide);

#endif
