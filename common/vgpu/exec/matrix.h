/** @file
 * Matrix instructions of a whole warp: which lane holds which element, and the products.
 *
 * mma.sync and ldmatrix have the layouts of the PTX ISA ("Matrix Fragments for mma"). Those of wmma
 * are left open by the ISA: here element e of lane l of a fragment is number e * 32 + l of its
 * matrix, row-major, so every element is held once. Products are exact in float64 and summed there,
 * then rounded to the type of d once: at least as good as tensor cores, which truncate.
 */
#ifndef CONVLAB_VGPU_MATRIX_H
#define CONVLAB_VGPU_MATRIX_H

#include "vgpu/exec/vg_exec.h"

/** Finds the host memory of one lane's access; NULL after a finding. */
typedef char *(*matrix_lane)(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t at,
                             uint32_t size, bool is_write, bool is_atomic);

bool matrix_wmma_access(struct vg_warp *w, const struct ir_insn *in, bool is_store,
                        matrix_lane lane);
void matrix_wmma(struct vg_warp *w, const struct ir_insn *in);
void matrix_mma(struct vg_warp *w, const struct ir_insn *in);
void matrix_move(struct vg_warp *w, const struct ir_insn *in);
/** ldmatrix and stmatrix, when the rows' memory is known. */
void matrix_exchange_rows(struct vg_warp *w, const struct ir_insn *in, char *const rows[32],
                          bool is_store);

#endif
