/* A float32 product on tensor cores: each factor is split into two parts of TF32. */
#include <mma.h>

/* sum += a b, of 16 x 8 and 8 x 16 floats, row by row. All lanes of a warp must call this
 * function. */
__device__ inline void
multiply_in_three(const float *a, const float *b,
                  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 8, float> &sum)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> f, f_rest;
    fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> g, g_rest;
    load_matrix_sync(f, a, 8);
    load_matrix_sync(g, b, 16);
    for (int i = 0; i < f.num_elements; i++) {
        const float all = f.x[i];
        f.x[i] = __float_to_tf32(all);
        f_rest.x[i] = __float_to_tf32(all - f.x[i]);
    }
    for (int i = 0; i < g.num_elements; i++) {
        const float all = g.x[i];
        g.x[i] = __float_to_tf32(all);
        g_rest.x[i] = __float_to_tf32(all - g.x[i]);
    }
    mma_sync(sum, f_rest, g, sum);
    mma_sync(sum, f, g_rest, sum);
    mma_sync(sum, f, g, sum);
}
