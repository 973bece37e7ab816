/** @file
 * A unit of translation: what can be reached from some places of a function without the interpreter.
 *
 * A unit is entered by a fragment, whose lanes (its mask) do not change in it: a branch that parts them,
 * a barrier, a call and an exit leave to the interpreter. So no result needs a mask; only what leaves the
 * unit, stores and the registers that are live where it ends, does.
 *
 * The value of a register is kept as `base + lanes[i]`. Of a uniform one there is only the base, a scalar:
 * it is the same in all lanes of the fragment. Of one that is the sum of something uniform and something
 * else (an index, an address), a change of the uniform part leaves the lanes alone: LLVM sees that they do
 * not change in a loop, and with them all that is asked of them (how addresses lie relative to each
 * other, the smallest and largest). What is called uniform was found from the code; that it is so where
 * a unit is entered is checked there.
 */
#ifndef CONVLAB_VGPU_NATIVE_UNIT_H
#define CONVLAB_VGPU_NATIVE_UNIT_H

#include "vgpu/native/saved.h"

#include <llvm-c/Core.h>

/** How a register is kept. */
struct held {
    uint32_t offset; /**< in the frame */
    int bits; /**< 32, 64; 1: a predicate, kept as a word with a bit a lane; 0: in the frame only */
    bool uniform, affine;     /**< affine: has a base that is not always 0 */
    LLVMValueRef base, lanes; /**< variables (allocas); of a constant, base is its value */
    const struct ir_constant *constant;
};

/** LEAVE_WAIT: at a barrier, from which a unit goes on. */
enum leaving { LEAVE_RETURN, LEAVE_YIELD, LEAVE_SPLIT, LEAVE_WAIT, LEAVES };

/** The translator of one thread. */
struct native {
    const struct vg_handlers *handlers;
    const struct vg_services *services;
    const char *target;
    struct native_machine *machine; /**< machine_code.c */
};

struct unit {
    const struct native *native;
    const struct ir_function *f;
    const struct ptx_flow *flow;
    const uint8_t *kinds;    /**< by sites, or NULL: see vg_translator */
    const uint32_t *entries; /**< [entry_count] instructions at which it may be entered */
    size_t entry_count;
    struct held *held;     /**< [slots] */
    uint64_t *set;         /**< [flow->words] to work with */
    LLVMBasicBlockRef *at; /**< [insns] the code that starts there; NULL: none in the unit */
    LLVMBasicBlockRef *leave[LEAVES]; /**< [insns] where the unit is left, made when needed */

    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b, at_entry; /**< at_entry: where variables are made */
    LLVMValueRef code;          /**< the function */
    LLVMTypeRef i1, i8, i32, i64, bits32, v32, v64, pointer;
    LLVMValueRef warp, in, registers, mask, mask_bits, lead, sites, threads, meeting, worker,
        memory;
    LLVMValueRef room;          /**< vg_warp.saved */
    struct native_saved *saved; /**< made for where the unit is left; the caller's in the end */
    LLVMValueRef taken;         /**< variable: lanes that take a branch */
};

/* ---- unit.c */

/** Adds the code of a unit to a module that has the functions of the bitcode. @param saved  set to what
 * the code refers to: a list that must live as long. @return false without memory. */
bool unit_translate(const struct native *native, LLVMModuleRef module, const struct ir_function *f,
                    const uint32_t *entries, size_t entry_count, const uint8_t *kinds,
                    const char *name, struct native_saved **saved);
/** Executes an instruction by its handler. */
void unit_step(struct unit *u, const struct ir_insn *in);

/* ---- leave.c */

/** @return where the unit is left for the interpreter, at instruction @p index. */
LLVMBasicBlockRef unit_leave(struct unit *u, uint32_t index, enum leaving how);
/** Reads the live registers as a unit has saved them that was left before instruction @p index. */
void leave_restore(struct unit *u, uint32_t index);

/* ---- classes.c */

