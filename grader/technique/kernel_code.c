#include "grader/technique/kernel_code.h"

#include "vgpu/ptx/ptx_cfg.h"
#include "vgpu/ptx/ptx_match.h"

#include <stdlib.h>
#include <string.h>

/* Names of registers, in a hash table with open addressing. */
struct reader {
    const struct ptx_ast *ast;
    const struct ptx_function *function;
    struct kernel_code *to;
    const struct ptx_instruction *in;
    const char **names;
    int *numbers;
    size_t room;
};

static void *allocate(size_t n, size_t bytes)
{
    void *p = calloc(n + 1, bytes);
    if (!p)
        abort();
    return p;
}

static size_t hash(const char *name)
{
    size_t h = 5381;
    for (; *name; name++)
        h = h * 33 + (unsigned char)*name;
    return h;
}

static int register_number(struct reader *r, const char *name)
{
    size_t at = hash(name) % r->room;
    while (r->names[at] && strcmp(r->names[at], name) != 0)
        at = (at + 1) % r->room;
    if (!r->names[at]) {
        r->names[at] = name;
        r->numbers[at] = r->to->registers++;
    }
    return r->numbers[at];
}

/* ---- bases ---------------------------------------------------------------------------------- */

static int base_number(struct reader *r, struct kc_base base)
{
    struct kernel_code *to = r->to;
    for (int i = 0; i < to->bases; i++) {
        const struct kc_base *b = &to->base[i];
        if (b->kind == base.kind &&
            (base.kind == KC_PARAM ? b->offset == base.offset : strcmp(b->name, base.name) == 0))
            return i;
    }
    if (to->bases < KC_MAX_BASES)
        to->base[to->bases++] = base;
    return to->bases - 1;
}

