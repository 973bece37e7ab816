/** @file
 * A model of the L1 cache of one multiprocessor: the global accesses of a few blocks are recorded
 * and replayed through a cache.
 *
 * The sample of a launch is the set of blocks that one multiprocessor holds at a time, from the
 * middle of the grid. Each of their warps records its accesses until its buffer is full. After the
 * launch the warps take turns, one request each, like a multiprocessor's schedulers: one warp finds
 * data that its neighbours loaded. The result is a rate per memory instruction, which is multiplied
 * by the exact number of requests, counted for all blocks.
 *
 * The choice of blocks depends only on the launch, and each block has its own buffers, so the
 * result is the same for any number of cores.
 */
#pragma once

#include "vgpu/exec/warp_size.h"

#include <stdbool.h>
#include <stdint.h>

struct ir_insn;
struct vg_clock_facts;
struct vg_launch;
struct vg_site;
struct vg_warp;

enum { SAMPLE_WORDS = 4096 }; /**< buffer of a warp */

/** The accesses of a warp: for each request a head, then the lines that it touches.
 *
 *     head   site 32 | lines 8 | passes 8 | wavefronts 8 | kind 4 | 0xf
 *     line   number of the 128-byte line, 60 bits | mask of its 32-byte sectors */
struct sample_warp {
    uint32_t used;
    bool full;
    uint64_t words[SAMPLE_WORDS];
};

enum { SAMPLE_PATTERNS = 128 };

/** A pattern of addresses, and what follows from it. A worker remembers the last ones. */
struct sample_pattern {
    uint64_t relative[VG_LANES]; /**< each lane's address minus the first lane's; inactive: 0 */
    uint32_t mask, size;         /**< mask 0: none */
    uint32_t offset;             /**< of the first lane's address in its line */
    uint32_t wavefronts, lines;
    uint64_t line[2 * VG_LANES]; /**< as above, relative to the first lane's line */
};

/** How a load's requests miss L1. */
struct sample_misses {
    float requests; /**< share of the requests of which a sector is not in L1 */
    float sectors;  /**< such sectors per such request */
};

struct vg_sample {
    uint64_t first, step; /**< blocks first, first + step, ... */
    uint32_t blocks, warps;
    struct sample_warp *of; /**< [blocks][warps] */
    uint32_t room;          /**< buffers in `of` */
};

/** Chooses the blocks of a launch; none if memory runs out. @param resident  blocks that a
 * multiprocessor holds */
void sample_start(struct vg_sample *sample, const struct vg_launch *launch, int resident);
/** @return the buffers for the warps of a block, or NULL if it is not in the sample. */
struct sample_warp *sample_of_block(struct vg_sample *sample, uint64_t number);
/** Records the access that an instruction is about to make. */
void sample_access(struct vg_warp *w, const struct ir_insn *in);
/** Replays the sample and sets the facts about memory. @param sites  counts of the whole launch
 * @param misses  set for each site of a load */
void sample_play(const struct vg_sample *sample, const struct vg_launch *launch, int resident,
                 const struct vg_site *sites, struct sample_misses *misses,
                 struct vg_clock_facts *facts);
void sample_free(struct vg_sample *sample);
