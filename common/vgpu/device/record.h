/** @file
 * What the device process writes: the trace, the findings and the counters, as TSV files, and the
 * findings as text on stderr. Everything is kept in memory and written once, at the end, whole or
 * not at all; a killed device process leaves no half of a file behind.
 *
 *     trace     kind name client stream start_ns end_ns duration_ns bytes grid block registers
 *               static_shared_bytes dynamic_shared_bytes occupancy limiter error
 *               (times are modelled; kind: kernel copy_htod copy_dtoh copy_dtod memset api)
 *     faults    kind kernel file line block thread address detail count other_file other_line
 *     counters  as vg_counters_write() has them
 */
#ifndef CONVLAB_VGPU_RECORD_H
#define CONVLAB_VGPU_RECORD_H

#include "base/status.h"
#include "vgpu/device/timeline.h"
#include "vgpu/device/vgpu.h"

#include <stdint.h>
#include <stdio.h>

struct record;

/** One row of the trace; fields not set stay empty. */
struct record_row {
    const char *kind, *name;
    int client;
    uint64_t stream;
    struct tl_span span;
    double bytes; /**< copies and fills, else negative */
    const struct vg_launch_report *launch;
    struct vg_dim grid, block;
    int error;
};

/** Starts recording. Paths may be NULL: not wanted. They are kept by the caller. */
enum st_code record_open(struct record **record, const char *trace, const char *faults,
                         const char *counters, struct st_error *err);
void record_trace(struct record *record, const struct record_row *row);
/** Prints on stderr the findings that are new since the last call for this device. @param printed
 * how many were printed before; updated. */
void record_findings_print(struct record *record, const struct vg_device *device, size_t *printed);
/** Takes the first @p most findings, and the counters, of a device that is about to be closed. */
void record_device(struct record *record, const struct vg_device *device, size_t most);
/** Writes the files. Safe to call from another thread than the rest. Later calls do nothing. */
enum st_code record_write(struct record *record, struct st_error *err);
void record_close(struct record *record);

/** One finding as text a student understands, several lines. */
void fault_text(FILE *out, const struct vg_fault *fault);
/** The CUDA error that real hardware returns for a finding that ends a kernel. */
int fault_error(enum vg_fault_kind kind);

/** One line on stderr, in one write: "virtual GPU: ...". */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** The same for a report: what, where, expected, got and hint. */
void say_error(const char *before, const struct st_error *err);

#endif
