#include "vgpu/exec/wavefronts.h"

#include "base/clones.h"

#include <stdbool.h>

/* @return a bit for each sector that a request touches; 0 if the sectors are too far apart for 64
 * bits. */
static uint64_t sector_bits(const uint64_t address[32], uint32_t mask, uint32_t bytes)
{
    uint64_t low = UINT64_MAX, high = 0, bits = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint64_t at = address[__builtin_ctz(m)];
        low = at < low ? at : low;
        high = at > high ? at : high;
    }
    low >>= 5;
    if (bytes > 32 || ((high + bytes - 1) >> 5) - low >= 64)
        return 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint64_t at = address[__builtin_ctz(m)];
        bits |= 1ull << ((at >> 5) - low) | 1ull << (((at + bytes - 1) >> 5) - low);
    }
    return bits;
}

enum { FEW_LANES = 8 }; /* up to this many, a loop over all 32 lanes is slower */

/* As sector_bits(). @param alone  becomes whether each lane touches only one sector; otherwise the
 * function returns 0 */
EACH_TARGET VECTOR_LOOPS static uint64_t
sector_bits_of_many(const uint64_t address[32], uint32_t mask, uint32_t bytes, bool *alone)
{
    const uint64_t lead = address[__builtin_ctz(mask)];
    int64_t at[32], low = 0, high = 0; /* sectors, relative to the first lane's */
    uint64_t last = 0, bits = 0;       /* position of the last byte in its sector */
    for (uint32_t i = 0; i < 32; i++) {
        const uint64_t a = mask >> i & 1 ? address[i] : lead;
        at[i] = (int64_t)((a >> 5) - (lead >> 5));
        last |= (a & 31) + bytes - 1;
        low = at[i] < low ? at[i] : low;
        high = at[i] > high ? at[i] : high;
    }
    *alone = last < 32;
    if (!*alone || high - low >= 64)
        return 0;
    for (uint32_t i = 0; i < 32; i++)
        bits |= UINT64_C(1) << (at[i] - low);
    return bits;
}

uint32_t sectors_count(const uint64_t address[32], uint32_t mask, uint32_t bytes)
{
    uint64_t close = 0;
    bool alone = false;
    if (__builtin_popcount(mask) > FEW_LANES)
        close = sector_bits_of_many(address, mask, bytes, &alone);
    if (!alone)
        close = sector_bits(address, mask, bytes);
    if (close)
        return (uint32_t)__builtin_popcountll(close);
    uint64_t seen[128];
    uint8_t used[128] = {0};
    uint32_t count = 0;
    uint64_t last = UINT64_MAX;
    for (; mask; mask &= mask - 1) {
        uint64_t first = address[__builtin_ctz(mask)], end = (first + bytes - 1) >> 5;
        for (uint64_t s = first >> 5; s <= end; s++) {
            if (s == last)
                continue;
            last = s;
            uint32_t at = (uint32_t)(s * 0x9e3779b97f4a7c15u >> 57);
            while (used[at] && seen[at] != s)
                at = (at + 1) & 127;
            count += !used[at];
            used[at] = 1;
            seen[at] = s;
        }
    }
    return count;
}

static uint32_t pass_count(const uint64_t address[32], uint32_t mask, uint32_t bytes)
{
    uint64_t words[32][32];
    uint8_t depth[32] = {0};
    uint32_t most = mask != 0;
    for (; mask; mask &= mask - 1) {
        uint64_t first = address[__builtin_ctz(mask)] >> 2;
        for (uint32_t k = 0; k < (bytes + 3) / 4; k++) {
            uint64_t word = first + k;
            uint32_t bank = word & 31, i = 0;
            while (i < depth[bank] && words[bank][i] != word)
                i++;
            if (i == depth[bank]) {
                words[bank][depth[bank]++] = word;
                most = depth[bank] > most ? depth[bank] : most;
            }
        }
    }
    return most;
}

uint32_t wavefronts_count(const uint64_t address[32], uint32_t mask, uint32_t bytes)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t a = address[__builtin_ctz(m)];
        low = a < low ? a : low;
        high = a > high ? a : high;
    }
    if (!mask || (high + bytes - 1) / 4 - low / 4 < 32)
        return mask != 0;
    uint32_t phases = bytes > 8 ? 4 : bytes > 4 ? 2 : 1, count = 0, lanes = 32 / phases;
    for (uint32_t p = 0; p < phases; p++) {
        uint32_t part = lanes == 32 ? mask : mask & ((1u << lanes) - 1) << p * lanes;
        count += pass_count(address, part, bytes);
    }
    return count;
}
