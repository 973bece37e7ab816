/** @file
 * A unit of translation: the code that a fragment can reach from some places of a function without the
 * interpreter. A barrier, a call and an exit leave it.
 *
 * The value of a register is kept as `base + lanes[i]`. A uniform register, which is the same in all lanes
 * of the fragment, has only the base, a scalar. Of a sum of something uniform and something else (an
 * index, an address), a change of the uniform part leaves the lanes alone: LLVM sees that they do not
 * change in a loop, and moves everything that depends on them only out of it, such as the pattern of a
 * memory access. The classes are found from the code (classes.c) and checked where a unit is entered.
 *
 * Within a basic block the parts are values of LLVM. A register that is live where another block begins,
 * or where the unit may be left, also has a home in the warp's room, to which each new value is stored.
 * So code that leaves has nothing to save: a call moves what is live from the homes to the frame
 * (leave.c, saved.c). Homes have an alias scope of their own, so that LLVM keeps what it has loaded.
 *
 * Lanes outside the mask compute, too: nobody sees what. The mask matters where values leave the unit, in
 * memory accesses, and in regions (regions.c): there some lanes wait, and what they will read must not
 * change. A branch that has no region splits the fragment, and the unit continues with one part.
 */
#pragma once

#include "vgpu/native/address_table.h"
#include "vgpu/native/saved.h"

#include <llvm-c/Core.h>

/** How a register is kept. Within a block its parts are values; if it lives longer, each new value goes
 * to its home as well. */
struct held {
    uint32_t offset;    /**< in the frame; and of the home of its lanes in the warp's room */
    uint32_t base_home; /**< offset of the home of its base */
    int bits; /**< 32, 64; 1: a predicate, kept as a word with a bit a lane; 0: in the frame only */
    bool uniform, affine; /**< affine: has a base that is not always 0 */
    bool has_home;        /**< it may be live where a block begins or the unit is left */
    bool blends;          /**< it is written where some lanes wait, and read behind */
    bool is_whole;        /**< it has no base of its own */
    bool
        any_nan; /**< a float32; its NaNs are any, and the one NaN of the row where that can be seen */
    LLVMValueRef base, lanes;           /**< values in the current block; NULL: only at home */
    const struct ir_constant *constant; /**< (then base is its value everywhere) */
};

/** Of a branch: the instructions that some lanes execute while others wait at their end (regions.c). Of
 * every instruction: in which such region it is. */
struct region {
    uint32_t first, end; /**< end 0: the branch has none */
    uint32_t around;     /**< the branch of the next larger region, or NO_REGION */
    uint32_t inside;     /**< of the instruction: the branch of the innermost region */
    bool is_loop;
    LLVMValueRef outer; /**< variable: the mask of all that came to the region */
};
enum { NO_REGION = UINT32_MAX };

/** LEAVE_WAIT: at a barrier, from which a unit continues. */
enum leaving { LEAVE_RETURN, LEAVE_YIELD, LEAVE_WAIT, LEAVES };

/** The translator of one thread. */
struct native {
    const struct vg_handlers *handlers;
    const struct vg_services *services;
    const char *target;
    struct native_machine *machine; /**< machine_code.c */
};

/** The parts of a register's value that are known in a block; NULL: not. */
struct known {
    LLVMValueRef base, lanes;
};

struct span;

