/* Decoders of bulk copies (exec/bulk_copies.c). extra: the slots of destination, source, size,
 * barrier object and block mask, then of coordinates or values; vector: a bit for each of
 * destination, source and barrier object whose register has 64 bits; compare: number of coordinates
 * or values. */
#include "vgpu/ptx/ptx_decoder.h"

enum { TO, FROM, SIZE, BARRIER, MASK, VALUES, SLOTS = VALUES + 5 };

struct places {
    uint32_t slot[SLOTS];
};

/* Reads an address without the coordinates that its brackets may contain. @param bit  in
 * in->vector: set if the register has 64 bits */
static uint32_t place(struct decoder *d, struct ir_insn *in, int i, int bit)
{
    struct ptx_operand o = *operand(d, i);
    bool wide;
    o.elements = 0;
    const uint32_t slot = address_slot(d, &o, &wide);
    in->vector |= (uint8_t)(wide ? bit : 0);
    return slot;
}

static void coordinates(struct decoder *d, struct ir_insn *in, int i, struct places *p)
{
    static const char *const dimensions[] = {"1d", "2d", "3d", "4d", "5d"};
    const struct ptx_operand *o = operand(d, i);
    for (int k = 0; k < 5; k++)
        if (ir_suffixes_have(&d->suffixes, dimensions[k]))
            in->compare = (uint8_t)(k + 1);
    if (o->kind != PTX_ADDRESS || o->elements != in->compare) {
        decode_problem(d, "%d coordinates are expected", in->compare);
        return;
    }
    for (int k = 0; k < o->elements; k++)
        p->slot[VALUES + k] = source(d, &d->in->operands[o->first + k], 4, PTX_TYPE_s32);
}

static void finish(struct decoder *d, struct ir_insn *in, const struct places *p)
{
    in->site = ++d->module->site_count;
    for (int i = 0; i < SLOTS; i++)
        decode_extra(d, in, p->slot[i]);
}

static void check_reduction(struct decoder *d)
{
    if (d->suffixes.atom == ATOM_EXCH || d->suffixes.atom == ATOM_CAS)
        decode_problem(d, "a bulk copy does not have this operation");
}

/* The mask of blocks is a register of 16 bits. */
static uint32_t mask_of(struct decoder *d, struct ir_insn *in, int i)
{
    if (!ir_suffixes_have(&d->suffixes, "multicast::cluster"))
        return 0;
    in->mode |= MODE_MULTICAST;
    return source(d, operand(d, i), 4, PTX_TYPE_b16);
}

void decode_BULK(struct decoder *d, struct ir_insn *in)
{
    struct places p = {{0}};
    in->vector = 0;
    in->compare = 0;
    in->sub = (uint8_t)d->suffixes.atom;
    p.slot[TO] = place(d, in, 0, 1 << TO);
    p.slot[FROM] = place(d, in, 1, 1 << FROM);
    p.slot[SIZE] = source(d, operand(d, 2), 4, PTX_TYPE_u32);
    if (!ir_suffixes_have(&d->suffixes, "bulk_group")) {
        p.slot[BARRIER] = place(d, in, 3, 4);
        p.slot[MASK] = mask_of(d, in, 4);
    }
    if (d->suffixes.has_atom)
        check_reduction(d);
    finish(d, in, &p);
}

void decode_TENSOR(struct decoder *d, struct ir_insn *in)
{
    struct places p = {{0}};
    const bool is_load = in->op == IR_TENSOR_LOAD;
    in->vector = 0;
    in->sub = (uint8_t)d->suffixes.atom;
    p.slot[TO] = place(d, in, 0, 1 << TO);
    p.slot[FROM] = place(d, in, 1, 1 << FROM);
    coordinates(d, in, is_load, &p);
    if (is_load) {
        p.slot[BARRIER] = place(d, in, 2, 4);
        p.slot[MASK] = mask_of(d, in, 3);
    }
    if (d->suffixes.has_atom)
        check_reduction(d);
    finish(d, in, &p);
}

void decode_STORE_ASYNC(struct decoder *d, struct ir_insn *in)
{
    struct places p = {{0}};
    const struct ptx_operand *from = operand(d, 1);
    const uint32_t bytes = in->bytes > 4 ? 8 : 4;
    in->vector = 0;
    in->compare = (uint8_t)d->suffixes.vector;
    in->sub = (uint8_t)d->suffixes.atom;
    if (in->bytes < 4 || in->bytes * in->compare > 16) {
        decode_problem(d, "a value of this size does not fit");
        return;
    }
    p.slot[TO] = place(d, in, 0, 1 << TO);
    if ((from->kind == PTX_VECTOR || in->compare > 1) && !list_check(d, from, in->compare))
        return;
    for (int k = 0; k < in->compare; k++)
        p.slot[VALUES + k] = source(d, element(d, from, k), bytes, d->suffixes.types[0]);
    p.slot[BARRIER] = place(d, in, 2, 4);
    finish(d, in, &p);
}

/* sub: commit_group or wait_group; imm: most groups that may still be pending; boolean: waits only
 * until their sources have been read */
void decode_BULK_GROUP(struct decoder *d, struct ir_insn *in)
{
    in->boolean = ir_suffixes_have(&d->suffixes, "read");
    decode_CP_ASYNC_WAIT(d, in);
}
