/** @file
 * Basic blocks of a parsed function, and the points where diverged lanes reconverge.
 */
#pragma once

#include "vgpu/ptx/ptx_ast.h"

enum { PTX_CFG_EXIT = -1 };

struct ptx_block {
    size_t first, end; /**< instructions */
    int *successors;   /**< blocks, PTX_CFG_EXIT among them; owned by the graph */
    int successor_count;
    int meets;       /**< immediate post-dominator, PTX_CFG_EXIT for none */
    bool is_meeting; /**< a divergent branch reconverges here */
};

struct ptx_cfg {
    struct ptx_block *blocks;
    size_t block_count;
    int *block_of; /**< [instructions] */
};

/** @return the index of the instruction at a label that is visible in a scope, or -1 if no label
 * has this name. */
long ptx_label_find(const struct ptx_function *f, const char *name, int scope);

/** Builds the graph. An undefined label is omitted (the decoder reports it). */
void ptx_cfg_build(struct ptx_cfg *cfg, const struct ptx_function *f);
void ptx_cfg_free(struct ptx_cfg *cfg);
