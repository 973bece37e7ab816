#include "vgpu/exec/unset_copies.h"

#include "vgpu/exec/clusters.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/flows.h"
#include "vgpu/exec/lanes.h"
#include "vgpu/exec/proof.h"
#include "vgpu/exec/unset_values.h"
#include "vgpu/exec/vg_module.h"
#include "vgpu/ptx/ptx_decode.h"
#include "vgpu/ptx/ptx_flow.h"

#include <stdlib.h>
#include <string.h>

enum {
    REGISTERS = 128, /* of a warp; bytes in more registers are taken for written */
    REPORTED = 8,    /* loads of a warp */
    FOLLOWED = 20000 /* instructions, see unset_local_start() */
};

/* The load that read a byte. */
struct source {
    const struct ir_insn *in, *copied; /**< copied: if is_local, the load that read the byte before
                                            it was copied to local memory, or NULL */
    uint64_t address;
    uint8_t lane;
    bool whole;
    bool is_local;
    bool may_be_used; /**< not only copied */
    bool computed;    /**< the register does not contain the byte, but a result of it */
    bool masked;      /**< ... from which "and" has removed bits */
};

/* A byte of local memory: set, or unset since these bytes were stored there, or from the start. */
enum { LOCAL_SET, LOCAL_COPIED, LOCAL_COMPUTED, LOCAL_NEVER };

/* Unwritten bytes in a register. */
struct held {
    const struct vg_frame *frame;
    uint32_t slot, lanes;
    uint8_t bytes[VG_LANES]; /* a bit for each byte of the lane */
    struct source from[VG_LANES];
};

struct vg_unset {
    struct held held[REGISTERS];
    int count;
    uint64_t maybe; /* a bit for each slot in `held`, see maybe_held() */
    uint8_t *local; /* LOCAL_... of each byte; the lanes one after the other, `stride` bytes each */
    size_t stride, local_room, local_count;
    struct source local_from[LOCAL_NEVER]; /* of the bytes stored last */
    uint32_t left;                         /* instructions to follow; 0: all */
    const struct ir_insn *reported[REPORTED];
    int reported_count;
    /* The running instruction's stores to shared and to global memory. */
    uint32_t stores; /* lanes */
    uint64_t at[VG_LANES];
    uint32_t stored[VG_LANES]; /* a bit for each byte */
    struct source stored_from[VG_LANES];
};

static struct vg_unset *unset_of(struct vg_warp *w)
{
    if (!w->unset && !(w->unset = calloc(1, sizeof *w->unset)))
        abort();
    return w->unset;
}

void unset_forget(struct vg_warp *w)
{
    struct vg_unset *u = w->unset;
    w->copies_unset = false;
    if (!u)
        return;
    u->count = u->reported_count = 0;
    u->maybe = 0;
    u->left = 0;
    if (u->local_count)
        memset(u->local, 0, VG_LANES * u->stride);
    u->local_count = 0;
}

void unset_free(struct vg_unset *u)
{
    if (u)
        free(u->local);
    free(u);
}

/* ---- registers ------------------------------------------------------------------------------- */

/* @return the bit of a slot in vg_unset.maybe; several slots have the same. It shows quickly that most
 * instructions read none of them. */
static uint64_t maybe_held(uint32_t slot)
{
    return slot ? UINT64_C(1) << slot / (4 * VG_LANES) % 64 : 0;
}

static struct held *find(struct vg_unset *u, const struct vg_frame *frame, uint32_t slot)
{
    for (int i = 0; u->maybe & maybe_held(slot) && i < u->count; i++)
        if (u->held[i].slot == slot && u->held[i].frame == frame)
            return &u->held[i];
    return NULL;
}

static struct held *find_or_add(struct vg_unset *u, const struct vg_frame *frame, uint32_t slot)
{
    struct held *h = find(u, frame, slot);
    if (h || u->count == REGISTERS)
        return h;
    h = &u->held[u->count++];
    u->maybe |= maybe_held(slot);
    h->frame = frame;
    h->slot = slot;
    h->lanes = 0;
    memset(h->bytes, 0, sizeof h->bytes);
    return h;
}

