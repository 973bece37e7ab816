/** @file
 * The records of the device process: the trace, the findings, the counters and the work, as TSV
 * tables, and the findings as text on stderr. Everything is kept in memory. Files are written
 * atomically, at the end; a killed device process leaves no partial file. Alternatively, the
 * process's owner may take the new records at any time (device_protocol.h: VP_CONTROL_TAKE).
 *
 *     trace     vgpu/api/trace_columns.def; if no file is requested, only the few columns that the
 *               grader reads. Times are modelled. A row of work precedes the row of the call that
 *               requested it, if any.
 *
 *     faults    kind kernel file line block thread address detail count other_file other_line
 *
 *     counters  columns of vg_counters_write()
 *
 *     work      kind name to from bytes grid block dynamic_shared_bytes blocks
 *               ptx_hash left
 *
 *               (kernel: mangled name, the bytes of parameters that differ from those of its last
 *               launch, the SHA-256 of its module's PTX, and two members of vg_launch_report;
 *               copies: source and destination; copy_shared: data that the host has written to
 *               shared memory. Addresses are as in vg_address_name().)
 *
 *     proof     kernel fact value
 *
 *               (session_proof.h and struct vg_proof_kernel have the facts; facts about y have no
 *               kernel.)
 */
#pragma once

#include "base/status.h"
#include "vgpu/device/timeline.h"
#include "vgpu/api/vgpu.h"

#include <stdint.h>
#include <stdio.h>

struct record;

enum record_table {
    RECORD_TRACE,
    RECORD_FAULTS,
    RECORD_COUNTERS,
    RECORD_WORK,
    RECORD_PROOF,
    RECORD_TABLES
};

/** One row of the trace; fields that are not set are empty. */
struct record_row {
    const char *kind, *name;
    int client;
    uint64_t stream;
    struct tl_span span;
    double bytes; /**< for copies and fills, else negative */
    const struct vg_launch_report *launch;
    const char *symbol;      /**< for kernels: the mangled name */
    const char *host_memory; /**< for copies from and to the host */
    struct vg_dim grid, block;
    int error;
};

/** How many of a device's findings are already recorded; zeroed for a new device. */
struct record_reported {
    uint64_t *counts;
    size_t n;
};

/** Starts recording. @param path  each table's file; NULL: none. The strings must stay valid.
 * @param takes  whether record_take() will be called: then all tables are recorded. */
enum st_code record_open(struct record **record, const char *const path[RECORD_TABLES], bool takes,
                         struct st_error *err);
void record_trace(struct record *record, const struct record_row *row);
/** @return whether the table of work is recorded. */
bool record_wants_work(const struct record *record);
/** Adds a copy or fill to the table of work. @p to and @p from are addresses as text; "": host
 * memory. */
void record_work_copy(struct record *record, const char *kind, const char *to, const char *from,
                      double bytes);
/** Adds a launch to the table of work. @param name  mangled @param ptx_hash  hash of its module's
 * PTX */
void record_work_kernel(struct record *record, const char *name, const char *ptx_hash,
                        double sent_bytes, const struct record_row *row);
/** @return the stream for rows of the proof, or NULL if the proof is not recorded. */
FILE *record_proof(struct record *record);
/** Prints on stderr the findings that are new since the last call for this device.
 * @param printed  number printed so far; updated
 * @param is_cut  the program ended while the last kernel ran: findings of threads that wait are left
 * out, because these threads might have continued */
void record_findings_print(struct record *record, const struct vg_device *device, size_t *printed,
                           bool is_cut);
/** From now on, findings that match a file of suppressions (suppressions.h) are neither printed nor
 * recorded. */
enum st_code record_suppress(struct record *record, const char *path, struct st_error *err);
/** Counts allocations that a program has not freed as findings. */
void record_leaks(struct record *record, uint64_t allocations);
/** @return whether any device had findings. */
bool record_has_findings(const struct record *record);
/** Records a device's new findings and its counters since the last call, and clears the counters.
 * @param is_cut  as for record_findings_print() */
void record_device(struct record *record, struct vg_device *device,
                   struct record_reported *reported, bool is_cut);
/** Writes the tables one after another to a file, and empties them. @param bytes  set to their
 * lengths @param lost  set to the number of dropped trace rows
 * @return whether all was written. */
bool record_take(struct record *record, int fd, uint64_t bytes[RECORD_TABLES], uint64_t *lost);
/** Writes the files. It may be called from another thread than the other functions. Later calls do
 * nothing. */
enum st_code record_write(struct record *record, struct st_error *err);
void record_close(struct record *record);
/** Makes record_write() also write the recordings of blocks to a file. @param path  must stay
 * valid */
void record_blocks(struct record *record, const char *path);
bool record_wants_blocks(const struct record *record);

/** Prints one finding as text for students, in several lines. */
void fault_text(FILE *out, const struct vg_fault *fault);
/** @return the name of a finding's kind in tables. */
const char *fault_name(enum vg_fault_kind kind);
/** @return whether it is a note, which does not count as a finding. */
bool fault_is_note(enum vg_fault_kind kind);
/** @return the CUDA error that real hardware returns for a finding that ends a kernel. */
int fault_error(enum vg_fault_kind kind);

/** Prints one line on stderr, in one write: "virtual GPU: ...". */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Prints a report in this form: what, where, expected, got and hint. */
void say_error(const char *before, const struct st_error *err);
