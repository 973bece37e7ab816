/* Input of a block's recorder: lines, lanes and addresses, read from the registers before an
 * instruction is executed, and the words that it stores to shared memory, read afterwards. */
#include "vgpu/exec/block_recording.h"

#include "base/utf8.h"
#include "vgpu/exec/proof.h"
#include "vgpu/probe/picture.h"
#include "vgpu/ptx/ptx_flow.h"

#include <stdlib.h>
#include <string.h>

enum { FILES = 16, ALLOCATIONS = 64 };

/* The recording of one kernel. */
struct recording {
    char symbol[512], name[256]; /* copied, since the module may be unloaded before */
    uint64_t launch;             /* number of the launch during which the block is recorded */
    uint64_t threads;
    struct vg_dim grid, block;
    uint32_t place[3];
    size_t shared_bytes;
    struct picture *picture;
    char file[FILES][512];
    int files;
    uint64_t base[ALLOCATIONS];
    char *about;                  /* the rest of the JSON, written at the end of the launch */
    struct picture_access stored; /* what the current instruction stores to shared memory */
};

struct vg_recordings {
    size_t n;
    struct recording of[RECORDED_KERNELS];
};

void vg_blocks_record(struct vg_device *d)
{
    if (!d->recordings)
        d->recordings = calloc(1, sizeof *d->recordings);
}

void recorded_free(struct vg_device *d)
{
    for (size_t i = 0; d->recordings && i < d->recordings->n; i++) {
        picture_free(d->recordings->of[i].picture);
        free(d->recordings->of[i].about);
    }
    free(d->recordings);
    d->recordings = NULL;
}

/* ---- choice of the block ---------------------------------------------------------------------- */

static struct recording *find(struct vg_recordings *r, const char *symbol)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->of[i].symbol, symbol) == 0)
            return &r->of[i];
    if (r->n == RECORDED_KERNELS)
        return NULL;
    snprintf(r->of[r->n].symbol, sizeof r->of[r->n].symbol, "%s", symbol);
    return &r->of[r->n++];
}

void recorded_launch_start(const struct vg_launch *l)
{
    struct vg_recordings *all = l->device->recordings;
    struct recording *r = all ? find(all, vg_kernel_symbol(l->kernel)) : NULL;
    if (!r || l->blocks * l->threads <= r->threads)
        return;
    picture_free(r->picture);
    free(r->about);
    r->about = NULL;
    r->picture = picture_new();
    r->launch = l->number;
    r->threads = l->blocks * l->threads;
    r->grid = l->grid;
    r->block = l->block;
    r->place[0] = l->grid.x / 2, r->place[1] = l->grid.y / 2, r->place[2] = l->grid.z / 2;
    r->shared_bytes = l->reserved_start ? l->reserved_start : l->shared_bytes;
    r->files = 0;
    memset(r->base, 0, sizeof r->base);
    snprintf(r->name, sizeof r->name, "%s", l->kernel->name);
}

static struct recording *of_launch(const struct vg_launch *l)
{
    struct vg_recordings *all = l->device->recordings;
    for (size_t i = 0; all && i < all->n; i++)
        if (all->of[i].picture && all->of[i].launch == l->number)
            return &all->of[i];
    return NULL;
}

bool recorded_block(const struct vg_block *b)
{
    const struct recording *r = of_launch(b->launch);
    return r && memcmp(r->place, b->id, sizeof r->place) == 0;
}

/* ---- instructions ----------------------------------------------------------------------------- */

static int file_number(struct recording *r, const char *file)
{
    for (int i = 0; i < r->files; i++)
        if (strcmp(r->file[i], file) == 0)
            return i;
    if (r->files == FILES || strlen(file) >= sizeof r->file[0])
        return 0;
    strcpy(r->file[r->files], file);
    return r->files++;
}

static bool in_window(uint64_t address, uint64_t window)
{
    return address - window < UINT64_C(1) << 40;
}

/* Converts an address of global memory to an allocation's number and an offset. @return false: in
 * no allocation */
static bool place_global(const struct vg_launch *l, struct recording *r, uint64_t *address)
{
    const struct vg_allocation *a = vg_memory_below(&l->device->memory, *address);
    if (!a || *address - a->address >= a->bytes)
        return false;
    for (uint64_t i = 0; i < ALLOCATIONS; i++)
        if (r->base[i] == a->address || !r->base[i]) {
            r->base[i] = a->address;
            *address = (i << PICTURE_ALLOCATION_BITS) + (*address - a->address);
            return true;
        }
    return false;
}

