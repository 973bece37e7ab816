#include "nn/oracle_kernel.h"

/* A product of two float32 is exact in float64, so a fused multiply-add and a multiply followed by
 * an add give the same bits: contraction, which is off in the rest of the suite, may double the
 * speed here.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("fp-contract=fast")
#endif

enum { TILE_POSITIONS = ORACLE_POSITIONS };

#define TILE_ELEM double
#if defined(__x86_64__)
#define TILE_NAME    tile_avx512
#define TILE_TARGET  __attribute__((target("avx512f")))
#define TILE_LANES   8
#define TILE_VECTORS 4
#define TILE_MAPS    6 /* 24 sums + 4 inputs + weights in 32 registers */
#include "nn/conv_tile.h"

#define TILE_NAME    tile_avx2
#define TILE_TARGET  __attribute__((target("avx2,fma")))
#define TILE_LANES   4
#define TILE_VECTORS 4
#define TILE_MAPS    3 /* 12 sums + 4 inputs in 16 registers */
#include "nn/conv_tile.h"
#endif

#define TILE_NAME tile_any
#define TILE_TARGET
#define TILE_LANES   2
#define TILE_VECTORS 4
#define TILE_MAPS    3
#include "nn/conv_tile.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

static const struct oracle_kernel kernels[] = {
#if defined(__x86_64__)
    {"avx512", 6, tile_avx512},
    {"avx2", 3, tile_avx2},
#endif
    {"any", 3, tile_any},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static int usable(const struct oracle_kernel *kernel)
{
#if defined(__x86_64__)
    if (kernel->tile == tile_avx512)
        return __builtin_cpu_supports("avx512f");
    if (kernel->tile == tile_avx2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return kernel->tile != NULL;
}

const struct oracle_kernel *oracle_kernel(int i)
{
    for (int j = 0; j < KERNELS; j++)
        if (usable(&kernels[j]) && i-- == 0)
            return &kernels[j];
    return NULL;
}
