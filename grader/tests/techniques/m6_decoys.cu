/* Right results without the fused product of m6. */
#include "gemm.cuh"
/* the runtime and a kernel copy x */
/* expect: 2 kernels use x */
int copied_first(ARGUMENTS)
{
    const size_t n = x_floats(s);
    float *to = floats(n);
    copy_floats<<<(n + 255) / 256, 256>>>(x, to, n);
    return launch_multiply<true>(s, to, k, y);
}
__global__ void k_from_global(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ float s_u[16][16];
    const int m = blockIdx.y * 16 + threadIdx.y, rows = C * K * K;
    const size_t cols = (size_t)B * H_out * W_out, col = (size_t)blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int r0 = 0; r0 < rows; r0 += 16) {
        s_u[threadIdx.y][threadIdx.x] = element<true>(shape, x, cols, r0 + threadIdx.y, col);
        __syncthreads();
        for (int r = 0; r < 16 && r0 + r < rows && m < M; r++)
            sum += k[m * rows + r0 + r] * s_u[r][threadIdx.x];
        __syncthreads();
    }
    if (m < M && col < cols)
        Y(col / W_out / H_out, m, 0, col % ((size_t)W_out * H_out)) = sum;
}
/* expect: 0% of the products summed into y take k from shared or constant memory */
SUBMISSION_LAUNCH(weights_from_global,
                  k_from_global<<<product_tiles(s), dim3(16, 16)>>>(*s, x, k, y))
/* no sharing: each thread stages elements that only it uses */
__global__ void alone(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ volatile float s_k[128], s_u[128];
    const size_t i = (size_t)blockIdx.x * 128 + threadIdx.x;
    const int t = threadIdx.x;
    const bool in = i < (size_t)B * M * H_out * W_out;
    UNFLAT;
    float sum = 0;
    for (int r = 0; r < C * K * K; r++) {
        if (in)
            s_k[t] = KK(m, 0, 0, r), s_u[t] = X(b, r / (K * K), h + r / K % K, w + r % K);
        __syncthreads();
        if (in)
            sum += s_k[t] * s_u[t];
        __syncthreads();
    }
    if (in)
        y[i] = sum;
}
/* expect: elements of each input map were loaded from global memory */
int staged_for_one(ARGUMENTS)
{
    const size_t n = columns(s) * s->M;
    alone<<<(n + 127) / 128, 128>>>(*s, x, k, y);
    return failed();
}
/* tiled only for few images */
__global__ void by_pointer(struct conv_shape shape, const float *x, const float *k, float *y,
                           int tiled)
{
    SIZES;
    __shared__ float s_k[16][16], s_u[16][16];
    const int m = blockIdx.y * 16 + threadIdx.y, mm = min(m, M - 1), rows = C * K * K;
    const size_t cols = (size_t)B * H_out * W_out, col = (size_t)blockIdx.x * 16 + threadIdx.x,
                 at = min(col, cols - 1);
    float sum = 0;
    for (int r0 = 0; r0 < rows; r0 += 16) {
        s_k[threadIdx.y][threadIdx.x] =
            m < M && r0 + threadIdx.x < rows ? k[m * rows + r0 + threadIdx.x] : 0;
        s_u[threadIdx.y][threadIdx.x] = element<true>(shape, x, cols, r0 + threadIdx.y, col);
        __syncthreads();
        const int n = min(16, rows - r0);
        for (int i = 0; i < n; i++) {
            const int r = r0 + i;
            const float *a = tiled ? &s_k[threadIdx.y][i] : &k[mm * rows + r],
                        *v = tiled ? &s_u[i][threadIdx.x]
                                   : &X(at / W_out / H_out, r / (K * K),
                                        at / W_out % H_out + r / K % K, at % W_out + r % K);
            sum += *a * *v;
        }
        __syncthreads();
    }
    if (m < M && col < cols)
        Y(col / W_out / H_out, m, 0, col % ((size_t)W_out * H_out)) = sum;
}
/* expect: timed: but not in the timed runs */
SUBMISSION_LAUNCH(tiles_when_few,
                  by_pointer<<<product_tiles(s), dim3(16, 16)>>>(*s, x, k, y, s->B <= 24))

/* A tile of x as in m3, with the weights in shared memory beside it: nothing is unrolled. */
__global__ void tile_and_weights(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ float s_x[20][20], s_k[5][5];
    const int b = blockIdx.z / M, m = blockIdx.z % M, tx = threadIdx.x, ty = threadIdx.y;
    const int h0 = blockIdx.y * 16, w0 = blockIdx.x * 16;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        for (int i = ty * 16 + tx; i < 400; i += 256) {
            const int h = min(h0 + i / 20, H - 1), w = min(w0 + i % 20, W - 1);
            s_x[i / 20][i % 20] = X(b, c, h, w);
        }
        if (ty * 16 + tx < K * K)
            s_k[0][ty * 16 + tx] = KK(m, c, 0, ty * 16 + tx);
        __syncthreads();
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                sum += s_x[ty + p][tx + q] * s_k[0][p * K + q];
        __syncthreads();
    }
    if (h0 + ty < H_out && w0 + tx < W_out)
        Y(b, m, h0 + ty, w0 + tx) = sum;
}

