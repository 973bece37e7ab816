/** @file
 * The output of NVIDIA's two later profilers, from a trace: Nsight Systems (`nsys stats`) and
 * Nsight Compute (`ncu --page details`), with their names, units and order. Values that a trace
 * lacks are "n/a".
 */
#pragma once

#include "trace/trace.h"

#include <stdio.h>

/** Prints the summaries cuda_api_sum, cuda_gpu_kern_sum, cuda_gpu_mem_time_sum and
 * cuda_gpu_mem_size_sum of `nsys stats`. As CSV each begins with its header row, and an empty line
 * is between two; one without data is the header row alone. */
enum st_code nsys_print(FILE *out, const struct tr_trace *trace, bool csv, struct st_error *err);

/** Writes a trace as an SQLite database with the tables and columns of `nsys export --type sqlite`,
 * as far as the trace has what they are for. The file is written whole or not at all.
 * @param gpu  what it ran on; NULL: not known */
enum st_code nsys_export(const struct tr_trace *trace, const struct vg_profile *gpu,
                         const char *path, struct st_error *err);

/** A trace, and what it ran on; NULL: not known. */
struct ncu_run {
    const struct tr_trace *trace;
    const struct vg_profile *gpu;
};

/** Prints the sections of `ncu --page details` for each launch, in the order of the launches.
 * @param baseline  another run, NULL: none: each value is compared with its launch of the same
 * kernel, the first with the first and so on; of a kernel that it does not have, with its launch in
 * the same place */
enum st_code ncu_print(FILE *out, const struct ncu_run *run, const struct ncu_run *baseline,
                       bool csv, struct st_error *err);
