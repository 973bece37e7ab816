/** @file
 * Lanes that load a value which nothing wrote, and will not execute any instruction that uses it.
 *
 * A tile of a convolution is right without zeros outside of the image: a thread that sums such words
 * does not store its sum. Its condition is known before it loads, so nobody needs to follow the words
 * (unset_copies.h). This module finds the conditions of all uses of a loaded value, once for each
 * load, and evaluates them, once for each warp.
 */
#pragma once

#include <stdint.h>

struct ir_insn;
struct vg_module;
struct vg_warp;

enum { UNSET_PENDING = 8, UNSET_JUDGED = 64 };

/** Verdicts on the lanes of a warp at its loads; part of struct vg_unset. */
struct unset_judged {
    const struct ir_insn *pending[UNSET_PENDING]; /**< loads to be judged */
    int pending_count;
    struct unset_verdict {
        const struct ir_insn *in;
        uint32_t judged, idle; /**< lanes */
    } of[UNSET_JUDGED];
};

/** @return the lanes that are known not to use what a load reads. */
uint32_t unset_idle_lanes(const struct vg_warp *w, const struct ir_insn *load);
/** Called when lanes have loaded unwritten bytes that they may use. */
void unset_judge_later(struct vg_warp *w, const struct ir_insn *load, uint32_t lane);
/** Judges pending loads. Idle lanes no longer hold their bytes.
 * @pre the frame contains all live registers */
void unset_judge(struct vg_warp *w);
void unset_conditions_free(struct vg_module *m);
