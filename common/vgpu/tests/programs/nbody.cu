// Gravitation of n bodies: tiles of positions in shared memory, rsqrt, compared with the host.
#include "vgpu/tests/check.cuh"

__global__ void forces(const float4 *p, float3 *f, int n)
{
    __shared__ float4 tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 me = p[i < n ? i : 0];
    float3 sum = make_float3(0, 0, 0);
    for (int base = 0; base < n; base += 64) {
        tile[threadIdx.x] =
            base + threadIdx.x < n ? p[base + threadIdx.x] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int j = 0; j < 64; j++) {
            float x = tile[j].x - me.x, y = tile[j].y - me.y, z = tile[j].z - me.z;
            float inv = rsqrtf(x * x + y * y + z * z + 0.01f), s = tile[j].w * inv * inv * inv;
            sum.x += s * x, sum.y += s * y, sum.z += s * z;
        }
        __syncthreads();
    }
    if (i < n)
        f[i] = sum;
}

int main()
{
    const int n = 200;
    Random random(10);
    std::vector<float4> p(n);
    for (float4 &v : p)
        v = make_float4(random.unit(), random.unit(), random.unit(), random.unit());
    Device<float4> dp(p);
    Device<float3> df(n);
    forces<<<(n + 63) / 64, 64>>>(dp, df, n);
    LAUNCHED();
    std::vector<float3> f = df.host();
    bool ok = true;
    for (int i = 0; i < n; i++) {
        double x = 0, size = 0;
        for (int j = 0; j < n; j++) {
            double dx = p[j].x - p[i].x, dy = p[j].y - p[i].y, dz = p[j].z - p[i].z;
            double s = p[j].w / pow(dx * dx + dy * dy + dz * dz + 0.01f, 1.5);
            x += s * dx, size += fabs(s * dx);
        }
        ok &= fabs(f[i].x - x) <= 1e-5 * size;
    }
    return verdict("nbody", ok);
}
