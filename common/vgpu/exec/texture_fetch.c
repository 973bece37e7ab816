#include "vgpu/exec/texture_fetch.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/float_bits.h"
#include "vgpu/exec/vg_warp.h"
#include "vgpu/exec/workers.h"

#include <math.h>
#include <string.h>

char *texture_memory(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                     uint32_t bytes, bool is_write)
{
    struct vg_memory *m = &w->worker->device->memory;
    struct vg_allocation *a = address >= VG_GLOBAL_BASE ? vg_memory_below(m, address) : NULL;
    if (!a || !a->live || address - a->address >= a->bytes ||
        bytes > a->bytes - (address - a->address)) {
        vg_find_address(w, in, lane, address, bytes, is_write);
        return NULL;
    }
    if (!a->initialised && !is_write && !vg_memory_marked(m, address, bytes))
        vg_find(w, in, VG_FAULT_UNINITIALISED, lane, address, bytes, false,
                "a texel of the %zu-byte allocation from cudaMalloc #%u that was never written",
                a->bytes, a->number);
    if (!a->initialised && is_write) {
        vg_memory_mark(m, address, bytes);
        vg_memory_touch(a);
    }
    return vg_memory_host(m, address);
}

/* Checks a record, since the program can write to device memory. */
static bool is_sound(const struct vg_texture *t)
{
    return t->magic == VG_TEXTURE_MAGIC && t->width && t->height && t->depth &&
           (int32_t)(t->width | t->height | t->depth) > 0 && t->channels >= 1 && t->channels <= 4 &&
           (t->channel_bytes == 1 || t->channel_bytes == 2 || t->channel_bytes == 4);
}

/* @return host memory of the texels, if all are inside one allocation that has been fully written;
 * or NULL. */
static const char *texels_of(struct vg_memory *m, const struct vg_texture *t)
{
    struct vg_allocation *a = t->address >= VG_GLOBAL_BASE ? vg_memory_below(m, t->address) : NULL;
    const uint64_t row = (uint64_t)t->width * t->channels * t->channel_bytes;
    const unsigned __int128 bytes = (unsigned __int128)(t->depth - 1) * t->slice_bytes +
                                    (unsigned __int128)(t->height - 1) * t->row_bytes + row;
    if (!a || !a->live || !a->initialised || t->address - a->address >= a->bytes ||
        bytes > a->bytes - (t->address - a->address))
        return NULL;
    return vg_memory_host(m, t->address);
}

bool texture_find(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t handle,
                  bool is_surface, struct texture_view *view)
{
    if (handle && view->handle == handle)
        return true;
    struct vg_memory *m = &w->worker->device->memory;
    struct vg_texture *to = &view->t;
    struct vg_allocation *a = handle >= VG_GLOBAL_BASE ? vg_memory_below(m, handle) : NULL;
    if (a && a->live && a->address == handle && a->bytes == sizeof *to) {
        memcpy(to, vg_memory_host(m, handle), sizeof *to);
        if (is_sound(to) && to->is_surface == is_surface) {
            view->handle = handle;
            view->texels = texels_of(m, to);
            return true;
        }
    }
    vg_find(w, in, VG_FAULT_INVALID_OBJECT, lane, handle, 0, false, "not a %s object%s",
            is_surface ? "surface" : "texture", a && !a->live ? ", or it was destroyed" : "");
    return false;
}

/* ---- texels ---------------------------------------------------------------------------------- */

static float channel_float(const struct vg_texture *t, const char *p)
{
    int64_t v = 0;
    switch (t->channel_bytes) {
    case 1:
        v = t->format == VG_TEXEL_SIGNED ? *(const int8_t *)p : *(const uint8_t *)p;
        break;
    case 2: {
        uint16_t u;
        memcpy(&u, p, 2);
        if (t->format == VG_TEXEL_FLOAT)
            return lane_f32_from_f16(u);
        v = t->format == VG_TEXEL_SIGNED ? (int16_t)u : u;
        break;
    }
    default: {
        uint32_t u;
        memcpy(&u, p, 4);
        return f32_of_bits(u);
    }
    }
    float most = t->format == VG_TEXEL_SIGNED ? (t->channel_bytes == 1 ? 127.0f : 32767.0f)
                                              : (t->channel_bytes == 1 ? 255.0f : 65535.0f);
    float r = (float)v / most;
    return r < -1 ? -1 : r;
}

