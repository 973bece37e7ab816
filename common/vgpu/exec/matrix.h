/** @file
 * Matrix instructions of a whole warp: the lanes of elements, and the products.
 *
 * mma.sync and ldmatrix have the layouts of the PTX ISA ("Matrix Fragments for mma"). The ISA
 * leaves those of wmma open: here element e of lane l of a fragment is number e * 32 + l of its
 * matrix, row-major, so every element is held once. Products are exact in float64 and summed there,
 * then rounded to the type of d once: at least as good as tensor cores, which truncate.
 */
#pragma once

#include "vgpu/exec/vg_exec.h"

/** Finds the host memory of one lane's access; NULL after a finding. */
typedef char *(*matrix_lane)(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t at,
                             uint32_t size, bool is_write, bool is_atomic);

/** Element @p i of the matrix of wmma.load or store. */
struct matrix_access {
    const uint32_t *regs; /**< registers, after their number; NULL: no lane has the element */
    int e, lane;          /**< element e of this lane's fragment */
    uint64_t address;
    uint32_t bytes;
    int count; /**< number of elements */
};
/** @return false if element @p i does not exist. */
bool matrix_wmma_place(const struct vg_warp *w, const struct ir_insn *in, bool is_store, int i,
                       struct matrix_access *at);
bool matrix_wmma_access(struct vg_warp *w, const struct ir_insn *in, bool is_store,
                        matrix_lane lane);
/** The operands of d = a*b + c, as the instruction lists them; a is m x k, b is k x n. */
enum matrix_operand { MATRIX_D, MATRIX_A, MATRIX_B, MATRIX_C };
struct matrix_sizes {
    int m, n, k;
};
struct matrix_sizes matrix_sizes_of(const struct ir_insn *in);
enum ptx_type matrix_type(const struct ir_insn *in, enum matrix_operand which);
/** One element of each lane of an operand. Its place in the matrix, row-major, is linear in lane /
 * 4 and in lane % 4, in all layouts. */
struct matrix_lanes {
    uint32_t slot; /**< of the register that holds it */
    enum ptx_type type;
    int per, part;      /**< elements of a register, lowest first; the number of this one */
    int first;          /**< its place in the matrix, for lane 0 */
    int down, across;   /**< distance to the place of lane 4, of lane 1 */
    int bits, elements; /**< binary logarithm of per; elements of the whole matrix */
    struct matrix_sizes sizes;
    const uint32_t *regs; /**< slots of the operand's registers */
};
/** The elements of a in the order of lanes: the element in row i and column p is number row[i] +
 * column[p]. */
struct matrix_order {
    int row[32], column[256];
};
void matrix_order_of_a(const struct ir_insn *in, struct matrix_order *order);

/** Call it with @p e = 0 first: later elements use what it set. @return false if lanes do not have an
 * element @p e. */
bool matrix_lanes(const struct vg_warp *w, const struct ir_insn *in, enum matrix_operand which,
                  int e, struct matrix_lanes *at);
static inline int matrix_place(const struct matrix_lanes *at, int lane)
{
    return at->first + lane / 4 * at->down + lane % 4 * at->across;
}
void matrix_move(struct vg_warp *w, const struct ir_insn *in);
/** ldmatrix and stmatrix, after the rows' memory was found. */
void matrix_exchange_rows(struct vg_warp *w, const struct ir_insn *in, char *const rows[32],
                          bool is_store);
