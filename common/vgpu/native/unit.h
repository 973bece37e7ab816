/** @file
 * A unit of translation: the code that a fragment can reach from given instructions of a function
 * without the interpreter. Barriers, calls and exits leave the unit.
 *
 * The value of a register is kept as `base + lanes[i]`. A uniform register, which is the same in
 * all lanes of the fragment, has only the base, a scalar. In a sum of a uniform and another value
 * (an index, an address), a change of the uniform part does not change the lanes. So LLVM sees that
 * the lanes are invariant in a loop, and moves everything that depends only on them out of the
 * loop, such as the shape of a memory access. The classes are found from the code (classes.c) and
 * checked at the entry of a unit.
 *
 * Within a basic block the parts are values of LLVM. A register that is live where another block
 * begins, or where the unit may be left, also has a home in the warp's buffer (the room), to which
 * each new value is stored. So an exit saves no register itself: it calls a function that moves the
 * live registers from the homes to the frame (leave.c, saved.c). Homes have a separate alias scope,
 * so that LLVM need not reload them after other stores.
 *
 * Lanes outside the mask also compute, but their results are not used. The mask matters where
 * values leave the unit, in memory accesses, and in regions (regions.c), where some lanes wait and
 * the values that they will read must not change. A branch without a region splits the fragment,
 * and the unit continues with one part of it.
 */
#pragma once

#include "vgpu/exec/access_sites.h"
#include "vgpu/native/address_table.h"
#include "vgpu/native/saved.h"

#include <llvm-c/Core.h>
#include <string.h>

/** The representation of a register. Within a block its parts are LLVM values. If the register
 * lives longer, each new value is also stored to its home. */
struct held {
    uint32_t offset;          /**< in the frame; also where its lanes are at home in the room */
    uint32_t base_home;       /**< where its base is at home in the room */
    int bits;                 /**< 32, 64; 1: a predicate, one bit per lane; 0: only in the frame */
    bool uniform, affine;     /**< affine: has a base that is not always 0 */
    bool has_home;            /**< may be live where a block begins or the unit is left */
    bool blends;              /**< written where some lanes wait, and read after that */
    bool is_whole;            /**< it never has a separate base */
    bool any_nan;             /**< a float32 that may be any NaN, see with_one_nan() */
    LLVMValueRef base, lanes; /**< LLVM values in the current block; NULL: only at home */
    const struct ir_constant *constant; /**< (`base` is then its value everywhere) */
};

/** For a branch: the instructions that some lanes execute while others wait at their end
 * (regions.c). For every instruction: the region that contains it. */
struct region {
    uint32_t first, end; /**< end 0: the branch has no region */
    uint32_t around;     /**< the branch of the next larger region, or NO_REGION */
    uint32_t inside;     /**< of this instruction: the branch of its innermost region */
    bool is_loop;
    LLVMValueRef outer; /**< variable: the mask of all lanes that reached the region */
};
enum { NO_REGION = UINT32_MAX };

/** How code leaves a unit. LEAVE_WAIT: at a barrier, after which a unit continues. LEAVE_RESUME: for
 * other handlers, see vg_resume(). */
enum leaving { LEAVE_RETURN, LEAVE_YIELD, LEAVE_RESUME, LEAVE_WAIT, LEAVES };

/** The translator's state; used by one thread. */
struct native {
    const struct vg_handlers *handlers;
    const struct vg_services *services;
    const char *target;
    struct native_machine *machine; /**< machine_code.c */
};

/** @return whether the warp may hold unwritten bytes after an instruction, see unset_copies.h. */
static inline bool is_followed_load(const struct ir_insn *in)
{
    return in->op == IR_LD && (in->space == PTX_SPACE_SHARED || in->space == PTX_SPACE_GLOBAL ||
                               in->space == PTX_SPACE_GENERIC);
}

/** @return whether the target has mask registers, as AVX-512 does. */
static inline bool native_has_masks(const struct native *native)
{
    return strcmp(native->target, "avx512") == 0;
}

/** The known parts of a register's value in a block; NULL: not known. */
struct known {
    LLVMValueRef base, lanes;
};

struct span;