static uint8_t held_bytes(const struct held *h, uint32_t lane)
{
    return h && h->lanes >> lane & 1 ? h->bytes[lane] : 0;
}

static void hold(struct vg_warp *w, uint32_t slot, uint32_t lane, uint8_t bytes,
                 const struct source *from)
{
    struct vg_unset *u = unset_of(w);
    struct held *h = bytes && slot ? find_or_add(u, w->frame, slot) : find(u, w->frame, slot);
    if (!h)
        return;
    h->lanes = (h->lanes & ~(1u << lane)) | (uint32_t)(bytes != 0) << lane;
    h->bytes[lane] = bytes;
    if (bytes)
        h->from[lane] = *from;
    w->copies_unset |= bytes != 0;
}

static void drop(struct vg_warp *w, uint32_t slot, uint32_t lanes)
{
    struct held *h = find(w->unset, w->frame, slot);
    if (h)
        h->lanes &= ~lanes;
}

static void hold_elements(struct vg_warp *w, const struct ir_insn *in, uint32_t lane,
                          uint32_t bytes, const struct source *from)
{
    const bool extends = ptx_type_is_signed((enum ptx_type)in->type) && from->may_be_used;
    for (uint32_t k = 0; k < in->vector; k++, bytes >>= in->bytes) {
        const uint32_t own = bytes & ((1u << in->bytes) - 1);
        hold(w, ptx_element_slot(w->frame->function, in, k, in->d), lane,
             (uint8_t)(own && extends ? 0xff : own), from);
    }
}

void unset_loaded(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                  uint32_t bytes, bool whole, bool may_be_used)
{
    const bool computed =
        address < VG_GLOBAL_BASE && vg_block_has_computed(w->block, address, bytes);
    unset_of(w);
    hold_elements(w, in, (uint32_t)lane, bytes,
                  &(struct source){.in = in,
                                   .address = address,
                                   .lane = (uint8_t)lane,
                                   .whole = whole,
                                   .may_be_used = may_be_used || computed,
                                   .computed = computed});
}

/* ---- uses ------------------------------------------------------------------------------------ */

bool unset_is_reported(const struct vg_warp *w, const struct ir_insn *in)
{
    for (int i = 0; w->unset && i < w->unset->reported_count; i++)
        if (w->unset->reported[i] == in)
            return true;
    return false;
}

/* Records the finding that the load of a byte read unwritten memory. @param by  the use, or NULL */
static void find_source(struct vg_warp *w, const struct source *from, const struct ir_insn *by)
{
    const uint32_t size = (uint32_t)from->in->bytes * from->in->vector;
    if (from->is_local)
        vg_find_unset_local(w, from->in, from->lane, from->address, size, from->copied, by);
    else if (from->address < VG_GLOBAL_BASE)
        vg_find_unset_shared(w, from->in, from->lane, from->address, size, by);
    else
        vg_find_unset_global(w, from->in, from->lane, from->address, size, by);
}

/* Reports that an instruction uses a register in some lanes. From then on, each load by the same
 * instruction is reported at once, so that an incorrect kernel is not followed for long. */
static void use(struct vg_warp *w, const struct ir_insn *by, uint32_t slot, uint32_t lanes)
{
    struct vg_unset *u = w->unset;
    const struct held *h = find(u, w->frame, slot);
    const struct ir_insn *loads[VG_LANES];
    int count = 0;
    for (uint32_t left = h ? lanes & h->lanes : 0; left; left &= left - 1) {
        const struct source *from = &h->from[__builtin_ctz(left)];
        if (!from->may_be_used)
            continue;
        find_source(w, from, by);
        if (!count || loads[count - 1] != from->in)
            loads[count++] = from->in;
    }
    for (int k = 0; k < count; k++) {
        if (u->reported_count < REPORTED && !unset_is_reported(w, loads[k]))
            u->reported[u->reported_count++] = loads[k];
        for (int i = 0; i < u->count; i++)
            for (uint32_t left = u->held[i].lanes; left; left &= left - 1)
                if (u->held[i].from[__builtin_ctz(left)].in == loads[k])
                    u->held[i].lanes &= ~(left & -left);
    }
}

