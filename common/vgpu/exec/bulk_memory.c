/* Global memory in bulk copies: plain bytes, and boxes of arrays that tensor maps describe. */
#include "vgpu/exec/bulk_memory.h"

#include "vgpu/exec/atoms.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/vg_warp.h"
#include "vgpu/exec/workers.h"
#include "vgpu/ptx/ptx_decode.h"

bool bulk_is_aligned(struct vg_warp *w, const struct ir_insn *in, int lane, const char *what,
                     uint64_t value, uint32_t unit)
{
    const bool is_write = strcmp(what, "the destination") == 0;
    if (value % unit == 0)
        return true;
    vg_find(w, in, VG_FAULT_MISALIGNED, lane, value, unit, is_write,
            "%s of a bulk copy must be a multiple of %u bytes", what, unit);
    return false;
}

/* ---- global memory ----------------------------------------------------------------------------- */

/* @return the host memory of bytes at a global address, or NULL after a finding. */
char *bulk_global(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t at,
                  uint32_t bytes, bool is_write)
{
    struct vg_memory *m = &w->worker->device->memory;
    struct vg_allocation *a = at >= VG_GLOBAL_BASE ? vg_memory_below(m, at) : NULL;
    if (!vg_memory_permits(a, at, bytes, is_write)) {
        const uint64_t inside =
            a && a->live && !vg_range_refusal(a, is_write) && at - a->address < a->bytes
                ? a->bytes - (at - a->address)
                : 0;
        vg_find_address(w, in, lane, at + inside, (uint32_t)(bytes - inside), is_write);
        return NULL;
    }
    struct vg_site *s = &w->sites[in->site];
    s->low = a->address;
    s->span = a->bytes;
    s->allocation = a;
    if (!a->initialised && (!is_write || bulk_reduces(in)) && !vg_memory_marked(m, at, bytes)) {
        char text[160];
        vg_allocation_text(a, text, sizeof text);
        vg_find(w, in, VG_FAULT_UNINITIALISED, lane, at, bytes, false,
                "some of these %u bytes of %s were never written", bytes, text);
    }
    if (!a->initialised && is_write) {
        vg_memory_mark(m, at, bytes);
        vg_memory_touch(a);
    }
    return vg_memory_host(m, at);
}

static struct atom atom_of_copy(const struct vg_bulk *c)
{
    static const uint8_t types[] = {PTX_TYPE_u8,  PTX_TYPE_u16,  PTX_TYPE_u32, PTX_TYPE_s32,
                                    PTX_TYPE_u64, PTX_TYPE_s64,  PTX_TYPE_f16, PTX_TYPE_f32,
                                    PTX_TYPE_f64, PTX_TYPE_bf16, PTX_TYPE_f32, PTX_TYPE_f32,
                                    PTX_TYPE_f32};
    struct atom op = atom_of(c->in);
    if (!c->map.dimensions)
        return op;
    op.type = (enum ptx_type)types[c->map.type];
    op.bytes = c->map.element_bytes;
    op.is_float = ptx_type_is_float(op.type);
    op.is_signed = ptx_type_is_signed(op.type);
    return op;
}

/* Stores bytes to memory, or combines each element with the one in memory (a reduction). */
void bulk_put(const struct vg_bulk *c, char *to, const char *from, uint32_t bytes)
{
    const bool is_shared = c->global && c->warp->block->launch->concurrent;
    const struct atom op = atom_of_copy(c);
    bool changed = false;
    if (!bulk_reduces(c->in)) {
        memcpy(to, from, bytes);
        return;
    }
    for (uint32_t i = 0; i + op.bytes <= bytes; i += op.bytes) {
        u64 value = 0;
        memcpy(&value, from + i, op.bytes);
        atom_once(op, to + i, is_shared, value, 0, &changed);
    }
}

/* ---- boxes of arrays ---------------------------------------------------------------------------- */

/* A row of a box: elements that are adjacent in shared and in global memory. */
struct row {
    uint32_t at;          /* offset in the box */
    uint32_t bytes;       /* of the whole row */
    uint64_t address;     /* of the part inside the array */
    uint32_t skip, count; /* bytes before that part, and in that part */
};

