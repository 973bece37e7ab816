#include "vgpu/exec/texture_fetch.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/texture_rules.h"
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

/* Reads the first channels of one texel, as bits of floats or integers. @param at  x, y, z: inside
 * the texture, or -1 for the border */
static bool texel(struct vg_warp *w, const struct ir_insn *in, int lane,
                  const struct texture_view *view, const int32_t at[3], int wanted, uint32_t to[4],
                  uint64_t *first)
{
    const struct vg_texture *t = &view->t;
    const enum texel_kind kind = texel_kind_of(t);
    const bool outside = at[0] < 0 || at[1] < 0 || at[2] < 0;
    const char *p = NULL;
    if (!outside) {
        uint64_t offset = 0;
        for (int k = 0; k < 3; k++)
            offset += (uint32_t)at[k] * texel_step(t, k);
        const uint64_t address = t->address + offset;
        p = view->texels ? view->texels + offset
                         : texture_memory(w, in, lane, address,
                                          (uint32_t)t->channels * t->channel_bytes, false);
        if (!p)
            return false;
        if (!*first)
            *first = address;
    }
    for (int c = 0; c < wanted; c++)
        to[c] = outside ? border_value(t, c)
                : c >= t->channels
                    ? absent_value(t, c)
                    : channel_value(channel_load(p + c * t->channel_bytes, kind), kind);
    return true;
}

/* ---- coordinates ----------------------------------------------------------------------------- */

static struct axis axis_of(const struct vg_texture *t, const struct texture_place *at, int k,
                           bool between)
{
    const int32_t sizes[3] = {(int32_t)t->width, (int32_t)t->height, (int32_t)t->depth};
    const int32_t n = sizes[k];
    if (k >= at->dimensions)
        return (struct axis){0, 0, 0};
    enum vg_address_mode mode = mode_of(t, k);
    if (at->integers) {
        const int32_t i = resolve(at->i[k], n, t->is_buffer ? VG_BORDER : mode);
        return (struct axis){i, i, 0};
    }
    return axis_at(scaled(at->f[k], n, mode, t->normalised_coordinates), n, mode, between);
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
    const int32_t face = (by_x ? 0 : by_y ? 2 : 4) + (major < 0);
    for (int k = 0; k < 2; k++) {
        const float place = major ? (side[k] / fabsf(major) + 1) / 2 : 0.5f;
        axes[k] = axis_at(place * (float)t->width, (int32_t)t->width, mode_of(t, k), between);
    }
    const int32_t layer = layer_at(layered ? at->layer : 0, (int32_t)t->depth / 6);
    axes[2] = (struct axis){6 * layer + face, 6 * layer + face, 0};
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
        axes[2].low = axes[2].high = layer_at(at->layer, (int32_t)t->depth);
    const int32_t nearest[3] = {axes[0].low, axes[1].low, axes[2].low};
    if (!between)
        return texel(w, in, lane, view, nearest, wanted, to, first);
    float sum[4] = {0};
    const int corners = 1 << (layered || at->is_cube ? 2 : at->dimensions);
    for (int corner = 0; corner < corners; corner++) {
        float weight = 1;
        int32_t place[3];
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
        const int32_t place[3] = {right[i] ? x.high : x.low, below[i] ? y.high : y.low, 0};
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
