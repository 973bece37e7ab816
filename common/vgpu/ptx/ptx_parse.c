/* The parser: recursive descent over the tokens, one function per construct of the PTX ISA's
 * grammar. The first error ends it, through fail(), which also makes every later accept() false and
 * turns the current token into PTX_END, so that all loops end. */
#include "vgpu/ptx/ptx_ast.h"
#include "vgpu/ptx/ptx_lex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ELEMENTS = 4096, MAX_DEPTH = 64 };

struct parser {
    struct ptx_lexer lexer;
    struct ptx_token token;
    struct ptx_ast *ast;
    struct ptx_function *function;
    int scope;
    struct ptx_location location;
    struct st_error *err;
    enum st_code status;
    struct ptx_operand *operands; /* of the instruction being read */
    size_t operand_count, operand_room;
};

static void fail(struct parser *p, const char *expected)
{
    if (p->status != ST_OK)
        return;
    p->status = st_fail(p->err, ST_BAD_FORMAT, "the PTX could not be parsed");
    st_detail(p->err, ST_WHERE, "PTX line %d", p->token.line);
    st_detail(p->err, ST_EXPECTED, "%s", expected);
    if (p->token.kind == PTX_END)
        st_detail(p->err, ST_GOT, "the end of the text");
    else
        st_detail(p->err, ST_GOT, "'%.*s'", p->token.length < 60 ? (int)p->token.length : 60,
                  p->token.text);
    p->token.kind = PTX_END;
    p->lexer.at = p->lexer.end;
}

static void next(struct parser *p)
{
    p->token = ptx_lex_next(&p->lexer);
    if (p->token.kind == PTX_BAD)
        fail(p, "PTX text");
}

static bool at(const struct parser *p, const char *text)
{
    return ptx_token_is(&p->token, text);
}

static bool accept(struct parser *p, const char *text)
{
    if (!at(p, text))
        return false;
    next(p);
    return true;
}

static void expect(struct parser *p, const char *text)
{
    if (!accept(p, text))
        fail(p, text);
}

static const char *take_text(struct parser *p)
{
    const char *text = ptx_arena_text(&p->ast->arena, p->token.text, p->token.length);
    next(p);
    return text;
}

static const char *take_word(struct parser *p, const char *what)
{
    if (p->token.kind == PTX_WORD)
        return take_text(p);
    fail(p, what);
    return "";
}

static int64_t take_integer(struct parser *p)
{
    bool negative = accept(p, "-");
    if (p->token.kind != PTX_INTEGER) {
        fail(p, "a whole number");
        return 0;
    }
    uint64_t value = p->token.bits;
    next(p);
    return (int64_t)(negative ? 0 - value : value);
}

static void skip_balanced(struct parser *p, const char *open, const char *close)
{
    int depth = 0;
    do {
        depth += at(p, open) - at(p, close);
        next(p);
    } while (depth > 0 && p->token.kind != PTX_END);
}

/* ---- variables ------------------------------------------------------------------------------- */

