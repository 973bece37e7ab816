/** @file
 * The slots of a frame that an instruction reads and writes, and the slots that are live before it,
 * which means that their values may still be read.
 */
#pragma once

#include "vgpu/ptx/ptx_ir.h"

struct ptx_flow {
    const struct ir_function *function;
    uint32_t *slot_of; /**< [frame_bytes / 4] number of the slot at this offset, plus 1; 0: none */
    const struct ir_constant **constant; /**< [slots] the constant that fills it, or NULL */
    size_t words;                        /**< words in a set of slots, which has one bit per slot */
    uint64_t *live;                      /**< [blocks][words] at the start of each basic block */
};

enum { PTX_OPERANDS = 160 };

/** Slots by their numbers in ir_function.slots. If it is unknown which slots are read, `reads`
 * lists all that may be. */
struct ptx_operands {
    uint32_t reads[PTX_OPERANDS], writes[PTX_OPERANDS];
    int read_count, write_count;
    bool certain; /**< every executing lane writes all slots in `writes` */
};

/** @return a function's flow; NULL: out of memory. */
struct ptx_flow *ptx_flow_new(const struct ir_function *f);
void ptx_flow_free(struct ptx_flow *flow);
void ptx_flow_operands(const struct ptx_flow *flow, const struct ir_insn *in,
                       struct ptx_operands *to);
/** As ptx_flow_operands(), but an atomic instruction does not count as reading its result. */
void ptx_flow_sources(const struct ptx_flow *flow, const struct ir_insn *in,
                      struct ptx_operands *to);
/** @return whether an instruction does nothing but compute its results from its sources. */
bool ptx_flow_computes(const struct ir_insn *in);
/** Finds the slots that are live before instruction @p index. @param set  [flow->words] */
void ptx_flow_live(const struct ptx_flow *flow, uint32_t index, uint64_t *set);
/** Finds results that no instruction reads. Atomic instructions on global memory become reductions,
 * as ptxas makes them: nvcc writes atom for both. Loads of vectors know the elements: nvcc loads
 * three neighbouring words as four, also if the fourth is padding. */
void ptx_flow_find_unread(struct ir_function *f);
/** Lets loads and stores use the register to which the same basic block has added a number, instead of
 * the sum, as ptxas does: nvcc computes the sum again for each access. */
void ptx_flow_share_addresses(struct ir_function *f);
/** Finds the indices of the instructions that may follow an instruction. @param to  must have room
 * for 2 plus the function's extra words @return how many */
size_t ptx_flow_next(const struct ir_function *f, uint32_t index, uint32_t *to);

/** @return the first instruction after the basic block of instruction @p index. */
static inline uint32_t ptx_block_end(const struct ir_function *f, uint32_t index)
{
    const uint32_t block = f->insns[index].block;
    while (index < f->insn_count && f->insns[index].block == block)
        index++;
    return index;
}

/** @return whether an instruction sets predicates by comparing one pair of numbers per lane. */
static inline bool ptx_is_compare(const struct ir_insn *in)
{
    return in->op >= IR_SETP_S32 && in->op <= IR_SETP_BF16;
}

/** @return whether threads wait at an instruction for others of their block, or (bar.arrive) only
 * arrive. */
static inline bool ptx_is_barrier(const struct ir_insn *in)
{
    return in->op == IR_BAR || in->op == IR_BAR_RED;
}

/** @return the slot of element @p k of a load or store. @param single  its slot if it has no others */
static inline uint32_t ptx_element_slot(const struct ir_function *f, const struct ir_insn *in,
                                        uint32_t k, uint32_t single)
{
    return in->vector == 1 ? single : f->extra[in->extra + k];
}

static inline void ptx_set_add(uint64_t *set, uint32_t slot)
{
    set[slot / 64] |= UINT64_C(1) << slot % 64;
}

static inline bool ptx_set_has(const uint64_t *set, uint32_t slot)
{
    return set[slot / 64] >> slot % 64 & 1;
}
