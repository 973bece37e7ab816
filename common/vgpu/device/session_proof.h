/** @file
 * The proof by execution of one convolution (exec/proof.h) in the device process.
 *
 * The first three allocations that the host writes are x, k and y, in the order in which the
 * harness uploads them. Or they are in page-locked host memory, which the harness fills before it
 * records its first event; then copies carry the proof's knowledge of their words. When the first
 * of them is freed, the convolution is over and y is judged; otherwise when the record is taken.
 */
#pragma once

#include "base/status.h"
#include "conv.h"
#include "vgpu/api/vgpu.h"

#include <stdio.h>

/** Origins of y, over all outputs: X(count). */
#define PROOF_TOTALS(X)                                                                            \
    X(outputs)                                                                                     \
    X(right)      /* equal to the convolution of x and k */                                        \
    X(no_element) /* made of no element of x and k */                                              \
    X(lost)       /* that lost their value by rounding, or by other bits */                        \
    X(first_wrong)                                                                                 \
    X(products)                                                                                    \
    X(x_shared)                                                                                    \
    X(k_shared)                                                                                    \
    X(x_buffer)                                                                                    \
    X(k_constant)                                                                                  \
    X(read_only)                                                                                   \
    X(by_atomics)                                                                                  \
    X(joins)                                                                                       \
    X(largest_part)     /* most products of an output by one thread */                             \
    X(without_x_shared) /* outputs that use no element of x from shared memory */

struct proof_totals {
#define PROOF_TOTAL(name) unsigned long long name;
    PROOF_TOTALS(PROOF_TOTAL)
#undef PROOF_TOTAL
};

/** The subject of the proof, and the element of y that is followed. */
struct session_proved {
    struct conv_shape shape;
    long output; /**< or -1 */
};

struct session_proof {
    const struct session_proved *proved; /**< NULL: nothing is proved */
    int tensors;                         /**< seen up to now */
    uint64_t address[VG_PROOF_TENSORS];
    size_t
        host_bytes[VG_PROOF_TENSORS]; /**< of tensors in host memory that have not begun, else 0 */
    bool judged;
    struct proof_totals totals;
};

/** Reads "B,M,C,H,W,K" or, with the number of an output, "B,M,C,H,W,K:OUTPUT". @return whether the
 * text is valid. */
bool session_proof_read(const char *text, struct session_proved *to);
enum st_code session_proof_start(struct session_proof *p, struct vg_device *device,
                                 struct st_error *err);
/** Handles a write by the host. @param address  of its allocation @param bytes  of its
 * allocation */
bool session_proof_upload(struct session_proof *p, struct vg_device *device, uint64_t address,
                          size_t bytes);
/** Handles a tensor that the harness has allocated in page-locked memory. @param nth  x, k or y */
void session_proof_host_tensor(struct session_proof *p, int nth, uint64_t address, size_t bytes);
/** Starts the proof with the present contents of these tensors, if all three exist. @return false
 * without memory */
bool session_proof_host_begin(struct session_proof *p, struct vg_device *device);
/** Handles an allocation that is about to be freed. */
void session_proof_free(struct session_proof *p, struct vg_device *device, uint64_t address);
/** Writes the rows of the record: "" or a kernel, a fact, a number. A step of the followed output
 * is a fact "step", one of the last steps before a finding "recent" (session_proof.c); "steps_lost"
 * 1: some were dropped. Then the next proof starts. */
void session_proof_write(struct session_proof *p, struct vg_device *device, FILE *out);
