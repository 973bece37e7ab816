/* Tests of sectors and bank conflicts, on access patterns counted by hand. */
#include "vgpu/exec/wavefronts.h"

#include "base/rng.h"

#include <criterion/criterion.h>

static void stride(uint64_t a[32], uint64_t base, uint64_t bytes)
{
    for (uint64_t i = 0; i < 32; i++)
        a[i] = base + i * bytes;
}

Test(sectors, follow_coalescing)
{
    uint64_t a[32];
    stride(a, 0x1000, 4);
    cr_assert_eq(sectors_count(a, ~0u, 4), 4);
    stride(a, 0x1010, 4);
    cr_assert_eq(sectors_count(a, ~0u, 4), 5, "misplaced by 16 bytes");
    stride(a, 0x1000, 128);
    cr_assert_eq(sectors_count(a, ~0u, 4), 32);
    stride(a, 0x1000, 0);
    cr_assert_eq(sectors_count(a, ~0u, 4), 1);
    stride(a, 0x1000, 16);
    cr_assert_eq(sectors_count(a, ~0u, 16), 16);
    cr_assert_eq(sectors_count(a, 3, 16), 1);
    cr_assert_eq(sectors_count(a, 0, 16), 0);
}

Test(sectors, are_counted_once_wherever_they_are)
{
    struct rng r = rng_make(rng_fresh_seed(), 0);
    for (int round = 0; round < 2000; round++) {
        const uint32_t bytes = 1u << rng_range(&r, 0, 5), mask = (uint32_t)rng_u64(&r) | 1;
        const uint64_t spread = 64u << rng_range(&r, 0, 12);
        uint64_t a[32], seen[64];
        uint32_t count = 0;
        for (int i = 0; i < 32; i++) {
            a[i] = 0x70000000 + rng_u64(&r) % spread / bytes * bytes;
            if (!(mask >> i & 1))
                continue;
            uint32_t k = 0;
            while (k < count && seen[k] != a[i] / 32)
                k++;
            seen[k] = a[i] / 32;
            count += k == count;
        }
        cr_assert_eq(sectors_count(a, mask, bytes), count);
    }
}

Test(wavefronts, follow_bank_conflicts)
{
    uint64_t a[32];
    stride(a, 0, 4);
    cr_assert_eq(wavefronts_count(a, ~0u, 4), 1);
    stride(a, 0, 8);
    cr_assert_eq(wavefronts_count(a, ~0u, 4), 2);
    stride(a, 0, 128);
    cr_assert_eq(wavefronts_count(a, ~0u, 4), 32);
    stride(a, 0, 132);
    cr_assert_eq(wavefronts_count(a, ~0u, 4), 1, "padding by one word");
    stride(a, 64, 0);
    cr_assert_eq(wavefronts_count(a, ~0u, 4), 1, "a broadcast");
    stride(a, 0, 8);
    cr_assert_eq(wavefronts_count(a, ~0u, 8), 2);
    stride(a, 0, 16);
    cr_assert_eq(wavefronts_count(a, ~0u, 16), 4);
}
