/** @file
 * A block and its cluster, and the functions that run a block. The workers in workers.c use these.
 */
#pragma once

#include "vgpu/api/vgpu.h"
#include "vgpu/exec/proof_state.h"
#include "vgpu/probe/race.h"

struct vg_launch;
struct vg_worker;

enum { VG_BARRIERS = 16, VG_CLUSTER_MOST = 16 };
/** Flag in shared_set: a copy to this word is pending, so fast accesses reject the word. */
enum { VG_COPY_PENDING = 0x10 };
/** An address in another block's shared memory has this block's rank in the cluster, plus one,
 * above the offset. */
enum { VG_RANK_SHIFT = 24 };

struct vg_barrier {
    uint32_t arrived, expected; /**< in threads; expected 0: all threads */
    uint32_t red_all, red_any, red_count;
    bool passed; /**< some threads have arrived without waiting */
};

/** Blocks that run together on one worker and can access each other's shared memory. See
 * clusters.c. */
struct vg_cluster {
    struct vg_block *blocks[VG_CLUSTER_MOST]; /**< by rank */
    uint32_t size;
    uint32_t announced; /**< number of threads that have arrived at the barrier */
};

struct vg_block {
    struct vg_worker *worker;
    struct vg_launch *launch;
    uint64_t number;
    uint32_t id[3];
    struct vg_cluster cluster_room, *cluster; /**< cluster: the cluster_room of its first block */
    uint32_t rank;                            /**< in the cluster */
    uint32_t started_at;                      /**< race epoch in which the block started */
    uint32_t ordered_at; /**< ... and in which the whole cluster was last ordered */
    uint64_t place;      /**< index by id in the grid; number: index by start order */
    struct vg_distributed *distributed; /**< what other blocks did to its shared memory, or NULL */
    struct vg_warp *warps;
    uint32_t warp_count, alive_threads;
    uint32_t absent; /**< threads that had ended when the block's last barrier opened, */
    const struct ir_insn *absent_at;  /**< ... and the first barrier that these did not reach */
    const struct ir_insn *unset_copy; /**< the first load of unwritten bytes that were stored to
                                           shared memory, or NULL */
    uint8_t *copied; /**< if unset_copy: a bit for each byte of shared memory that got such bytes */
    uint8_t *computed; /**< ... or a number computed from them; part of `copied` */
    char *shared;
    uint8_t *shared_set; /**< [words] mask of initialised bytes, and VG_COPY_PENDING */
    bool has_copies;     /**< some copies may be pending */
    bool has_bulk;       /**< it has made bulk copies or groups of them */
    struct vg_bulk
        *bulk;        /**< copies to its shared memory, until a thread tests their barrier object */
    uint64_t reached; /**< barrier objects changed by other blocks; bit: address / 8 % 64 */
    size_t shared_bytes;
    struct race_shadow race;
    bool is_read_only; /**< nothing is written before the next barrier: read_only_intervals.h, */
    bool is_complete;  /**< ... and all words are initialised */
    struct vg_barrier barriers[VG_BARRIERS];
    uint32_t awaited;    /**< one bit for each barrier at which threads have arrived */
    bool stop;           /**< a fault has ended the kernel for this block */
    bool is_beside;      /**< started because the worker's other blocks only spun */
    uint32_t first_warp; /**< the warp that has the first turn of a round */
    bool warps_backwards;
    char *text; /**< text that kernels printed */
    size_t text_bytes, text_room;
    struct child_work *children; /**< its launches, see child_work.h; NULL: none yet */
    struct vg_block *next;
    uint64_t prepared_for;      /**< number of the launch for which it was prepared */
    struct vg_dim numbered_for; /**< block size for which the warps' tid were set */
    size_t shared_room;
    uint32_t warp_room;
    struct proof_words proof;
};

/** @return whether unwritten bytes were copied to some of these bytes of shared memory. */
static inline bool vg_block_has_copied(const struct vg_block *b, uint64_t at, uint32_t bytes)
{
    bool has = false;
    for (uint64_t i = at; b->unset_copy && i < at + bytes && i < b->shared_bytes; i++)
        has |= b->copied[i / 8] >> i % 8 & 1;
    return has;
}

/** @return whether some of these bytes of shared memory got a number computed from unwritten bytes.
 * @param bytes  a bit for each byte from @p at on */
static inline bool vg_block_has_computed(const struct vg_block *b, uint64_t at, uint32_t bytes)
{
    bool has = false;
    for (; b->unset_copy && bytes && at < b->shared_bytes; bytes >>= 1, at++)
        has |= bytes & 1 && b->computed[at / 8] >> at % 8 & 1;
    return has;
}

enum vg_block_state {
    VG_BLOCK_DONE,
    VG_BLOCK_MOVED, /**< some warp has done more than spin */
    VG_BLOCK_QUIET, /**< all warps that can run only spin */
};

/** @return a block context for a launch, with registers, shared and local memory; NULL: out of
 * memory. */
struct vg_block *vg_block_prepare(struct vg_worker *worker, struct vg_launch *launch);
void vg_block_start(struct vg_block *block, uint64_t number);
/** Gives each warp a turn. */
enum vg_block_state vg_block_round(struct vg_block *block);
/** Reports the first spinning warp. */
void vg_block_no_progress(struct vg_block *block, bool is_interrupted);
void vg_block_free(struct vg_block *block);