/* ---- local memory ---------------------------------------------------------------------------- */

static void local_put(struct vg_unset *u, uint32_t lane, uint64_t at, uint8_t what)
{
    uint8_t *const byte = &u->local[lane * u->stride + at];
    u->local_count += (size_t)(what != LOCAL_SET) - (size_t)(*byte != LOCAL_SET);
    *byte = what;
}

static void local_make(struct vg_unset *u, const struct vg_warp *w)
{
    if (u->local_count)
        return;
    u->stride = w->block->launch->local_stride;
    if (u->local_room < VG_LANES * u->stride) {
        free(u->local);
        u->local_room = VG_LANES * u->stride;
        u->local = malloc(u->local_room);
        if (!u->local)
            abort();
    }
    memset(u->local, LOCAL_SET, VG_LANES * u->stride);
}

/* @return a bit for each of at most 32 bytes of a lane's local memory that is unwritten.
 * @param what  becomes the LOCAL_... of one of them; LOCAL_COMPUTED if any is */
static uint32_t local_bytes(const struct vg_unset *u, uint32_t lane, uint64_t at, uint32_t size,
                            uint8_t *what)
{
    uint32_t bytes = 0;
    *what = LOCAL_SET;
    for (uint32_t i = 0; i < size && u->local_count && at + i < u->stride; i++) {
        const uint8_t own = u->local[lane * u->stride + at + i];
        bytes |= (uint32_t)(own != LOCAL_SET) << i;
        if (own != LOCAL_SET && *what != LOCAL_COMPUTED)
            *what = own;
    }
    return bytes;
}

static void local_store(struct vg_warp *w, uint32_t lane, uint64_t at, uint32_t bytes,
                        uint32_t size, const struct source *from)
{
    struct vg_unset *u = w->unset;
    const uint8_t what = from->computed ? LOCAL_COMPUTED : LOCAL_COPIED;
    if (bytes)
        local_make(u, w);
    for (uint32_t i = 0; i < size && (bytes || u->local_count) && at + i < u->stride; i++)
        local_put(u, lane, at + i, bytes >> i & 1 ? what : LOCAL_SET);
    if (bytes)
        u->local_from[what] = *from;
}

void unset_local_start(struct vg_warp *w, size_t bytes)
{
    struct vg_unset *u = unset_of(w);
    local_make(u, w);
    for (uint32_t lane = 0; lane < VG_LANES; lane++)
        if (w->alive >> lane & 1) {
            memset(u->local + lane * u->stride, LOCAL_NEVER, bytes);
            u->local_count += bytes;
        }
    u->left = FOLLOWED;
    w->copies_unset = u->local_count > 0;
}

/* From now on, bytes count as written that nothing has written so far. */
static void local_end(struct vg_unset *u)
{
    for (uint32_t lane = 0; lane < VG_LANES; lane++)
        for (size_t at = 0; at < u->stride && u->local_count; at++)
            if (u->local[lane * u->stride + at] == LOCAL_NEVER)
                local_put(u, lane, at, LOCAL_SET);
}

void unset_local_copied(const struct vg_warp *w, uint32_t lanes, size_t to, size_t from,
                        size_t bytes)
{
    struct vg_unset *u = w->unset;
    for (uint32_t left = lanes; left && u->local_count; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        for (size_t k = 0; k < bytes; k++) {
            const size_t i = to > from ? bytes - 1 - k : k;
            local_put(u, lane, to + i, u->local[lane * u->stride + from + i]);
        }
    }
}

void unset_local_set(const struct vg_warp *w, uint32_t lanes, size_t at, size_t bytes)
{
    struct vg_unset *u = w->unset;
    for (uint32_t left = lanes; left && u->local_count; left &= left - 1)
        for (size_t i = 0; i < bytes && at + i < u->stride; i++)
            local_put(u, (uint32_t)__builtin_ctz(left), at + i, LOCAL_SET);
}

static bool is_local(const struct ir_insn *in, uint64_t address, uint64_t *at)
{
    const bool in_window = address - VG_LOCAL_BASE < UINT64_C(1) << 40;
    *at = in_window ? address - VG_LOCAL_BASE : address;
    return in_window || in->space == PTX_SPACE_LOCAL ||
           (in->space == PTX_SPACE_PARAM && address < UINT64_C(1) << 32);
}

