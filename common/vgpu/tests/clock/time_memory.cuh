// Times accesses to global, constant and shared memory.
#pragma once

#include "vgpu/tests/clock/measure.cuh"

// ---- global memory ------------------------------------------------------------------------------

__global__ void copy_float(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

__global__ void copy_float4(float4 *to, const float4 *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

__global__ void read_float4(float *to, const float4 *from, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 v = from[i];
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == 0.123f)
        to[0] = sum;
}

__global__ void fill_float(float *to, float value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = value;
}

// Of each `pitch` floats, `width` are stored, beginning with the float `first`.
__global__ void store_rows(float *to, int n, int width, int pitch, int first)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[(size_t)(i / width) * pitch + i % width + first] = 1;
}

__global__ void copy_strided(float *to, const float *from, int n, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[(size_t)i * stride];
}

// Neighbouring lanes `stride` floats apart, inside 32 KB that all blocks share: L1 only.
__global__ void load_l1(float *to, const float *from, int n, int stride)
{
    float sum = 0;
    unsigned at = (threadIdx.x & 31) * stride + (threadIdx.x >> 5) * 64;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        sum += from[(at + k * 8) & 8191];
    if (sum == 0.123f)
        to[0] = sum;
}

// Bypasses L1, with 16 KB per block: L2 only.
__global__ void load_l2(float *to, const float *from, int n, int stride)
{
    float sum = 0;
    unsigned at = (threadIdx.x & 31) * stride + (threadIdx.x >> 5) * 64;
    from += (size_t)blockIdx.x * 4096;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        sum += __ldcg(&from[(at + k * 8) & 4095]);
    if (sum == 0.123f)
        to[0] = sum;
}

// `width` lanes read a row, as in tiles of an image; rows are 70 floats apart.
__global__ void load_rows(float *to, const float *from, int n, int width)
{
    float sum = 0;
    unsigned at = threadIdx.x % width + threadIdx.x / width * 70;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        sum += from[(at + k) & 8191];
    if (sum == 0.123f)
        to[0] = sum;
}

__global__ void load_same(float *to, const float *from, int n)
{
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        sum += from[(k * 3) & 1023];
    if (sum == 0.123f)
        to[0] = sum;
}

// ---- constant memory ----------------------------------------------------------------------------

__constant__ float table[4096];

// Lanes read `ways` different addresses of constant memory.
__global__ void load_constant(float *to, int n, int ways)
{
    float sum = 0;
    unsigned at = (threadIdx.x % ways) * 32;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        sum += table[(at + k) & 1023];
    if (sum == 0.123f)
        to[0] = sum;
}

// Multiply-adds with two operands in constant memory.
__global__ void fma_constant(float *to, int n)
{
    float x[4] = {1.0f * threadIdx.x, 2.0f, 3.0f, 4.0f};
    for (int k = 0; k < n; k++) {
#pragma unroll
        for (int i = 0; i < 32; i++)
            x[i & 3] = fmaf(x[i & 3], table[i], table[i + 32]);
    }
    if (x[0] + x[1] + x[2] + x[3] == 0.123f)
        to[0] = x[0];
}

// ---- shared memory ------------------------------------------------------------------------------

__global__ void load_shared(float *to, int n, int stride)
{
    __shared__ float s[2048];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x)
        s[i] = i;
    __syncthreads();
    float sum = 0;
    unsigned at = (threadIdx.x & 31) * stride;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        sum += s[(at + k * 4) & 2047];
    if (sum == 0.123f)
        to[0] = sum;
}

__global__ void load_shared4(float *to, int n, unsigned lanes)
{
    __shared__ float4 s[512];
    for (int i = threadIdx.x; i < 512; i += blockDim.x)
        s[i] = make_float4(i, i, i, i);
    __syncthreads();
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < n; k++) {
        float4 v = s[((threadIdx.x & lanes) + k) & 511];
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == 0.123f)
        to[0] = sum;
}

__global__ void store_shared(float *to, int n)
{
    __shared__ float s[1024];
#pragma unroll 4
    for (int k = 0; k < n; k++)
        *(volatile float *)&s[threadIdx.x + (k & 3) * 256] = k;
    __syncthreads();
    if (s[threadIdx.x] == 0.123f)
        to[0] = 1;
}

// ---- their times --------------------------------------------------------------------------------

