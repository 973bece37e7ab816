/** @file
 * The proof by execution (exec/proof.h) of a convolution in the device process.
 *
 * The first three allocations that the host writes are x, k and y, in the order in which the
 * harness uploads them. Or the three are in page-locked host memory, which the harness fills before
 * it records its first event; then copies transfer the proof's data about the words. y is judged
 * when the first of the three is freed, which ends the convolution, or else when the record is
 * taken.
 */
#pragma once

#include "base/status.h"
#include "conv.h"
#include "vgpu/api/vgpu.h"

#include <stdio.h>

/** Where the outputs come from, summed over y: X(count). */
#define PROOF_TOTALS(X)                                                                            \
    X(outputs)                                                                                     \
    X(right)      /* equal to the convolution of x and k */                                        \
    X(no_element) /* computed from no element of x and k */                                        \
    X(lost)       /* value lost by rounding or by replaced bits */                                 \
    X(first_wrong)                                                                                 \
    X(products)                                                                                    \
    X(x_shared)                                                                                    \
    X(k_shared)                                                                                    \
    X(x_buffer)                                                                                    \
    X(k_constant)                                                                                  \
    X(read_only)                                                                                   \
    X(by_atomics)                                                                                  \
    X(joins)                                                                                       \
    X(joined)           /* outputs to which no thread adds nearly all products */                  \
    X(largest_part)     /* the most products that one thread adds to an output */                  \
    X(lower)            /* products computed in the lower halves of pairs */                       \
    X(upper)            /* ... in the upper halves */                                              \
    X(without_x_shared) /* outputs that use no element of x from shared memory */

struct proof_totals {
#define PROOF_TOTAL(name) unsigned long long name;
    PROOF_TOTALS(PROOF_TOTAL)
#undef PROOF_TOTAL
};

/** The convolution to prove, and the element of y to follow. */
struct session_proved {
    struct conv_shape shape;
    long output;                       /**< or -1 */
    bool tiles;                        /**< recognise tiles of the unrolled matrix */
    const struct session_proved *next; /**< the next convolution of a session; NULL: the same */
};
enum { SESSION_PROVED = 3 }; /**< most convolutions of a session */

struct session_proof {
    const struct session_proved *proved; /**< NULL: no proof */
    int tensors;                         /**< tensors seen so far */
    uint64_t address[VG_PROOF_TENSORS];
    size_t
        host_bytes[VG_PROOF_TENSORS]; /**< size of host tensors before the proof begins, else 0 */
    bool judged;
    struct proof_totals totals;
};

/** Reads "B,M,C,H,W,K" or, with the number of an output, "B,M,C,H,W,K:OUTPUT"; or several of
 * them with ";" between; "tiles;" may precede. @return whether the text is valid. */
bool session_proof_read(const char *text, struct session_proved to[SESSION_PROVED]);
enum st_code session_proof_start(struct session_proof *p, struct vg_device *device,
                                 struct st_error *err);
/** Handles a write by the host. @param address, bytes of the written allocation */
bool session_proof_upload(struct session_proof *p, struct vg_device *device, uint64_t address,
                          size_t bytes);
/** Handles a tensor that the harness has allocated in page-locked memory. @param nth  x, k or y */
void session_proof_host_tensor(struct session_proof *p, int nth, uint64_t address, size_t bytes);
/** Starts the proof with the present x, k and y in host memory, if all three exist. @return false:
 * out of memory */
bool session_proof_host_begin(struct session_proof *p, struct vg_device *device);
/** Handles an allocation that is about to be freed. */
void session_proof_free(struct session_proof *p, struct vg_device *device, uint64_t address);
/** Writes the rows of the record: "" or a kernel, a fact, a number. The fact "step" is a step of
 * the followed output, "recent" one of the last steps before a finding (session_proof.c);
 * "steps_lost" 1: some steps were dropped. Then starts the next proof. */
void session_proof_write(struct session_proof *p, struct vg_device *device, FILE *out);