/* ---- before an instruction ------------------------------------------------------------------- */

/* Holds unwritten bytes that a lane loads from local memory. */
static void load_local(struct vg_warp *w, const struct ir_insn *in, uint32_t lane, uint64_t address,
                       uint32_t bytes, uint8_t what)
{
    struct source own = {.in = in, .address = address, .lane = (uint8_t)lane, .is_local = true};
    const enum unset_use use =
        unset_value_use(w->block->launch->module, w->frame->function, in, bytes);
    if (use == UNSET_IGNORED)
        return;
    own.may_be_used = use == UNSET_USED;
    own.copied = what == LOCAL_NEVER ? NULL : w->unset->local_from[what].in;
    const bool is_own = what == LOCAL_NEVER || (what == LOCAL_COPIED && own.may_be_used);
    hold_elements(w, in, lane, bytes, is_own ? &own : &w->unset->local_from[what]);
}

static void load(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    struct vg_unset *u = w->unset;
    const uint32_t size = (uint32_t)in->bytes * in->vector;
    uint64_t address[VG_LANES], at;
    for (uint32_t k = 0; k < in->vector; k++)
        drop(w, ptx_element_slot(w->frame->function, in, k, in->d), lanes);
    if (!u->local_count)
        return;
    proof_addresses(w, in, address);
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        uint8_t what;
        const uint32_t bytes =
            is_local(in, address[lane], &at) ? local_bytes(u, lane, at, size, &what) : 0;
        if (bytes)
            load_local(w, in, lane, address[lane], bytes, what);
    }
}

/* @return whether a lane stores a word again after changing some bits. It may have set the first of
 * several bit fields: the word counts as written then, since bits are not followed. */
static bool sets_bits(const struct source *from, uint64_t address)
{
    return from->masked && from->address == address;
}

static void store(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    struct vg_unset *u = w->unset;
    const struct held *held[8];
    uint64_t address[VG_LANES], at;
    uint32_t some = 0;
    for (uint32_t k = 0; k < in->vector; k++) {
        held[k] = find(u, w->frame, ptx_element_slot(w->frame->function, in, k, in->b));
        some |= held[k] ? held[k]->lanes & lanes : 0;
    }
    u->stores = 0;
    if (!some && !u->local_count)
        return;
    proof_addresses(w, in, address);
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        struct source from = {0};
        uint32_t bytes = 0;
        for (uint32_t k = 0; k < in->vector; k++) {
            const uint32_t own = held_bytes(held[k], lane) & ((1u << in->bytes) - 1);
            if (!own || sets_bits(&held[k]->from[lane], address[lane]))
                continue;
            bytes |= own << k * in->bytes;
            if (!from.computed)
                from = held[k]->from[lane];
        }
        if (is_local(in, address[lane], &at)) {
            local_store(w, lane, at, bytes, (uint32_t)in->bytes * in->vector, &from);
        } else if (bytes) {
            u->stores |= 1u << lane;
            u->at[lane] = address[lane];
            u->stored[lane] = bytes;
            u->stored_from[lane] = from;
        }
    }
}

/* @return the bytes of a register that may be used, in one lane. */
static uint8_t usable_bytes(const struct held *h, uint32_t lane)
{
    const uint8_t bytes = held_bytes(h, lane);
    return bytes && h->from[lane].may_be_used ? bytes : 0;
}

static uint32_t usable_lanes(const struct held *h)
{
    uint32_t lanes = 0;
    for (uint32_t left = h ? h->lanes : 0; left; left &= left - 1)
        lanes |= usable_bytes(h, (uint32_t)__builtin_ctz(left)) ? left & -left : 0;
    return lanes;
}

/* Holds a result that is computed from the byte of a source. */
static void hold_result(struct vg_warp *w, uint32_t slot, uint32_t lane, uint8_t bytes,
                        const struct source *of)
{
    struct source from = *of;
    from.computed = true;
    hold(w, slot, lane, bytes, &from);
}