struct unit {
    const struct native *native;
    const struct ir_function *f;
    const struct ptx_flow *flow;
    const uint8_t *kinds;    /**< by sites, or NULL: see vg_translator */
    const uint32_t *entries; /**< [entry_count] instructions at which it may be entered */
    size_t entry_count;
    struct held *held;      /**< [slots] */
    struct region *regions; /**< [insns] */
    uint32_t inside;        /**< the region of the current block, or NO_REGION */
    uint64_t *set;          /**< [flow->words] to work with */
    LLVMBasicBlockRef *at;  /**< [insns] the code that starts there; NULL: none in the unit */
    LLVMBasicBlockRef *leave[LEAVES]; /**< [insns] where the unit is left, made when needed */
    struct native_saved **plans;      /**< [insns] how registers are kept there, made when needed */
    struct known **known;             /**< [insns] values with which a block begins, or NULL */
    uint32_t *ways;                   /**< [insns] number of ways to a block */
    struct span *span; /**< whose instructions are translated without checks, or NULL */

    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b, at_entry; /**< at_entry: where variables are made */
    LLVMValueRef code;          /**< the function */
    LLVMTypeRef i1, i8, i32, i64, bits32, v32, v64, pointer;
    LLVMValueRef warp, in, registers, sites, worker, memory;
    LLVMValueRef room;        /**< vg_warp.saved: the homes */
    LLVMValueRef own_room;    /**< the same, for homes that LLVM may keep in registers in a loop */
    LLVMValueRef homes;       /**< metadata: what homes only are accessed by */
    LLVMValueRef mask;        /**< variable */
    struct native_kept *kept; /**< all plans and strands; the caller's in the end */
    struct address_table *addresses;
};

/* ---- unit.c */

/** Adds the code of a unit to a module that has the functions of the bitcode. @param kept  set to what
 * the code refers to: a list that must live as long. @return false without memory. */
bool unit_translate(const struct native *native, LLVMModuleRef module, const struct ir_function *f,
                    const uint32_t *entries, size_t entry_count, const uint8_t *kinds,
                    const char *name, struct address_table *addresses, struct native_kept **kept);
/** @return whether a unit ends at an instruction: its handler may park the fragment or change its lanes. */
bool unit_ends(const struct unit *u, const struct ir_insn *in);
/** Executes an instruction by its handler, from frame to frame. */
void unit_step(struct unit *u, const struct ir_insn *in);
/** Executes instructions of a block by their handlers; what they read is in the frame. */
void unit_run_handlers(struct unit *u, uint32_t first, uint32_t last);
/** Translates an instruction that is not a branch and does not end the unit. */
void unit_translate_one(struct unit *u, const struct ir_insn *in);
/** Says of all instructions of a unit which of them access no homes, once its calls are inlined. */
void unit_mark_homes(LLVMModuleRef module, const char *name);
/** Lets LLVM know what the room is, when all its passes have run. */
void unit_name_room(LLVMModuleRef module);
/** The values that are known of registers in the current block. @return a copy */
struct known *known_copy(struct unit *u);
/** @param k  NULL: none but constants */
void known_set(struct unit *u, const struct known *k);
void known_free(struct known *k);

/** Sets the variable for the mask from the warp. */
void unit_read_mask(struct unit *u);
/** @return what a function of the bitcode says of the warp, as a pointer to bytes. */
LLVMValueRef of_warp(struct unit *u, const char *name);

/* ---- control.c */

/** @return the code at an instruction that starts a block, for a jump from the current one: in the unit,
 * or where it is left. On the way, lanes that waited take part again, and a loop of some lanes begins. */
LLVMBasicBlockRef control_to(struct unit *u, uint32_t index);
/** Lets a block that is reached from the current one only begin with what is known now. */
void control_pass_on(struct unit *u, uint32_t to);
/** Translates ENTER, ENTER_JOIN and BRA. */
void control_begin(struct unit *u, const struct ir_insn *in);
void control_branch(struct unit *u, const struct ir_insn *in);

/* ---- leave.c */

/** @return where the unit is left for the interpreter, at instruction @p index. */
LLVMBasicBlockRef unit_leave(struct unit *u, uint32_t index, enum leaving how);
/** Writes what other code has left at home to the frame. */
void leave_settle_kept(struct unit *u);
/** @return the mask of the fragment, in which that of a place in a region is contained. */
LLVMValueRef outer_mask(struct unit *u, uint32_t region);
/** @return how the registers that are live before instruction @p index are kept. */
const struct native_saved *leave_plan(struct unit *u, uint32_t index);
/** Fills the homes of the registers that are live before an instruction from the frame. @return whether
 * they are what they are held for. */
LLVMValueRef leave_enter(struct unit *u, uint32_t index);
/** Writes the registers that are live before an instruction to the frame, from their homes. */
void leave_settle(struct unit *u, uint32_t index);

