/** @file
 * What the kernels of one convolution did: how many multiply-adds they made, and which way x and k
 * took from global memory to them and the result to y.
 *
 * The virtual GPU tells how many threads ran each basic block of each launch, and what its pointers
 * pointed to (the table of work, device_record.h). The library's PTX tells which values flow where.
 * Together:
 *
 *     x, k ──load──▶ register ─────────────────────────▶ multiply-add ──▶ ... ──store──▶ y
 *        └─▶ shared memory, constant variable, workspace ─┘
 *
 * A value's taint says what it was made of and what it came through. A multiply-add counts if one
 * factor is made of x, the other of k, and the result reaches y. So a kernel that works on
 * something else, or whose results nobody reads, counts for nothing.
 *
 * Registers and arrays are each taken as a whole, all their values over time together. What that
 * cannot follow: pointers that are themselves loaded from memory, and functions that are not
 * inlined.
 */
#ifndef CONVLAB_GRADER_WORK_H
#define CONVLAB_GRADER_WORK_H

#include "base/status.h"
#include "base/tsv.h"
#include "conv.h"

#include <stdbool.h>
#include <stddef.h>

/** Counts of executions by threads; memory accesses in float32 words. */
#define GR_WORK_COUNTS(X)                                                                          \
    X(multiply_adds)    /* of x and k, on the way to y */                                          \
    X(x_through_shared) /* of these: whose x came out of shared memory */                          \
    X(k_through_shared)                                                                            \
    X(x_through_buffer)  /* ... whose x had been written to global memory before */                \
    X(k_from_constant)   /* ... whose k came straight from a constant variable */                  \
    X(into_atomics)      /* ... whose result reaches y by an atomic addition */                    \
    X(x_loads)           /* from the tensor x in global memory */                                  \
    X(x_read_only_loads) /* of these: ld.global.nc */                                              \
    X(k_loads)                                                                                     \
    X(k_read_only_loads)                                                                           \
    X(constant_loads) /* of weights, from constant variables */                                    \
    X(staged)         /* x or k, stored to shared memory */                                        \
    X(x_staged)                                                                                    \
    X(shared_loads) /* x or k, loaded from shared memory */                                        \
    X(barriers)                                                                                    \
    X(x_rewritten)     /* x, stored to global memory other than y */                               \
    X(y_stores)        /* results, stored to y, not added to it */                                 \
    X(y_atomics)       /* results, added to y; again and again to one address count once */        \
    X(multiply_blocks) /* runs of basic blocks with such multiply-adds */                          \
    X(loop_branches)   /* branches backwards around such blocks */

struct gr_work_counts {
#define GR_WORK_FIELD(name) double name;
    GR_WORK_COUNTS(GR_WORK_FIELD)
#undef GR_WORK_FIELD
};

enum { GR_MAX_KERNELS = 64 };

/** One kernel, all its launches together. */
struct gr_kernel_work {
    char name[128]; /**< demangled */
    unsigned launches;
    char block[32];            /**< blockDim of its last launch, "16x16x1" */
    size_t instructions;       /**< in its code */
    size_t shared_bytes;       /**< static */
    int multiply_instructions; /**< in its code, those that count */
    int result_stores;         /**< in its code, of results to y */
    struct gr_work_counts counts;
};

/** All kernels of one convolution. Large: allocate it. */
struct gr_work {
    struct conv_shape shape;
    size_t kernels;
    struct gr_kernel_work kernel[GR_MAX_KERNELS];
    struct gr_work_counts total;
    struct gr_work_counts multiplying; /**< of the kernels with multiply-adds that count */
    double from_host_bytes; /**< brought to the device by the host, not the harness, and on the way
                               to y as values; not what constant variables hold */
    bool cut;               /**< more launches than can be followed */
    double constant_bytes_copied; /**< to constant variables that then hold weights */
    bool not_followed;            /**< a launched kernel is not in the library's PTX */
};

struct gr_code;

/** Reads the PTX out of a library. @param sm  of the GPU it ran on, such as 90.
 * @return ST_NOT_FOUND if it has none, ST_BAD_FORMAT if it cannot be read. */
enum st_code gr_code_read(struct gr_code **code, const char *library, int sm, struct st_error *err);
void gr_code_free(struct gr_code *code);

/** Puts together what a library's kernels did. @param table  of the request in which the runner
 * had this convolution computed. */
enum st_code gr_work_read(struct gr_work *to, struct gr_code *code, const struct tsv *table,
                          const struct conv_shape *shape, struct st_error *err);

#endif