/* Keeps the lanes whose address is in the same space as the first lane's. */
static void place_lanes(const struct vg_warp *w, const struct ir_insn *in,
                        struct picture_access *access, uint32_t lanes)
{
    struct recording *r = of_launch(w->block->launch);
    for (; lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        uint64_t *at = &access->address[lane];
        enum picture_space space = in->space == PTX_SPACE_CONST ? PICTURE_CONSTANT : PICTURE_GLOBAL;
        if (in->space == PTX_SPACE_SHARED || in_window(*at, VG_SHARED_BASE)) {
            space = PICTURE_SHARED;
            *at -= in_window(*at, VG_SHARED_BASE) ? VG_SHARED_BASE : 0;
            if (*at >= w->block->shared_bytes)
                continue; /* in another block's shared memory, which the page does not show */
        } else if (in->space == PTX_SPACE_LOCAL || in_window(*at, VG_LOCAL_BASE))
            space = PICTURE_LOCAL, *at -= in_window(*at, VG_LOCAL_BASE) ? VG_LOCAL_BASE : 0;
        else if (!place_global(w->block->launch, r, at))
            continue;
        if (!access->mask)
            access->space = space;
        access->mask |= space == access->space ? 1u << lane : 0;
    }
}

/* An asynchronous copy is recorded as a load from global memory; the arrival of its bytes in shared
 * memory is not recorded. */
static void copy_addresses(const struct vg_warp *w, const struct ir_insn *in, uint64_t to[VG_LANES])
{
    const char *slot = w->regs + in->b;
    for (int i = 0; i < VG_LANES; i++)
        to[i] = in->boolean ? ((const uint64_t *)(const void *)slot)[i]
                            : ((const uint32_t *)(const void *)slot)[i];
}

static bool access_of(const struct vg_warp *w, const struct ir_insn *in, struct picture_access *a)
{
    const bool copies = in->op == IR_CP_ASYNC;
    *a = (struct picture_access){
        .kind = in->op == IR_ST     ? PICTURE_STORE
                : in->op == IR_ATOM ? PICTURE_ATOMIC
                                    : PICTURE_LOAD,
        .bytes = copies ? in->bytes : (uint32_t)in->bytes * (in->op == IR_ATOM ? 1 : in->vector)};
    if (in->op != IR_LD && in->op != IR_ST && in->op != IR_ATOM && !copies)
        return false;
    if (!copies && in->space == PTX_SPACE_PARAM)
        return false;
    if (copies)
        copy_addresses(w, in, a->address);
    else
        proof_addresses(w, in, a->address);
    place_lanes(w, in, a, proof_lanes(w, in));
    return a->mask != 0;
}

void recorded_before(struct vg_warp *w, const struct ir_insn *in)
{
    if (!ir_rows[in->op].operands) /* an internal instruction, for instance where lanes meet */
        return;
    struct recording *r = of_launch(w->block->launch);
    const struct ir_module *m = &w->block->launch->module->ir;
    const struct ir_location *at = in->location >= 0 ? &m->locations[in->location] : NULL;
    struct picture_access access;
    picture_instruction(r->picture, w->index, at ? file_number(r, at->file) : 0, at ? at->line : 0,
                        w->mask);
    if (picture_is_full(r->picture))
        return;
    if (ptx_is_barrier(in))
        picture_access(r->picture,
                       &(struct picture_access){.kind = PICTURE_BARRIER, .space = PICTURE_SHARED});
    else if (access_of(w, in, &access)) {
        picture_access(r->picture, &access);
        if (access.kind == PICTURE_STORE && access.space == PICTURE_SHARED)
            r->stored = access;
    }
}

void recorded_after(struct vg_warp *w)
{
    struct recording *r = of_launch(w->block->launch);
    uint32_t words[4 * VG_LANES];
    size_t n = 0;
    const struct picture_access *a = &r->stored;
    for (uint32_t lanes = a->mask; lanes; lanes &= lanes - 1) {
        const uint64_t at = a->address[__builtin_ctz(lanes)];
        for (uint32_t k = 0; k < a->bytes / 4 && at + 4 * k + 4 <= w->block->shared_bytes; k++)
            memcpy(&words[n++], w->block->shared + at + 4 * (size_t)k, sizeof *words);
    }
    if (a->mask)
        picture_values(r->picture, words, n);
    r->stored.mask = 0;
}

