/** @file
 * Matrix instructions of a whole warp: which lane holds an element, and the products.
 *
 * mma.sync and ldmatrix have the layouts of the PTX ISA ("Matrix Fragments for mma"). The ISA does
 * not specify the layouts of wmma. Here element e of lane l of a fragment is number e * 32 + l of
 * its row-major matrix, so exactly one lane holds each element. Factors with elements narrower than
 * a byte have the layout of mma: a lane holds one of the four words of a row of a, or of a column of
 * b. Products are exact in float64,
 * summed in float64, and rounded once to the type of d. This is at least as accurate as tensor
 * cores, which truncate.
 */
#pragma once

#include "vgpu/ptx/ptx_ir.h"

/** The operands of d = a*b + c, as the instruction lists them; a is m x k, b is k x n. */
enum matrix_operand { MATRIX_D, MATRIX_A, MATRIX_B, MATRIX_C };
/** The matrix of wmma.load or store. Elements narrower than a byte are moved as words. */
struct matrix_tile {
    enum ptx_type type;
    uint32_t rows, columns;
    uint32_t per; /**< elements in a word that is moved as one element; otherwise 1 */
    bool row_major;
};
struct matrix_tile matrix_wmma_tile(const struct ir_insn *in, bool is_store);
/** @return whether an operand has the layout of wmma, not that of mma. */
bool matrix_is_wmma(const struct ir_insn *in, enum matrix_operand which);
/** An element of the matrix of wmma.load or store. */
struct matrix_access {
    const uint32_t *regs; /**< registers, preceded by their number; NULL: no lane has the element */
    int e, lane;          /**< element e of this lane's fragment */
    uint64_t address;
    uint32_t bytes;
    int count; /**< number of elements */
};
/** @return false if element @p i does not exist. */
bool matrix_wmma_place(const struct vg_warp *w, const struct ir_insn *in, bool is_store, int i,
                       struct matrix_access *at);
struct matrix_sizes {
    int m, n, k;
};
struct matrix_sizes matrix_sizes_of(const struct ir_insn *in);
enum ptx_type matrix_type(const struct ir_insn *in, enum matrix_operand which);
/** One element of each lane of an operand. In all layouts the element's row-major index in the
 * matrix is linear in lane / 4 and in lane % 4. */
struct matrix_lanes {
    uint32_t slot; /**< of the register that holds the element */
    enum ptx_type type;
    int per, part;      /**< elements in a register, lowest first; which of them this one is */
    int first;          /**< index in the matrix, for lane 0 */
    int down, across;   /**< added to it per unit of lane / 4, and of lane % 4 */
    int bits, elements; /**< binary logarithm of per; number of elements in the whole matrix */
    struct matrix_sizes sizes;
    const uint32_t *regs; /**< slots of the operand's registers */
};
/** Where elements of a are when ordered by lanes: the element in row i and column p is number
 * row[i] + column[p]. */
struct matrix_order {
    int row[32], column[256];
};
void matrix_order_of_a(const struct ir_insn *in, struct matrix_order *order);

/** @return the slots of an operand's registers; their number precedes them. */
const uint32_t *matrix_registers(const struct vg_warp *w, const struct ir_insn *in,
                                 enum matrix_operand which);

/** Call this with @p e = 0 first: later calls use what the first one set. @return false if lanes do
 * not have an element @p e. */
bool matrix_lanes(const struct vg_warp *w, const struct ir_insn *in, enum matrix_operand which,
                  int e, struct matrix_lanes *at);
static inline int matrix_place(const struct matrix_lanes *at, int lane)
{
    return at->first + lane / 4 * at->down + lane % 4 * at->across;
}
void matrix_move(struct vg_warp *w, const struct ir_insn *in);
/** Executes ldmatrix and stmatrix after the rows' memory was found. */
void matrix_exchange_rows(struct vg_warp *w, const struct ir_insn *in, char *const rows[32],
                          bool is_store);
