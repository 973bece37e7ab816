/** @file
 * Internal interface of the decoder. From the top down: ptx_decode.c walks functions, ptx_place.c
 * lays out memory, ptx_rows.c finds an opcode's row, ptx_decode_*.c and ptx_columns.c read the
 * operands of a row, ptx_operands.c turns an operand into a slot, ptx_names.c resolves names,
 * ptx_emit.c appends instructions and problems.
 */
#pragma once

#include "vgpu/ptx/ptx_cfg.h"
#include "vgpu/ptx/ptx_decode.h"
#include "vgpu/ptx/ptx_match.h"

enum { SINK_BYTES = 256, MAX_PROBLEMS = 400, OPCODES_KEPT = 256, ROWS_KEPT = 12 };

/** The unsupported features of a whole module. */
struct problems {
    int count;
    char text[512];
    size_t used;
};

/** An opcode's text, and its meaning. */
struct opcode {
    const char *text; /**< NULL while unused */
    char base[24];
    struct ir_suffixes suffixes;
    int row[ROWS_KEPT]; /**< the first matching rows; their operands may differ */
    int rows;
};

/** The decoder's position in a module. */
struct decoder {
    struct ptx_ast *ast;
    struct ir_module *module;
    struct problems *problems;
    struct ptx_function *function;
    struct ir_function *to;
    struct ptx_cfg cfg;
    const struct ptx_instruction *in; /**< the instruction that is being decoded */
    struct ir_suffixes suffixes;      /**< its suffixes and row */
    const struct ir_row *row;
    struct opcode opcodes[OPCODES_KEPT]; /**< indexed by a hash of the text */
    uint32_t **slots;                    /**< [register families][number] offset; 0: not used yet */
    uint32_t predicate_room;             /**< predicates left in the current 64-byte group */
    uint32_t predicate_next;
    uint32_t *block_label; /**< [blocks] index of the block's ENTER */
    uint32_t block;
    int32_t location;
};

/** A register's slot and type. */
struct slot {
    uint32_t offset;
    enum ptx_type type;
};

/* ---- ptx_emit.c */

/** Records that the current instruction cannot be executed, and the reason. */
__attribute__((format(printf, 2, 3))) void decode_problem(struct decoder *d, const char *text, ...);
/** Appends an instruction; only its op and its source line are set. */
struct ir_insn *decode_emit(struct decoder *d, enum ir_op op);
/** Like decode_emit() in two steps, for instructions whose operands need other instructions
 * first. */
struct ir_insn decode_start(const struct decoder *d, enum ir_op op);
struct ir_insn *decode_append(struct decoder *d, const struct ir_insn *in);
/** Appends an extra word to an instruction's. */
void decode_extra(struct decoder *d, struct ir_insn *in, uint32_t word);

/* ---- ptx_names.c */

/** @return the variable or parameter with this name that is visible from the current instruction,
 * or NULL. */
struct ptx_variable *variable_find(struct decoder *d, const char *name);
/** @return the index of the function with this name, preferably its definition, or -1. */
int function_find(const struct decoder *d, const char *name);
/** @return the special register with this name, or SREG_NONE. */
enum ir_sreg sreg_find(const char *name, bool *wide);

/* ---- ptx_operands.c */

uint32_t predicate_new(struct decoder *d);
/** @return the bytes of a slot with all lanes; 0 for a predicate. */
uint32_t slot_bytes(enum ptx_type type);
/** @return the bytes of one lane in a slot, 4 or 8. */
uint32_t type_lanes(enum ptx_type type);
/** Finds a register. If it is undefined, reports a problem and returns the sink. */
struct slot slot_find(struct decoder *d, const char *name);
bool slot_exists(struct decoder *d, const char *name, struct slot *to);
/** @return the type of the register that an operand names, or PTX_TYPE_none. */
enum ptx_type register_type(const struct decoder *d, const struct ptx_operand *o);
/** @return operand i of the instruction. If it is missing, reports a problem and returns a
 * dummy. */
const struct ptx_operand *operand(struct decoder *d, int i);
/** @return the slot of a source of 4 or 8 bytes. The type is for literals. */
uint32_t source(struct decoder *d, const struct ptx_operand *o, uint32_t bytes, enum ptx_type type);
/** @return the slot of a source that keeps its register's width. */
struct slot source_any(struct decoder *d, const struct ptx_operand *o, enum ptx_type type);
uint32_t destination(struct decoder *d, const char *name, uint32_t bytes);
uint32_t predicate(struct decoder *d, const char *name);
/** @return the slot of a predicate operand. It may be a literal, or negated: then this emits a
 * NOT. */
uint32_t predicate_source(struct decoder *d, const struct ptx_operand *o);
/** @return the slot of a constant: an equal constant of the function, or a new one.
 * @p wanted->offset is not read. */
uint32_t constant_slot(struct decoder *d, const struct ir_constant *wanted);
uint32_t constant(struct decoder *d, uint64_t bits, bool wide);
/** Reads an address as parts: sets the fields of @p in that exec/ops_address.inc uses. */
void address(struct decoder *d, const struct ptx_operand *o, struct ir_insn *in);
/** @return the slot of a whole address; @p wide becomes whether it has 64 bits. */
uint32_t address_slot(struct decoder *d, const struct ptx_operand *o, bool *wide);
/** @return the slot of a 128-bit register; the sink and numbers are too small and not accepted. */
uint32_t register_128(struct decoder *d, const struct ptx_operand *o);
/** @return element i of a list, or the operand itself if it is not a list. */
const struct ptx_operand *element(struct decoder *d, const struct ptx_operand *o, int i);
/** @return whether an operand is a list of @p n elements; otherwise reports a problem. */
bool list_check(struct decoder *d, const struct ptx_operand *list, int n);
/** Appends the slots of a list's elements to the extra words. An element has up to 4 bytes, or
 * 8. */
void list_sources(struct decoder *d, struct ir_insn *in, const struct ptx_operand *list,
                  uint32_t bytes, enum ptx_type type);
void list_destinations(struct decoder *d, struct ir_insn *in, const struct ptx_operand *list,
                       uint32_t bytes);

/* ---- ptx_columns.c, ptx_decode_*.c */

/** @return whether the operands of the current instruction have the kinds of a row. */
bool operands_fit(const struct decoder *d, const struct ir_row *row);

/** Reads the operands of an instruction by the columns of its row: sources first, then
 * destinations. */
void decode_PLAIN(struct decoder *d, struct ir_insn *in);
void decode_VIDEO(struct decoder *d, struct ir_insn *in);
/* The decoders named in the rows. */
#define LANE1(...)
#define LANE2(...)
#define LANE3(...)
#define LANE4(...)
#define SHAPED(ID, BASE, REQ, OPT, CLASS, SLOTS, COLUMNS, DECODER, TEXT)                           \
    void decode_##DECODER(struct decoder *d, struct ir_insn *in);
#include "vgpu/ptx/opcodes.def"

/* ---- ptx_place.c */

/** Gives a function's parameters and locals their offsets in the local memory of a call. */
void place_locals(struct ptx_function *f, struct ir_function *to);
/** Gives shared variables their offsets, and kernels their amounts of shared memory. */
void place_all_shared(struct decoder *d);
