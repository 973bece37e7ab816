/** @file
 * Finds the loop that a fragment does not leave, and the condition that keeps it there.
 */
#pragma once

struct ir_insn;
struct vg_warp;

enum { ENDLESS_LOOP_CHARS = 200 };

/** Continues a ready fragment of a kernel that is being ended, for a limited time.
 * @param n  its index in the warp, from which the fragment is removed
 * @param text  becomes the comparison at the loop's exit in successive rounds
 * @return the loop's exit or backward branch, or where the fragment was */
const struct ir_insn *endless_loop_find(struct vg_warp *w, int n, char text[ENDLESS_LOOP_CHARS]);
