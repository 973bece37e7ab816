/* Decoders of instructions that access memory: loads, stores, atomics, copies, barrier objects. */
#include "vgpu/ptx/ptx_decoder.h"

#include <string.h>

/* Sets the fields of an access: bytes and type of an element, number of elements, space, site. */
static void memory_start(struct decoder *d, struct ir_insn *in)
{
    in->bytes = (uint8_t)ptx_type_bytes(d->suffixes.types[0]);
    in->vector = (uint8_t)d->suffixes.vector;
    in->site = ++d->module->site_count;
    if (in->bytes * in->vector > 32)
        decode_problem(d, "a vector of this length does not fit");
}

/* @return whether an operand of ld or st has as many elements as the suffix says. */
static bool check_vector(struct decoder *d, const struct ptx_operand *o)
{
    if ((o->kind == PTX_VECTOR ? o->elements : 1) == d->suffixes.vector)
        return true;
    decode_problem(d, "the vector's length differs from the suffix");
    return false;
}

/* type2 of a memory instruction: the type of the register, which may be wider than the type in
 * memory. */
static struct slot memory_register(struct decoder *d, const struct ptx_operand *o, bool is_source,
                                   const struct ir_insn *in)
{
    struct slot s = {0, PTX_TYPE_none};
    if (is_source)
        s = source_any(d, o, (enum ptx_type)in->type);
    else if (o->name)
        s = slot_find(d, o->name);
    if (s.type == PTX_TYPE_pred ||
        (s.type != PTX_TYPE_none && slot_bytes(s.type) < in->bytes * 32u && in->bytes > 4))
        decode_problem(d, "'%.40s' has the wrong width", o->name ? o->name : "operand");
    return s;
}

static bool has_suffix(const struct ir_suffixes *s, const char *alternatives)
{
    for (int i = 0; i < s->count; i++)
        if (ir_words_have(alternatives, strlen(alternatives), s->text[i]))
            return true;
    return false;
}

/* @return whether an access must bypass the L1 cache. */
static bool goes_past_l1(const struct ir_suffixes *s)
{
    return has_suffix(s, "volatile|relaxed|acquire|cg|cv");
}

/* Handles loads of kernel parameters. Parameters are constant slots, so the load becomes moves and
 * reads no memory. @return whether the load was of this kind; @p in is then the last move. */
static bool load_parameter(struct decoder *d, struct ir_insn *in)
{
    if (in->space != PTX_SPACE_PARAM || !in->fixed_address || in->local_frame || d->in->guard)
        return false;
    const struct ir_insn load = *in;
    uint64_t offset = (uint64_t)in->imm - PTX_PARAM_BASE;
    for (int i = 0; i < load.vector; i++, offset += load.bytes) {
        struct slot s = memory_register(d, element(d, operand(d, 0), i), false, &load);
        const bool wide = slot_bytes(s.type) == 256;
        if (offset + load.bytes > d->to->param_bytes) {
            decode_problem(d, "this reads past the end of the parameters");
            return true;
        }
        if (i > 0)
            decode_append(d, in);
        *in = decode_start(d, wide ? IR_MOV_64 : IR_MOV_32);
        in->a = constant_slot(
            d, &(struct ir_constant){.wide = wide,
                                     .is_param = true,
                                     .param_bytes = load.bytes,
                                     .param_signed = ptx_type_is_signed((enum ptx_type)load.type),
                                     .bits = offset});
        in->d = s.offset;
    }
    return true;
}

/* d, or extra if vector > 1: slots; type2: type of the register */
void decode_LD(struct decoder *d, struct ir_insn *in)
{
    memory_start(d, in);
    in->past_l1 = goes_past_l1(&d->suffixes);
    in->read_only = has_suffix(&d->suffixes, "nc");
    address(d, operand(d, 1), in);
    const struct ptx_operand *to = operand(d, 0);
    if (load_parameter(d, in) || !check_vector(d, to))
        return;
    in->type2 = PTX_TYPE_none;
    for (int i = 0; i < in->vector; i++) {
        struct slot s = memory_register(d, element(d, to, i), false, in);
        if (s.type != PTX_TYPE_none)
            in->type2 = (uint8_t)s.type;
        in->d = s.offset;
        if (in->vector > 1)
            decode_extra(d, in, s.offset);
    }
}

/* b, or extra if vector > 1: slots; type2: type of the register */
void decode_ST(struct decoder *d, struct ir_insn *in)
{
    memory_start(d, in);
    in->past_l1 = goes_past_l1(&d->suffixes);
    address(d, operand(d, 0), in);
    const struct ptx_operand *from = operand(d, 1);
    if (!check_vector(d, from))
        return;
    for (int i = 0; i < in->vector; i++) {
        struct slot s = memory_register(d, element(d, from, i), true, in);
        in->type2 = (uint8_t)s.type;
        in->b = s.offset;
        if (in->vector > 1)
            decode_extra(d, in, s.offset);
    }
}

