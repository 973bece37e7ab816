/* Reads operands by the columns of a row (opcodes.def). */
#include "vgpu/ptx/ptx_decoder.h"

#include <string.h>

/* @return the type of an operand; its register must have the same width. */
static enum ptx_type column_type(const struct decoder *d, const struct ir_column *c)
{
    if (!c->type[0])
        return d->suffixes.types[0];
    if (strcmp(c->type, "2") == 0)
        return d->suffixes.types[1];
    if (strcmp(c->type, "h16") == 0)
        return PTX_TYPE_b16;
    return ptx_type_find(c->type, strlen(c->type));
}

/* @return the type of a literal number. A column gives the type of the computation. The suffix
 * gives the number's type instead if the column has 32 bits for 16-bit values (and.b16, but not
 * mad.wide.s16), or bits for floats. */
static enum ptx_type literal_type(const struct decoder *d, const struct ir_column *c)
{
    const enum ptx_type type = column_type(d, c), first = d->suffixes.types[0];
    if (!c->type[0] || strcmp(c->type, "2") == 0 || type == PTX_TYPE_b16 || ptx_type_is_float(type))
        return type;
    const uint32_t bytes = type_lanes(type);
    if (d->suffixes.type_count == 1 && ptx_type_bytes(first) == 2 && bytes == 4 &&
        !strstr(d->row->operands, "h16"))
        return PTX_TYPE_b16;
    if (ptx_type_is_float(first) && ptx_type_bytes(first) == bytes)
        return first;
    return bytes == 8 ? PTX_TYPE_b64 : PTX_TYPE_b32;
}

static uint32_t *field_of(struct ir_insn *in, char field)
{
    switch (field) {
    case 'a':
        return &in->a;
    case 'b':
        return &in->b;
    case 'c':
        return &in->c;
    case 'e':
        return &in->e;
    case 'f':
        return &in->f;
    default:
        return &in->d;
    }
}

/* A column and its operand. */
struct read {
    struct ir_column column;
    int operand; /* -1: missing */
};

enum { MAX_COLUMNS = 6 };

static int required_columns(const char *columns)
{
    struct ir_column c;
    int n = 0;
    while (ir_column_next(&columns, &c))
        n += !c.is_optional;
    return n;
}

/* @return whether an optional operand is missing: the other columns need all remaining operands, or
 * an address replaces a destination. */
static bool is_missing(const struct decoder *d, const struct ir_column *c, int i, const char *rest)
{
    return c->is_optional && (d->in->count - i <= required_columns(rest) ||
                              (c->field == 'd' && d->in->operands[i].kind == PTX_ADDRESS));
}

static int assign_operands(const struct decoder *d, struct read reads[MAX_COLUMNS])
{
    const char *columns = d->row->operands;
    int n = 0;
    for (int i = 0; ir_column_next(&columns, &reads[n].column); n++)
        reads[n].operand = is_missing(d, &reads[n].column, i, columns) ? -1 : i++;
    return n;
}

static void read_number(struct decoder *d, struct ir_insn *in, const struct ptx_operand *o)
{
    if (o->kind != PTX_LITERAL)
        decode_problem(d, "a number is expected");
    in->imm = (int64_t)o->bits;
}

static void read_source(struct decoder *d, struct ir_insn *in, const struct read *r)
{
    const struct ir_column *c = &r->column;
    uint32_t *to = field_of(in, c->field);
    if (r->operand < 0) {
        if (c->field == 'f')
            *to = constant(d, 0xffffffffu, false);
        return;
    }
    const struct ptx_operand *o = operand(d, r->operand);
    const enum ptx_type type = column_type(d, c);
    if (c->place == IR_NUMBER)
        read_number(d, in, o);
    else if (c->place == IR_ADDRESS)
        address(d, o, in);
    else if (type == PTX_TYPE_pred)
        *to = predicate_source(d, o);
    else
        *to = source(d, o, type_lanes(type), literal_type(d, c));
}

static void read_destination(struct decoder *d, struct ir_insn *in, const struct read *r)
{
    const struct ir_column *c = &r->column;
    if (r->operand < 0)
        return;
    const struct ptx_operand *o = operand(d, r->operand);
    const enum ptx_type type = column_type(d, c);
    in->d =
        type == PTX_TYPE_pred ? predicate(d, o->name) : destination(d, o->name, type_lanes(type));
    if (c->has_second && o->name2)
        in->e = predicate(d, o->name2);
}

void decode_PLAIN(struct decoder *d, struct ir_insn *in)
{
    struct read reads[MAX_COLUMNS + 1];
    const int n = assign_operands(d, reads);
    for (int i = 0; i < n; i++)
        if (reads[i].column.field != 'd')
            read_source(d, in, &reads[i]);
    for (int i = 0; i < n; i++)
        if (reads[i].column.field == 'd')
            read_destination(d, in, &reads[i]);
}

/* @return whether a register is exactly as wide as a column's type; true for other operands. A
 * source of fewer bits may be in a register of 32. */
static bool is_exact(const struct decoder *d, const struct ptx_operand *o, char field,
                     enum ptx_type type)
{
    const enum ptx_type found = register_type(d, o);
    if (found == PTX_TYPE_none)
        return true;
    if (field == 'd')
        return ptx_type_bytes(found) == ptx_type_bytes(type);
    return (slot_bytes(found) == 256) == (type_lanes(type) == 8) &&
           ptx_type_bytes(found) >= ptx_type_bytes(type);
}

bool operands_fit(const struct decoder *d, const struct ir_row *row)
{
    const char *columns = row->operands;
    struct ir_column c;
    bool wide, has_list = false;
    int i = 0;
    for (; ir_column_next(&columns, &c); i++) {
        const struct ptx_operand *o = i < d->in->count ? &d->in->operands[i] : NULL;
        has_list |= c.place == IR_LIST;
        if (c.place == IR_LIST && !(o && o->kind == PTX_VECTOR))
            return false;
        if (strcmp(c.type, "sreg") == 0 &&
            !(o && o->kind == PTX_NAME && o->name && sreg_find(o->name, &wide) != SREG_NONE))
            return false;
        if (row->is_exact && o && !is_exact(d, o, c.field, column_type(d, &c)))
            return false;
    }
    return !has_list || d->in->count <= i;
}
