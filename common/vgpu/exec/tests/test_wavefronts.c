/* Sectors and bank conflicts of access patterns that a textbook would count by hand. */
#include "vgpu/exec/wavefronts.h"

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