static void choose(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const struct held *a = find(w->unset, w->frame, in->a), *b = find(w->unset, w->frame, in->b);
    const struct held *by = find(w->unset, w->frame, in->c);
    const uint32_t chosen = *(const uint32_t *)(const void *)(w->regs + in->c);
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const struct held *h = chosen >> lane & 1 ? a : b;
        const uint8_t bytes = held_bytes(h, lane);
        const struct source from = bytes ? h->from[lane] : (struct source){0};
        if (usable_bytes(by, lane))
            hold_result(w, in->d, lane, 0xff, &by->from[lane]);
        else
            hold(w, in->d, lane, bytes, &from);
    }
}

/* and, or of predicates: false and anything is false. */
static void connect(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const struct held *a = find(w->unset, w->frame, in->a), *b = find(w->unset, w->frame, in->b);
    const uint32_t decides = in->op == IR_AND_PRED ? 0 : ~0u, of_a = usable_lanes(a),
                   of_b = usable_lanes(b);
    const uint32_t p = *(const uint32_t *)(const void *)(w->regs + in->a) ^ decides;
    const uint32_t q = *(const uint32_t *)(const void *)(w->regs + in->b) ^ decides;
    const uint32_t unset = (of_a & (of_b | q)) | (of_b & (of_a | p));
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const struct source from = unset & of_a & left & -left   ? a->from[lane]
                                   : unset & of_b & left & -left ? b->from[lane]
                                                                 : (struct source){0};
        hold_result(w, in->d, lane, unset >> lane & 1, &from);
    }
}

static uint64_t mask_of(uint8_t bytes)
{
    uint64_t mask = 0;
    for (int i = 0; i < 8; i++)
        mask |= (bytes >> i & 1 ? UINT64_C(0xff) : 0) << 8 * i;
    return mask;
}

static uint8_t bytes_of(uint64_t mask)
{
    uint8_t bytes = 0;
    for (int i = 0; i < 8; i++)
        bytes |= (uint8_t)((mask >> 8 * i & 0xff) != 0) << i;
    return bytes;
}

static uint64_t value_of(const struct vg_warp *w, uint32_t slot, uint32_t lane, bool wide)
{
    const char *from = w->regs + slot;
    return wide ? ((const uint64_t *)(const void *)from)[lane]
                : ((const uint32_t *)(const void *)from)[lane];
}

static uint64_t shifted(uint64_t mask, uint64_t by, bool left)
{
    return by > 63 ? 0 : left ? mask << by : mask >> by;
}

static void move(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes, int kept)
{
    const struct held *a = find(w->unset, w->frame, in->a), *b = find(w->unset, w->frame, in->b);
    const bool same = unset_is_copy(flow_of(w->block->launch->module, w->frame->function), in);
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint64_t mask = mask_of(held_bytes(a, lane));
        const struct held *h = mask ? a : b;
        uint8_t bytes = bytes_of(mask) & (uint8_t)((1u << kept) - 1);
        if (in->op == IR_PRMT)
            bytes = bytes_of(lane_prmt((uint32_t)mask, (uint32_t)mask_of(held_bytes(b, lane)),
                                       (uint32_t)value_of(w, in->c, lane, false)));
        else if (in->op == IR_AND_32 || in->op == IR_AND_64)
            bytes = bytes_of(mask & value_of(w, in->b, lane, in->op == IR_AND_64));
        else if (in->op == IR_SHR_U32 || in->op == IR_SHR_U64)
            bytes = bytes_of(shifted(mask, value_of(w, in->b, lane, false), false));
        else if (in->op == IR_SHL_32 || in->op == IR_SHL_64)
            bytes = bytes_of(shifted(mask, value_of(w, in->b, lane, false), true)) &
                    (uint8_t)((1u << kept) - 1);
        struct source from = bytes ? h->from[lane] : (struct source){0};
        from.computed |= !same;
        from.masked |= !same && (in->op == IR_AND_32 || in->op == IR_AND_64);
        hold(w, in->d, lane, from.computed && !from.may_be_used ? 0 : bytes, &from);
    }
}