static uint32_t channel_integer(const struct vg_texture *t, const char *p)
{
    uint32_t v = 0;
    memcpy(&v, p, t->channel_bytes <= 4 ? t->channel_bytes : 4);
    int unused = 32 - 8 * t->channel_bytes;
    if (t->format == VG_TEXEL_SIGNED && unused > 0)
        v = (uint32_t)((int32_t)(v << unused) >> unused);
    return v;
}

static bool gives_floats(const struct vg_texture *t)
{
    return t->format == VG_TEXEL_FLOAT || t->normalised_read;
}

/* Rounds a number down. It must be far below 2^31. A call of floorf() would be slower. */
static float floor_of(float x)
{
    const float whole = (float)(int32_t)x;
    return whole - (whole > x);
}

static float nearest_of(float x)
{
    const float no_fraction = 12582912; /* 1.5 * 2^23 */
    return x + no_fraction - no_fraction;
}

/* Reads the first channels of one texel, as bits of floats or integers. @param at  x, y, z: inside
 * the texture, or -1 for the border */
static bool texel(struct vg_warp *w, const struct ir_insn *in, int lane,
                  const struct texture_view *view, const int64_t at[3], int wanted, uint32_t to[4],
                  uint64_t *first)
{
    const struct vg_texture *t = &view->t;
    const bool outside = at[0] < 0 || at[1] < 0 || at[2] < 0;
    const uint32_t one = gives_floats(t) ? bits_of_f32(1) : 1;
    const char *p = NULL;
    if (!outside) {
        uint32_t bytes = (uint32_t)t->channels * t->channel_bytes;
        uint64_t address = t->address + (uint64_t)at[2] * t->slice_bytes +
                           (uint64_t)at[1] * t->row_bytes + (uint64_t)at[0] * bytes;
        p = view->texels ? view->texels + (address - t->address)
                         : texture_memory(w, in, lane, address, bytes, false);
        if (!p)
            return false;
        if (!*first)
            *first = address;
    }
    for (int c = 0; c < wanted; c++) {
        if (outside)
            to[c] = t->is_buffer ? 0 : bits_of_f32(t->border[c]);
        else if (c >= t->channels || c >= 4)
            to[c] = c == 3 ? one : 0;
        else if (gives_floats(t))
            to[c] = bits_of_f32(channel_float(t, p + c * t->channel_bytes));
        else
            to[c] = channel_integer(t, p + c * t->channel_bytes);
    }
    return true;
}

/* ---- coordinates ----------------------------------------------------------------------------- */

/* @return the texel for index i of n in an address mode; -1: the border. */
static int64_t resolve(int64_t i, int64_t n, enum vg_address_mode mode)
{
    if (i >= 0 && i < n)
        return i;
    switch (mode) {
    case VG_WRAP:
        return (i % n + n) % n;
    case VG_MIRROR:
        i = (i % (2 * n) + 2 * n) % (2 * n);
        return i < n ? i : 2 * n - 1 - i;
    case VG_BORDER:
        return -1;
    default:
        return i < 0 ? 0 : n - 1;
    }
}

static enum vg_address_mode mode_of(const struct vg_texture *t, int k)
{
    enum vg_address_mode mode = (enum vg_address_mode)t->address_mode[k];
    /* Wrapping and mirroring exist only for normalised coordinates. */
    return !t->normalised_coordinates && (mode == VG_WRAP || mode == VG_MIRROR) ? VG_CLAMP : mode;
}

/* @return coordinate k, converted to texels. */
static float scaled(const struct vg_texture *t, int k, float x, uint32_t n)
{
    if (x != x)
        x = 0;
    if (t->normalised_coordinates) {
        if (mode_of(t, k) == VG_WRAP)
            x -= x > -1e9f && x < 1e9f ? floor_of(x) : floorf(x);
        x *= (float)n;
    }
    return x < -1e9f ? -1e9f : x > 1e9f ? 1e9f : x;
}

