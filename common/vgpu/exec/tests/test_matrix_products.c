/* Compares products of matrices of each instruction set with sums computed one by one. */
#include "each_target.h"

#include "base/rng.h"
#include "vgpu/exec/float_bits.h"
#include "vgpu/exec/matrix.h"
#include "vgpu/exec/vg_warp.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { REGISTERS = 4 + 4 + 2 + 4, ROUNDS = 300 };

static const struct product {
    enum ptx_type type;
    int k;
} products[] = {{PTX_TYPE_tf32, 4}, {PTX_TYPE_tf32, 8}, {PTX_TYPE_f16, 8},
                {PTX_TYPE_f16, 16}, {PTX_TYPE_bf16, 8}, {PTX_TYPE_bf16, 16}};

static double number_of(uint32_t bits, enum ptx_type type, int part)
{
    const uint32_t half = bits >> 16 * part & 0xffff;
    return type == PTX_TYPE_f16    ? (double)lane_f32_from_f16(half)
           : type == PTX_TYPE_bf16 ? (double)lane_f32_from_bf16(half)
           : type == PTX_TYPE_tf32 ? (double)f32_of_bits(bits & 0xffffe000u)
                                   : (double)f32_of_bits(bits);
}

/* Reads a row-major matrix by matrix_lanes(). */
static void read_matrix(const struct vg_warp *w, const struct ir_insn *in,
                        enum matrix_operand which, double *to)
{
    struct matrix_lanes at;
    for (int e = 0; matrix_lanes(w, in, which, e, &at); e++)
        for (int lane = 0; lane < VG_LANES; lane++)
            to[matrix_place(&at, lane)] =
                number_of(((uint32_t *)(void *)(w->regs + at.slot))[lane], at.type, at.part);
}

static void compare_product(const struct vg_handlers *handlers, const char *name,
                            const struct product *p, struct rng *rng, unsigned long long seed)
{
    static uint32_t regs[REGISTERS][VG_LANES], before[REGISTERS][VG_LANES];
    const int factors[2] = {p->type == PTX_TYPE_tf32 ? p->k / 2 : p->k / 4,
                            p->type == PTX_TYPE_tf32 ? p->k / 4 : p->k / 8};
    uint32_t extra[4 + REGISTERS], *at = extra, slot = 0;
    const uint32_t counts[4] = {4, (uint32_t)factors[0], (uint32_t)factors[1], 4};
    const bool in_place = rng_range(rng, 0, 1);
    for (int i = 0; i < 4; i++) {
        *at++ = counts[i];
        for (uint32_t r = 0; r < counts[i]; r++)
            *at++ = i == MATRIX_C && in_place ? (3 - r) * sizeof *regs
                                              : slot++ * (uint32_t)sizeof *regs;
    }
    for (int r = 0; r < REGISTERS; r++)
        for (int lane = 0; lane < VG_LANES; lane++) {
            const float number = (float)rng_range(rng, -4096, 4096) * 0x1p-9f;
            const uint32_t any = (uint32_t)rng_u64(rng);
            regs[r][lane] = rng_range(rng, 0, 63) == 0    ? any
                            : p->type == PTX_TYPE_f16     ? (any & 0x8fff8fff) + 0x30003000
                            : rng_range(rng, 0, 255) == 0 ? 0x7f800000
                                                          : bits_of_f32(number);
        }
    struct ir_function function = {.extra = extra};
    struct vg_frame frame = {.function = &function};
    struct vg_warp w = {.regs = (char *)regs, .frame = &frame, .mask = UINT32_MAX};
    const struct ir_insn in = {.op = IR_MMA,
                               .compare = 16,
                               .boolean = 8,
                               .target = (uint32_t)p->k,
                               .type = PTX_TYPE_f32,
                               .type2 = (uint8_t)p->type,
                               .sub = (uint8_t)p->type,
                               .vector = PTX_TYPE_f32};
    double a[16 * 16], b[16 * 8], d[16 * 8], got[16 * 8];
    read_matrix(&w, &in, MATRIX_A, a);
    read_matrix(&w, &in, MATRIX_B, b);
    read_matrix(&w, &in, MATRIX_C, d);
    memcpy(before, regs, sizeof regs);
    cr_assert_eq(handlers->once[IR_MMA](&in, &w), &in + 1);
    read_matrix(&w, &in, MATRIX_D, got);
    for (int i = 0; i < 16 * 8; i++) {
        for (int q = 0; q < p->k; q++)
            d[i] = fma(a[i / 8 * p->k + q], b[q * 8 + i % 8], d[i]);
        const float expected = lane_nan_f32((float)d[i]);
        const float result = (float)got[i];
        cr_assert_eq(bits_of_f32(expected), bits_of_f32(result),
                     "%s, seed %llu, type %d, k = %d, element %d: %a instead of %a", name, seed,
                     p->type, p->k, i, (double)result, (double)expected);
    }
    cr_assert_arr_eq(regs[4], before[4], sizeof regs - 4 * sizeof *regs);
}

static void compare(const struct vg_handlers *handlers, const char *name)
{
    const uint64_t seed = rng_fresh_seed();
    struct rng rng = rng_make(seed, 1);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < sizeof products / sizeof *products; i++)
            compare_product(handlers, name, &products[i], &rng, seed);
}

Test(matrix, products_with_float32_sums_round_once)
{
    each_target(compare);
}
