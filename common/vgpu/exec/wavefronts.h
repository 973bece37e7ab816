/** @file
 * The numbers of 32-byte sectors and shared-memory wavefronts of a warp's access.
 */
#pragma once

#include <stdint.h>

/** @return how many distinct 32-byte sectors the lanes of @p mask touch, with @p bytes each. */
uint32_t sectors_count(const uint64_t address[32], uint32_t mask, uint32_t bytes);

/** @return passes over the 32 banks of 4 bytes: the largest number of different words that one bank
 * must deliver. 8-byte accesses are made by half-warps and 16-byte accesses by quarter-warps,
 * unless all bytes of the warp are in 32 consecutive words: these take one pass. */
uint32_t wavefronts_count(const uint64_t address[32], uint32_t mask, uint32_t bytes);

/** @return the wavefronts of two rows of at most 32 bytes of adjacent elements. @param low, high
 * their addresses, in this order */
static inline uint32_t wavefronts_of_rows(uint32_t low, uint32_t high, uint32_t bytes)
{
    const uint32_t first[2] = {low / 4, high / 4};
    const uint32_t last[2] = {(low + bytes - 1) / 4, (high + bytes - 1) / 4};
    uint32_t banks[2];
    if (last[1] - first[0] < 32)
        return 1;
    for (int row = 0; row < 2; row++) {
        const uint32_t words = (UINT32_C(2) << (last[row] - first[row])) - 1, by = first[row] % 32;
        banks[row] = words << by | words >> (-by & 31);
    }
    return banks[0] & banks[1] ? 2 : 1;
}
