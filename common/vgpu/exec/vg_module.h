/** @file
 * Modules and their kernels.
 */
#pragma once

#include "vgpu/api/vgpu.h"
#include "vgpu/ptx/ptx_ast.h"
#include "vgpu/ptx/ptx_ir.h"

/** An arithmetic instruction and a register that it may read before it is written. */
struct vg_unset_read {
    uint32_t slot, insn;
};

struct vg_kernel {
    bool was_launched;
    uint32_t racing_launches; /**< with notes, see block_races.c */
    struct vg_module *module;
    struct ir_function *function;
    char name[256];              /**< demangled */
    struct vg_tally *tally;      /**< sums of all launches */
    struct vg_kernel_info cubin; /**< registers 0: there is no cubin */
    uint32_t *unset; /**< slots that may be read before they are written, once it was launched */
    size_t unset_count;
    struct vg_unset_read *unset_reads; /**< by slot, then by insn */
    size_t unset_read_count;
    size_t dynamic_shared_most; /**< most bytes that a launch may request */
};

/** @return the registers of a thread, from the cubin if there is one; otherwise an estimate. */
static inline int vg_kernel_registers(const struct vg_kernel *k)
{
    return k->cubin.registers ? k->cubin.registers : k->function->registers;
}
/** @return the local memory of a thread on the GPU: the cubin's, if there is one (arrays may have
 * become registers, and registers may have been spilled); otherwise the PTX's. */
static inline size_t vg_kernel_local_bytes(const struct vg_kernel *k)
{
    return k->cubin.registers ? k->cubin.local_bytes : k->function->local_bytes;
}

/** @return whether a load or store of a vector synchronises with other blocks: they see all its
 * elements or none, as on a GPU (a scan reads a sum and its flag together). */
static inline bool vg_is_whole(const struct ir_insn *in)
{
    return in->vector > 1 && in->space != PTX_SPACE_SHARED &&
           (in->past_l1 || in->mode & MODE_STRONG);
}

struct ptx_flow;
struct unset_known;
struct vg_racing_store;

struct vg_module {
    struct vg_device *device;
    struct vg_module *next;
    struct ptx_ast ast;
    struct ir_module ir;
    struct vg_kernel *kernels;
    size_t kernel_count;
    uint32_t block_count;
    struct ir_insn **insns; /**< [insn_count] every instruction by its number */
    uint32_t *block_of;     /**< [insn_count] the instruction's basic block */
    size_t *stack_known;  /**< [function_count] local memory, including calls, plus 1; 0: unknown */
    uint32_t *block_cost; /**< [block_count] number of instructions; NULL: not counted yet */
    uint32_t *callable; /**< [callable_count] the functions that are not kernels, with block_cost */
    uint32_t callable_count;
    struct vg_entry *entries; /**< [entry_count] see entries.c; NULL: the interpreter runs alone */
    uint32_t entry_count;
    struct translation *translations;
    size_t saved_bytes;              /**< size of vg_warp.saved */
    _Atomic(uint64_t *) *live_slots; /**< [insn_count] cached sets, see spinning.c */
    struct vg_racing_store *racing;  /**< see block_races.c; ir_insn.target is the index */
    size_t racing_count, racing_room;
    _Atomic(struct ptx_flow *) *flows;                    /**< [function_count] see flows.h */
    _Atomic(struct unset_known *) *unset_uses;            /**< [insn_count] see unset_values.c */
    _Atomic(struct unset_conditions *) *unset_conditions; /**< [insn_count] see unset_idle.c */
    bool has_malloc, has_launches; /**< kernels may allocate memory; may launch kernels */
    uint64_t error_texts;          /**< address in global memory, see error_texts.h; 0: none */
    bool has_reserved_shared;      /**< uses the part of shared memory that the system reserves */
};

/** @param from  0 at first; set for the next call
 * @return the next function whose code a launch of a kernel may execute: the kernel's own, or one
 * that is not a kernel; NULL: none. A module may have hundreds of other kernels. */
static inline const struct ir_function *vg_code_next(const struct vg_kernel *k, size_t *from)
{
    const struct ir_module *m = &k->module->ir;
    while (*from < m->function_count) {
        const struct ir_function *f = &m->functions[(*from)++];
        if (f->insn_count && (!f->is_entry || f == k->function))
            return f;
    }
    return NULL;
}

/** @return the line of an instruction in its source; 0: unknown. */
static inline int vg_line_of(const struct vg_module *m, const struct ir_insn *in)
{
    return in->location < 0 ? 0 : m->ir.locations[in->location].line;
}
