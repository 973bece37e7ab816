/** @file
 * The rules of a texture fetch for one lane: from a coordinate to texels, and from a texel's bytes
 * to a number. texture_fetch.c uses them lane by lane; texture_warp.inc calls them with constant
 * modes in loops over the lanes, so they have few branches.
 */
#pragma once

#include "vgpu/api/texture.h"
#include "vgpu/exec/float_bits.h"

#include <stdbool.h>

/* ---- texels ---------------------------------------------------------------------------------- */

/** How the bytes of a channel become a value: TEXEL_(bits)(signed or unsigned, N: as a fraction).
 * A word is copied unchanged, whatever its format. */
enum texel_kind {
    TEXEL_WORD,
    TEXEL_HALF,
    TEXEL_8S,
    TEXEL_8U,
    TEXEL_16S,
    TEXEL_16U,
    TEXEL_8SN,
    TEXEL_8UN,
    TEXEL_16SN,
    TEXEL_16UN
};

LANE_INLINE bool gives_floats(const struct vg_texture *t)
{
    return t->format == VG_TEXEL_FLOAT || t->normalised_read;
}

LANE_INLINE enum texel_kind texel_kind_of(const struct vg_texture *t)
{
    if (t->channel_bytes == 4)
        return TEXEL_WORD;
    if (t->channel_bytes == 2 && t->format == VG_TEXEL_FLOAT)
        return TEXEL_HALF;
    return (gives_floats(t) ? TEXEL_8SN : TEXEL_8S) + 2 * (t->channel_bytes == 2) +
           (t->format != VG_TEXEL_SIGNED);
}

/** @return the bytes of one channel, extended to 32 bits. */
LANE_INLINE u32 channel_load(const char *p, enum texel_kind kind)
{
    u32 word;
    uint16_t half;
    switch (kind) {
    case TEXEL_8S:
    case TEXEL_8SN:
        return (u32) * (const int8_t *)p;
    case TEXEL_8U:
    case TEXEL_8UN:
        return *(const uint8_t *)p;
    case TEXEL_WORD:
        memcpy(&word, p, 4);
        return word;
    case TEXEL_16S:
    case TEXEL_16SN:
        memcpy(&half, p, 2);
        return (u32)(int16_t)half;
    default:
        memcpy(&half, p, 2);
        return half;
    }
}

LANE_INLINE u32 channel_fraction(u32 loaded, f32 most)
{
    const f32 r = (f32)(s32)loaded / most;
    return bits_of_f32(r < -1 ? -1 : r);
}

/** @return the value of what channel_load() returned: the bits of a float or an integer. */
LANE_INLINE u32 channel_value(u32 loaded, enum texel_kind kind)
{
    switch (kind) {
    case TEXEL_HALF:
        return bits_of_f32(lane_f32_from_f16(loaded));
    case TEXEL_8SN:
        return channel_fraction(loaded, 127);
    case TEXEL_8UN:
        return channel_fraction(loaded, 255);
    case TEXEL_16SN:
        return channel_fraction(loaded, 32767);
    case TEXEL_16UN:
        return channel_fraction(loaded, 65535);
    default:
        return loaded;
    }
}

/** @return component c outside the texture. */
LANE_INLINE u32 border_value(const struct vg_texture *t, int c)
{
    return t->is_buffer ? 0 : bits_of_f32(t->border[c]);
}

/** @return component c of a texel that has no such channel. */
LANE_INLINE u32 absent_value(const struct vg_texture *t, int c)
{
    return c != 3 ? 0 : gives_floats(t) ? bits_of_f32(1) : 1;
}

/** @return bytes from a texel to the next one along axis k. */
LANE_INLINE u64 texel_step(const struct vg_texture *t, int k)
{
    return k == 0 ? (u32)t->channels * t->channel_bytes : k == 1 ? t->row_bytes : t->slice_bytes;
}

/* ---- coordinates ----------------------------------------------------------------------------- */

struct axis {
    s32 low, high; /**< indices of texels, after the address mode; -1: the border */
    f32 weight;    /**< weight of `high` */
};

LANE_INLINE enum vg_address_mode mode_of(const struct vg_texture *t, int k)
{
    const bool periodic = t->address_mode[k] == VG_WRAP || t->address_mode[k] == VG_MIRROR;
    /* Wrapping and mirroring exist only for normalised coordinates. */
    return (periodic && !t->normalised_coordinates) || t->address_mode[k] > VG_BORDER
               ? VG_CLAMP
               : (enum vg_address_mode)t->address_mode[k];
}

/* Rounds a number down. It must be far below 2^31. A call of floorf() would be slower. */
LANE_INLINE f32 floor_of(f32 x)
{
    const f32 whole = (f32)(s32)x;
    return whole - (whole > x);
}

LANE_INLINE f32 nearest_of(f32 x)
{
    const f32 no_fraction = 12582912; /* 1.5 * 2^23 */
    return x + no_fraction - no_fraction;
}

/** @return the texel for index i of n in an address mode; -1: the border. */
LANE_INLINE s32 resolve(s32 i, s32 n, enum vg_address_mode mode)
{
    const s64 period = mode == VG_MIRROR ? 2 * (s64)n : n;
    if (mode == VG_BORDER)
        return i >= 0 && i < n ? i : -1;
    if (mode == VG_CLAMP)
        return i < 0 ? 0 : i >= n ? n - 1 : i;
    if (i >= 0 && i < n)
        return i;
    const s64 in_period = (i % period + period) % period;
    return (s32)(in_period < n ? in_period : 2 * (s64)n - 1 - in_period);
}

/** @return a coordinate, converted to texels. */
LANE_INLINE f32 scaled(f32 x, s32 n, enum vg_address_mode mode, bool normalised)
{
    x = f32_of_bits(bits_of_f32(x) & -(u32)(x == x)); /* a NaN becomes 0, without a branch */
    if (normalised && mode == VG_WRAP) {
        const f32 whole = floor_of(x);
        x -= x > -1e9f && x < 1e9f ? whole : x; /* so large a number is whole */
    }
    if (normalised)
        x *= (f32)n;
    return x < -1e9f ? -1e9f : x > 1e9f ? 1e9f : x;
}

/** @return the index of the texel at a coordinate. @param between  of the first of the two texels
 * around it, for filters */
LANE_INLINE s32 index_at(f32 x, bool between)
{
    return (s32)floor_of(between ? x - 0.5f : x);
}

/** @return the weight of the second of the two texels around a coordinate. */
LANE_INLINE f32 weight_at(f32 x)
{
    return nearest_of((x - 0.5f - floor_of(x - 0.5f)) * 256) / 256;
}

LANE_INLINE struct axis axis_at(f32 x, s32 n, enum vg_address_mode mode, bool between)
{
    const s32 i = index_at(x, between), low = resolve(i, n, mode);
    return (struct axis){low, between ? resolve(i + 1, n, mode) : low, between ? weight_at(x) : 0};
}

LANE_INLINE s32 layer_at(s32 layer, s32 layers)
{
    return layer < 0 ? 0 : layer >= layers ? layers - 1 : layer;
}
