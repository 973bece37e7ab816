/** @file
 * Which GPUs there are to grade on, one grading at a time on each.
 */
#pragma once

#include <stddef.h>

enum { GR_MAX_GPUS = 32, GR_GPU_CHARS = 64 };

/** GPUs, each as CUDA_VISIBLE_DEVICES takes it. */
struct gr_gpus {
    size_t n;
    char id[GR_MAX_GPUS][GR_GPU_CHARS];
};

/** Finds out which GPUs a program sees. A GPU that is cut into parts (MIG) counts as its parts, of
 * which a program sees one.
 * @param gpus     set to none if nothing is known: then a program is to be left with what it finds
 * @param listing  what nvidia-smi -L says, or NULL where it is not there
 * @param visible  CUDA_VISIBLE_DEVICES, or NULL. Numbers are those of @p listing; without one, and
 *                 for names, its words are taken as they are. As for CUDA, the first word that is
 *                 none ends it. */
void gr_gpus_find(struct gr_gpus *gpus, const char *listing, const char *visible);
