/** @file
 * The innermost loops of a convolution, with sums in registers, as a template: the oracle includes
 * it to sum in float64, the trainer to sum in float32, both once for every kind of vector register.
 *
 *     TILE_NAME     name of the function to define
 *     TILE_TARGET   attribute that lets the compiler use these registers
 *     TILE_ELEM     type of inputs, weights and sums
 *     TILE_LANES    elements in a register
 *     TILE_VECTORS  vectors of positions kept in registers at a time
 *     TILE_MAPS     output maps kept in registers at a time
 *
 * All macros except TILE_ELEM are undefined at the end; the file has no include guard. TILE_MAPS *
 * TILE_VECTORS sums, TILE_VECTORS inputs and a weight must fit in the registers; more sums mean
 * fewer loads per multiply-add.
 *
 * One tile is TILE_MAPS output maps at TILE_POSITIONS neighbouring positions of a map stored as one
 * line (see oracle.c): for i < TILE_MAPS and j < TILE_POSITIONS (an enum of the including file),
 *
 *     out[i * out_stride + j] = sum over c, p, q of x[c*H*W + p*W + q + j] * k[c][p][q][i],
 *
 * each summed in the order c, p, q. Reads up to TILE_POSITIONS - 1 elements of x after the last
 * element that an output needs.
 */

TILE_TARGET static void TILE_NAME(const struct conv_shape *s, const TILE_ELEM *x,
                                  const TILE_ELEM *k, float *out, size_t out_stride)
{
    typedef TILE_ELEM vector
        __attribute__((vector_size(TILE_LANES * sizeof(TILE_ELEM)), aligned(sizeof(TILE_ELEM))));

    for (int j = 0; j < TILE_POSITIONS; j += TILE_VECTORS * TILE_LANES) {
        vector sum[TILE_MAPS][TILE_VECTORS];
        const TILE_ELEM *weight = k;
#pragma GCC unroll 8
        for (int i = 0; i < TILE_MAPS; i++) {
#pragma GCC unroll 8
            for (int v = 0; v < TILE_VECTORS; v++)
                sum[i][v] = (vector){0};
        }
        for (int c = 0; c < s->C; c++) {
            for (int p = 0; p < s->K; p++) {
                const TILE_ELEM *from = x + ((size_t)c * s->H + p) * s->W + j;
                for (int q = 0; q < s->K; q++, from++, weight += TILE_MAPS) {
#pragma GCC unroll 8
                    for (int i = 0; i < TILE_MAPS; i++) {
#pragma GCC unroll 8
                        for (int v = 0; v < TILE_VECTORS; v++)
                            sum[i][v] += *(const vector *)(from + v * TILE_LANES) * weight[i];
                    }
                }
            }
        }
#pragma GCC unroll 8
        for (int i = 0; i < TILE_MAPS; i++) {
#pragma GCC unroll 8
            for (int v = 0; v < TILE_VECTORS; v++) {
#pragma GCC unroll 16
                for (int lane = 0; lane < TILE_LANES; lane++)
                    out[i * out_stride + j + v * TILE_LANES + lane] = (float)sum[i][v][lane];
            }
        }
    }
}

#undef TILE_NAME
#undef TILE_TARGET
#undef TILE_LANES
#undef TILE_VECTORS
#undef TILE_MAPS
