/* Decoders of matrix instructions, which work on fragments in a warp's registers. */
#include "vgpu/ptx/ptx_decoder.h"

#include <stdio.h>
#include <string.h>

/* vector: number of matrices; extra: slots; a: address */
static void matrix_rows(struct decoder *d, struct ir_insn *in, int list, int at)
{
    const struct ptx_operand *o = operand(d, list);
    bool wide;
    in->a = address_slot(d, operand(d, at), &wide);
    in->wide_address = wide;
    in->vector = (uint8_t)(o->kind == PTX_VECTOR ? o->elements : 1);
    in->space = PTX_SPACE_SHARED;
    in->site = ++d->module->site_count;
    if (o->kind == PTX_VECTOR)
        list_destinations(d, in, o, 4);
    else
        decode_extra(d, in, destination(d, o->name, 4));
}

/* compare, boolean, target, imm: M, N, K and layouts (1 row-major a, 2 row-major b or c/d) */
static void read_matrix_suffixes(struct decoder *d, struct ir_insn *in)
{
    int layouts = 0;
    for (int i = 0; i < d->suffixes.count; i++) {
        const char *s = d->suffixes.text[i];
        int m = 0, n = 0, k = 0, at = 0;
        if (s[0] == 'm' && s[1] >= '0' && s[1] <= '9') {
            for (at = 1; s[at] >= '0' && s[at] <= '9'; at++)
                m = m * 10 + s[at] - '0';
            for (at++; s[at] >= '0' && s[at] <= '9'; at++)
                n = n * 10 + s[at] - '0';
            for (at++; s[at] >= '0' && s[at] <= '9'; at++)
                k = k * 10 + s[at] - '0';
            in->compare = (uint8_t)m;
            in->boolean = (uint8_t)n;
            in->target = (uint32_t)k;
        } else if (strcmp(s, "row") == 0 || strcmp(s, "col") == 0) {
            in->imm |= (int64_t)(s[0] == 'r') << layouts++;
        }
    }
}

/* extra: for each list in order, the number of slots, then the slots */
static void read_fragment(struct decoder *d, struct ir_insn *in, int i, bool is_f64, int least)
{
    const struct ptx_operand *o = operand(d, i);
    int n = o->kind == PTX_VECTOR ? o->elements : 1;
    if (n < least)
        decode_problem(d, "a fragment of %d registers, %d are expected", n, least);
    decode_extra(d, in, (uint32_t)n);
    for (int k = 0; k < n; k++) {
        struct slot s = source_any(d, element(d, o, k), PTX_TYPE_b32);
        if (slot_bytes(s.type) != (is_f64 ? 256u : 128u))
            decode_problem(d, "a register of a fragment has the wrong width");
        decode_extra(d, in, s.offset);
    }
}

/* wmma has 8x8 products of elements narrower than a byte: rows of a and columns of b have 4 words. */
static void check_elements(struct decoder *d, const struct ir_insn *in, enum ptx_type type)
{
    const int per = ptx_type_per_register(type);
    if (ptx_type_is_element(type) &&
        (per < 8 || in->compare != 8 || in->boolean != 8 || (int)in->target != 4 * per))
        decode_problem(d, "wmma with elements of this type is not supported");
}

static void wmma_memory(struct decoder *d, struct ir_insn *in, bool is_store)
{
    enum ptx_type type = d->suffixes.types[0];
    in->site = ++d->module->site_count;
    read_matrix_suffixes(d, in);
    check_elements(d, in, type);
    if (ptx_type_is_element(type) && (is_store || in->imm != (in->sub == SUB_LOAD_A)))
        decode_problem(d, "fragments of this type are rows of a or columns of b");
    bool wide;
    in->a = address_slot(d, operand(d, is_store ? 0 : 1), &wide);
    in->wide_address = wide;
    if (d->in->count > 2)
        in->b = source(d, operand(d, 2), 4, PTX_TYPE_u32);
    read_fragment(d, in, is_store ? 1 : 0, type == PTX_TYPE_f64, 1);
}

static void multiply(struct decoder *d, struct ir_insn *in, bool is_wmma)
{
    const struct ir_suffixes *s = &d->suffixes;
    read_matrix_suffixes(d, in);
    /* wmma with half inputs names only the types of d and c */
    in->type2 = (uint8_t)(is_wmma && s->type_count == 2 ? PTX_TYPE_f16 : s->types[1]);
    in->vector = (uint8_t)(is_wmma && s->type_count == 2 ? s->types[1] : s->types[3]);
    if (is_wmma)
        check_elements(d, in, (enum ptx_type)in->type2);
    /* Fragments of this shape have another layout than all others. */
    if (!is_wmma && in->compare == 8 && in->target == 4 && in->type2 != PTX_TYPE_f64)
        decode_problem(d, "m8n8k4 is supported for f64 only");
    in->sub = (uint8_t)(s->type_count > 2 ? s->types[2] : in->type2);
    const int m = in->compare, n = in->boolean, k = (int)in->target;
    if (is_wmma ? m * k > 1024 || n * k > 1024 : n != 8 || m > 16)
        decode_problem(d, "this instruction does not have this shape");
    const int elements[4] = {m * n, m * k, k * n, m * n};
    const uint8_t types[4] = {in->type, in->type2, in->sub, in->vector};
    for (int i = 0; i < 4; i++) {
        if ((types[i] == PTX_TYPE_f64) != (in->type2 == PTX_TYPE_f64))
            decode_problem(d, "f64 fragments cannot be mixed with fragments of other types");
        int per = 32 * ptx_type_per_register((enum ptx_type)types[i]);
        read_fragment(d, in, i, in->type2 == PTX_TYPE_f64, (elements[i] + per - 1) / per);
    }
}