/* Starts atom or red. @return the index of the address operand: red has no result before it */
static int atom_start(struct decoder *d, struct ir_insn *in)
{
    const int at = strncmp(d->in->opcode, "red", 3) != 0;
    memory_start(d, in);
    in->sub = (uint8_t)d->suffixes.atom;
    address(d, operand(d, at), in);
    return at;
}

/* sub: enum ir_atom; b, c: operands; d: old value (for red: the sink) */
void decode_ATOM(struct decoder *d, struct ir_insn *in)
{
    const enum ptx_type type = d->suffixes.types[0];
    const uint32_t n = type_lanes(type);
    const int at = atom_start(d, in);
    in->b = source(d, operand(d, at + 1), n, type);
    if (in->sub == ATOM_CAS)
        in->c = source(d, operand(d, at + 2), n, type);
    if (at)
        in->d = destination(d, operand(d, 0)->name, n);
}

/* extra: slots of the operands, then (for atom) of the old values; sub: enum ir_atom */
void decode_ATOM_VECTOR(struct decoder *d, struct ir_insn *in)
{
    const int at = atom_start(d, in);
    if (!list_check(d, operand(d, at + 1), in->vector))
        return;
    list_sources(d, in, operand(d, at + 1), 4, d->suffixes.types[0]);
    if (at && list_check(d, operand(d, 0), in->vector))
        list_destinations(d, in, operand(d, 0), 4);
}

/* d, b, c: slots of 128-bit values: 32 lanes of 16 bytes */
void decode_ATOM_128(struct decoder *d, struct ir_insn *in)
{
    atom_start(d, in);
    in->b = register_128(d, operand(d, 2));
    if (in->sub == ATOM_CAS)
        in->c = register_128(d, operand(d, 3));
    const struct ptx_operand *to = operand(d, 0);
    if (!to->name || strcmp(to->name, "_") != 0)
        in->d = register_128(d, to);
}

/* The other operands do not change the policy, which has no effect. */
void decode_CACHE_POLICY(struct decoder *d, struct ir_insn *in)
{
    in->d = destination(d, operand(d, 0)->name, 8);
}

/* @return whether the last operand is a cache policy, which has no effect. */
static bool has_policy(const struct decoder *d)
{
    for (int i = 0; i < d->suffixes.count; i++)
        if (strcmp(d->suffixes.text[i], "L2::cache_hint") == 0)
            return true;
    return false;
}

/* a: shared address, b: global address (wide_address, boolean: whether they have 64 bits), bytes:
 * number of bytes copied, c: number actually read (0: all) */
void decode_CP_ASYNC(struct decoder *d, struct ir_insn *in)
{
    bool wide;
    in->a = address_slot(d, operand(d, 0), &wide);
    in->wide_address = wide;
    in->b = address_slot(d, operand(d, 1), &wide);
    in->boolean = wide;
    const struct ptx_operand *size = operand(d, 2);
    if (size->kind != PTX_LITERAL || (size->bits != 4 && size->bits != 8 && size->bits != 16))
        decode_problem(d, "cp.async copies 4, 8 or 16 bytes");
    in->bytes = (uint8_t)size->bits;
    if (d->in->count > 3 + has_policy(d))
        in->c = source(d, operand(d, 3), 4, PTX_TYPE_u32);
    in->site = d->module->site_count += 2; /* the store's; the load has site - 1 */
}

/* sub: commit_group, wait_group or wait_all; imm: most groups that may still be pending */
void decode_CP_ASYNC_WAIT(struct decoder *d, struct ir_insn *in)
{
    if (in->sub != SUB_WAIT_GROUP)
        return;
    const struct ptx_operand *groups = operand(d, 0);
    if (groups->kind != PTX_LITERAL)
        decode_problem(d, "cp.async.wait_group needs a number");
    in->imm = (int64_t)(groups->bits & 0xffffffff);
}

/* The address fields of memory instructions give the barrier object; sub: variant; b: count, state,
 * parity or bytes (0: missing); d: state, predicate or count */
void decode_MBARRIER(struct decoder *d, struct ir_insn *in)
{
    in->type = PTX_TYPE_b64;
    in->bytes = 8;
    in->vector = 1;
    in->site = ++d->module->site_count;
    decode_PLAIN(d, in);
}

/* boolean: b is a state of 64 bits, not a parity */
void decode_MBARRIER_TEST(struct decoder *d, struct ir_insn *in)
{
    in->boolean = in->sub != SUB_PARITY;
    if (in->sub == SUB_PARITY)
        d->suffixes.types[0] = PTX_TYPE_b32;
    decode_MBARRIER(d, in);
}

/* imm: alignment */
void decode_ALLOCA(struct decoder *d, struct ir_insn *in)
{
    in->imm = 8;
    decode_PLAIN(d, in);
}