/* or, xor: they move bytes where the bytes of the other operand are zeros. */
static void merge(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const struct held *a = find(w->unset, w->frame, in->a), *b = find(w->unset, w->frame, in->b);
    const bool wide = in->op == IR_OR_64 || in->op == IR_XOR_64;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint8_t of_a = held_bytes(a, lane), of_b = held_bytes(b, lane);
        const uint64_t with_a = of_a ? value_of(w, in->b, lane, wide) & mask_of(of_a) : 0;
        const uint64_t with_b = of_b ? value_of(w, in->a, lane, wide) & mask_of(of_b) : 0;
        struct source from = of_a ? a->from[lane] : of_b ? b->from[lane] : (struct source){0};
        if (of_a && of_b && b->from[lane].may_be_used)
            from = b->from[lane];
        from.computed |= with_a || with_b || of_a & of_b;
        hold(w, in->d, lane, from.computed && !from.may_be_used ? 0 : of_a | of_b, &from);
    }
}

static void pack(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const uint32_t *parts = w->frame->function->extra + in->extra;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        struct source from = {0};
        uint32_t bytes = 0;
        for (uint32_t k = 0; k < in->vector; k++) {
            const struct held *a = find(w->unset, w->frame, parts[k]);
            const uint32_t own = held_bytes(a, lane) & ((1u << in->bytes) - 1);
            bytes |= own << k * in->bytes;
            if (own && !from.computed)
                from = a->from[lane];
        }
        hold(w, in->d, lane, (uint8_t)bytes, &from);
    }
}

static void unpack(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const uint32_t *parts = w->frame->function->extra + in->extra;
    const struct held *a = find(w->unset, w->frame, in->a);
    const struct held all = a ? *a : (struct held){0}; /* a part may replace it */
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        for (uint32_t k = 0; k < in->vector; k++)
            hold(w, parts[k], lane,
                 (uint8_t)(held_bytes(&all, lane) >> k * in->bytes & ((1u << in->bytes) - 1)),
                 &all.from[lane]);
    }
}

void unset_shuffled(struct vg_warp *w, const struct ir_insn *in, const uint32_t from[])
{
    const struct held *a = find(w->unset, w->frame, in->a);
    const struct held all = a ? *a : (struct held){0}; /* d may be the same register */
    for (uint32_t left = w->mask; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint8_t bytes = w->mask >> from[lane] & 1 ? held_bytes(&all, from[lane]) : 0;
        hold(w, in->d, lane, bytes, &all.from[from[lane]]);
    }
    drop(w, in->e, w->mask);
}

/* Drops the registers that an instruction sets to other values. */
static void overwrite(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const uint32_t *extra = w->frame->function->extra + in->extra;
    drop(w, in->d, lanes);
    drop(w, in->e, lanes);
    for (uint32_t i = 0; i < in->extras && in->op != IR_CALL && in->op != IR_BRX; i++)
        drop(w, extra[i], lanes);
}

/* @return the bytes of a result that depend on some bytes of an operand. */
static uint8_t dependent(const struct vg_warp *w, const struct ir_insn *in, uint32_t lane,
                         uint8_t bytes)
{
    switch (in->op) {
    case IR_CVT_S64_S8:
    case IR_CVT_S32_S8:
    case IR_CVT_S16_S8:
        return bytes & 1 ? 0xff : 0;
    case IR_CVT_S64_S16:
    case IR_CVT_S32_S16:
        return bytes & 3 ? 0xff : 0;
    case IR_BFE_U32:
    case IR_BFE_S32:
        return lane_bfe(mask_of(bytes), (uint32_t)value_of(w, in->b, lane, false),
                        (uint32_t)value_of(w, in->c, lane, false), 32, false)
                   ? 0xff
                   : 0;
    default:
        if ((bytes & 3) && (bytes & 0xc))
            return 0xff;
        if (bytes && strstr(ir_rows[in->op].id, "X2")) /* two numbers of 16 bits */
            return bytes & 3 ? 3 : 0xc;
        return bytes ? 0xff : 0;
    }
}

