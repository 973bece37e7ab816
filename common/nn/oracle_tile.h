/** @file
 * The oracle's innermost loops, as a template: oracle.c includes this file once for every kind of
 * vector register, with
 *
 *     TILE_NAME     name of the function to define, a tile_kernel
 *     TILE_TARGET   attribute that lets the compiler use those registers
 *     TILE_LANES    float64 in a register
 *     TILE_VECTORS  vectors of positions kept in registers at a time
 *     TILE_MAPS     output maps kept in registers at a time
 *
 * and so no include guard. TILE_MAPS * TILE_VECTORS sums, TILE_VECTORS inputs and a weight must fit
 * in the registers; the more sums, the fewer loads for each multiply-add.
 */

TILE_TARGET static void TILE_NAME(const struct conv_shape *s, const double *x, const double *k,
                                  float (*out)[TILE_POSITIONS])
{
    typedef double vector __attribute__((vector_size(TILE_LANES * sizeof(double)), aligned(8)));

    for (int j = 0; j < TILE_POSITIONS; j += TILE_VECTORS * TILE_LANES) {
        vector sum[TILE_MAPS][TILE_VECTORS];
        const double *weight = k;
#pragma GCC unroll 8
        for (int i = 0; i < TILE_MAPS; i++) {
#pragma GCC unroll 8
            for (int v = 0; v < TILE_VECTORS; v++)
                sum[i][v] = (vector){0};
        }
        for (int c = 0; c < s->C; c++) {
            for (int p = 0; p < s->K; p++) {
                const double *from = x + ((size_t)c * s->H + p) * s->W + j;
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
#pragma GCC unroll 8
                for (int lane = 0; lane < TILE_LANES; lane++)
                    out[i][j + v * TILE_LANES + lane] = (float)sum[i][v][lane];
            }
        }
    }
}

#undef TILE_NAME
#undef TILE_TARGET
#undef TILE_LANES
#undef TILE_VECTORS
#undef TILE_MAPS
