// nvcc: -arch=compute_80
// Warp-wide operations by several groups of lanes at once, each with its own mask: tiles of 8, and
// lanes with the same label.
#include "vgpu/tests/check.cuh"

enum { RESULTS = 8 };

__device__ void vote(unsigned *out, unsigned mask, int lane)
{
    out[0] = __ballot_sync(mask, lane % 3 == 0);
    out[1] = (unsigned)__any_sync(mask, lane == 9) | (unsigned)__all_sync(mask, lane < 16) << 1;
    out[2] = __match_any_sync(mask, lane & 1);
    int same;
    out[3] = __match_all_sync(mask, lane / 8, &same);
    out[3] += (unsigned)same << 16;
    out[4] = __reduce_add_sync(mask, lane);
    out[5] = (unsigned)__reduce_max_sync(mask, -lane);
    out[6] = __shfl_sync(mask, (unsigned)lane, __ffs((int)mask) - 1);
    out[7] = mask;
}

__global__ void work(unsigned *tiles, unsigned *labels)
{
    const int lane = threadIdx.x;
    vote(tiles + RESULTS * lane, 0xffu << lane / 8 * 8, lane);
    vote(labels + RESULTS * lane, __match_any_sync(0xffffffffu, lane * lane % 5), lane);
}

static void expected(unsigned *out, unsigned mask, int lane)
{
    unsigned thirds = 0, alike = 0, sum = 0;
    int first = -1;
    bool any = false, all = true, same = true;
    for (int i = 31; i >= 0; i--) {
        if (!(mask >> i & 1))
            continue;
        first = i;
        thirds |= (unsigned)(i % 3 == 0) << i;
        alike |= (unsigned)((i & 1) == (lane & 1)) << i;
        any |= i == 9;
        all &= i < 16;
        same &= i / 8 == lane / 8;
        sum += (unsigned)i;
    }
    out[0] = thirds;
    out[1] = (unsigned)any | (unsigned)all << 1;
    out[2] = alike;
    out[3] = (same ? mask : 0) + ((unsigned)same << 16);
    out[4] = sum;
    out[5] = (unsigned)-first;
    out[6] = (unsigned)first;
    out[7] = mask;
}

int main()
{
    Device<unsigned> tiles(32 * RESULTS), labels(32 * RESULTS);
    work<<<1, 32>>>(tiles, labels);
    LAUNCHED();
    std::vector<unsigned> got = tiles.host(), by_label = labels.host(), want(64 * RESULTS);
    got.insert(got.end(), by_label.begin(), by_label.end());
    for (int lane = 0; lane < 32; lane++) {
        unsigned label = 0;
        for (int i = 0; i < 32; i++)
            label |= (unsigned)(i * i % 5 == lane * lane % 5) << i;
        expected(&want[(size_t)(RESULTS * lane)], 0xffu << lane / 8 * 8, lane);
        expected(&want[(size_t)(RESULTS * (32 + lane))], label, lane);
    }
    return verdict("tile_votes", got == want, got);
}
