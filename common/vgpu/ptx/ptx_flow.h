/** @file
 * Which slots of a frame an instruction reads and writes, and which are live where: their values may
 * still be read.
 */
#pragma once

#include "vgpu/ptx/ptx_ir.h"

struct ptx_flow {
    const struct ir_function *function;
    uint32_t *slot_of; /**< [frame_bytes / 4] number of the slot there plus one, or 0 */
    const struct ir_constant **constant; /**< [slots] what fills it, or NULL */
    size_t words;                        /**< of a set of slots, a bit each */
    uint64_t *live;                      /**< [blocks][words] at the start of each basic block */
};

enum { PTX_OPERANDS = 72 };

/** Slots by their numbers in ir_function.slots. Slots that are not known exactly count as read. */
struct ptx_operands {
    uint32_t reads[PTX_OPERANDS], writes[PTX_OPERANDS];
    int read_count, write_count;
    bool certain; /**< everything in writes is written, in all lanes that execute */
};

/** @return a function's flow, or NULL without memory. */
struct ptx_flow *ptx_flow_new(const struct ir_function *f);
void ptx_flow_free(struct ptx_flow *flow);
void ptx_flow_operands(const struct ptx_flow *flow, const struct ir_insn *in,
                       struct ptx_operands *to);
/** The same, but an atomic instruction does not count as one that reads its result. */
void ptx_flow_sources(const struct ptx_flow *flow, const struct ir_insn *in,
                      struct ptx_operands *to);
/** @return whether an instruction only computes what it writes from what it reads. */
bool ptx_flow_computes(const struct ir_insn *in);
/** The slots live before instruction @p index. @param set  [flow->words] */
void ptx_flow_live(const struct ptx_flow *flow, uint32_t index, uint64_t *set);
/** Makes an atomic instruction on global memory whose result nobody reads a reduction, as ptxas does: nvcc
 * writes atom for both. */
void ptx_flow_drop_unread(struct ir_function *f);
/** The instructions that may follow one, by index. @return how many were written to @p to, which has
 * room for 2 and the function's extra words. */
size_t ptx_flow_next(const struct ir_function *f, uint32_t index, uint32_t *to);

/** @return the first instruction after the basic block of instruction @p index. */
static inline uint32_t ptx_block_end(const struct ir_function *f, uint32_t index)
{
    const uint32_t block = f->insns[index].block;
    while (index < f->insn_count && f->insns[index].block == block)
        index++;
    return index;
}

/** @return whether an instruction sets predicates by comparing one pair of numbers a lane. */
static inline bool ptx_is_compare(const struct ir_insn *in)
{
    return in->op >= IR_SETP_S32 && in->op <= IR_SETP_BF16;
}

static inline bool ptx_set_has(const uint64_t *set, uint32_t slot)
{
    return set[slot / 64] >> slot % 64 & 1;
}
