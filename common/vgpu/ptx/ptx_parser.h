/** @file
 * Internal interface of the parser: its position in the text, and functions for tokens. From the
 * top down: ptx_parse.c reads a module, ptx_parse_body.c the body of a function,
 * ptx_parse_variable.c variables and registers.
 *
 * At the first error, fail() ends parsing: it makes every later accept() return false and turns the
 * current token into PTX_END, so that all loops end.
 */
#pragma once

#include "vgpu/ptx/ptx_ast.h"
#include "vgpu/ptx/ptx_lex.h"

/** The parser's position in a text. */
struct parser {
    struct ptx_lexer lexer;
    struct ptx_token token;
    struct ptx_ast *ast;
    struct ptx_function *function;
    int scope;
    struct ptx_location location;
    struct st_error *err;
    enum st_code status;
    struct ptx_operand *operands; /* operands of the instruction that is being read */
    size_t operand_count, operand_room;
};

static inline void fail(struct parser *p, const char *expected)
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

static inline void next(struct parser *p)
{
    p->token = ptx_lex_next(&p->lexer);
    if (p->token.kind == PTX_BAD)
        fail(p, "PTX text");
}

static inline bool at(const struct parser *p, const char *text)
{
    return ptx_token_is(&p->token, text);
}

static inline bool accept(struct parser *p, const char *text)
{
    if (!at(p, text))
        return false;
    next(p);
    return true;
}

static inline void expect(struct parser *p, const char *text)
{
    if (!accept(p, text))
        fail(p, text);
}

static inline const char *take_text(struct parser *p)
{
    const char *text = ptx_arena_text(&p->ast->arena, p->token.text, p->token.length);
    next(p);
    return text;
}

static inline const char *take_word(struct parser *p, const char *what)
{
    if (p->token.kind == PTX_WORD)
        return take_text(p);
    fail(p, what);
    return "";
}

static inline int64_t take_integer(struct parser *p)
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

static inline void skip_balanced(struct parser *p, const char *open, const char *close)
{
    int depth = 0;
    do {
        depth += at(p, open) - at(p, close);
        next(p);
    } while (depth > 0 && p->token.kind != PTX_END);
}

/** Accepts a state space if the next word names one. */
bool accept_space(struct parser *p, enum ptx_space *space);
/** Reads a variable after its state space: [.align N] [.v2] .type [.ptr ...] name [dims] [=
 * init] */
void parse_variable(struct parser *p, struct ptx_variable *v, enum ptx_space space);
/** Reads variables up to a semicolon and appends them to a list. */
void parse_variables(struct parser *p, enum ptx_space space, bool is_extern,
                     struct ptx_variable **list, size_t *count, size_t *room);
/** Reads the names of registers after .reg. */
void parse_registers(struct parser *p);
/** Reads the body of the current function. */
void parse_body(struct parser *p);
