// nvcc: -std=c++17
// Blocks exchange vectors whose elements belong together, such as the sum and the flag of a scan's tile. A reader sees
// all elements of one store or none, as on a GPU.
#include "vgpu/tests/check.cuh"

const int STEPS = 40000, LANES = 32, READERS = 3;

__global__ void exchange(ulonglong2 *pairs, uint4 *fours, int *torn)
{
    ulonglong2 *pair = pairs + threadIdx.x;
    uint4 *four = fours + threadIdx.x;
    for (unsigned long long i = 1; i <= STEPS; i++) {
        if (blockIdx.x == 0) {
            asm volatile("st.relaxed.gpu.v2.u64 [%0], {%1, %2};" ::"l"(pair), "l"(i), "l"(~i)
                         : "memory");
            __stcg(four, make_uint4(i, 2 * i, 3 * i, 4 * i));
        } else {
            unsigned long long a, b;
            asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];"
                         : "=l"(a), "=l"(b)
                         : "l"(pair)
                         : "memory");
            const uint4 f = __ldcg(four);
            if (a != ~b || f.y != 2 * f.x || f.z != 3 * f.x || f.w != 4 * f.x)
                atomicAdd(torn, 1);
        }
    }
}

int main()
{
    Device<ulonglong2> pairs(std::vector<ulonglong2>(LANES, make_ulonglong2(0, ~0ull)));
    Device<uint4> fours(LANES);
    Device<int> torn(1);
    fours.zero();
    torn.zero();
    exchange<<<1 + READERS, LANES>>>(pairs, fours, torn);
    LAUNCHED();
    const std::vector<int> got = torn.host();
    return verdict("whole_vectors", got[0] == 0, got);
}