struct unit {
    const struct native *native;
    const struct ir_function *f;
    const struct ptx_flow *flow;
    const uint8_t *kinds;    /**< [sites] see vg_translator; or NULL */
    const uint32_t *entries; /**< [entry_count] instructions at which the unit may be entered */
    size_t entry_count;
    struct held *held;      /**< [slots] */
    struct region *regions; /**< [insns] */
    uint32_t inside;        /**< the innermost region of the current block, or NO_REGION */
    uint64_t *set;          /**< [flow->words] scratch space */
    LLVMBasicBlockRef *at;  /**< [insns] the code that starts there; NULL: none in the unit */
    LLVMBasicBlockRef *leave[LEAVES]; /**< [insns] exits of the unit, created when needed */
    struct native_saved **plans;      /**< [insns] plans of the exits, created when needed */
    struct known **known;             /**< [insns] known values at the start of a block, or NULL */
    uint32_t *ways;                   /**< [insns] number of jumps to the block that begins there */
    struct span *span; /**< the span whose instructions are translated without checks, or NULL */

    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b, at_entry; /**< at_entry: creates variables */
    LLVMValueRef code;          /**< the function */
    LLVMTypeRef i1, i8, i32, i64, v32, v64, pointer;
    LLVMValueRef warp, in, registers, sites, span_edges, worker, memory;
    LLVMValueRef room;     /**< vg_warp.saved: the homes */
    LLVMValueRef own_room; /**< the room for LLVM: it may keep these homes in registers in a loop */
    LLVMValueRef homes;    /**< metadata of accesses to homes */
    LLVMValueRef mask;     /**< variable */
    LLVMValueRef passed;   /**< variable: registers of a span for its handlers, [passed_bytes] */
    uint32_t passed_bytes;
    struct native_kept *kept; /**< all plans and strands; in the end passed to the caller */
    struct address_table *addresses;
};

/* ---- unit.c */

/** Adds the code of a unit to a module that contains the functions of the bitcode. @param kept
 * becomes a list of objects to which the code refers, and which must live as long. @return false:
 * out of memory. */
bool unit_translate(const struct native *native, LLVMModuleRef module, const struct ir_function *f,
                    const uint32_t *entries, size_t entry_count, const uint8_t *kinds,
                    const char *name, struct address_table *addresses, struct native_kept **kept);
/** @return whether an instruction ends a unit, since its handler may park the fragment or change
 * its lanes. */
bool unit_ends(const struct unit *u, const struct ir_insn *in);
/** @return whether an instruction waits at most for other lanes of the warp. Code continues after it
 * if all lanes execute it, and leaves the unit before it otherwise. */
bool unit_is_together(const struct unit *u, const struct ir_insn *in);
/** Executes an instruction by its handler, with its registers in the frame before and after.
 * @param is_rare  it is executed inline in most cases */
void unit_step(struct unit *u, const struct ir_insn *in, bool is_rare);
/** Executes instructions of a block by their handlers; the registers that they read are in the
 * frame. If a room is given, first moves registers from it to the frame, and afterwards back, by
 * two plans. */
void unit_run_handlers(struct unit *u, uint32_t first, uint32_t last, LLVMValueRef room,
                       const struct native_saved *reads, const struct native_saved *results);
/** Translates an instruction that is not a branch and does not end the unit. */
void unit_translate_one(struct unit *u, const struct ir_insn *in);
/** After a unit's calls are inlined: marks its instructions that access no homes. */
void unit_mark_homes(LLVMModuleRef module, const char *name);
/** After all passes of LLVM: replaces the room that was declared to LLVM by the real one. */
void unit_name_room(LLVMModuleRef module);
/** @return a copy of the registers' values that are known in the current block */
struct known *known_copy(struct unit *u);
/** Sets the known values. @param k  NULL: only constants are known */
void known_set(struct unit *u, const struct known *k);
void known_free(struct known *k);

/** Loads the mask from the warp to its variable. */
void unit_read_mask(struct unit *u);
/** @return the result of a function of the bitcode that takes the warp, as a pointer to bytes. */
LLVMValueRef of_warp(struct unit *u, const char *name);

/* ---- control.c */

/** @return the code, in the unit or at an exit, for a jump from the current block to a block that
 * starts at an instruction. The jump reactivates waiting lanes, and begins loops of some lanes. */
LLVMBasicBlockRef control_to(struct unit *u, uint32_t index);
/** If a block is reached only from the current one, it begins with the values known now. */
void control_pass_on(struct unit *u, uint32_t to);
/** Translates ENTER, ENTER_JOIN and BRA. */
void control_begin(struct unit *u, const struct ir_insn *in);
void control_branch(struct unit *u, const struct ir_insn *in);