static bool accept_space(struct parser *p, enum ptx_space *space)
{
    static const struct {
        const char *text;
        enum ptx_space space;
    } spaces[] = {{".global", PTX_SPACE_GLOBAL}, {".shared", PTX_SPACE_SHARED},
                  {".local", PTX_SPACE_LOCAL},   {".const", PTX_SPACE_CONST},
                  {".param", PTX_SPACE_PARAM},   {".reg", PTX_SPACE_REG}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (accept(p, spaces[i].text)) {
            *space = spaces[i].space;
            return true;
        }
    return false;
}

static void parse_init_value(struct parser *p, struct ptx_variable *v, size_t *room, int depth)
{
    if (depth > MAX_DEPTH) {
        fail(p, "an initialiser of less depth");
        return;
    }
    if (accept(p, "{")) {
        while (!at(p, "}") && p->token.kind != PTX_END) {
            parse_init_value(p, v, room, depth + 1);
            if (!accept(p, ","))
                break;
        }
        expect(p, "}");
        return;
    }
    v->init = ptx_grow(v->init, v->inits, room, sizeof *v->init);
    struct ptx_init *init = &v->init[v->inits++];
    bool negative = accept(p, "-");
    if (p->token.kind == PTX_INTEGER || p->token.kind == PTX_FLOAT) {
        init->bits = negative ? 0 - p->token.bits : p->token.bits;
        init->is_float = p->token.kind == PTX_FLOAT;
        init->is_single = p->token.is_single;
        next(p);
        return;
    }
    if (p->token.kind == PTX_INTEGER || p->token.kind == PTX_PUNCTUATION) {
        fail(p, "a number, a name or generic(name)");
        return;
    }
    bool generic = accept(p, "generic");
    if (generic)
        expect(p, "(");
    init->symbol = take_word(p, "a number, a name or generic(name)");
    if (accept(p, "+"))
        init->offset = take_integer(p);
    if (generic)
        expect(p, ")");
    if (accept(p, "+"))
        init->offset += take_integer(p);
}

/* After the state space: [.align N] [.v2] .type [.ptr ...] name [dims] [= init] */
static void parse_variable(struct parser *p, struct ptx_variable *v, enum ptx_space space)
{
    memset(v, 0, sizeof *v);
    v->space = space;
    v->scope = p->scope;
    v->line = p->token.line;
    size_t lanes = 1;
    while (p->token.kind == PTX_DIRECTIVE) {
        if (accept(p, ".align")) {
            v->alignment = (size_t)take_integer(p);
        } else if (accept(p, ".v2")) {
            lanes = 2;
        } else if (accept(p, ".v4")) {
            lanes = 4;
        } else if (accept(p, ".attribute")) {
            skip_balanced(p, "(", ")");
        } else if (accept(p, ".ptr") || accept(p, ".global") || accept(p, ".shared") ||
                   accept(p, ".const") || accept(p, ".local")) {
            while (accept(p, ".ptr") || accept(p, ".global") || accept(p, ".shared") ||
                   accept(p, ".const") || accept(p, ".local"))
                continue;
            if (accept(p, ".align"))
                take_integer(p); /* of what the pointer points to */
        } else {
            enum ptx_type type = ptx_type_find(p->token.text + 1, p->token.length - 1);
            if (type == PTX_TYPE_none && !at(p, ".texref") && !at(p, ".samplerref"))
                fail(p, "a type");
            v->type = type;
            next(p);
        }
    }
    size_t element = ptx_type_bytes(v->type) * lanes;
    if (!v->alignment)
        v->alignment = element ? element : 1;
    if (v->alignment > 4096 || (v->alignment & (v->alignment - 1)))
        fail(p, "an alignment that is a power of two");
    if (p->token.kind != PTX_WORD) {
        fail(p, "a name");
        return;
    }
    v->name = take_text(p);
    v->bytes = element;
    while (accept(p, "[")) {
        if (at(p, "]")) {
            v->unsized = true;
        } else {
            int64_t n = take_integer(p);
            if (n < 0 || (v->bytes && (uint64_t)n > (UINT64_C(1) << 40) / v->bytes))
                fail(p, "a sensible array size");
            v->bytes *= (size_t)n;
        }
        expect(p, "]");
    }
    if (accept(p, "=")) {
        size_t room = 0;
        parse_init_value(p, v, &room, 0);
        if (v->unsized)
            v->bytes = element * v->inits;
        v->unsized = false;
    }
    if (v->unsized)
        v->bytes = 0;
}

static void parse_variables(struct parser *p, enum ptx_space space, bool is_extern,
                            struct ptx_variable **list, size_t *count, size_t *room)
{
    *list = ptx_grow(*list, *count, room, sizeof **list);
    struct ptx_variable *v = &(*list)[(*count)++];
    parse_variable(p, v, space);
    v->is_extern = is_extern;
    while (accept(p, ",")) {
        *list = ptx_grow(*list, *count, room, sizeof **list);
        struct ptx_variable *more = &(*list)[*count];
        *more = (*list)[*count - 1];
        more->init = NULL;
        more->inits = 0;
        more->name = take_word(p, "a name");
        (*count)++;
    }
    expect(p, ";");
}

static void parse_registers(struct parser *p)
{
    struct ptx_function *f = p->function;
    accept(p, ".v2");
    accept(p, ".v4");
    enum ptx_type type = PTX_TYPE_none;
    if (p->token.kind == PTX_DIRECTIVE)
        type = ptx_type_find(p->token.text + 1, p->token.length - 1);
    if (type == PTX_TYPE_none)
        fail(p, "the type of a register");
    next(p);
    do {
        f->registers =
            ptx_grow(f->registers, f->register_count, &f->register_room, sizeof *f->registers);
        struct ptx_register *r = &f->registers[f->register_count++];
        *r = (struct ptx_register){.type = type, .scope = p->scope};
        r->name = take_word(p, "the name of a register");
        if (accept(p, "<")) {
            int64_t n = take_integer(p);
            if (n < 0 || n > 1000000)
                fail(p, "fewer registers");
            r->count = (int)n;
            expect(p, ">");
            if (n == 0)
                f->register_count--;
        }
    } while (accept(p, ","));
    expect(p, ";");
}

/* ---- instructions ---------------------------------------------------------------------------- */

static void parse_operand(struct parser *p, struct ptx_operand *o, int depth);

/* Elements are parsed before they are appended, so that those of one list lie side by side. */
static void parse_elements(struct parser *p, struct ptx_operand *o, const char *close, int depth)
{
    struct ptx_operand elements[64];
    int n = 0;
    while (!at(p, close) && p->token.kind != PTX_END) {
        if (n == 64 || p->operand_count > MAX_ELEMENTS) {
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
    for (int i = 0; i < n; i++) {
        p->operands =
            ptx_grow(p->operands, p->operand_count, &p->operand_room, sizeof *p->operands);
        p->operands[p->operand_count++] = elements[i];
    }
}

static void parse_operand(struct parser *p, struct ptx_operand *o, int depth)
{
    memset(o, 0, sizeof *o);
    if (depth > 3) {
        fail(p, "operands of less depth");
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
        if (accept(p, ",")) { /* of a texture: its coordinates are the elements */
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
    struct ptx_function *f = p->function;
    f->instructions = ptx_grow(f->instructions, f->instruction_count, &f->instruction_room,
                               sizeof *f->instructions);
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
        if (in.count >= 1 && accept(p, "|")) /* "(p|q)" forms of old assembly */
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
    f->instructions[f->instruction_count++] = in;
}

static bool same_place(const struct ptx_inlined_call *a, const struct ptx_inlined_call *b)
{
    return a->file == b->file && a->line == b->line && a->column == b->column;
}

/* The number of a call. Without a caller of its own it is the last one seen at that place, which
 * may have been inlined itself. */
static int call_number(struct parser *p, struct ptx_inlined_call call)
{
    struct ptx_ast *ast = p->ast;
    for (size_t i = ast->call_count; i-- > 0 && ast->call_count - i < 512;)
        if (same_place(&ast->calls[i], &call) &&
            (!call.caller || ast->calls[i].caller == call.caller))
            return (int)i + 1;
    ast->calls = ptx_grow(ast->calls, ast->call_count, &ast->call_room, sizeof *ast->calls);
    ast->calls[ast->call_count] = call;
    return (int)++ast->call_count;
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
        /* Calls in this code will name it as their place. */
        call_number(p, (struct ptx_inlined_call){to.file, to.line, column, to.caller});
    }
    /* Line 0 means "no source": what follows still belongs to the line before. */
    if (to.line != 0)
        p->location = to;
}

static void parse_targets(struct parser *p, const char *name)
{
    struct ptx_function *f = p->function;
    f->targets = ptx_grow(f->targets, f->target_count, &f->target_room, sizeof *f->targets);
    struct ptx_targets *t = &f->targets[f->target_count++];
    *t = (struct ptx_targets){.name = name, .scope = p->scope};
    if (at(p, ".callprototype")) {
        t->is_prototype = true;
        while (!at(p, ";") && p->token.kind != PTX_END)
            next(p);
        expect(p, ";");
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
    size_t room = f->scope_room;
    f->scope_parent = ptx_grow(f->scope_parent, f->scope_count, &room, sizeof *f->scope_parent);
    f->scope_room = room;
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
    f->labels = ptx_grow(f->labels, f->label_count, &f->label_room, sizeof *f->labels);
    f->labels[f->label_count++] =
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
        while (!at(p, ";") && p->token.kind != PTX_END)
            next(p);
        expect(p, ";");
    } else {
        fail(p, "a directive that may stand in a function's body");
    }
}

static void parse_body(struct parser *p)
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

/* ---- module level ---------------------------------------------------------------------------- */

static void parse_parameters(struct parser *p, struct ptx_variable **list, size_t *count,
                             size_t *room)
{
    expect(p, "(");
    while (!at(p, ")") && p->token.kind != PTX_END) {
        enum ptx_space space = PTX_SPACE_PARAM;
        if (!accept_space(p, &space))
            fail(p, ".param");
        *list = ptx_grow(*list, *count, room, sizeof **list);
        parse_variable(p, &(*list)[(*count)++], space);
        if (!accept(p, ","))
            break;
    }
    expect(p, ")");
}

static void parse_three(struct parser *p, uint32_t to[3])
{
    for (int i = 0; i < 3; i++) {
        to[i] = 1;
        if (i == 0 || accept(p, ","))
            to[i] = (uint32_t)take_integer(p);
    }
}

static void parse_function(struct parser *p, bool is_entry)
{
    struct ptx_ast *ast = p->ast;
    ast->functions =
        ptx_grow(ast->functions, ast->function_count, &ast->function_room, sizeof *ast->functions);
    struct ptx_function *f = p->function = &ast->functions[ast->function_count++];
    *f = (struct ptx_function){.is_entry = is_entry, .line = p->token.line};
    p->scope = 0;
    if (accept(p, ".attribute"))
        skip_balanced(p, "(", ")");
    if (at(p, "("))
        parse_parameters(p, &f->returns, &f->return_count, &f->return_room);
    f->name = take_word(p, "the name of a function");
    if (at(p, "("))
        parse_parameters(p, &f->params, &f->param_count, &f->param_room);
    while (p->token.kind == PTX_DIRECTIVE) {
        if (accept(p, ".maxntid")) {
            parse_three(p, f->max_threads);
        } else if (accept(p, ".reqntid")) {
            parse_three(p, f->required_threads);
        } else if (accept(p, ".minnctapersm")) {
            f->min_blocks = take_integer(p);
        } else if (accept(p, ".maxnreg")) {
            f->max_registers = take_integer(p);
        } else if (accept(p, ".maxnctapersm") || accept(p, ".maxclusterrank")) {
            take_integer(p);
        } else if (accept(p, ".reqnctapercluster")) {
            parse_three(p, f->cluster);
        } else if (accept(p, ".explicitcluster")) {
            continue; /* the launch says how large its clusters are */
        } else if (accept(p, ".noreturn")) {
            f->is_noreturn = true;
        } else if (accept(p, ".pragma")) {
            next(p);
            expect(p, ";");
        } else {
            fail(p, "a performance directive or '{'");
        }
    }
    if (accept(p, ";"))
        return;
    f->has_body = true;
    parse_body(p);
}

static void parse_alias(struct parser *p)
{
    struct ptx_ast *ast = p->ast;
    ast->aliases = ptx_grow(ast->aliases, ast->alias_count, &ast->alias_room, sizeof *ast->aliases);
    struct ptx_aliases *a = &ast->aliases[ast->alias_count++];
    a->name = take_word(p, "a name");
    expect(p, ",");
    a->target = take_word(p, "a name");
    expect(p, ";");
}

static void parse_header(struct parser *p)
{
    struct ptx_ast *ast = p->ast;
    if (accept(p, ".version")) {
        struct ptx_token t = p->token;
        double version = 0;
        if (t.kind == PTX_FLOAT)
            memcpy(&version, &t.bits, sizeof version);
        else
            version = (double)t.bits;
        if (!(version >= 0 && version < 1000)) {
            fail(p, "a version number");
            version = 0;
        }
        ast->version_major = (int)version;
        ast->version_minor = (int)((version - (int)version) * 10 + 0.5);
        next(p);
    } else if (accept(p, ".target")) {
        do {
            const char *name = take_word(p, "a target");
            sscanf(name, "sm_%d", &ast->target_sm);
        } while (accept(p, ","));
    } else if (accept(p, ".address_size")) {
        if (take_integer(p) != 64)
            fail(p, "64-bit addresses");
    } else if (accept(p, ".file")) {
        ast->files = ptx_grow(ast->files, ast->file_count, &ast->file_room, sizeof *ast->files);
        struct ptx_file *file = &ast->files[ast->file_count++];
        file->number = (int)take_integer(p);
        if (p->token.kind == PTX_STRING)
            file->path = take_text(p);
        else
            fail(p, "a path in quotes");
        while (accept(p, ","))
            take_integer(p);
    } else {
        fail(p, "a directive of the module");
    }
}

static void parse_module(struct parser *p)
{
    while (p->token.kind != PTX_END) {
        bool is_extern = false, is_local = true;
        enum ptx_space space;
        size_t functions = p->ast->function_count, variables = p->ast->variable_count;
        while (at(p, ".visible") || at(p, ".extern") || at(p, ".weak") || at(p, ".common")) {
            is_extern |= at(p, ".extern");
            is_local = false;
            next(p);
        }
        if (accept(p, ".entry"))
            parse_function(p, true);
        else if (accept(p, ".func"))
            parse_function(p, false);
        else if (accept(p, ".alias"))
            parse_alias(p);
        else if (accept(p, ".pragma"))
            next(p), expect(p, ";");
        else if (accept(p, ".section"))
            next(p), skip_balanced(p, "{", "}");
        else if (accept_space(p, &space))
            parse_variables(p, space, is_extern, &p->ast->variables, &p->ast->variable_count,
                            &p->ast->variable_room);
        else
            parse_header(p);
        for (; functions < p->ast->function_count; functions++)
            p->ast->functions[functions].is_local = is_local;
        for (; variables < p->ast->variable_count; variables++)
            p->ast->variables[variables].is_local = is_local;
    }
}

enum st_code ptx_parse(struct ptx_ast *ast, const char *text, size_t bytes, struct st_error *err)
{
    memset(ast, 0, sizeof *ast);
    struct parser p = {.ast = ast, .err = err, .status = ST_OK};
    ptx_lex_start(&p.lexer, text, bytes);
    next(&p);
    if (!at(&p, ".version"))
        fail(&p, ".version");
    parse_module(&p);
    free(p.operands);
    if (p.status != ST_OK)
        ptx_ast_free(ast);
    return p.status;
}

static void free_variables(struct ptx_variable *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list[i].init);
    free(list);
}

void ptx_ast_free(struct ptx_ast *ast)
{
    free_variables(ast->variables, ast->variable_count);
    for (size_t i = 0; i < ast->function_count; i++) {
        struct ptx_function *f = &ast->functions[i];
        free_variables(f->params, f->param_count);
        free_variables(f->returns, f->return_count);
        free_variables(f->variables, f->variable_count);
        free(f->registers);
        free(f->instructions);
        free(f->labels);
        free(f->targets);
        free(f->scope_parent);
    }
    free(ast->functions);
    free(ast->files);
    free(ast->aliases);
    free(ast->calls);
    ptx_arena_free(&ast->arena);
    memset(ast, 0, sizeof *ast);
}
