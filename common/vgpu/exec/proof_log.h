/** @file
 * The steps of one output: the log of a proof (proof.h) that follows an element of y.
 *
 * Loads, stores, atomic additions and arithmetic become entries. Each origin carries the number of
 * the entry that made its value, through registers, memories, threads and kernels. So the entries
 * that made the output are those that can be reached backwards from its writes.
 *
 *     load x[12] ──▶ store to s[3] ──▶ load s[3] ──┐
 *                          load k[5] ──────────────┴▶ fma ──▶ fma ──▶ ... ──▶ store to y[7]
 */
#pragma once

#include "vgpu/exec/proof.h"

/** An operand of an entry: its value, and the number of the entry that made it, or 0. */
struct proof_log_operand {
    float value;
    uint32_t from;
};

/** One step of a thread. */
struct proof_log_entry {
    const struct ir_insn *in;
    uint64_t address; /**< of a load or a store, in its space */
    struct proof_log_operand operand[3];
    uint32_t element; /**< of a load of x or k: its element, with PROOF_ELEMENT; otherwise 0 */
    uint32_t block, thread, launch;
    uint8_t kind; /**< enum vg_proof_step_kind */
    uint8_t space;
    bool needed; /**< contributes to the output */
};

/** The last accesses and barriers of a thread, in a ring buffer. */
enum { PROOF_RECENT = 6 };
struct proof_recent {
    struct proof_recent_step {
        const struct ir_insn *in;
        uint64_t address;
        uint8_t space;
    } step[PROOF_RECENT];
    uint32_t count;
};

/** The last accesses of the two threads of a finding. */
enum { PROOF_FOUND = 8 };
struct proof_found {
    const struct vg_module *module;
    struct vg_dim block, thread[2];
    struct proof_recent recent[2];
};

struct proof_log_launch {
    const struct vg_kernel *kernel;
    struct vg_dim grid, block;
};

struct proof_log {
    size_t output;   /**< the followed element of y */
    uint32_t copied; /**< the entry whose value the last copy stored to the output, or 0 */
    struct proof_log_entry *entries;
    size_t count, room; /**< entry 0 means none */
    struct proof_log_launch *launches;
    size_t launch_count;
    bool full; /**< entries had to be omitted */
    struct proof_found found[PROOF_FOUND];
    int found_count;
};

/** Adds a load. @param o  the loaded origin; its step becomes this entry */
void proof_log_load(const struct vg_warp *w, const struct ir_insn *in, int lane,
                    struct proof_place at, struct origin *o);
/** Adds a store of a value. @param o  the value's origin; its step becomes this entry */
void proof_log_store(const struct vg_warp *w, const struct ir_insn *in, int lane,
                     struct proof_place at, float value, struct origin *o);
/** Adds an atomic addition. @param old the previous value @param by the addend
 * @return the entry's number */
uint32_t proof_log_join(const struct vg_warp *w, const struct ir_insn *in, int lane,
                        struct proof_place at, struct proof_log_operand old,
                        struct proof_log_operand by);
/** Adds arithmetic. @return the entry's number */
uint32_t proof_log_compute(const struct vg_warp *w, const struct ir_insn *in, uint32_t lane,
                           enum vg_proof_step_kind kind, const struct proof_log_operand operand[3]);
/** Called when a launch starts. @return false: out of memory. */
bool proof_log_launch(struct proof *p, const struct vg_launch *launch);
/** Called when a copy has written these bytes of global memory, with the origins of their words. */
void proof_log_copied(struct proof *p, uint64_t to, size_t bytes);
/** Empties the log. */
void proof_log_clear(struct proof_log *log);
/** Frees the log; NULL is allowed. */
void proof_log_free(struct proof_log *log);