/* ---- leave.c */

/** @return the exit of the unit to the interpreter, at instruction @p index. */
LLVMBasicBlockRef unit_leave(struct unit *u, uint32_t index, enum leaving how);
/** Writes the registers that other code left at home to the frame. */
void leave_settle_kept(struct unit *u);
/** After the handler of a load that may copy unwritten bytes: leaves the unit if the warp holds
 * such bytes. @param index  the next instruction */
void leave_if_copying(struct unit *u, uint32_t index);
/** @return the mask of the whole fragment; in a region the current mask is part of it. */
LLVMValueRef outer_mask(struct unit *u, uint32_t region);
/** @return the plan of a set of registers: their homes and where they are in the frame. */
struct native_saved *leave_plan_of(struct unit *u, const uint64_t *set);
/** @return the plan of the registers that are live before instruction @p index. */
const struct native_saved *leave_plan(struct unit *u, uint32_t index);
/** Writes registers to the frame by a plan, from a room. */
void leave_write(struct unit *u, const struct native_saved *plan, LLVMValueRef room);
/** Fills a room from the frame by a plan. @return whether the registers match their classes. */
LLVMValueRef leave_read(struct unit *u, const struct native_saved *plan, LLVMValueRef room);
/** Fills the homes of the registers that are live before an instruction from the frame. @return
 * whether they match their classes. */
LLVMValueRef leave_enter(struct unit *u, uint32_t index);
/** Writes the registers that are live before an instruction from their homes to the frame. */
void leave_settle(struct unit *u, uint32_t index);

/* ---- regions.c */

/** Finds the classes of registers, and the regions. */
void regions_find(struct unit *u);
/** @return whether an instruction is a branch that some lanes may take while others do not. */
bool region_may_part(struct unit *u, const struct ir_insn *in);
/** @return whether a branch in a region leaves the unit if its lanes diverge. */
bool region_is_left_at(struct unit *u, const struct ir_insn *in);
/** @return whether the lanes that take this branch out of a loop wait at the end of the loop. */
bool region_has_way_out(const struct region *r, const struct ir_insn *in);

/* ---- classes.c */

/** Finds the uniform and the affine registers. */
void classes_find(struct unit *u);
/** Finds the registers that are set only by float32 arithmetic. */
void classes_find_numbers(struct unit *u);
/** @return whether a row is float32 arithmetic that accepts any NaN and, with NATIVE_ANY_NAN in the
 * row's mode, may return any NaN. */
bool is_number_row(const struct ir_insn *in);
/** How a row computes the parts of its result from affine operands. */
enum form {
    FORM_NONE,
    FORM_SUM,         /**< add, sub: each part separately */
    FORM_PRODUCT,     /**< of an affine value and a uniform one */
    FORM_PRODUCT_SUM, /**< as FORM_PRODUCT, plus an addend */
    FORM_SHIFT,
    FORM_MOVE,
    FORM_NARROW,
    FORM_WIDE,
    FORM_WIDE_PRODUCT,
    FORM_WIDE_PRODUCT_SUM,
};
enum form form_of(const struct ir_insn *in, bool *is_signed);
/** @return whether a load has inline code for lanes that all name one address. */
bool is_quick_load(const struct unit *u, const struct ir_insn *in);
bool is_quick_store(const struct unit *u, const struct ir_insn *in);
/** @return whether a load of elements of 1 or 2 bytes has inline code. */
bool is_narrow_load(const struct unit *u, const struct ir_insn *in);
bool is_of_shared(const struct ir_insn *in);
/** @return whether a load of shared memory has elements that nothing reads: maybe padding that
 * nothing wrote. */
bool is_padded_load(const struct ir_insn *in);
/** @return whether a load of shared memory is volatile, relaxed or acquiring. */
bool is_of_strong_read(const struct ir_insn *in);
/** @return the number of 4-byte elements of an access that has inline code; otherwise 0. */
uint32_t access_words(const struct ir_insn *in);
/** @return whether an instruction computes each lane from registers of that lane only. */
bool is_lane_arithmetic(const struct unit *u, const struct ir_insn *in);
/** The first function returns whether a special register is constant while a unit runs, the second
 * whether it differs between lanes. */
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
/** @return an address in this process, of an instruction of the function or of anything else. */
LLVMValueRef address_of(struct unit *u, const void *at);
/** Converts a pointer to another type. */
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

