/* The parser: recursive descent over the tokens, one function per construct of the PTX ISA's
 * grammar. This part reads the module: its header, its variables and the heads of its functions. */
#include "vgpu/ptx/ptx_parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Parses .maxntid and similar directives between the parameters and the body. */
static void parse_performance(struct parser *p, struct ptx_function *f)
{
    if (accept(p, ".maxntid")) {
        parse_three(p, f->max_threads);
    } else if (accept(p, ".reqntid")) {
        parse_three(p, f->required_threads);
    } else if (accept(p, ".reqnctapercluster")) {
        parse_three(p, f->cluster);
    } else if (accept(p, ".minnctapersm")) {
        f->min_blocks = take_integer(p);
    } else if (accept(p, ".maxnreg")) {
        f->max_registers = take_integer(p);
    } else if (accept(p, ".maxclusterrank")) {
        f->max_cluster = (uint32_t)take_integer(p);
    } else if (accept(p, ".explicitcluster")) {
        f->explicit_cluster = true;
    } else if (accept(p, ".blocksareclusters")) {
        f->blocks_are_clusters = true;
    } else if (accept(p, ".maxnctapersm")) {
        take_integer(p);
    } else if (accept(p, ".pragma")) {
        next(p);
        expect(p, ";");
    } else if (!accept(p, ".noreturn")) {
        fail(p, "a performance directive or '{'");
    }
}

static void parse_function(struct parser *p, bool is_entry)
{
    struct ptx_function *f = p->function = PTX_ADD(p->ast, function);
    *f = (struct ptx_function){.is_entry = is_entry, .line = p->token.line};
    p->scope = 0;
    if (accept(p, ".attribute"))
        skip_balanced(p, "(", ")");
    if (at(p, "("))
        parse_parameters(p, &f->returns, &f->return_count, &f->return_room);
    f->name = take_word(p, "the name of a function");
    if (at(p, "("))
        parse_parameters(p, &f->params, &f->param_count, &f->param_room);
    while (p->token.kind == PTX_DIRECTIVE)
        parse_performance(p, f);
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

static void parse_version(struct parser *p)
{
    double version = (double)p->token.bits;
    if (p->token.kind == PTX_FLOAT)
        memcpy(&version, &p->token.bits, sizeof version);
    if (!(version >= 0 && version < 1000)) {
        fail(p, "a version number");
        version = 0;
    }
    p->ast->version_major = (int)version;
    p->ast->version_minor = (int)((version - (int)version) * 10 + 0.5);
    next(p);
}

static void parse_file(struct parser *p)
{
    struct ptx_file *file = PTX_ADD(p->ast, file);
    file->number = (int)take_integer(p);
    if (p->token.kind == PTX_STRING)
        file->path = take_text(p);
    else
        fail(p, "a path in quotes");
    while (accept(p, ","))
        take_integer(p);
}

static void parse_target(struct parser *p)
{
    do {
        const char *word = take_word(p, "a target");
        int sm;
        if (word && sscanf(word, "sm_%4d", &sm) == 1)
            p->ast->target = sm;
    } while (accept(p, ","));
}

static void parse_header(struct parser *p)
{
    if (accept(p, ".version")) {
        parse_version(p);
    } else if (accept(p, ".target")) {
        parse_target(p);
    } else if (accept(p, ".address_size")) {
        if (take_integer(p) != 64)
            fail(p, "64-bit addresses");
    } else if (accept(p, ".file")) {
        parse_file(p);
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
