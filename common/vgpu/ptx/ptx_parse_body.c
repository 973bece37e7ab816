/* Parses the body of a function: directives, labels, instructions and their operands. */
#include "vgpu/ptx/ptx_parser.h"

#include <stdlib.h>
#include <string.h>

enum { ELEMENTS_MOST = 128, MAX_ELEMENTS = 4096 };

static void parse_operand(struct parser *p, struct ptx_operand *o, int depth);

/* All elements are parsed before they are appended, so that the elements of one list are
 * contiguous. */
static void parse_elements(struct parser *p, struct ptx_operand *o, const char *close, int depth)
{
    struct ptx_operand elements[ELEMENTS_MOST];
    int n = 0;
    while (!at(p, close) && p->token.kind != PTX_END) {
        if (n == ELEMENTS_MOST || p->operand_count > MAX_ELEMENTS) {
            fail(p, "fewer operands");
            return;
        }
        parse_operand(p, &elements[n++], depth + 1);
        if (!accept(p, ","))
            break;
    }
    expect(p, close);
    o->elements = n;
    o->first = (int)p->operand_count;
    for (int i = 0; i < n; i++)
        *PTX_ADD(p, operand) = elements[i];
}

static void parse_operand(struct parser *p, struct ptx_operand *o, int depth)
{
    memset(o, 0, sizeof *o);
    if (depth > 3) {
        fail(p, "less deeply nested operands");
        return;
    }
    if (accept(p, "!"))
        o->negated = true;
    if (accept(p, "{")) {
        o->kind = PTX_VECTOR;
        parse_elements(p, o, "}", depth);
    } else if (accept(p, "(")) {
        o->kind = PTX_LIST;
        parse_elements(p, o, ")", depth);
    } else if (accept(p, "[")) {
        o->kind = PTX_ADDRESS;
        if (p->token.kind == PTX_WORD) {
            o->name = take_text(p);
            if (accept(p, "+") || at(p, "-"))
                o->offset = take_integer(p);
        } else {
            o->offset = take_integer(p);
        }
        if (accept(p, ",")) { /* of a texture: its coordinates become the elements */
            expect(p, "{");
            parse_elements(p, o, "}", depth);
        }
        expect(p, "]");
    } else if (p->token.kind == PTX_INTEGER || p->token.kind == PTX_FLOAT || at(p, "-")) {
        bool negative = accept(p, "-");
        o->kind = PTX_LITERAL;
        o->is_float = p->token.kind == PTX_FLOAT;
        o->is_single = p->token.is_single;
        o->bits = p->token.bits;
        if (p->token.kind != PTX_INTEGER && p->token.kind != PTX_FLOAT)
            fail(p, "a number");
        if (negative && o->is_float)
            o->bits ^= UINT64_C(1) << (o->is_single ? 31 : 63);
        else if (negative)
            o->bits = 0 - o->bits;
        next(p);
    } else {
        o->kind = PTX_NAME;
        o->name = take_word(p, "an operand");
        if (accept(p, "|"))
            o->name2 = take_word(p, "a second destination");
        if (accept(p, "+"))
            o->offset = take_integer(p);
    }
}

static void parse_instruction(struct parser *p, const char *opcode, const char *guard, bool negated)
{
    struct ptx_instruction in = {.opcode = opcode,
                                 .guard = guard,
                                 .guard_negated = negated,
                                 .scope = p->scope,
                                 .line = p->token.line,
                                 .location = p->location};
    struct ptx_operand top[16];
    p->operand_count = 0;
    while (!at(p, ";") && p->token.kind != PTX_END) {
        if (in.count == 16) {
            fail(p, "at most 16 operands");
            return;
        }
        parse_operand(p, &top[in.count++], 0);
        if (in.count >= 1 && accept(p, "|")) /* "(p|q)" in older assembly */
            fail(p, "a comma");
        if (!accept(p, ","))
            break;
    }
    expect(p, ";");
    in.operands = ptx_arena_alloc(&p->ast->arena,
                                  ((size_t)in.count + p->operand_count) * sizeof *in.operands);
    memcpy(in.operands, top, (size_t)in.count * sizeof *top);
    if (p->operand_count)
        memcpy(in.operands + in.count, p->operands, p->operand_count * sizeof *top);
    for (size_t i = 0; i < (size_t)in.count + p->operand_count; i++)
        in.operands[i].first += in.count;
    *PTX_ADD(p->function, instruction) = in;
}

static bool same_place(const struct ptx_inlined_call *a, const struct ptx_inlined_call *b)
{
    return a->file == b->file && a->line == b->line && a->column == b->column;
}

/* @return the number of a call. If the caller is not given, this is the last call at the same
 * location, which may itself be inlined. */