/** Marks a conditional branch that nearly always goes to its first target (is_first), or to its
 * second. */
void mark_likely(LLVMValueRef branch, bool is_first);

/** @return the parts of a value, or the whole value in all lanes; for a predicate, a word. */
LLVMValueRef get_base(struct unit *u, uint32_t offset, int bits);
LLVMValueRef get_lanes(struct unit *u, uint32_t offset, int bits);
LLVMValueRef get_vector(struct unit *u, uint32_t offset, int bits);
LLVMValueRef get_predicate(struct unit *u, uint32_t offset);
/** @return a float32, or its base if it is uniform, for operations that treat all NaNs equally. */
LLVMValueRef get_number(struct unit *u, uint32_t offset, bool uniform);
/** Sets a register for the lanes of the instruction's guard. @param lanes  NULL: all lanes are
 * equal. */
void set_parts(struct unit *u, const struct ir_insn *in, uint32_t offset, LLVMValueRef base,
               LLVMValueRef lanes);
void set_predicate(struct unit *u, const struct ir_insn *in, uint32_t offset, LLVMValueRef bits);
/** @return the value that set_predicate() would set. An instruction that sets two predicates calls
 * this first, since the first may be its guard. */
LLVMValueRef guarded_predicate(struct unit *u, const struct ir_insn *in, uint32_t offset,
                               LLVMValueRef bits);
/** @return the guard of an instruction as a word with a bit for each lane, including lanes outside
 * the fragment. */
LLVMValueRef guard_bits(struct unit *u, const struct ir_insn *in);
LLVMValueRef bits_to_flags(struct unit *u, LLVMValueRef bits);

/** Kinds of metadata: for accesses to homes, and for instructions that access none. */
unsigned homes_kind(LLVMContextRef context);
unsigned others_kind(LLVMContextRef context);
/** Adds an attribute to a function, unless this LLVM does not know it. @param value  NULL: the
 * attribute has no value */
void add_attribute(LLVMValueRef function, const char *name, const char *value);
/** Adds an attribute to the result of a call (0), or to an argument (from 1 on). */
void add_call_attribute(LLVMValueRef call, LLVMAttributeIndex of, const char *name, uint64_t value);

LLVMValueRef frame_place(struct unit *u, uint32_t offset);
/** Writes a register to the frame. */
void write_back(struct unit *u, struct held *h);
/** @return the base (if uniform) or the lanes of a register from the frame. */
LLVMValueRef read_frame(struct unit *u, const struct held *h);
/** Sets a register to the result of read_frame(). */
void set_read(struct unit *u, struct held *h, LLVMValueRef value);
/** Stores the parts of a register without a home where its home would be. */
void store_at_home(struct unit *u, const struct held *h);
/** Stores a register's parts, including NaNs, in a buffer; sets it from a buffer. */
void store_parts(struct unit *u, const struct saved_register *r, LLVMValueRef room);
void set_stored(struct unit *u, const struct saved_register *r, LLVMValueRef room);

/** The lanes of the running fragment: as a mask, as flags, their number. */
LLVMValueRef mask_of(struct unit *u);
LLVMValueRef mask_flags(struct unit *u);
LLVMValueRef mask_threads(struct unit *u);

/* ---- lanes.c, accesses.c */

/** Translates an instruction. @return false if it is not translated inline. */
bool lanes_translate(struct unit *u, const struct ir_insn *in);
/** @return whether the unit may be left in the middle of an instruction, which the interpreter then
 * restarts. */
bool may_widen(struct unit *u, const struct ir_insn *in);
bool accesses_translate(struct unit *u, const struct ir_insn *in);
/** The addresses of an access. */
struct place {
    LLVMValueRef first; /**< address of the first lane, or of all lanes */
    LLVMValueRef shape; /**< NULL: all lanes access one address */
};
struct place access_place(struct unit *u, const struct ir_insn *in);
LLVMValueRef access_site(struct unit *u, const struct ir_insn *in);
/** @return the shape of an access by all lanes to the same @p n words. */
LLVMValueRef access_shape_of_one(struct unit *u, uint32_t n);
/** @return whether the shapes of an access are known. */
bool access_is_known(const struct unit *u, const struct ir_insn *in);
/** @return whether nearly all accesses were of this kind, so that code for others is omitted. */
bool access_is(const struct unit *u, const struct ir_insn *in, enum vg_site_kind kind);
