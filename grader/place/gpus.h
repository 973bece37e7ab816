/** @file
 * Finds the GPUs for gradings, one grading at a time on each.
 */
#pragma once

#include <stddef.h>

enum { GR_MAX_GPUS = 32, GR_GPU_CHARS = 64 };

/** GPUs, in the form of CUDA_VISIBLE_DEVICES. */
struct gr_gpus {
    size_t n;
    char id[GR_MAX_GPUS][GR_GPU_CHARS];
};

/** Finds the GPUs that a program sees. A GPU that is split into parts (MIG) counts as its parts, of
 * which a program sees one.
 * @param gpus     set to none if nothing is known: then a program should use what it finds
 * @param listing  the output of nvidia-smi -L, or NULL without it
 * @param visible  CUDA_VISIBLE_DEVICES, or NULL. Numbers are those of @p listing; without a
 * listing, and for names, its words are taken unchanged. As in CUDA, the first invalid word ends
 * the list. */
void gr_gpus_find(struct gr_gpus *gpus, const char *listing, const char *visible);