/* @return the lanes in which the other operand of a comparison's "and" or "or" decides its result. */
static uint32_t decided(const struct vg_warp *w, const struct ir_insn *in)
{
    const uint32_t other = *(const uint32_t *)(const void *)(w->regs + in->c);
    if (!ptx_is_compare(in) || (in->boolean != BOOL_AND && in->boolean != BOOL_OR))
        return 0;
    return (in->boolean == BOOL_AND ? ~other : other) &
           ~usable_lanes(find(w->unset, w->frame, in->c));
}

/* An instruction that only computes: its results are unset where an operand is. */
static void compute(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const struct ir_function *f = w->frame->function;
    const struct held *of[PTX_OPERANDS];
    int count = 0;
    struct ptx_operands o;
    struct ir_insn plain = *in;
    plain.guard = 0;
    ptx_flow_sources(flow_of(w->block->launch->module, f), &plain, &o);
    for (int i = 0; i < o.read_count; i++)
        if ((of[count] = find(w->unset, w->frame, f->slots[o.reads[i]].offset)))
            count++;
    if (!count) {
        overwrite(w, in, lanes);
        return;
    }
    const uint32_t defined = decided(w, in);
    uint32_t some = 0;
    for (int i = 0; i < count; i++)
        some |= of[i]->lanes;
    drop(w, in->d, lanes & ~some);
    if (ptx_is_compare(in))
        drop(w, in->e, lanes & ~some);
    for (uint32_t left = lanes & some; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        struct source from = {0};
        uint8_t bytes = 0;
        for (int i = 0; i < count && !(defined >> lane & 1); i++) {
            const uint8_t own = dependent(w, in, lane, usable_bytes(of[i], lane));
            if (own && !bytes)
                from = of[i]->from[lane];
            bytes |= own;
        }
        hold_result(w, in->d, lane, bytes, &from);
        if (ptx_is_compare(in))
            hold_result(w, in->e, lane, bytes, &from);
    }
}

/* Any other instruction that does more than compute uses all that it reads. */
static void do_more(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const struct ir_function *f = w->frame->function;
    struct ptx_operands o;
    struct ir_insn plain = *in;
    plain.guard = 0;
    if (in->op != IR_BAR && in->op != IR_CALL)
        plain.d = 0; /* ptx_flow_sources() does not know that d is only written */
    ptx_flow_sources(flow_of(w->block->launch->module, f), &plain, &o);
    for (int i = 0; i < o.read_count; i++)
        use(w, in, f->slots[o.reads[i]].offset, lanes);
    overwrite(w, in, lanes);
}

/* A branch uses its predicate, if it is executed whenever the load is: otherwise the compiler may
 * have put the branch before the one that decides whether it matters. */
static void branch(struct vg_warp *w, const struct ir_insn *in)
{
    const struct held *h = find(w->unset, w->frame, in->guard);
    uint32_t lanes = 0;
    for (uint32_t left = h ? h->lanes & w->mask : 0; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (usable_bytes(h, lane) &&
            unset_decides(w->block->launch->module, w->frame->function, h->from[lane].in, in))
            lanes |= left & -left;
    }
    use(w, in, in->guard, lanes);
}

void unset_before(struct vg_warp *w, const struct ir_insn *in)
{
    struct vg_unset *u = w->unset;
    const uint64_t slots = maybe_held(in->guard) | maybe_held(in->a) | maybe_held(in->b) |
                           maybe_held(in->c) | maybe_held(in->d) | maybe_held(in->e) |
                           maybe_held(in->f);
    u->stores = 0;
    if (!(slots & u->maybe) && !in->extras && !u->local_count)
        return;
    const uint32_t lanes = proof_lanes(w, in);
    const int kept = unset_bytes_kept(in);
    if ((in->op == IR_LD || in->op == IR_ST) && !in->fixed_address)
        use(w, in, in->a, lanes);
    if (in->op == IR_BRA) {
        if (in->guard)
            branch(w, in);
    } else if (in->op == IR_LD) {
        load(w, in, lanes);
    } else if (in->op == IR_ST) {
        store(w, in, lanes);
    } else if (in->op == IR_SELP_32 || in->op == IR_SELP_64) {
        choose(w, in, lanes);
    } else if (in->op == IR_AND_PRED || in->op == IR_OR_PRED) {
        connect(w, in, lanes);
    } else if (in->op == IR_OR_32 || in->op == IR_OR_64 || in->op == IR_XOR_32 ||
               in->op == IR_XOR_64) {
        merge(w, in, lanes);
    } else if (in->op == IR_PACK) {
        pack(w, in, lanes);
    } else if (in->op == IR_UNPACK) {
        unpack(w, in, lanes);
    } else if (in->op == IR_SHFL) { /* see unset_shuffled() */
        use(w, in, in->b, lanes);
        use(w, in, in->c, lanes);
        use(w, in, in->f, lanes);
    } else if (kept && (in->op == IR_PRMT || !usable_lanes(find(w->unset, w->frame, in->b)))) {
        move(w, in, lanes, kept);
    } else if (ptx_flow_computes(in)) {
        compute(w, in, lanes);
    } else {
        do_more(w, in, lanes);
    }
}

