/** @file
 * Which loop a fragment does not come out of, and which condition keeps it there.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

enum { ENDLESS_LOOP_CHARS = 200 };

/** Follows a ready fragment of a kernel that is being ended for a while longer.
 * @param n     its index in the warp; it is not there afterwards
 * @param text  set to what is compared at the way out of the loop, round after round
 * @return the branch that makes the loop */
const struct ir_insn *endless_loop_find(struct vg_warp *w, int n, char text[ENDLESS_LOOP_CHARS]);
