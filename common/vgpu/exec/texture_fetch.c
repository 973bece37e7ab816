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
    if (!vg_memory_permits(a, address, bytes, is_write)) {
        vg_find_address(w, in, lane, address, bytes, is_write);
        return NULL;
    }
    if (!a->initialised && !is_write && !vg_memory_marked(m, address, bytes)) {
        char text[160];
        vg_allocation_text(a, text, sizeof text);
        vg_find(w, in, VG_FAULT_UNINITIALISED, lane, address, bytes, false,
                "a texel of %s that was never written", text);
    }
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
           (t->channel_bytes == 1 || t->channel_bytes == 2 || t->channel_bytes == 4) &&
           t->levels <= VG_LEVELS_MAX && t->level_bias >= -VG_LEVEL_LIMIT &&
           t->level_bias <= VG_LEVEL_LIMIT;
}

/* @return the bytes from the first texel of level 0 to the end of a texture's last texel, or a
 * number that is too large for memory. */
static unsigned __int128 bytes_of(const struct vg_texture *t)
{
    const struct vg_texture last = t->levels ? vg_texture_level(t, t->levels - 1u) : *t;
    const uint64_t row = (uint64_t)last.width * last.channels * last.channel_bytes;
    if (last.address < t->address)
        return UINT64_MAX;
    return last.address - t->address + (unsigned __int128)(last.depth - 1) * last.slice_bytes +
           (unsigned __int128)(last.height - 1) * last.row_bytes + row;
}

/* @return host memory of the texels, if all are inside one allocation that has been fully written;
 * or NULL. */
