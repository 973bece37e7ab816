// Tensor cores by hand: ldmatrix from shared memory and mma.m16n8k16, with explicit layouts.

// nvcc: -arch=compute_80
#include <cuda_fp16.h>

#include "vgpu/tests/check.cuh"

__global__ void matmul(const __half *a, const __half *b, float *c)
{
    __shared__ __align__(16) __half sA[16][16], sB[16][8]; // A row-major, B as K rows of N columns
    int t = threadIdx.x;
    for (int i = t; i < 256; i += 32)
        sA[i / 16][i % 16] = a[i];
    for (int i = t; i < 128; i += 32)
        sB[i / 8][i % 8] = b[i];
    __syncthreads();
    unsigned ra[4], rb[2];
    float r[4] = {};
    unsigned pa = (unsigned)__cvta_generic_to_shared(&sA[t % 16][t / 16 * 8]);
    unsigned pb = (unsigned)__cvta_generic_to_shared(&sB[t % 16][0]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
                 : "r"(pa));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(rb[0]), "=r"(rb[1])
                 : "r"(pb));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    int row = t / 4, col = t % 4 * 2;
    c[row * 8 + col] = r[0], c[row * 8 + col + 1] = r[1];
    c[(row + 8) * 8 + col] = r[2], c[(row + 8) * 8 + col + 1] = r[3];
}

int main()
{
    Random random(37);
    std::vector<__half> a(256), b(128);
    std::vector<float> fa(256), fb(128);
    for (int i = 0; i < 256; i++)
        a[i] = __float2half(fa[i] = random.exact());
    for (int i = 0; i < 128; i++)
        b[i] = __float2half(fb[i] = random.exact());
    Device<__half> da(a), db(b);
    Device<float> dc(128);
    matmul<<<1, 32>>>(da, db, dc);
    LAUNCHED();
    std::vector<float> c = dc.host();
    bool ok = true;
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) {
            float sum = 0;
            for (int k = 0; k < 16; k++)
                sum += fa[i * 16 + k] * fb[k * 8 + j];
            ok &= c[i * 8 + j] == sum;
        }
    return verdict("mma_ldmatrix", ok, c);
}
