/** @file
 * Basic blocks of a parsed function, and the points where diverged lanes reconverge.
 */
#pragma once

#include "vgpu/ptx/ptx_ast.h"

enum { PTX_CFG_EXIT = -1 };

struct ptx_block {
    size_t first, end; /**< indices of instructions */
    int *successors;   /**< indices of blocks, or PTX_CFG_EXIT; owned by the graph */
    int successor_count;
    int meets;       /**< immediate post-dominator; PTX_CFG_EXIT: none */
    bool is_meeting; /**< lanes of a divergent branch reconverge here */
};

struct ptx_cfg {
    struct ptx_block *blocks;
    size_t block_count;
    int *block_of; /**< [instructions] block of each instruction */
};

/** @return the index of the instruction at a label that is visible in a scope; -1: no such
 * label. */
long ptx_label_find(const struct ptx_function *f, const char *name, int scope);

/** Builds the graph. Undefined labels are omitted, since the decoder reports them. */
void ptx_cfg_build(struct ptx_cfg *cfg, const struct ptx_function *f);
void ptx_cfg_free(struct ptx_cfg *cfg);