/* ---- after an instruction -------------------------------------------------------------------- */

static void unmark_shared(struct vg_warp *w, uint64_t at, uint32_t bytes, const struct source *from)
{
    struct vg_block *b = w->block;
    if (at >= VG_SHARED_BASE)
        at -= VG_SHARED_BASE;
    if (vg_shared_owner(b, &at) != b || at >= b->shared_bytes)
        return;
    if (!b->unset_copy) {
        b->unset_copy = from->in;
        free(b->copied);
        b->copied = calloc(2, b->shared_bytes / 8 + 1);
        if (!b->copied)
            abort();
        b->computed = b->copied + b->shared_bytes / 8 + 1;
    }
    for (; bytes; bytes >>= 1, at++)
        if (bytes & 1) {
            const uint8_t bit = (uint8_t)(1u << at % 8);
            b->shared_set[at / 4] &= (uint8_t) ~(1u << at % 4);
            b->copied[at / 8] |= bit;
            b->computed[at / 8] =
                (b->computed[at / 8] & (uint8_t)~bit) | (from->computed ? bit : 0);
        }
}

void unset_delivered(struct vg_warp *w, const struct ir_insn *in, uint32_t at, uint32_t bytes)
{
    unmark_shared(w, at, bytes, &(struct source){.in = in});
}

static void end_stores(struct vg_warp *w, const struct ir_insn *in)
{
    struct vg_unset *u = w->unset;
    for (uint32_t left = u->stores; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const struct source *const from = &u->stored_from[lane];
        if (in->space == PTX_SPACE_SHARED || u->at[lane] < VG_GLOBAL_BASE)
            unmark_shared(w, u->at[lane], u->stored[lane], from);
        else if (from->whole || from->computed) /* not the padding of a structure */
            find_source(w, from, in);
        else
            vg_memory_unmark(w->worker->device, u->at[lane], u->stored[lane],
                             vg_line_of(w->block->launch->module, from->in));
    }
}

/* Forgets the registers that are not live where a block begins. */
static void drop_dead(struct vg_warp *w, const struct ir_insn *next)
{
    const struct ptx_flow *flow = flow_of(w->block->launch->module, w->frame->function);
    const uint64_t *live = flow->live + next->block * flow->words;
    for (int i = 0; i < w->unset->count; i++) {
        struct held *h = &w->unset->held[i];
        if (h->frame == w->frame && !ptx_set_has(live, flow->slot_of[h->slot / 4] - 1))
            h->lanes &= ~w->mask;
    }
}

void unset_after(struct vg_warp *w, const struct ir_insn *in, const struct ir_insn *next)
{
    struct vg_unset *u = w->unset;
    if (u->stores)
        end_stores(w, in);
    if (in->op == IR_CALL && next)
        for (int i = 0; i < u->count; i++) /* a new frame may have the memory of an old one */
            if (u->held[i].frame == w->frame && next == w->insns)
                u->held[i].lanes = 0;
    if (in->op == IR_BRA && next)
        drop_dead(w, next);
    u->maybe = 0;
    for (int i = 0; i < u->count;)
        if (u->held[i].lanes)
            u->maybe |= maybe_held(u->held[i++].slot);
        else
            u->held[i] = u->held[--u->count];
    w->copies_unset = u->count > 0 || u->local_count > 0;
    if (u->left && --u->left == 0)
        local_end(u);
}