struct axis {
    int64_t low, high; /* indices of texels, after the address mode */
    float weight;      /* weight of `high` */
};

/* @return the axis at coordinate @p x of n texels; @p between: the two texels around it, to
 * filter. */
static struct axis axis_at(float x, uint32_t n, enum vg_address_mode mode, bool between)
{
    if (!between) {
        int64_t i = resolve((int64_t)floor_of(x), n, mode);
        return (struct axis){i, i, 0};
    }
    float low = floor_of(x - 0.5f);
    return (struct axis){resolve((int64_t)low, n, mode), resolve((int64_t)low + 1, n, mode),
                         nearest_of((x - 0.5f - low) * 256) / 256};
}

static struct axis axis_of(const struct vg_texture *t, const struct texture_place *at, int k,
                           bool between)
{
    const uint32_t sizes[3] = {t->width, t->height, t->depth}, n = sizes[k];
    if (k >= at->dimensions)
        return (struct axis){0, 0, 0};
    enum vg_address_mode mode = mode_of(t, k);
    if (at->integers) {
        int64_t i = resolve(at->i[k], n, t->is_buffer ? VG_BORDER : mode);
        return (struct axis){i, i, 0};
    }
    return axis_at(scaled(t, k, at->f[k], n), n, mode, between);
}

/* The axes of a cube map: the largest coordinate of the direction selects the face, the other two a
 * point on it (CUDA C++ Programming Guide, "Cubemap Textures"). If coordinates are equal, z takes
 * precedence, then y, as measured on an H200. Filters stay on the face, where the texture's address
 * modes apply. */
static void cube_axes(const struct vg_texture *t, const struct texture_place *at, bool layered,
                      bool between, struct axis axes[3])
{
    const float x = at->f[0], y = at->f[1], z = at->f[2];
    const float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    const bool by_x = ax > ay && ax > az, by_y = !by_x && ay > az;
    const float major = by_x ? x : by_y ? y : z, sign = major < 0 ? -1 : 1;
    const float side[2] = {by_x ? -sign * z : by_y ? x : sign * x, by_y ? sign * z : -y};
    const int64_t face = (by_x ? 0 : by_y ? 2 : 4) + (major < 0), layers = t->depth / 6;
    for (int k = 0; k < 2; k++) {
        const float place = major ? (side[k] / fabsf(major) + 1) / 2 : 0.5f;
        axes[k] = axis_at(place * (float)t->width, t->width, mode_of(t, k), between);
    }
    int64_t layer = layered ? at->layer : 0;
    layer = layer < 0 ? 0 : layer >= layers ? layers - 1 : layer;
    axes[2] = (struct axis){6 * layer + face, 6 * layer + face, 0};
}

static int64_t layer_of(const struct vg_texture *t, const struct texture_place *at)
{
    return at->layer < 0 ? 0 : at->layer >= (int64_t)t->depth ? (int64_t)t->depth - 1 : at->layer;
}

struct texture_place texture_coordinates(const struct vg_warp *w, const struct ir_insn *in,
                                         int lane)
{
    const uint32_t *slots = w->frame->function->extra + in->extra;
    const bool is_cube = in->compare == IR_TEXTURE_CUBE;
    struct texture_place at = {.integers = in->type2 == PTX_TYPE_s32,
                               .is_cube = is_cube,
                               .dimensions = is_cube ? 3 : in->compare};
    int from = 0;
    if (in->boolean)
        at.layer = ((const int32_t *)(const void *)(w->regs + slots[from++]))[lane];
    for (int k = 0; k < at.dimensions; k++, from++) {
        at.f[k] = ((const float *)(const void *)(w->regs + slots[from]))[lane];
        at.i[k] = ((const int32_t *)(const void *)(w->regs + slots[from]))[lane];
    }
    return at;
}