static const char *texels_of(struct vg_memory *m, const struct vg_texture *t)
{
    struct vg_allocation *a = t->address >= VG_GLOBAL_BASE ? vg_memory_below(m, t->address) : NULL;
    if (!a || !a->live || !a->initialised || t->address - a->address >= a->bytes ||
        bytes_of(t) > a->bytes - (t->address - a->address))
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

/* Finds where a direction meets a cube map. The largest coordinate selects the face, and the other
 * two a point on it (CUDA C++ Programming Guide, "Cubemap Textures"). If coordinates are equal, z
 * takes precedence, then y, as measured on an H200. @param place  becomes the point, from 0 to 1
 * @return the face */
static int32_t cube_place(const float direction[3], float place[2])
{
    const float x = direction[0], y = direction[1], z = direction[2];
    const float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    const bool by_x = ax > ay && ax > az, by_y = !by_x && ay > az;
    const float major = by_x ? x : by_y ? y : z, sign = major < 0 ? -1 : 1;
    const float side[2] = {by_x ? -sign * z : by_y ? x : sign * x, by_y ? sign * z : -y};
    for (int k = 0; k < 2; k++)
        place[k] = major ? (side[k] / fabsf(major) + 1) / 2 : 0.5f;
    return (by_x ? 0 : by_y ? 2 : 4) + (major < 0);
}

/* Filters stay on the face, where the texture's address modes apply. */
static void cube_axes(const struct vg_texture *t, const struct texture_place *at, bool layered,
                      bool between, struct axis axes[3])
{
    float place[2];
    const int32_t face = cube_place(at->f, place);
    for (int k = 0; k < 2; k++)
        axes[k] = axis_at(place[k] * (float)t->width, (int32_t)t->width, mode_of(t, k), between);
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

/* texture_fetch() in one level. */
static bool fetch_in_level(struct vg_warp *w, const struct ir_insn *in, int lane,
                           const struct texture_view *view, const struct texture_place *at,
                           int wanted, uint32_t to[4], uint64_t *first)
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

/* ---- levels of mipmaps ----------------------------------------------------------------------- */

/* The change of a place on a face of a cube, when its direction changes. */
static void cube_change(const struct texture_place *at, float change[3])
{
    const float moved[3] = {at->f[0] + change[0], at->f[1] + change[1], at->f[2] + change[2]};
    float from[2], to[2];
    const bool is_same_face = cube_place(at->f, from) == cube_place(moved, to);
    change[0] = is_same_face ? to[0] - from[0] : 1;
    change[1] = is_same_face ? to[1] - from[1] : 1;
    change[2] = 0;
}

/* The length of a gradient in texels. An H200 approximates it: this formula gives its levels to
 * 1/256. */
static float gradient_length(const struct vg_texture *t, const float change[3])
{
    const uint32_t sizes[3] = {t->width, t->height, t->depth};
    float length[3];
    for (int k = 0; k < 3; k++)
        length[k] = fabsf(change[k] * (float)sizes[k]);
    const float largest = fmaxf(fmaxf(length[0], length[1]), length[2]);
    const float smallest = fminf(fminf(length[0], length[1]), length[2]);
    const float middle = length[0] + length[1] + length[2] - largest - smallest;
    return largest + middle * 11 / 32 + smallest / 4;
}

/* @return the level that the gradients of the coordinates select, in VG_LEVEL_STEPS: as many texels
 * of it as pixels. */
static float level_of_gradients(const struct vg_warp *w, const struct ir_insn *in, int lane,
                                const struct vg_texture *t, const struct texture_place *at)
{
    const uint32_t *slot = w->frame->function->extra + in->extra + 4 + in->vector;
    float longest = 0;
    for (int direction = 0; direction < 2; direction++) {
        float change[3] = {0};
        for (int k = 0; k < at->dimensions; k++)
            change[k] = ((const float *)(const void *)(w->regs + *slot++))[lane];
        if (at->is_cube)
            cube_change(at, change);
        longest = fmaxf(longest, gradient_length(t, change));
    }
    return longest > 0 ? rintf(log2f(longest) * VG_LEVEL_STEPS) : -INFINITY;
}

static int32_t level_of(const struct vg_warp *w, const struct ir_insn *in, int lane,
                        const struct vg_texture *t, const struct texture_place *at)
{
    const float most = VG_LEVELS_MAX * VG_LEVEL_STEPS;
    const bool is_asked =
        in->b || in->extras > 4 + in->vector; /* otherwise level 0, without bias */
    float level = 0;
    if (in->b)
        level = floorf(((const float *)(const void *)(w->regs + in->b))[lane] * VG_LEVEL_STEPS);
    else if (is_asked)
        level = level_of_gradients(w, in, lane, t, at);
    int32_t l = (int32_t)fminf(fmaxf(level, -most), most); /* a NaN becomes the lowest */
    l += is_asked ? t->level_bias : 0;
    l = l > t->level_max ? t->level_max : l;
    l = l < t->level_min ? t->level_min : l;
    const int32_t last = (t->levels - 1) * VG_LEVEL_STEPS;
    return l < 0 ? 0 : l > last ? last : l;
}

bool texture_fetch(struct vg_warp *w, const struct ir_insn *in, int lane,
                   const struct texture_view *view, const struct texture_place *at, int wanted,
                   uint32_t to[4], uint64_t *first)
{
    const struct vg_texture *t = &view->t;
    if (!t->levels)
        return fetch_in_level(w, in, lane, view, at, wanted, to, first);
    const bool between = t->linear_levels && gives_floats(t);
    const int32_t steps = level_of(w, in, lane, t, at) + (between ? 0 : VG_LEVEL_STEPS / 2);
    const float part = between ? (float)(steps % VG_LEVEL_STEPS) / VG_LEVEL_STEPS : 0;
    uint32_t bits[2][4];
    for (uint32_t i = 0; i < 1u + (part > 0); i++) {
        struct texture_view one = *view;
        one.t = vg_texture_level(t, (uint32_t)(steps / VG_LEVEL_STEPS) + i);
        one.texels = view->texels ? view->texels + (one.t.address - t->address) : NULL;
        if (!fetch_in_level(w, in, lane, &one, at, wanted, bits[i], first))
            return false;
    }
    for (int c = 0; c < wanted; c++)
        to[c] =
            part > 0
                ? bits_of_f32((1 - part) * f32_of_bits(bits[0][c]) + part * f32_of_bits(bits[1][c]))
                : bits[0][c];
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
