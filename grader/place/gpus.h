/** @file
 * Finds the GPUs on which gradings run, one grading at a time on each GPU.
 */
#pragma once

#include <stddef.h>

enum { GR_MAX_GPUS = 32, GR_GPU_CHARS = 64 };

/** GPUs, in the form of CUDA_VISIBLE_DEVICES. */
struct gr_gpus {
    size_t n;
    char id[GR_MAX_GPUS][GR_GPU_CHARS];
};

/** Finds the GPUs that a program sees. If a GPU is split into parts (MIG), the parts are found
 * instead; a program sees only one of them.
 * @param gpus  empty if nothing is known: then a program should use what it finds
 * @param listing  the output of nvidia-smi -L, or NULL if there is none
 * @param visible  CUDA_VISIBLE_DEVICES, or NULL. Its numbers are those of @p listing; names are
 * taken unchanged, and so are numbers if there is no listing. As in CUDA, the first invalid word
 * ends the list. */
void gr_gpus_find(struct gr_gpus *gpus, const char *listing, const char *visible);