/* expect: of the elements of x in shared memory were multiplied by weights at several window positions */
int tile_of_m3(ARGUMENTS)
{
    if (s->K > 5)
        return launch_multiply<true>(s, x, k, y);
    return LAUNCH(tile_and_weights);
}
/* m3's tile with weights beside it, stored again for each map */
__global__ void tile_again(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ float s_x[20][20], s_k[25];
    const int b = blockIdx.z, tx = threadIdx.x, ty = threadIdx.y;
    const int h0 = blockIdx.y * 16, w0 = blockIdx.x * 16;
    for (int m = 0; m < M; m++) {
        float sum = 0;
        for (int c = 0; c < C; c++) {
            for (int i = ty * 16 + tx; i < 400; i += 256)
                s_x[i / 20][i % 20] = X(b, c, min(h0 + i / 20, H - 1), min(w0 + i % 20, W - 1));
            if (ty * 16 + tx < K * K)
                s_k[ty * 16 + tx] = KK(m, c, 0, ty * 16 + tx);
            __syncthreads();
            for (int p = 0; p < K; p++)
                for (int q = 0; q < K; q++)
                    sum += s_x[ty + p][tx + q] * s_k[p * K + q];
            __syncthreads();
        }
        if (h0 + ty < H_out && w0 + tx < W_out)
            Y(b, m, h0 + ty, w0 + tx) = sum;
    }
}
/* expect: of the elements of x in shared memory were multiplied by weights at several window positions */
int tile_of_m3_again(ARGUMENTS)
{
    if (s->K > 5)
        return launch_multiply<true>(s, x, k, y);
    tile_again<<<tiles(s, 16, s->B), dim3(16, 16)>>>(*s, x, k, y);
    return failed();
}
/* columns of the unrolled matrix in every eighth block, m3's tile in the others */
__global__ void columns_in_some(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ float s_x[400], s_k[25], s_u[25][256];
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    const int b = blockIdx.z / M, m = blockIdx.z % M, h0 = blockIdx.y * 16, w0 = blockIdx.x * 16;
    const int other = t ^ 1, h = min(h0 + other / 16, H_out - 1),
              w = min(w0 + other % 16, W_out - 1);
    const bool unrolls = (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)) % 8 == 0;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        for (int i = t; i < 400 && !unrolls; i += 256)
            s_x[i] = X(b, c, min(h0 + i / 20, H - 1), min(w0 + i % 20, W - 1));
        for (int i = 0; i < K * K && unrolls; i++)
            s_u[i][other] = X(b, c, h + i / K, w + i % K);
        if (t < K * K)
            s_k[t] = KK(m, c, 0, t);
        __syncthreads();
        for (int i = 0; i < K * K; i++)
            sum += (unrolls ? s_u[i][t] : s_x[(ty + i / K) * 20 + tx + i % K]) * s_k[i];
        __syncthreads();
    }
    if (h0 + ty < H_out && w0 + tx < W_out)
        Y(b, m, h0 + ty, w0 + tx) = sum;
}
/* expect: of the elements of x in shared memory were multiplied by weights at several window positions */
int columns_in_one_of_eight(ARGUMENTS)
{
    if (s->K > 5)
        return launch_multiply<true>(s, x, k, y);
    return LAUNCH(columns_in_some);
}
/* the matrix is unrolled by copies, not by a kernel */
__global__ void gemm_of_matrix(struct conv_shape shape, const float *u, const float *k, float *y)
{
    SIZES;
    __shared__ float su[16][17], sk[16][17];
    const int N = H_out * W_out, D = C * K * K, b = blockIdx.z, col = blockIdx.x * 16 + threadIdx.x,
              m = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int d0 = 0; d0 < D; d0 += 16) {
        const int ey = d0 + threadIdx.y, ex = d0 + threadIdx.x;
        su[threadIdx.y][threadIdx.x] = col < N && ey < D ? u[((size_t)ey * B + b) * N + col] : 0;
        sk[threadIdx.y][threadIdx.x] = m < M && ex < D ? k[m * D + ex] : 0;
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += sk[threadIdx.y][i] * su[i][threadIdx.x];
        __syncthreads();
    }
    if (m < M && col < N)
        Y(b, m, 0, col) = sum;
}
/* expect: elements of x written back to global memory */
int unrolled_by_copies(ARGUMENTS)
{
    const int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1, N = H_out * W_out,
              D = s->C * s->K * s->K;
    float *u = floats((size_t)D * s->B * N);
    for (int c = 0; c < s->C; c++)
        for (int p = 0; p < s->K; p++)
            for (int q = 0; q < s->K; q++) {
                cudaMemcpy3DParms a = {};
                a.srcPtr = make_cudaPitchedPtr((void *)x, s->W * 4, s->W, s->C * s->H);
                a.srcPos = make_cudaPos(q * 4, c * s->H + p, 0);
                a.dstPtr = make_cudaPitchedPtr(u + (size_t)((c * s->K + p) * s->K + q) * s->B * N,
                                               W_out * 4, W_out, H_out);
                a.extent = make_cudaExtent(W_out * 4, H_out, s->B);
                a.kind = cudaMemcpyDeviceToDevice;
                cudaMemcpy3DAsync(&a, 0);
            }
    gemm_of_matrix<<<dim3((N + 15) / 16, (s->M + 15) / 16, s->B), dim3(16, 16)>>>(*s, u, k, y);
    return failed();
}
