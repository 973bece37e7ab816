/* The kernels of m2 and m3 in OpenCL C, for vgpu_pocl_bench.c: each item and group does the same
 * work as in CUDA. */

/* One work item per output element. */
kernel void conv_m2(int B, int M, int C, int H, int W, int K, global const float *x, global const float *k,
                    global float *y)
{
    const int H_out = H - K + 1, W_out = W - K + 1;
    const int w = get_global_id(0), h = get_global_id(1);
    const int m = get_global_id(2) % M, b = get_global_id(2) / M;
    if (h >= H_out || w >= W_out)
        return;
    global const float *weight = k + m * C * K * K;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++) {
            global const float *row = x + ((b * C + c) * H + h + p) * W + w;
            for (int q = 0; q < K; q++)
                sum += row[q] * *weight++;
        }
    y[((b * M + m) * H_out + h) * W_out + w] = sum;
}

#define BLK_W 16
#define BLK_H 8
#define ROWS 2
#define MAPS 12
#define TILE_H (BLK_H * ROWS)
#define PART 8
#define PITCH 48

/* A tile of inputs, and the weights of MAPS output maps, in local memory; K <= PART. */
kernel void conv_m3(int B, int M, int C, int H, int W, int K, global const float *x, global const float *k,
                    global float *y)
{
    local float staged_x[TILE_H + PART - 1][PITCH];
    local float staged_k[PART][PART][MAPS];
    const int H_out = H - K + 1, W_out = W - K + 1;
    const int i0 = get_local_id(1), j0 = get_local_id(0), groups = (M - 1) / MAPS + 1;
    const int h0 = get_group_id(1) * TILE_H, w0 = get_group_id(0) * BLK_W;
    const int m0 = get_group_id(2) % groups * MAPS, b = get_group_id(2) / groups;
    float sum[ROWS][MAPS] = {{0}};
    for (int c = 0; c < C; c++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = i0; i < TILE_H + K - 1; i += BLK_H)
            for (int j = j0; j < BLK_W + K - 1; j += BLK_W)
                staged_x[i][j] =
                    h0 + i < H && w0 + j < W ? x[((b * C + c) * H + h0 + i) * W + w0 + j] : 0;
        for (int m = i0; m < MAPS; m += BLK_H)
            for (int p = 0; p < K; p++)
                for (int q = j0; q < K; q += BLK_W)
                    staged_k[p][q][m] = m0 + m < M ? k[(((m0 + m) * C + c) * K + p) * K + q] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                for (int r = 0; r < ROWS; r++) {
                    const float value = staged_x[r * BLK_H + i0 + p][j0 + q];
                    for (int m = 0; m < MAPS; m++)
                        sum[r][m] += value * staged_k[p][q][m];
                }
    }
    for (int r = 0; r < ROWS; r++) {
        const int h = h0 + r * BLK_H + i0, w = w0 + j0;
        if (h < H_out && w < W_out)
            for (int m = 0; m < MAPS; m++)
                if (m0 + m < M)
                    y[((b * M + m0 + m) * H_out + h) * W_out + w] = sum[r][m];
    }
}
