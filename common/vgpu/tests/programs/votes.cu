// Warp votes and matches, with all lanes and with some.
#include "vgpu/tests/check.cuh"

__global__ void work(unsigned *out)
{
    int lane = threadIdx.x;
    unsigned all = 0xffffffffu;
    out[lane] = __ballot_sync(all, lane % 3 == 0);
    out[32 + lane] = __any_sync(all, lane == 31) | __all_sync(all, lane < 32) << 1 |
                     __all_sync(all, lane < 31) << 2;
    out[64 + lane] = __match_any_sync(all, lane / 5);
    out[96 + lane] = 0;
    if (lane & 1) {
        unsigned odd = __activemask();
        out[96 + lane] = __ballot_sync(odd, lane > 10) ^ odd;
    }
    __syncwarp();
    int same;
    __match_all_sync(all, 7, &same);
    out[128 + lane] = (unsigned)same + (unsigned)__popc(__match_all_sync(all, lane, &same));
    int count = __syncthreads_count(lane > 3), both = __syncthreads_and(lane >= 0);
    out[160 + lane] = (unsigned)(count * 4 + both * 2 + __syncthreads_or(lane == 77));
}

int main()
{
    Device<unsigned> d(192);
    work<<<1, 32>>>(d);
    LAUNCHED();
    std::vector<unsigned> o = d.host();
    bool ok = true;
    unsigned thirds = 0, odd_low = 0;
    for (int i = 0; i < 32; i++) {
        thirds |= (i % 3 == 0) << i;
        odd_low |= (unsigned)((i & 1) && i <= 10) << i;
    }
    for (int i = 0; i < 32; i++) {
        unsigned group = 0;
        for (int j = 0; j < 32; j++)
            group |= (unsigned)(j / 5 == i / 5) << j;
        ok &= o[i] == thirds && o[32 + i] == 3 && o[64 + i] == group;
        ok &= o[96 + i] == (i & 1 ? odd_low : 0) && o[128 + i] == 1;
        ok &= o[160 + i] == 28 * 4 + 2;
    }
    return verdict("votes", ok, o);
}
