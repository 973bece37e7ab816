/** @file
 * The terms of a kernel's time as ncu measures them on a real GPU: how long each part was busy.
 * While even the busiest part was idle, warps waited; that time is added to the term of the most
 * frequent stall reason.
 */
#pragma once

#include "analysis/kernels.h"

/** @return whether a launch has ncu's measurements, from which the terms are set. */
bool an_measured_terms(const struct tr_row *row, double term_ns[VG_TERMS]);

/** Adds the times to launch kernels and to start blocks, from the GPU's description, and subtracts
 * them from the idle time. */
void an_measured_finish(struct an_kernel *kernel, const struct vg_profile *gpu);