/** Finds out which registers are uniform and affine. */
void classes_find(struct unit *u);
/** What a row makes of affine operands. */
enum form {
    FORM_NONE,
    FORM_SUM,         /**< add, sub: part by part */
    FORM_PRODUCT,     /**< of something affine and something uniform */
    FORM_PRODUCT_SUM, /**< the same, and something added */
    FORM_SHIFT,
    FORM_MOVE,
    FORM_NARROW,
    FORM_WIDE,
    FORM_WIDE_PRODUCT,
    FORM_WIDE_PRODUCT_SUM,
};
enum form form_of(const struct ir_insn *in, bool *is_signed);
/** @return whether a load is quick when all lanes name one address. */
bool is_quick_load(const struct unit *u, const struct ir_insn *in);
bool is_quick_store(const struct unit *u, const struct ir_insn *in);
bool is_of_shared(const struct ir_insn *in);
/** @return the number of elements of 4 bytes of an access that is done inline, or 0. */
uint32_t access_words(const struct ir_insn *in);
/** @return whether a special register is one number while a unit runs, and whether it is one for all
 * lanes. */
bool is_steady(enum ir_sreg which);
bool is_of_lane(enum ir_sreg which);

/* ---- values.c */

struct held *held_at(struct unit *u, uint32_t offset);
bool is_uniform(struct unit *u, uint32_t offset);
bool is_affine(struct unit *u, uint32_t offset);
LLVMTypeRef type_of_bits(struct unit *u, int bits);
LLVMTypeRef lanes_of_bits(struct unit *u, int bits);
LLVMValueRef number(struct unit *u, int bits, uint64_t value);
LLVMValueRef variable(struct unit *u, LLVMTypeRef type);
LLVMValueRef splat(struct unit *u, LLVMValueRef scalar, int bits);
/** A host address as a constant. */
LLVMValueRef address_of(struct unit *u, const void *at);
/** A pointer as one to another type. */
LLVMValueRef pointer_to(struct unit *u, LLVMTypeRef type, LLVMValueRef pointer);
/** Calls a function of the bitcode by name; pointers are converted. */
LLVMValueRef call_function(struct unit *u, const char *name, LLVMValueRef *arguments, unsigned n);
/** Calls a C function at an address. */
LLVMValueRef call_address(struct unit *u, const void *function, LLVMTypeRef type,
                          LLVMValueRef *arguments, unsigned n);
LLVMValueRef call_intrinsic(struct unit *u, const char *name, LLVMTypeRef *types, size_t type_count,
                            LLVMValueRef *arguments, unsigned n);
LLVMValueRef load_from(struct unit *u, LLVMTypeRef type, LLVMValueRef from);
void store_to(struct unit *u, LLVMValueRef value, LLVMValueRef to, LLVMTypeRef type);

/** The parts of a value, and the whole in all lanes. Predicates: a word. */
LLVMValueRef get_base(struct unit *u, uint32_t offset, int bits);
LLVMValueRef get_lanes(struct unit *u, uint32_t offset, int bits);
LLVMValueRef get_vector(struct unit *u, uint32_t offset, int bits);
LLVMValueRef get_predicate(struct unit *u, uint32_t offset);
/** Sets a register for the lanes of the instruction's guard. lanes NULL: all the same. */
void set_parts(struct unit *u, const struct ir_insn *in, uint32_t offset, LLVMValueRef base,
               LLVMValueRef lanes);
void set_predicate(struct unit *u, const struct ir_insn *in, uint32_t offset, LLVMValueRef bits);
/** @return what set_predicate() sets: an instruction that sets two asks before it sets one, which may be
 * its guard. */
LLVMValueRef guarded_predicate(struct unit *u, const struct ir_insn *in, uint32_t offset,
                               LLVMValueRef bits);
/** The guard of an instruction as a word of lanes (of any lanes, not only the fragment's). */
LLVMValueRef guard_bits(struct unit *u, const struct ir_insn *in);
LLVMValueRef bits_to_flags(struct unit *u, LLVMValueRef bits);

/** Gives a function an attribute. @param value  NULL for one that has none; one that this LLVM does not
 * know is left out. */
void add_attribute(LLVMValueRef function, const char *name, const char *value);

LLVMValueRef frame_place(struct unit *u, uint32_t offset);
/** A register between its variables and the frame. */
void write_back(struct unit *u, struct held *h);
void read_back(struct unit *u, struct held *h);

/* ---- lanes.c, accesses.c */

/** Translates an instruction. @return false if it is none that is done inline. */
bool lanes_translate(struct unit *u, const struct ir_insn *in);
bool accesses_translate(struct unit *u, const struct ir_insn *in);

#endif