/* ---- the record ------------------------------------------------------------------------------- */

static void write_dim(FILE *out, const char *name, uint32_t x, uint32_t y, uint32_t z)
{
    fprintf(out, ",\"%s\":[%u,%u,%u]", name, x, y, z);
}

/* @return the number, from 1, of the kernel's argument that points to the start of an allocation;
 * 0: none. */
static int argument_of(const struct vg_launch *l, uint64_t base)
{
    size_t offset, bytes;
    uint64_t value;
    for (int i = 0; vg_kernel_parameter(l->kernel, i, &offset, &bytes); i++) {
        if (bytes != sizeof value || offset + bytes > l->parameter_bytes)
            continue;
        memcpy(&value, l->parameter_copy + offset, sizeof value);
        if (value == base)
            return i + 1;
    }
    return 0;
}

/* @return whether a variable begins with a copy of an allocation whose words are not all zeros. */
static bool is_copy(const struct vg_memory *memory, const struct vg_allocation *variable,
                    const struct vg_allocation *of)
{
    const char *text = vg_memory_host(memory, of->address);
    return of->live && of->number && of->bytes && of->bytes <= variable->bytes &&
           memcmp(vg_memory_host(memory, variable->address), text, of->bytes) == 0 &&
           (text[0] || memcmp(text, text + 1, of->bytes - 1) != 0);
}

/* @return the allocation that was copied to a variable, for instance by cudaMemcpyToSymbol(), or
 * NULL. */
static const struct vg_allocation *copied_to(const struct vg_memory *memory,
                                             const struct vg_allocation *variable)
{
    for (size_t i = 0; !variable->number && i < memory->count; i++)
        if (is_copy(memory, variable, &memory->list[i]))
            return &memory->list[i];
    return NULL;
}

static void write_memory(FILE *out, const struct vg_launch *l, const struct recording *r)
{
    fputs(",\"memory\":[", out);
    for (int i = 0; i < ALLOCATIONS && r->base[i]; i++) {
        const struct vg_allocation *a = vg_memory_below(&l->device->memory, r->base[i]),
                                   *from = copied_to(&l->device->memory, a);
        char name[32];
        snprintf(name, sizeof name, "cudaMalloc #%u", a->number);
        fputs(i ? ",[" : "[", out);
        utf8_put_json(out, a->number ? name : a->name);
        fprintf(out, ",%zu,%d,%u,%zu]", a->bytes, argument_of(l, r->base[i]),
                from ? from->number : a->number, from ? from->bytes : 0);
    }
    fputs("]", out);
}

void recorded_launch_end(const struct vg_launch *l)
{
    struct recording *r = of_launch(l);
    size_t bytes;
    FILE *out = r ? open_memstream(&r->about, &bytes) : NULL;
    if (!out)
        return;
    fputs("\"kernel\":", out);
    utf8_put_json(out, r->name);
    fputs(",\"symbol\":", out);
    utf8_put_json(out, r->symbol);
    write_dim(out, "grid", r->grid.x, r->grid.y, r->grid.z);
    write_dim(out, "block", r->block.x, r->block.y, r->block.z);
    write_dim(out, "place", r->place[0], r->place[1], r->place[2]);
    fprintf(out, ",\"shared\":%zu", r->shared_bytes);
    write_memory(out, l, r);
    fputs(",\"files\":[", out);
    for (int i = 0; i < r->files; i++) {
        fputs(i ? "," : "", out);
        utf8_put_json(out, r->file[i]);
    }
    fputs("],", out);
    fclose(out);
    r->launch = 0; /* no launch has this number */
}

void vg_recordings_write(const struct vg_device *d, FILE *out)
{
    for (size_t i = 0; d->recordings && i < d->recordings->n; i++) {
        const struct recording *r = &d->recordings->of[i];
        if (!r->picture || !r->about)
            continue;
        fprintf(out, "{%s", r->about);
        picture_write(out, r->picture);
        fputs("}\n", out);
    }
}
