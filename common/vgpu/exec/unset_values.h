/** @file
 * Values that nothing wrote: does the program use them?
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct ir_function;
struct ir_insn;
struct ptx_flow;
struct vg_module;

/** Uses of unwritten bytes by the code after a load. */
enum unset_use {
    UNSET_IGNORED,
    UNSET_COPIED, /**< it may store them unchanged */
    UNSET_USED,   /**< it may depend on them in another way */
};

/** @param in  a load, or a shuffle that reads an undefined value
 * @param bytes  a bit for each byte of its result that nothing wrote */
enum unset_use unset_value_use(struct vg_module *m, const struct ir_function *f,
                               const struct ir_insn *in, uint32_t bytes);
void unset_uses_free(struct vg_module *m);
/** @return how many low bytes of its operands an instruction may copy to its result; 0: it is not a
 * move of bytes (or is selp, or a move from or to a list of registers). */
int unset_bytes_kept(const struct ir_insn *in);
/** @return whether the result of an instruction consists of bytes of its operands. */
bool unset_is_copy(const struct ptx_flow *flow, const struct ir_insn *in);
/** @return whether a branch is executed after each execution of a load of the same function. */
bool unset_decides(struct vg_module *m, const struct ir_function *f, const struct ir_insn *load,
                   const struct ir_insn *branch);
