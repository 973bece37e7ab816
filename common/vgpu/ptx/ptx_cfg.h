/** @file
 * Basic blocks of a parsed function and where diverged lanes meet again.
 */
#pragma once

#include "vgpu/ptx/ptx_ast.h"

enum { PTX_CFG_EXIT = -1 };

struct ptx_block {
    size_t first, end; /**< instructions */
    int *successors;   /**< blocks, PTX_CFG_EXIT among them; owned by the graph */
    int successor_count;
    int meets;       /**< immediate post-dominator, PTX_CFG_EXIT for none */
    bool is_meeting; /**< some divergent branch meets here */
};

struct ptx_cfg {
    struct ptx_block *blocks;
    size_t block_count;
    int *block_of; /**< [instructions] */
};

/** Where a label leads, seen from a scope: instruction index, or -1 when there is no such label. */
long ptx_label_find(const struct ptx_function *f, const char *name, int scope);

/** Builds the graph. A label that does not exist is left out (the decoder reports it). */
void ptx_cfg_build(struct ptx_cfg *cfg, const struct ptx_function *f);
void ptx_cfg_free(struct ptx_cfg *cfg);
