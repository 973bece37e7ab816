/** @file
 * What the virtual GPU's own process says of one request: which kernels ran, how often and how they
 * were launched, when each call, copy and kernel was on the device's clock, what was counted per
 * kernel and source line, and what the checks found.
 *
 * It comes over a channel that only the grader holds. The student's process can add to it, by using
 * the device, but not forge, change or clear it.
 */
#pragma once

#include "base/status.h"
#include "base/tsv.h"
#include "conv.h"
#include "vgpu/device/device_process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One row of the trace, in the order in which things were done. */
struct gr_device_row {
    const char *kind; /**< "kernel", "copy_htod", "copy_dtoh", "copy_dtod", "memset", or "api" */
    const char *name; /**< of the kernel, demangled, or of the runtime function */
    int client;       /**< which connection: one a process, unless it opens more */
    unsigned long long stream;
    double start_ns, end_ns;    /**< modelled, on the client's clock */
    double bytes;               /**< copies and fills, else 0 */
    uint32_t grid[3], block[3]; /**< kernels, like what follows */
    int registers;
    size_t static_shared_bytes, dynamic_shared_bytes;
    double occupancy;    /**< achieved, 0 to 1 */
    const char *limiter; /**< what the modelled time is bound by: "dram", "fp32", ... */
    int error;           /**< cudaError_t */
};

/** Of one request. */
struct gr_device_record {
    struct gr_device_row *row;
    size_t rows;
    uint64_t lost;       /**< rows that found no room: the trace is not complete */
    struct tsv trace;    /**< as recorded; the rows' strings point into it */
    struct tsv findings; /**< kind kernel file line block thread address detail count ... */
    struct tsv counters; /**< kernel file line launches class_... warp_instructions ...; the row of
                            a whole kernel has file "" and line 0 */
    struct tsv work;     /**< see work.h */
    struct tsv proof;    /**< see way.h; empty unless the session proves */
};

/** Parses what vg_process_answer() gave. @param texts  taken over and emptied, also on errors. */
enum st_code gr_device_record_parse(struct gr_device_record *record,
                                    struct vg_process_record *texts, struct st_error *err);
/** Releases a record; harmless on a zeroed one. */
void gr_device_record_free(struct gr_device_record *record);

/** @return a column of the counters, summed over the launches of one kernel (NULL: of all); 0 if
 * there is no such kernel or column. */
unsigned long long gr_device_counter(const struct gr_device_record *record, const char *kernel,
                                     const char *column);

/** The Op Time of one convolution by the device's clock: from the harness's event before
 * conv_forward() to the one after it, and whatever else was done on the device outside of the
 * harness's copies of the three tensors, on any connection.
 * @return false if the harness's own calls for this shape are not there: somebody else spoke to the
 * device in its place. */
bool gr_device_op_time(const struct gr_device_record *record, const struct conv_shape *shape,
                       double *op_time_s);

/** The same where the harness makes no copies: x, k and y are host memory. */
bool gr_device_layer_time(const struct gr_device_record *record, double *layer_time_s);

/** How the copies of a convolution between host memory and the device went together with its kernels. */
struct gr_copies {
    double in_bytes, out_bytes; /**< to the device, back to the host */
    double copy_ns;             /**< of all copies, each direction by itself */
    double overlapped_ns;       /**< ... while a kernel ran, or a copy in the other direction */
    double kernel_ns;           /**< in which at least one kernel ran */
};
/** @return false without memory */
bool gr_device_copies(const struct gr_device_record *record, struct gr_copies *copies);
