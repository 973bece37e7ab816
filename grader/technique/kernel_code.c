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
    struct ir_suffixes suffixes;
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

static bool has_suffix(const struct reader *r, const char *text)
{
    for (int i = 0; i < r->suffixes.count; i++)
        if (strcmp(r->suffixes.text[i], text) == 0)
            return true;
    return false;
}

static bool of_floats(const struct reader *r)
{
    return r->suffixes.type_count > 0 &&
           (r->suffixes.types[0] == PTX_TYPE_f32 || r->suffixes.types[0] == PTX_TYPE_f64);
}

static void read_memory(struct reader *r, struct kc_insn *to, bool is_store)
{
    const struct ptx_instruction *in = r->in;
    size_t words = (size_t)r->suffixes.vector * ptx_type_bytes(r->suffixes.types[0]) / 4;
    to->kind = is_store ? KC_STORE : KC_LOAD;
    to->space = (uint8_t)r->suffixes.space;
    to->elements = (uint8_t)(words ? words : 1);
    to->read_only = has_suffix(r, "nc");
    to->address = read_address(r, &in->operands[is_store ? 0 : 1]);
    if (is_store)
        add_source(r, to, &in->operands[1]);
    else
        add_dest(r, to, &in->operands[0]);
}

static void read_atomic(struct reader *r, struct kc_insn *to, bool is_red)
{
    const struct ptx_instruction *in = r->in;
    to->kind = KC_ATOMIC;
    to->space = (uint8_t)r->suffixes.space;
    to->elements = (uint8_t)r->suffixes.vector;
    to->adds = r->suffixes.has_atom && r->suffixes.atom == ATOM_ADD && of_floats(r);
    to->address = read_address(r, &in->operands[is_red ? 0 : 1]);
    for (int i = is_red ? 1 : 2; i < in->count; i++)
        add_source(r, to, &in->operands[i]);
    if (!is_red)
        add_dest(r, to, &in->operands[0]);
}

static void read_copy(struct reader *r, struct kc_insn *to)
{
    const struct ptx_instruction *in = r->in;
    if (in->count < 3)
        return; /* commit, wait: the virtual GPU copies at once */
    to->kind = KC_COPY;
    to->space = PTX_SPACE_SHARED;
    to->elements = (uint8_t)(in->operands[2].bits / 4);
    to->address = read_address(r, &in->operands[0]);
    to->from = read_address(r, &in->operands[1]);
}

static void read_compute(struct reader *r, struct kc_insn *to, const char *base)
{
    const struct ptx_instruction *in = r->in;
    bool multiplies =
        strcmp(base, "fma") == 0 || strcmp(base, "mad") == 0 || strcmp(base, "mul") == 0;
    to->kind = multiplies && of_floats(r) ? KC_MULTIPLY : KC_COMPUTE;
    add_dest(r, to, &in->operands[0]);
    for (int i = 1; i < in->count; i++)
        add_source(r, to, &in->operands[i]);
}

static void read_branch(struct reader *r, struct kc_insn *to, const struct ptx_cfg *cfg)
{
    const struct ptx_instruction *in = r->in;
    to->kind = KC_BRANCH;
    long at = in->count && in->operands[0].name
                  ? ptx_label_find(r->function, in->operands[0].name, in->scope)
                  : -1;
    to->target = at >= 0 && (size_t)at < r->function->instruction_count ? cfg->block_of[at] : -1;
    to->backward = to->target >= 0 && to->target <= to->block;
}

static bool is_one_of(const char *base, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(base, *list) == 0)
            return true;
    return false;
}

static void read_instruction(struct reader *r, struct kc_insn *to, const struct ptx_cfg *cfg)
{
    static const char *const barriers[] = {"bar", "barrier", NULL};
    static const char *const nothing[] = {"ret",    "exit",  "trap",           "call",
                                          "brkpt",  "fence", "membar",         "prefetch",
                                          "alloca", "brx",   "griddepcontrol", NULL};
    char base[24];
    if (!ir_suffixes_read(r->in->opcode, base, &r->suffixes) || is_one_of(base, nothing))
        return;
    if (is_one_of(base, barriers))
        to->kind = KC_BARRIER;
    else if (strcmp(base, "bra") == 0)
        read_branch(r, to, cfg);
    else if (r->in->count < 2)
        return;
    else if (strcmp(base, "ld") == 0 || strcmp(base, "ldu") == 0)
        read_memory(r, to, false);
    else if (strcmp(base, "st") == 0)
        read_memory(r, to, true);
    else if (strcmp(base, "atom") == 0 || strcmp(base, "red") == 0)
        read_atomic(r, to, strcmp(base, "red") == 0);
    else if (strcmp(base, "cp") == 0)
        read_copy(r, to);
    else
        read_compute(r, to, base);
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