/* Describes row @p i of a copy's box. @return false past the last row. */
static bool row_of(const struct vg_bulk *c, uint32_t i, struct row *r)
{
    const struct tensor_map *m = &c->map;
    const uint32_t element = m->element_bytes;
    uint32_t left = i;
    bool inside = true;
    r->bytes = m->box[0] * element;
    r->at = i * r->bytes;
    r->address = m->address;
    for (int k = 1; k < m->dimensions; k++) {
        const int64_t at = (int64_t)c->coordinates[k] + left % m->box[k] * m->step[k];
        left /= m->box[k];
        inside &= at >= 0 && at <= m->last[k];
        r->address += (uint64_t)at * m->stride[k - 1];
    }
    if (left)
        return false;
    const int64_t first = c->coordinates[0], end = first + m->box[0],
                  size = (int64_t)m->last[0] + 1;
    const int64_t from = first < 0 ? 0 : first, to = end > size ? size : end;
    r->skip = r->count = 0;
    if (inside && from < to) {
        r->skip = (uint32_t)(from - first) * element;
        r->count = (uint32_t)(to - from) * element;
        r->address += (uint64_t)from * element;
    }
    return true;
}

/* Elements outside the array become zeros, or the NaN of a real GPU. */
static void fill_outside(const struct tensor_map *m, char *row, uint32_t bytes)
{
    memset(row, m->fills_nan ? 0xff : 0, bytes);
    for (uint32_t i = 0; m->fills_nan && i < bytes; i += m->element_bytes)
        row[i + m->element_bytes - 1] = 0x7f;
}

bool bulk_load_box(struct vg_bulk *c)
{
    struct row r;
    for (uint32_t i = 0; row_of(c, i, &r); i++) {
        fill_outside(&c->map, c->data + r.at, r.bytes);
        if (!r.count)
            continue;
        const char *p = bulk_global(c->warp, c->in, c->lane, r.address, r.count, false);
        if (!p)
            return false;
        memcpy(c->data + r.at + r.skip, p, r.count);
    }
    return true;
}

/* A GPU stores whole units of 16 bytes, even past the end of a row (measured on an H100). */
void bulk_store_box(struct vg_bulk *c)
{
    struct row r;
    for (uint32_t i = 0; row_of(c, i, &r); i++) {
        const uint32_t room = r.bytes - r.skip,
                       whole = (r.count + BULK_UNIT - 1) / BULK_UNIT * BULK_UNIT;
        r.count = whole < room ? whole : room;
        char *p = r.count ? bulk_global(c->warp, c->in, c->lane, r.address, r.count, true) : NULL;
        if (p)
            bulk_put(c, p, c->data + r.at + r.skip, r.count);
    }
}

/* Copies the tensor map at a lane's address. @return whether there is one */
bool bulk_read_map(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t at,
                   struct tensor_map *to)
{
    const struct vg_launch *l = w->block->launch;
    const char *p = NULL;
    if (!bulk_is_aligned(w, in, lane, "the address of the tensor map", at, 64))
        return false;
    if (at - PTX_PARAM_BASE < l->parameter_bytes &&
        l->parameter_bytes - (at - PTX_PARAM_BASE) >= TENSOR_MAP_BYTES)
        p = l->parameter_copy + (at - PTX_PARAM_BASE);
    else if (at >= VG_GLOBAL_BASE)
        p = bulk_global(w, in, lane, at, TENSOR_MAP_BYTES, false);
    if (p)
        memcpy(to, p, sizeof *to);
    const bool is_map = p && tensor_map_is_valid(to);
    if (is_map && to->dimensions == in->compare)
        return true;
    if (!w->block->stop)
        vg_find(
            w, in, VG_FAULT_INVALID_OBJECT, lane, at, TENSOR_MAP_BYTES, false,
            is_map
                ? "a tensor map of %d dimensions in an instruction for %d"
                : "not a tensor map made by cuTensorMapEncodeTiled(): pass one to the kernel as a const __grid_constant__ parameter",
            to->dimensions, in->compare);
    return false;
}
