/** @file
 * The table of instruction handlers, for each instruction set.
 */
#pragma once

#include "vgpu/ptx/ptx_ir.h"

struct matrix_sizes;
struct origin;
struct proof_factors;
struct proof_fused;
struct proof_pairs;
struct vg_shape;

/** The handlers of one instruction set: the same source, compiled once for each. */
struct vg_handlers {
    /** Executes instructions from @p first on, until the running fragment has to wait. */
    void (*enter)(const struct ir_insn *first, struct vg_warp *warp);
    /** As enter(), but first records each access (see cache_sample.h), and follows unwritten bytes
     * (see unset_copies.h). */
    void (*enter_sampled)(const struct ir_insn *first, struct vg_warp *warp);
    /** As enter_sampled(), but also records each instruction (see block_recording.h). */
    void (*enter_recorded)(const struct ir_insn *first, struct vg_warp *warp);
    /** As enter(), with proof_step() before each instruction (proof.h). */
    void (*enter_proved)(const struct ir_insn *first, struct vg_warp *warp);
    /** Computes the shape of an access of lanes at these addresses, with all its counts. */
    void (*learn)(struct vg_shape *shape, const uint64_t addresses[32], uint32_t mask,
                  uint32_t size);
    /** Reads the numbers of an operand (enum matrix_operand) of a product of matrices, row-major
     * (matrix.h). */
    void (*matrix_numbers)(const struct vg_warp *warp, const struct ir_insn *in, int operand,
                           double *matrix);
    /** d += a * b with the origins of a proof (proof_products.inc).
     * @return the number of products of x and k */
    uint32_t (*multiply_factors)(struct proof_factors *d, const struct proof_factors *a,
                                 const struct proof_factors *b, const struct matrix_sizes *sizes);
    /** d = a * b + c in float32 with the origins of a proof (proof_products.inc), for lanes that
     * multiply an element of x by one of k, or by a zero without an element. Operands are whole
     * words; c may also be such a zero. Does not change other lanes.
     * @param d     [32] as from and bits; may be an operand
     * @param from  origins of a, b and c */
    void (*fuse_lanes)(struct origin *d, const struct origin *const from[3],
                       const uint32_t *const bits[3], uint32_t lanes, struct proof_fused *fused);
    /** As fuse_lanes(), for pairs of halves in float16 and lanes whose halves all have usual
     * operands. Also sets the steps of the results. */
    void (*fuse_pairs)(struct origin *d, const struct origin *const from[3],
                       const uint32_t *const bits[3], uint32_t lanes, struct proof_pairs *pairs);
    /** d = a + b with the origins of a proof, in float32 or for pairs in float16, for lanes with usual
     * operands. Also sets the steps of the results. @return the lanes that have their results */
    uint32_t (*add_lanes)(struct origin *d, const struct origin *const from[2],
                          const uint32_t *const bits[2], uint32_t lanes, bool is_pair);
    /** Converts float32 to float16 or back, with the origins of a proof, for lanes with usual operands.
     * @return the lanes that have their results */
    uint32_t (*convert_lanes)(struct origin *d, const struct origin *from, const uint32_t *bits,
                              bool to_half);
    /** Executes one instruction of a warp that holds unwritten bytes. */
    ir_handler follow_unset;
    ir_handler run[IR_OPS];  /**< may also execute following instructions */
    ir_handler once[IR_OPS]; /**< executes only this instruction */
};
extern const struct vg_handlers vg_handlers_base, vg_handlers_avx2, vg_handlers_avx512;
