/** @file
 * Races between the blocks of a cooperative launch. See grid_races.c.
 */
#pragma once

#include "vgpu/ptx/ptx_ir.h"

#include <stdbool.h>

struct grid_races;
struct vg_launch;
struct vg_warp;

/** @return what a cooperative launch needs to find its races; NULL: they are not looked for. */
struct grid_races *grid_races_start(const struct vg_launch *l);
void grid_races_end(struct vg_launch *l);
/** Called before a watched warp executes a memory instruction. */
void grid_races_access(struct vg_warp *w, const struct ir_insn *in);