void decode_LDMATRIX(struct decoder *d, struct ir_insn *in)
{
    matrix_rows(d, in, 0, 1);
}

void decode_STMATRIX(struct decoder *d, struct ir_insn *in)
{
    matrix_rows(d, in, 1, 0);
}

void decode_WMMA_LOAD(struct decoder *d, struct ir_insn *in)
{
    wmma_memory(d, in, false);
}

void decode_WMMA_STORE(struct decoder *d, struct ir_insn *in)
{
    wmma_memory(d, in, true);
}

void decode_WMMA_MMA(struct decoder *d, struct ir_insn *in)
{
    multiply(d, in, true);
}

void decode_MMA(struct decoder *d, struct ir_insn *in)
{
    multiply(d, in, false);
}

/* As MMA, with half of the registers for a; e: the indices of a's elements; bytes: the selector of
 * the threads that hold e */
void decode_MMA_SP(struct decoder *d, struct ir_insn *in)
{
    const struct ir_suffixes *s = &d->suffixes;
    read_matrix_suffixes(d, in);
    in->type2 = (uint8_t)s->types[1];
    in->sub = (uint8_t)s->types[2];
    in->vector = (uint8_t)s->types[3];
    const int m = in->compare, n = in->boolean, k = (int)in->target;
    const int elements[4] = {m * n, m * k / 2, k * n, m * n};
    const uint8_t types[4] = {in->type, in->type2, in->sub, in->vector};
    const size_t element = ptx_type_bytes((enum ptx_type)in->type2);
    if (m != 16 || n != 8 || (element && k * (int)element != 32 && k * (int)element != 64) ||
        in->type2 == PTX_TYPE_f64 || in->type2 == PTX_TYPE_b1)
        decode_problem(d, "this instruction does not have this shape");
    for (int i = 0; i < 4; i++) {
        const int per = 32 * ptx_type_per_register((enum ptx_type)types[i]);
        read_fragment(d, in, i, false, (elements[i] + per - 1) / per);
    }
    in->e = source(d, operand(d, 4), 4, PTX_TYPE_b32);
    const struct ptx_operand *selector = operand(d, 5);
    if (selector->kind != PTX_LITERAL || selector->bits > 3)
        decode_problem(d, "the sparsity selector is a number from 0 to 3");
    in->bytes = (uint8_t)selector->bits;
}

static int64_t literal(struct decoder *d, int i)
{
    const struct ptx_operand *o = operand(d, i);
    if (o->kind != PTX_LITERAL)
        decode_problem(d, "a number is expected");
    return (int64_t)o->bits;
}

/* compare: K; target: N; type, type2, sub: of d, a, b; extra: list of d and, if a is in registers,
 * of a; a, b: descriptors; c: whether d is added; imm: enum ir_warpgroup */
void decode_WGMMA(struct decoder *d, struct ir_insn *in)
{
    const struct ir_suffixes *s = &d->suffixes;
    unsigned n = 0, k = 0;
    for (int i = 0; i < s->count; i++)
        if (strncmp(s->text[i], "m64n", 4) == 0)
            sscanf(s->text[i], "m64n%3uk%3u", &n, &k);
    const enum ptx_type a = s->types[1];
    const int per = ptx_type_per_register(s->types[0]);
    in->type2 = (uint8_t)a;
    in->sub = (uint8_t)s->types[2];
    in->compare = (uint8_t)k;
    in->target = n;
    in->site = ++d->module->site_count;
    if (n < 8 || n > 256 || n % 8 || !ptx_type_bytes(a) || k * ptx_type_bytes(a) != 32 ||
        ptx_type_bytes(a) != ptx_type_bytes(s->types[2]) || s->type_count != 3) {
        decode_problem(d, "this instruction does not have this shape");
        return;
    }
    read_fragment(d, in, 0, false, (int)n / 2 / per);
    if (operand(d, 1)->kind == PTX_VECTOR) {
        read_fragment(d, in, 1, false, 4);
        in->imm |= WARPGROUP_A_REGISTERS;
    } else {
        in->a = source(d, operand(d, 1), 8, PTX_TYPE_b64);
    }
    in->b = source(d, operand(d, 2), 8, PTX_TYPE_b64);
    in->c = predicate_source(d, operand(d, 3));
    int next = 4;
    if (d->in->count > 5) {
        in->imm |= literal(d, next++) == 1 ? 0 : WARPGROUP_NEGATE_A;
        in->imm |= literal(d, next++) == 1 ? 0 : WARPGROUP_NEGATE_B;
    }
    if (d->in->count > next && !(in->imm & WARPGROUP_A_REGISTERS))
        in->imm |= literal(d, next++) ? WARPGROUP_TRANSPOSE_A : 0;
    if (d->in->count > next)
        in->imm |= literal(d, next) ? WARPGROUP_TRANSPOSE_B : 0;
}