static void time_streams()
{
    if (!wanted("copy") && !wanted("fill") && !wanted("read") && !wanted("store_rows"))
        return;
    const size_t most = ((size_t)64 << 20) / quick;
    float *a = device<float>(most), *b = device<float>(most);
    for (size_t n = 1 << 16; n <= most; n *= 4)
        for (int cold = 0; cold < 2; cold++) {
            std::string size = text("%g KB", n * 4 / 1024.0) + (cold ? ", cold" : "");
            int grid = (int)(n / 256);
            measure(
                "copy", size, [=] { copy_float<<<grid, 256>>>(a, b, (int)n); }, cold);
            measure(
                "copy4", size,
                [=] { copy_float4<<<grid / 4, 256>>>((float4 *)a, (float4 *)b, (int)n / 4); },
                cold);
            measure(
                "fill", size, [=] { fill_float<<<grid, 256>>>(a, 1, (int)n); }, cold);
            measure(
                "read", size,
                [=] { read_float4<<<8 * multiprocessors, 256>>>(a, (float4 *)b, (int)n / 4); },
                cold);
        }
    for (int warps = 4; warps <= 64; warps *= 4)
        measure(
            "read_warps", text("%g warps an SM", warps),
            [=] {
                read_float4<<<warps / 4 * multiprocessors, 128>>>(a, (float4 *)b, (int)most / 16);
            },
            true);
    for (int stride = 1; stride <= 32; stride *= 2) {
        int n = (int)(most / 32);
        measure(
            "copy_strided", text("stride %g", stride),
            [=] { copy_strided<<<n / 256, 256>>>(a, b, n, stride); }, true);
    }
    static const struct {
        int width, pitch, first;
    } stores[] = {{32, 32, 0}, {32, 32, 1}, {32, 32, 4}, {16, 32, 0}, {8, 16, 0}, {4, 8, 0},
                  {2, 8, 0},   {1, 8, 0},   {24, 24, 0}, {33, 66, 0}, {29, 29, 0}};
    for (const auto &s : stores) {
        const int n = (int)(most / 4 * s.width / s.pitch);
        measure(
            "store_rows",
            text("%g", s.width) + text(" of %g floats", s.pitch) + text(", first %g", s.first),
            [=] { store_rows<<<n / 256, 256>>>(a, n, s.width, s.pitch, s.first); }, true);
    }
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
}

static void time_loads()
{
    if (!wanted("load_") && !wanted("fma_constant") && !wanted("store_"))
        return;
    const int blocks = 8 * multiprocessors, n = 256 / quick;
    float *a = device<float>((size_t)blocks * 4096), *to = device<float>(1);
    for (int stride = 1; stride <= 32; stride *= 2)
        measure("load_l1", text("stride %g", stride),
                [=] { load_l1<<<blocks, 256>>>(to, a, n, stride); });
    for (int stride = 1; stride <= 32; stride *= 2)
        measure("load_l2", text("stride %g", stride),
                [=] { load_l2<<<blocks, 256>>>(to, a, n / 2, stride); });
    for (int width = 4; width <= 32; width *= 2)
        measure("load_rows", text("%g lanes a row", width),
                [=] { load_rows<<<blocks, 256>>>(to, a, n, width); });
    measure("load_same", "one address a warp", [=] { load_same<<<blocks, 256>>>(to, a, n); });
    for (int ways = 1; ways <= 32; ways *= 4)
        measure("load_constant", text("%g addresses a warp", ways),
                [=] { load_constant<<<blocks, 256>>>(to, n / 4, ways); });
    measure("load_constant", "32 addresses a warp",
            [=] { load_constant<<<blocks, 256>>>(to, n / 4, 32); });
    measure("fma_constant", "operands", [=] { fma_constant<<<blocks, 256>>>(to, n / 4); });
    for (int stride = 1; stride <= 32; stride *= 2)
        measure("load_shared", text("stride %g", stride),
                [=] { load_shared<<<blocks, 256>>>(to, n, stride); });
    measure("load_shared4", "float4", [=] { load_shared4<<<blocks, 256>>>(to, n, 255); });
    measure("load_shared4", "float4, one address a warp",
            [=] { load_shared4<<<blocks, 256>>>(to, n, 0); });
    measure("store_shared", "stride 1", [=] { store_shared<<<blocks, 256>>>(to, n); });
    CHECK(cudaFree(a));
    CHECK(cudaFree(to));
}
