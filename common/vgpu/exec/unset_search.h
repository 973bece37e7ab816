/** @file
 * A search for the uses of a loaded value in the code of a function (unset_values.c, unset_idle.c).
 */
#pragma once

#include "vgpu/exec/unset_values.h"

#include <stdbool.h>
#include <stdint.h>

struct unset_search {
    const struct ir_function *f;
    const struct ptx_flow *flow;
    uint8_t *bytes;    /**< [slots] a bit for each byte that depends on the value */
    uint64_t *copies;  /**< set of the slots that may contain it, or a part of it, unchanged */
    uint64_t *results; /**< set of the slots that may contain something computed from it */
    uint8_t
        *always;   /**< [blocks] 1: executed after each execution of the load, 2: not; 0: unknown */
    uint8_t *seen; /**< [insn_count] */
    const uint8_t *after; /**< [insn_count] instructions that may follow the load; NULL: all do */
    uint32_t *stack, *next;
    uint32_t load;
};

void unset_search_start(struct unset_search *s, struct vg_module *m, const struct ir_function *f,
                        const struct ir_insn *load);
void unset_search_end(struct unset_search *s);
/** Finds what depends on some bytes of a slot. The next three functions then answer for this value. */
void unset_search_value(struct unset_search *s, uint32_t slot, uint32_t bytes);
/** @return what an instruction does with the value. */
enum unset_use unset_use_by(struct unset_search *s, const struct ir_insn *in);
/** @return whether the register at an offset of the frame depends on the value. */
bool unset_depends(const struct unset_search *s, uint32_t offset);
/** @return whether lanes exchange the value, or something that depends on it. */
bool unset_is_exchanged(const struct unset_search *s);
