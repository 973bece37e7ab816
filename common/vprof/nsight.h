/** @file
 * Prints a trace in the styles of NVIDIA's two later profilers: Nsight Systems (`nsys stats`) and
 * Nsight Compute (`ncu --page details`), with their names, units and order. Values that a trace
 * lacks are "n/a".
 */
#pragma once

#include "trace/trace.h"

#include <stdio.h>

/** Prints the summaries cuda_api_sum, cuda_gpu_kern_sum, cuda_gpu_mem_time_sum and
 * cuda_gpu_mem_size_sum of `nsys stats`. As CSV, each begins with its header row, and an empty line
 * separates them; without data, only the header row is printed. */
enum st_code nsys_print(FILE *out, const struct tr_trace *trace, bool csv, struct st_error *err);

/** Writes a trace as an SQLite database with the tables and columns of `nsys export --type sqlite`,
 * if the trace has their data. The file is written completely or not at all. @param gpu  the
 * GPU on which it ran; NULL: unknown */
enum st_code nsys_export(const struct tr_trace *trace, const struct vg_profile *gpu,
                         const char *path, struct st_error *err);

/** A trace, and its GPU; NULL: unknown. */
struct ncu_run {
    const struct tr_trace *trace;
    const struct vg_profile *gpu;
};

/** The formats of `ncu --page details`. With --csv, ncu prints values in base units (ns, byte) after
 * profiling a program, and in scaled units for a file that it reads. */
enum ncu_format { NCU_TEXT, NCU_CSV_SCALED, NCU_CSV_BASE };

/** Prints the sections of `ncu --page details` for each launch, in the order of the launches.
 * @param baseline  another run, or NULL: a kernel's n-th launch is compared with the baseline's
 * n-th launch of that kernel; a kernel that the baseline lacks, with the baseline's launch at that
 * position */
enum st_code ncu_print(FILE *out, const struct ncu_run *run, const struct ncu_run *baseline,
                       enum ncu_format format, struct st_error *err);
