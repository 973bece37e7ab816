/* Parses variables with their initial values, and registers. */
#include "vgpu/ptx/ptx_parser.h"

enum { MAX_DEPTH = 64 };

bool accept_space(struct parser *p, enum ptx_space *space)
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
        fail(p, "a less deeply nested initialiser");
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

static bool accept_pointer(struct parser *p)
{
    return accept(p, ".ptr") || accept(p, ".global") || accept(p, ".shared") ||
           accept(p, ".const") || accept(p, ".local");
}

/* Parses the type and alignment. @return the number of elements of a vector */
static size_t parse_attributes(struct parser *p, struct ptx_variable *v)
{
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
        } else if (accept_pointer(p)) {
            while (accept_pointer(p))
                continue;
            if (accept(p, ".align"))
                take_integer(p); /* alignment of the memory to which the pointer points */
        } else {
            v->type = ptx_type_find(p->token.text + 1, p->token.length - 1);
            if (v->type == PTX_TYPE_none && !at(p, ".texref") && !at(p, ".samplerref"))
                fail(p, "a type");
            next(p);
        }
    }
    return lanes;
}

static void parse_dimensions(struct parser *p, struct ptx_variable *v)
{
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
}

void parse_variable(struct parser *p, struct ptx_variable *v, enum ptx_space space)
{
    *v = (struct ptx_variable){.space = space, .scope = p->scope, .line = p->token.line};
    const size_t lanes = parse_attributes(p, v), element = ptx_type_bytes(v->type) * lanes;
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
    parse_dimensions(p, v);
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

void parse_variables(struct parser *p, enum ptx_space space, bool is_extern,
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

void parse_registers(struct parser *p)
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
        struct ptx_register *r = PTX_ADD(f, register);
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
