/** @file
 * Counters: turns the workers' counts (of basic blocks and memory instructions) into figures per
 * launch and per source line. All figures are sums, so they do not depend on which worker counted.
 */
#pragma once

#include "vgpu/api/vgpu.h"
#include "vgpu/probe/model.h"

struct vg_launch;
struct vg_site;

/** The sums of all launches of a kernel. */
struct vg_tally {
    uint64_t launches;
    struct vg_site *sites;                 /**< [site_count + 1] */
    uint64_t *block_warps, *block_threads; /**< [block_count] */
    struct vg_launch_report last;
    double modelled_ns;
};

/** Adds the workers' counts of a launch to the sums of its kernel, and sets the report's counters
 * and the instruction counts in the model's facts.
 * @return the counts of this launch, to be freed */
struct vg_tally *vg_tally_launch(struct vg_launch *launch, struct vg_launch_report *report,
                                 struct vg_clock_facts *facts);
void vg_tally_free(struct vg_tally *tally);
/** Keeps the counter rows of a module that is about to be unloaded, for vg_counters_write(). */
void vg_counters_retire(struct vg_device *device, const struct vg_module *module);
