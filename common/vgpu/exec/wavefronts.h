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