/* ---- regions.c */

/** Finds registers' classes, and what is executed by some lanes while others wait. */
void regions_find(struct unit *u);
/** @return whether an instruction is a branch that some lanes may take and others not. */
bool region_may_part(struct unit *u, const struct ir_insn *in);
/** @return whether the lanes that take a branch in a loop wait where the loop ends. */
bool region_has_way_out(const struct region *r, const struct ir_insn *in);

/* ---- classes.c */

/** Finds out which registers are uniform and affine. */
void classes_find(struct unit *u);
/** Finds the registers that only float32 arithmetic sets. */
void classes_find_numbers(struct unit *u);
/** @return whether a row is float32 arithmetic that takes any NaN, and gives one: one that the caller
 * may choose with NATIVE_ANY_NAN in the row's mode. */
bool is_number_row(const struct ir_insn *in);
/** A row's result for affine operands. */
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
/** An address of this process: of an instruction of the function, or of anything else. */
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

/** Says of a conditional branch that it nearly always goes to its first place, or its second. */
void mark_likely(LLVMValueRef branch, bool is_first);

/** The parts of a value, and the whole in all lanes. Predicates: a word. */
LLVMValueRef get_base(struct unit *u, uint32_t offset, int bits);
LLVMValueRef get_lanes(struct unit *u, uint32_t offset, int bits);
LLVMValueRef get_vector(struct unit *u, uint32_t offset, int bits);
LLVMValueRef get_predicate(struct unit *u, uint32_t offset);
/** A float32, or (if it is uniform) its base, for what does the same with each NaN. */
LLVMValueRef get_number(struct unit *u, uint32_t offset, bool uniform);
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

/** Metadata kinds: of accesses to homes, and of what accesses none. */
unsigned homes_kind(LLVMContextRef context);
unsigned others_kind(LLVMContextRef context);
/** Gives a function an attribute. @param value  NULL for one that has none; one that this LLVM does not
 * know is left out. */
void add_attribute(LLVMValueRef function, const char *name, const char *value);
/** Gives the result of a call, or an argument (from 1 on), an attribute. */
void add_call_attribute(LLVMValueRef call, LLVMAttributeIndex of, const char *name, uint64_t value);

LLVMValueRef frame_place(struct unit *u, uint32_t offset);
/** Writes a register to the frame. */
void write_back(struct unit *u, struct held *h);
/** The base (of what is uniform) or the lanes of a register as the frame has it. */
LLVMValueRef read_frame(struct unit *u, const struct held *h);
/** Gives a register what read_frame() got. */
void set_read(struct unit *u, struct held *h, LLVMValueRef value);

/** Lanes of the running fragment; the same as flags, the first of them, how many. */
LLVMValueRef mask_of(struct unit *u);
LLVMValueRef mask_flags(struct unit *u);
LLVMValueRef mask_lead(struct unit *u);
LLVMValueRef mask_threads(struct unit *u);

/* ---- lanes.c, accesses.c */

/** Translates an instruction. @return false if it is none that is done inline. */
bool lanes_translate(struct unit *u, const struct ir_insn *in);
/** @return whether the unit may be left in the middle of an instruction, which starts again then. */
bool may_widen(struct unit *u, const struct ir_insn *in);
bool accesses_translate(struct unit *u, const struct ir_insn *in);
/** Where the lanes of an access are. */
struct place {
    LLVMValueRef first; /**< address of the first lane, or of all */
    LLVMValueRef shape; /**< NULL: all lanes name one address */
};
struct place access_place(struct unit *u, const struct ir_insn *in);
LLVMValueRef access_site(struct unit *u, const struct ir_insn *in);
/** @return the shape of accesses of all lanes to the same @p n words. */
LLVMValueRef access_shape_of_one(struct unit *u, uint32_t n);
/** @return whether an access has always been of rows so far; code for other shapes is left out then. */
bool access_is_rows(const struct unit *u, const struct ir_insn *in);
/** @return whether the last one was of lanes anywhere. */
bool access_is_scattered(const struct unit *u, const struct ir_insn *in);
