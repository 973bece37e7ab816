/** @file
 * Findings: records them while a launch runs, and collects them at its end.
 */
#pragma once

#include "vgpu/api/vgpu.h"
#include "vgpu/probe/race.h"

struct child_access;
struct ir_insn;
struct vg_launch;
struct vg_warp;

/** A finding that may still change. */
struct vg_finding {
    struct vg_fault fault;
    uint32_t insn, other_insn;
    uint64_t order; /**< number of the block; the finding keeps the details of the smallest */
};

/** Records a finding of a lane. If this kind ends the kernel, the block stops. */
void vg_find(struct vg_warp *w, const struct ir_insn *in, enum vg_fault_kind kind, int lane,
             uint64_t address, uint32_t bytes, bool is_write, const char *detail, ...)
    __attribute__((format(printf, 8, 9)));
/** Finds out what is wrong with a global address (out of bounds, freed, null, ...) and records
 * it. */
void vg_find_address(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                     uint32_t bytes, bool is_write);
void vg_find_race(struct vg_warp *w, const struct ir_insn *in, int lane, uint32_t address,
                  uint32_t bytes, bool is_write, struct race_hit hit);

/** Record a read of memory that was never written. @param use  the instruction that uses the value,
 * or NULL */
void vg_find_unset_shared(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                          uint32_t bytes, const struct ir_insn *use);
void vg_find_unset_global(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                          uint32_t bytes, const struct ir_insn *use);
/** @param copy  the load whose bytes were copied to local memory, or NULL */
void vg_find_unset_local(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                         uint32_t bytes, const struct ir_insn *copy, const struct ir_insn *use);

/** Records a race: a grid's access to memory that the block which launched the grid also accesses,
 * after the launch. */
void vg_find_child_race(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                        const struct child_access *other);

/** Records a race between two blocks of a cooperative launch: an access, and an earlier one of
 * @p block. */
void vg_find_grid_race(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                       uint32_t insn, uint64_t block, uint32_t thread);

/** Records a plain store to global memory that races with other blocks. @p block, @p thread and the
 * instruction's number @p insn describe the store. */
void vg_find_block_race(struct vg_warp *w, enum vg_fault_kind kind, uint64_t block, uint32_t thread,
                        uint32_t insn, uint64_t address, uint32_t bytes, const char *text);

/** Merges the workers' findings into the device's list, empties the workers' lists, and sets the
 * report's fault. */
void vg_findings_merge(struct vg_launch *launch, struct vg_launch_report *report);

/** Writes into the report which threads had ended when a barrier opened, in the first block with
 * such threads. */
void vg_left_report(struct vg_launch *launch, struct vg_launch_report *report);

/** Records an arithmetic instruction that reads an unwritten register. @param threads  number of
 * threads that executed it */
void vg_find_unset_register(struct vg_launch *launch, const struct ir_insn *in, uint64_t threads);
