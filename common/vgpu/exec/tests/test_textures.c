/* Tests of texture fetches. A warp whose lanes use one texture fetches in loops over its lanes; a
 * warp with two textures fetches lane by lane. Here the two textures are equal, so that both ways
 * must give the same values and counters, for all combinations of a texture object's settings. */
#include "vgpu/exec/tests/gpu.h"

#include "base/rng.h"
#include "vgpu/api/texture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 45, TEXEL_BYTES = 1 << 14 };

/* Parameters: for each thread a handle, four words of coordinates, and whether it fetches. */
struct args {
    uint64_t handles, coordinates, active, out;
};

static const struct shape {
    const char *geometry;
    int dimensions, layered, words;
} shapes[] = {
    {"1d", 1, 0, 1}, {"2d", 2, 0, 2}, {"3d", 3, 0, 4}, {"a1d", 1, 1, 2}, {"a2d", 2, 1, 4}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static const struct {
    int bytes, format;
} formats[] = {{1, VG_TEXEL_SIGNED},   {1, VG_TEXEL_UNSIGNED}, {2, VG_TEXEL_SIGNED},
               {2, VG_TEXEL_UNSIGNED}, {2, VG_TEXEL_FLOAT},    {4, VG_TEXEL_SIGNED},
               {4, VG_TEXEL_UNSIGNED}, {4, VG_TEXEL_FLOAT}};

/* Kernels "GEOMETRY_f32" and "GEOMETRY_s32"; the third and fourth component go to no register in
 * the kernels "..._xy". */
static char *kernels(void)
{
    static char ptx[1 << 16];
    size_t n = (size_t)snprintf(ptx, sizeof ptx, PTX_HEAD);
    for (int k = 0; k < 4 * SHAPES; k++) {
        const struct shape *s = &shapes[k / 4];
        const char *type = k & 1 ? "s32" : "f32", *words = s->words == 1   ? "%r1"
                                                           : s->words == 2 ? "%r1, %r2"
                                                                           : "%r1, %r2, %r3, %r4";
        n += (size_t)snprintf(
            ptx + n, sizeof ptx - n,
            ".visible .entry k%s_%s%s(.param .u64 h, .param .u64 c, .param .u64 a, .param .u64 o)\n"
            "{\n.reg .pred %%p<2>;\n.reg .b32 %%r<16>;\n.reg .b64 %%q<9>;\n"
            "ld.param.u64 %%q1, [h];\nld.param.u64 %%q2, [c];\nld.param.u64 %%q3, [a];\n"
            "ld.param.u64 %%q4, [o];\nmov.u32 %%r5, %%tid.x;\nmad.wide.u32 %%q1, %%r5, 8, %%q1;\n"
            "mad.wide.u32 %%q2, %%r5, 16, %%q2;\nmad.wide.u32 %%q3, %%r5, 4, %%q3;\n"
            "mad.wide.u32 %%q4, %%r5, 16, %%q4;\nld.global.u64 %%q5, [%%q1];\n"
            "ld.global.v4.u32 {%%r1, %%r2, %%r3, %%r4}, [%%q2];\nld.global.u32 %%r6, [%%q3];\n"
            "mov.u32 %%r7, 7;\nmov.u32 %%r8, 8;\nmov.u32 %%r9, 9;\nmov.u32 %%r10, 10;\n"
            "setp.ne.u32 %%p1, %%r6, 0;\n"
            "@%%p1 tex.%s.v4.u32.%s {%%r7, %%r8, %s}, [%%q5, {%s}];\n"
            "st.global.v4.u32 [%%q4], {%%r7, %%r8, %%r9, %%r10};\nret;\n}\n",
            s->geometry, type, k & 2 ? "_xy" : "", s->geometry, type, k & 2 ? "_, _" : "%r9, %r10",
            words);
    }
    return ptx;
}

/* Coordinates inside, on texels' edges, outside, and extreme. */
static float coordinate(struct rng *r, bool normalised)
{
    static const float extreme[] = {NAN, INFINITY, -INFINITY, 1e9f, -1e9f, 3e9f, -3e38f, 1e-40f};
    switch (rng_range(r, 0, 7)) {
    case 0:
        return extreme[rng_range(r, 0, 7)];
    case 1:
        return (float)rng_range(r, -4, 24) / 2;
    default:
        return normalised ? rng_float(r, -2.5f, 2.5f) : rng_float(r, -4, 12);
    }
}

static struct vg_texture texture(struct rng *r, uint64_t texels, int format, int mode, int flags)
{
    struct vg_texture t = {
        .magic = VG_TEXTURE_MAGIC,
        .address = texels + 16 * (uint64_t)rng_range(r, 0, 9),
        .width = (uint32_t)rng_range(r, 1, 9),
        .height = (uint32_t)rng_range(r, 1, 9),
        .depth = (uint32_t)rng_range(r, 1, 5),
        .channels = (uint8_t)rng_range(r, 1, 4),
        .channel_bytes = (uint8_t)formats[format].bytes,
        .format = (uint8_t)formats[format].format,
        .linear_filter = flags & 1,
        .normalised_coordinates = flags >> 1 & 1,
        .normalised_read = flags >> 2 & 1,
        .is_buffer = rng_range(r, 0, 7) == 0,
        .address_mode = {(uint8_t)mode, (uint8_t)rng_range(r, 0, 3), (uint8_t)rng_range(r, 0, 3)}};
    t.row_bytes = t.width * t.channels * t.channel_bytes + (uint64_t)rng_range(r, 0, 40);
    t.slice_bytes = t.row_bytes * t.height;
    rng_fill(r, t.border, 4, -2, 2);
    return t;
}

/* @return whether the results are equal; with a filter, one NaN is as good as another. */
static bool are_same(const uint32_t *a, const uint32_t *b, bool filtered)
{
    for (int i = 0; i < 4 * THREADS; i++) {
        const bool nans = (a[i] & 0x7fffffff) > 0x7f800000 && (b[i] & 0x7fffffff) > 0x7f800000;
        if (a[i] != b[i] && !(filtered && nans))
            return false;
    }
    return true;
}

static void check(const char *target)
{
    cr_assert_eq(setenv("CONVLAB_VGPU_TARGET", target, 1), 0);
    const uint64_t seed = rng_fresh_seed();
    struct rng r = rng_make(seed, 0);
    struct vg_device *d = gpu_open(1);
    struct vg_module *m = gpu_load(d, kernels());
    static uint8_t bytes[TEXEL_BYTES];
    for (int i = 0; i < TEXEL_BYTES; i++)
        bytes[i] = (uint8_t)rng_u64(&r);
    const uint64_t texels = gpu_alloc(d, bytes, sizeof bytes);
    const uint64_t object[2] = {gpu_alloc(d, bytes, sizeof(struct vg_texture)),
                                gpu_alloc(d, bytes, sizeof(struct vg_texture))};
    struct args a = {gpu_alloc(d, NULL, 8 * THREADS), gpu_alloc(d, NULL, 16 * THREADS),
                     gpu_alloc(d, NULL, 4 * THREADS), gpu_alloc(d, NULL, 16 * THREADS)};
    for (int round = 0; round < 4 * SHAPES * 8 * 8 * 4; round++) {
        const int k = round % (4 * SHAPES), rest = round / (4 * SHAPES), flags = rest % 8;
        const int format = rest / 8 % 8, mode = rest / 64;
        const struct shape *s = &shapes[k / 4];
        const struct vg_texture t = texture(&r, texels, format, mode, flags);
        uint32_t words[THREADS][4], active[THREADS], out[2][4 * THREADS];
        for (int i = 0; i < THREADS; i++) {
            active[i] = rng_range(&r, 0, 7) != 0;
            for (int c = 0; c < 4; c++) {
                const float f = coordinate(&r, t.normalised_coordinates);
                if (k & 1 || (s->layered && c == 0))
                    words[i][c] = rng_range(&r, 0, 9) ? (uint32_t)rng_range(&r, -5, 20)
                                                      : (uint32_t)rng_u64(&r);
                else
                    memcpy(&words[i][c], &f, 4);
            }
        }
        vg_memory_write(d, a.coordinates, words, sizeof words, NULL);
        vg_memory_write(d, a.active, active, sizeof active, NULL);
        struct vg_launch_report report[2];
        char name[32];
        snprintf(name, sizeof name, "k%s_%s%s", s->geometry, k & 1 ? "s32" : "f32",
                 k & 2 ? "_xy" : "");
        for (int way = 0; way < 2; way++) {
            uint64_t handles[THREADS];
            for (int i = 0; i < THREADS; i++)
                handles[i] = object[way ? i & 1 : 0];
            vg_memory_write(d, object[way], &t, sizeof t, NULL);
            vg_memory_write(d, a.handles, handles, sizeof handles, NULL);
            report[way] = gpu_run(d, m, name, 1, THREADS, &a);
            cr_assert(!report[way].faulted, "seed %llu", (unsigned long long)seed);
            gpu_read(d, out[way], a.out, sizeof out[way]);
        }
        const bool filtered = t.linear_filter && !(k & 1);
        cr_assert(are_same(out[0], out[1], filtered),
                  "%s %s: format %d, mode %d, flags %d, seed %llu", target, name, format, mode,
                  flags, (unsigned long long)seed);
        cr_assert(!memcmp(&report[0].counters, &report[1].counters, sizeof report[0].counters),
                  "counters of %s %s, seed %llu", target, name, (unsigned long long)seed);
    }
    vg_device_close(d);
}

Test(textures, fetch_for_a_warp_what_they_fetch_lane_by_lane)
{
    check("base");
}

Test(textures, fetch_for_a_warp_what_they_fetch_lane_by_lane_with_avx2)
{
    check("avx2");
}

Test(textures, fetch_for_a_warp_what_they_fetch_lane_by_lane_with_avx512)
{
    check("avx512");
}
