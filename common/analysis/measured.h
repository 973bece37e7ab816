/** @file
 * The terms of a kernel's time as ncu measures them on a real GPU: how long each part was busy.
 * Where even the busiest part was idle, warps waited; what most of them waited for says in which
 * term that time goes.
 */
#pragma once

#include "analysis/kernels.h"

/** @return whether a launch has what ncu measures, from which the terms are set. */
bool an_measured_terms(const struct tr_row *row, double term_ns[VG_TERMS]);

/** Adds what the GPU's description knows of launches and of starting blocks, and takes it from what
 * was idle. */
void an_measured_finish(struct an_kernel *kernel, const struct vg_profile *gpu);
