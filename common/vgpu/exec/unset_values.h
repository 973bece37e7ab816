/** @file
 * Loaded values that nothing wrote: does the program use them?
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct ir_function;
struct ir_insn;
struct vg_module;

/** @param elements  a bit for each element of the load that nothing wrote
 * @return whether the code after a load may depend on one of these elements */
bool unset_value_is_used(struct vg_module *m, const struct ir_function *f, const struct ir_insn *in,
                         uint32_t elements);
