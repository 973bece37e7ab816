/** @file
 * The record that the virtual GPU's own process makes of one request: the kernels that ran, how and
 * how often they were launched, the times of each call, copy and kernel on the device's clock, the
 * counters per kernel and source line, and the findings of the checks.
 *
 * The record comes through a channel that only the grader holds. The student's process can add to
 * the record by using the device, but cannot forge, change or clear it.
 */
#pragma once

#include "base/status.h"
#include "base/tsv.h"
#include "conv.h"
#include "vgpu/device/device_process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One row of the trace, in the order of execution. */
struct gr_device_row {
    const char *kind; /**< "kernel", "copy_htod", "copy_dtoh", "copy_dtod", "memset", or "api" */
    const char *name; /**< the kernel's demangled name, or the runtime function */
    int client;       /**< number of its connection; a process may open several */
    unsigned long long stream;
    double start_ns, end_ns;    /**< modelled time on the client's clock */
    double bytes;               /**< of copies and fills, else 0 */
    uint32_t grid[3], block[3]; /**< of kernels, like the following members */
    int registers;
    size_t static_shared_bytes, dynamic_shared_bytes;
    double occupancy;    /**< achieved, 0 to 1 */
    const char *limiter; /**< the bound of the modelled time: "dram", "fp32", ... */
    int error;           /**< cudaError_t */
};

/** The record of one request. */
struct gr_device_record {
    struct gr_device_row *row;
    size_t rows;
    uint64_t lost;       /**< rows that did not fit: the trace is incomplete */
    struct tsv trace;    /**< as recorded; the rows' strings point into it */
    struct tsv findings; /**< kind kernel file line block thread address detail count ... */
    struct tsv counters; /**< kernel file line launches class_... warp_instructions ...; the row for
                            a whole kernel has file "" and line 0 */
    struct tsv work;     /**< what ran, for gr_executed_add() (technique/executed.h) */
    struct tsv proof;    /**< see way.h; empty unless the session proves */
};

/** Parses the result of vg_process_answer(). @param texts  the record owns their contents, even
 * after an error; emptied */
enum st_code gr_device_record_parse(struct gr_device_record *record,
                                    struct vg_process_record *texts, struct st_error *err);
/** Frees a record's contents; harmless on a zeroed one. */
void gr_device_record_free(struct gr_device_record *record);

/** @return a column of the counters, summed over the launches of one kernel (NULL: of all kernels);
 * 0 if the kernel or column does not exist. */
unsigned long long gr_device_counter(const struct gr_device_record *record, const char *kernel,
                                     const char *column);

/** The Op Time of one convolution on the device's clock: the time between the harness's events
 * before and after conv_forward(), plus all other work on the device outside the harness's copies
 * of the three tensors, on any connection. @return false if the harness's own calls for this shape
 * are missing: other code used the device instead of the harness. */
bool gr_device_op_time(const struct gr_device_record *record, const struct conv_shape *shape,
                       double *op_time_s);

/** The Layer Time of one convolution whose x, k and y are in host memory: the harness copies
 * none. */
bool gr_device_layer_time(const struct gr_device_record *record, double *layer_time_s);

/** How a convolution's copies between host memory and the device overlapped with its kernels. */
struct gr_copies {
    double in_bytes, out_bytes; /**< to the device, back to the host */
    double copy_ns;             /**< time of all copies, each direction counted separately */
    double overlapped_ns;       /**< ... of which a kernel or a copy in the other direction ran */
    double crossing_ns; /**< the time in which copies in both directions ran, but no kernel */
    double kernel_ns;   /**< time in which at least one kernel ran that does some work */
};
/** @return false: out of memory. */
bool gr_device_copies(const struct gr_device_record *record, struct gr_copies *copies);