static const struct ptx_variable *variable_in(const struct ptx_variable *list, size_t n,
                                              const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

static const struct ptx_variable *variable(const struct reader *r, const char *name)
{
    const struct ptx_function *f = r->function;
    const struct ptx_variable *v = variable_in(f->variables, f->variable_count, name);
    if (!v)
        v = variable_in(f->params, f->param_count, name);
    return v ? v : variable_in(r->ast->variables, r->ast->variable_count, name);
}

static int variable_base(struct reader *r, const struct ptx_variable *v, int64_t offset)
{
    struct kc_base base = {.name = v->name};
    switch (v->space) {
    case PTX_SPACE_PARAM:
        base.kind = KC_PARAM;
        base.offset = (size_t)v->address + (size_t)offset;
        break;
    case PTX_SPACE_SHARED:
        base.kind = KC_SHARED;
        break;
    case PTX_SPACE_LOCAL:
        base.kind = KC_LOCAL;
        break;
    case PTX_SPACE_CONST:
        base.kind = KC_CONST;
        break;
    default:
        base.kind = KC_GLOBAL;
    }
    return base_number(r, base);
}

/* ---- operands ------------------------------------------------------------------------------- */

static void add_source(struct reader *r, struct kc_insn *to, const struct ptx_operand *o)
{
    if (o->kind == PTX_VECTOR) {
        for (int i = 0; i < o->elements; i++)
            add_source(r, to, &r->in->operands[o->first + i]);
        return;
    }
    if (to->sources == KC_MAX_SOURCES)
        return;
    int at = to->sources++;
    to->source[at] = to->source_base[at] = -1;
    if (o->kind != PTX_NAME || !o->name)
        return;
    const struct ptx_variable *v = o->name[0] == '%' ? NULL : variable(r, o->name);
    if (v)
        to->source_base[at] = variable_base(r, v, o->offset);
    else
        to->source[at] = register_number(r, o->name);
}

static void add_dest(struct reader *r, struct kc_insn *to, const struct ptx_operand *o)
{
    if (o->kind == PTX_VECTOR) {
        for (int i = 0; i < o->elements; i++)
            add_dest(r, to, &r->in->operands[o->first + i]);
        return;
    }
    const char *names[] = {o->name, o->name2};
    for (int i = 0; i < 2; i++)
        if (names[i] && strcmp(names[i], "_") != 0 && to->dests < KC_MAX_ELEMENTS)
            to->dest[to->dests++] = register_number(r, names[i]);
}

static struct kc_address read_address(struct reader *r, const struct ptx_operand *o)
{
    struct kc_address at = {-1, -1, o->offset};
    if (!o->name)
        return at;
    const struct ptx_variable *v = o->name[0] == '%' ? NULL : variable(r, o->name);
    if (v)
        at.base = variable_base(r, v, o->offset);
    else
        at.reg = register_number(r, o->name);
    return at;
}

/* ---- instructions --------------------------------------------------------------------------- */

/* What the rows of opcodes.def do that is more than computing destinations. */
static const uint8_t kinds[IR_OPS] = {
    [IR_LD] = KC_LOAD,
    [IR_ST] = KC_STORE,
    [IR_ATOM] = KC_ATOMIC,
    [IR_ATOM_VECTOR] = KC_ATOMIC,
    [IR_ATOM_128] = KC_ATOMIC,
    [IR_CP_ASYNC] = KC_COPY,
    [IR_BAR] = KC_BARRIER,
    [IR_BAR_RED] = KC_BARRIER,
    [IR_BAR_WARP] = KC_BARRIER,
    [IR_CLUSTER_ARRIVE] = KC_BARRIER,
    [IR_CLUSTER_WAIT] = KC_BARRIER,
    [IR_BRA] = KC_BRANCH,
};

/* Whether a row has floats for factors. */
static bool multiplies(const struct ir_row *row)
{
    const size_t n = strlen(row->base);
    return (row->class == IR_CLASS_FP32 || row->class == IR_CLASS_FP64) &&
           (ir_words_have(row->base, n, "mul") || ir_words_have(row->base, n, "fma"));
}

/* Reads the operands as the columns of the row say. */
static void read_operands(struct reader *r, struct kc_insn *to, const char *columns)
{
    struct ir_column column;
    struct kc_address *address = &to->address;
    for (int i = 0; i < r->in->count && ir_column_next(&columns, &column);) {
        const struct ptx_operand *o = &r->in->operands[i];
        if (column.field == 'd' && column.is_optional && o->kind == PTX_ADDRESS)
            continue; /* red has no result */
        if (column.field == 'd')
            add_dest(r, to, o);
        else if (column.place != IR_ADDRESS)
            add_source(r, to, o);
        else {
            *address = read_address(r, o);
            address = &to->from;
        }
        i++;
    }
}

static void read_branch(struct reader *r, struct kc_insn *to, const struct ptx_cfg *cfg)
{
    const struct ptx_instruction *in = r->in;
    long at = in->count && in->operands[0].name
                  ? ptx_label_find(r->function, in->operands[0].name, in->scope)
                  : -1;
    to->target = at >= 0 && (size_t)at < r->function->instruction_count ? cfg->block_of[at] : -1;
    to->backward = to->target >= 0 && to->target <= to->block;
}

static bool of_floats(const struct ir_suffixes *s)
{
    return s->type_count > 0 && (s->types[0] == PTX_TYPE_f32 || s->types[0] == PTX_TYPE_f64);
}

/* What a memory instruction moves. */
static void read_access(struct reader *r, struct kc_insn *to)
{
    char base[24];
    struct ir_suffixes s;
    ir_suffixes_read(r->in->opcode, base, &s);
    const size_t bytes = to->kind == KC_COPY     ? r->in->operands[2].bits
                         : to->kind == KC_ATOMIC ? (size_t)s.vector * 4
                                                 : (size_t)s.vector * ptx_type_bytes(s.types[0]);
    to->elements = (uint8_t)(bytes >= 4 ? bytes / 4 : 1);
    to->space = (uint8_t)(to->kind == KC_COPY ? PTX_SPACE_SHARED : s.space);
    to->read_only = ir_suffixes_have(&s, "nc");
    to->adds = to->kind == KC_ATOMIC && s.has_atom && s.atom == ATOM_ADD && of_floats(&s);
}

static void read_instruction(struct reader *r, struct kc_insn *to, const struct ptx_cfg *cfg)
{
    const struct ir_row *row = &ir_rows[r->in->row];
    to->kind = kinds[r->in->row];
    if (to->kind == KC_BRANCH)
        read_branch(r, to, cfg);
    else if (row->decode)
        read_operands(r, to, row->operands);
    if (to->kind == KC_LOAD || to->kind == KC_STORE || to->kind == KC_ATOMIC || to->kind == KC_COPY)
        read_access(r, to);
    if (to->kind == KC_NOTHING && to->dests)
        to->kind = multiplies(row) ? KC_MULTIPLY : KC_COMPUTE;
}

void kernel_code_read(struct kernel_code *to, const struct ptx_ast *ast,
                      const struct ptx_function *f)
{
    *to = (struct kernel_code){.function = f, .insn_count = f->instruction_count};
    to->insns = allocate(f->instruction_count, sizeof *to->insns);
    /* An instruction names at most 22 registers: the table never fills. */
    struct reader r = {.ast = ast, .function = f, .to = to, .room = 32 * f->instruction_count + 64};
    r.names = allocate(r.room, sizeof *r.names);
    r.numbers = allocate(r.room, sizeof *r.numbers);
    struct ptx_cfg cfg;
    memset(&cfg, 0, sizeof cfg);
    ptx_cfg_build(&cfg, f);
    to->blocks = (int)cfg.block_count;
    for (size_t i = 0; i < f->instruction_count; i++) {
        r.in = &f->instructions[i];
        to->insns[i] = (struct kc_insn){.block = cfg.block_of[i],
                                        .target = -1,
                                        .elements = 1,
                                        .address = {-1, -1, 0},
                                        .from = {-1, -1, 0}};
        read_instruction(&r, &to->insns[i], &cfg);
    }
    ptx_cfg_free(&cfg);
    free(r.names);
    free(r.numbers);
}

void kernel_code_free(struct kernel_code *code)
{
    free(code->insns);
    *code = (struct kernel_code){0};
}
