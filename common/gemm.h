/** @file
 * The contract between an SGEMM lab and the harness: the only function that a student writes.
 *
 * A lab is compiled into a shared library, libconv.so, that exports gemm_forward(). The harness
 * (common/runner) loads the library, and calls and times the function. Matrices are dense float32,
 * row after row:
 *
 *     A [M][K]      so element (m, k) of A is A[m * K + k]
 *     B [K][N]
 *     C [M][N]      garbage on entry; every element must be written
 */
#ifndef CONVLAB_GEMM_H
#define CONVLAB_GEMM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The product of two matrices, C = A B:
 *
 *     C[m,n] = sum over k of A[m,k] * B[k,n]
 *
 * @param M, N, K  the sizes, all at least 1
 * @param A  input [M][K], must not be changed
 * @param B  input [K][N], must not be changed
 * @param C  output [M][N]
 * All are device pointers. Everything done in here is Op Time.
 * @return 0, or anything else to report that the sizes cannot be computed. */
int gemm_forward(int M, int N, int K, const float *A, const float *B, float *C);

#ifdef __cplusplus
}
#endif
#endif