static int call_number(struct parser *p, struct ptx_inlined_call call)
{
    struct ptx_ast *ast = p->ast;
    for (size_t i = ast->call_count; i-- > 0 && ast->call_count - i < 512;)
        if (same_place(&ast->calls[i], &call) &&
            (!call.caller || ast->calls[i].caller == call.caller))
            return (int)i + 1;
    *PTX_ADD(ast, call) = call;
    return (int)ast->call_count;
}

/* .loc file line column [, function_name label [+ n], inlined_at file line column] */
static void parse_loc(struct parser *p)
{
    struct ptx_location to = {0};
    to.file = (int)take_integer(p);
    to.line = (int)take_integer(p);
    int column = (int)take_integer(p);
    if (accept(p, ",")) {
        expect(p, "function_name");
        take_word(p, "a label");
        if (accept(p, "+"))
            take_integer(p);
        expect(p, ",");
        expect(p, "inlined_at");
        struct ptx_inlined_call at = {0};
        at.file = (int)take_integer(p);
        at.line = (int)take_integer(p);
        at.column = (int)take_integer(p);
        to.caller = call_number(p, at);
        /* Calls inlined into this code are at this location. */
        call_number(p, (struct ptx_inlined_call){to.file, to.line, column, to.caller});
    }
    /* Line 0 means "no source": the code after it still belongs to the previous line. */
    if (to.line != 0)
        p->location = to;
}

static void skip_statement(struct parser *p)
{
    while (!at(p, ";") && p->token.kind != PTX_END)
        next(p);
    expect(p, ";");
}

static void parse_targets(struct parser *p, const char *name)
{
    struct ptx_targets *t = PTX_ADD(p->function, target);
    *t = (struct ptx_targets){.name = name, .scope = p->scope};
    if (at(p, ".callprototype")) {
        skip_statement(p);
        return;
    }
    next(p);
    size_t room = 0;
    const char **labels = NULL;
    do {
        labels = ptx_grow(labels, t->count, &room, sizeof *labels);
        labels[t->count++] = take_word(p, "a label");
    } while (accept(p, ","));
    t->labels = ptx_arena_alloc(&p->ast->arena, t->count * sizeof *labels);
    memcpy(t->labels, labels, t->count * sizeof *labels);
    free(labels);
    expect(p, ";");
}

static int open_scope(struct parser *p, int parent)
{
    struct ptx_function *f = p->function;
    f->scope_parent =
        ptx_grow(f->scope_parent, f->scope_count, &f->scope_room, sizeof *f->scope_parent);
    f->scope_parent[f->scope_count] = parent;
    return (int)f->scope_count++;
}

static void parse_label(struct parser *p, const char *name)
{
    struct ptx_function *f = p->function;
    if (at(p, ".branchtargets") || at(p, ".calltargets") || at(p, ".callprototype")) {
        parse_targets(p, name);
        return;
    }
    *PTX_ADD(f, label) =
        (struct ptx_label){.name = name, .scope = p->scope, .instruction = f->instruction_count};
}

static void parse_body_directive(struct parser *p)
{
    struct ptx_function *f = p->function;
    enum ptx_space space;
    if (accept(p, ".loc")) {
        parse_loc(p);
    } else if (accept(p, ".reg")) {
        parse_registers(p);
    } else if (accept_space(p, &space)) {
        parse_variables(p, space, false, &f->variables, &f->variable_count, &f->variable_room);
    } else if (at(p, ".pragma") || at(p, ".file")) {
        skip_statement(p);
    } else {
        fail(p, "a directive that is allowed in a function's body");
    }
}

void parse_body(struct parser *p)
{
    expect(p, "{");
    int depth = 1;
    p->scope = open_scope(p, -1);
    p->location = (struct ptx_location){0};
    while (depth > 0 && p->token.kind != PTX_END) {
        if (accept(p, "{")) {
            p->scope = open_scope(p, p->scope);
            depth++;
        } else if (accept(p, "}")) {
            p->scope = p->function->scope_parent[p->scope];
            depth--;
        } else if (p->token.kind == PTX_DIRECTIVE) {
            parse_body_directive(p);
        } else if (accept(p, "@")) {
            bool negated = accept(p, "!");
            const char *guard = take_word(p, "a predicate");
            parse_instruction(p, take_word(p, "an instruction"), guard, negated);
        } else if (accept(p, ";")) {
            continue;
        } else {
            const char *word = take_word(p, "an instruction, a label or '}'");
            if (accept(p, ":"))
                parse_label(p, word);
            else
                parse_instruction(p, word, NULL, false);
        }
    }
    if (depth > 0)
        fail(p, "'}'");
    p->scope = 0;
}