bool texture_fetch(struct vg_warp *w, const struct ir_insn *in, int lane,
                   const struct texture_view *view, const struct texture_place *at, int wanted,
                   uint32_t to[4], uint64_t *first)
{
    const struct vg_texture *t = &view->t;
    const bool between = t->linear_filter && gives_floats(t) && !at->integers;
    const bool layered = in->boolean;
    struct axis axes[3];
    if (at->is_cube && (t->depth % 6 || t->width != t->height)) {
        vg_find(w, in, VG_FAULT_INVALID_OBJECT, lane, view->handle, 0, false,
                "not a cube map: its array was made without cudaArrayCubemap");
        return false;
    }
    if (at->is_cube)
        cube_axes(t, at, layered, between, axes);
    for (int k = 0; k < 3 && !at->is_cube; k++)
        axes[k] = axis_of(t, at, k, between);
    if (layered && !at->is_cube)
        axes[2] = (struct axis){layer_of(t, at), layer_of(t, at), 0};
    const int64_t nearest[3] = {axes[0].low, axes[1].low, axes[2].low};
    if (!between)
        return texel(w, in, lane, view, nearest, wanted, to, first);
    float sum[4] = {0};
    const int corners = 1 << (layered || at->is_cube ? 2 : at->dimensions);
    for (int corner = 0; corner < corners; corner++) {
        float weight = 1;
        int64_t place[3];
        for (int k = 0; k < 3; k++) {
            bool high = corner >> k & 1;
            place[k] = high ? axes[k].high : axes[k].low;
            weight *= high ? axes[k].weight : 1 - axes[k].weight;
        }
        uint32_t bits[4];
        if (weight == 0)
            continue;
        if (!texel(w, in, lane, view, place, wanted, bits, first))
            return false;
        for (int c = 0; c < wanted; c++)
            sum[c] += weight * f32_of_bits(bits[c]);
    }
    for (int c = 0; c < wanted; c++)
        to[c] = bits_of_f32(sum[c]);
    return true;
}

bool texture_gather(struct vg_warp *w, const struct ir_insn *in, int lane,
                    const struct texture_view *view, const struct texture_place *at, int which,
                    uint32_t to[4], uint64_t *first)
{
    const struct vg_texture *t = &view->t;
    static const int right[4] = {0, 1, 1, 0}, below[4] = {1, 1, 0, 0};
    struct axis x = axis_of(t, at, 0, true), y = axis_of(t, at, 1, true);
    for (int i = 0; i < 4; i++) {
        const int64_t place[3] = {right[i] ? x.high : x.low, below[i] ? y.high : y.low, 0};
        uint32_t bits[4];
        if (!texel(w, in, lane, view, place, 4, bits, first))
            return false;
        to[i] = bits[which];
    }
    return true;
}

/* ---- surfaces -------------------------------------------------------------------------------- */

bool surface_address(struct vg_warp *w, const struct ir_insn *in, int lane,
                     const struct vg_texture *t, const int32_t at[3], uint32_t bytes,
                     uint64_t *address)
{
    const uint32_t texel_bytes = (uint32_t)t->channels * t->channel_bytes;
    const int64_t sizes[3] = {t->width, t->height, t->depth};
    int64_t place[3] = {at[0], at[1], at[2]};
    bool outside = false;
    for (int k = 0; k < 3; k++) {
        int64_t most = k ? sizes[k] - 1 : (int64_t)t->width * texel_bytes - bytes;
        if (place[k] >= 0 && place[k] <= most)
            continue;
        outside = true;
        place[k] = place[k] < 0 || most < 0 ? 0 : most;
    }
    *address = 0;
    if (outside && in->sub == 2)
        return true;
    if (outside && in->sub == 0) {
        vg_find(w, in, VG_FAULT_OUT_OF_BOUNDS, lane, 0, bytes, in->op == IR_SUST,
                "byte %d, row %d, slice %d of a surface of %u x %u x %u texels of %u bytes", at[0],
                at[1], at[2], t->width, t->height, t->depth, texel_bytes);
        return false;
    }
    if (place[0] & (bytes - 1)) {
        vg_find(
            w, in, VG_FAULT_MISALIGNED, lane, (uint64_t)place[0], bytes, in->op == IR_SUST,
            "the x coordinate of a surface counts bytes: an access of %u bytes needs a multiple of %u",
            bytes, bytes);
        return false;
    }
    *address = t->address + (uint64_t)place[2] * t->slice_bytes +
               (uint64_t)place[1] * t->row_bytes + (uint64_t)place[0];
    return true;
}
