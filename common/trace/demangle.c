/* Writes names in nvprof's style from the tree of components of libiberty's demangler
 * (libiberty-dev, LGPL; linked statically). libiberty itself writes the C++ library's style. */
#include "trace/demangle.h"

#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64 /* limit for a template's parameter that refers to itself */

typedef struct demangle_component component;

/* The text so far; a text that is too long, or an unknown component, fails. */
struct writer {
    char *to;
    size_t n, room;
    int depth;
    bool failed;
    const component *arguments; /* of the function's template */
};

static void put(struct writer *w, const char *text, size_t n)
{
    if (w->failed || w->n + n >= w->room) {
        w->failed = true;
        return;
    }
    memcpy(w->to + w->n, text, n);
    w->n += n;
    w->to[w->n] = '\0';
}

static void put_text(struct writer *w, const char *text)
{
    put(w, text, strlen(text));
}

static void put_component(struct writer *w, const component *c);

static void put_name(struct writer *w, const component *c)
{
    static const char anonymous[] = "(anonymous namespace)";
    const size_t n = (size_t)c->u.s_name.len;
    if (n == sizeof anonymous - 1 && memcmp(c->u.s_name.s, anonymous, n) == 0)
        put_text(w, "_GLOBAL__N__");
    else
        put(w, c->u.s_name.s, n);
}

static void put_builtin(struct writer *w, component *c)
{
    size_t ignored;
    char *name = cplus_demangle_print(DMGL_NO_OPTS, c, 32, &ignored);
    put_text(w, !name                                     ? ""
                : strcmp(name, "long long") == 0          ? "__int64"
                : strcmp(name, "unsigned long long") == 0 ? "unsigned __int64"
                                                          : name);
    w->failed = w->failed || !name;
    free(name);
}

/* "float" and "*" become "float*", but "float const" and "*" become "float const *". */
static void put_pointer(struct writer *w, const component *c, const char *mark)
{
    put_component(w, c->u.s_binary.left);
    if (!w->failed && w->n > 6 && memcmp(w->to + w->n - 6, " const", 6) == 0)
        put_text(w, " ");
    put_text(w, mark);
}

/* int=32 */
static void put_literal(struct writer *w, const component *c)
{
    const component *digits = c->u.s_binary.right;
    put_component(w, c->u.s_binary.left);
    put_text(w, c->type == DEMANGLE_COMPONENT_LITERAL_NEG ? "=-" : "=");
    if (digits->type != DEMANGLE_COMPONENT_NAME || digits->u.s_name.len == 0 ||
        (int)strspn(digits->u.s_name.s, "0123456789") < digits->u.s_name.len)
        w->failed = true;
    else
        put_name(w, digits);
}

/* A list is a chain of nodes with one element each; an empty list has a node without an element. */
static void put_list(struct writer *w, const component *list)
{
    for (bool first = true; list && list->u.s_binary.left; list = list->u.s_binary.right) {
        put_text(w, first ? "" : ", ");
        put_component(w, list->u.s_binary.left);
        first = false;
    }
}

static void put_argument(struct writer *w, const component *c)
{
    const component *list = w->arguments;
    for (long i = c->u.s_number.number; list && i > 0; i--)
        list = list->u.s_binary.right;
    put_component(w, list ? list->u.s_binary.left : NULL);
}

static void put_component(struct writer *w, const component *c)
{
    if (!c || w->failed || ++w->depth > DEPTH_MAX) {
        w->failed = true;
        return;
    }
    switch (c->type) {
    case DEMANGLE_COMPONENT_NAME:
        put_name(w, c);
        break;
    case DEMANGLE_COMPONENT_SUB_STD: /* std, std::string and similar */
        put(w, c->u.s_string.string, (size_t)c->u.s_string.len);
        w->failed = w->failed || c->u.s_string.len != 3;
        break;
    case DEMANGLE_COMPONENT_QUAL_NAME:
        put_component(w, c->u.s_binary.left);
        put_text(w, "::");
        put_component(w, c->u.s_binary.right);
        break;
    case DEMANGLE_COMPONENT_TEMPLATE:
        put_component(w, c->u.s_binary.left);
        put_text(w, "<");
        put_list(w, c->u.s_binary.right);
        put_text(w, ">");
        break;
    case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
        put_argument(w, c);
        break;
    case DEMANGLE_COMPONENT_LITERAL:
    case DEMANGLE_COMPONENT_LITERAL_NEG:
        put_literal(w, c);
        break;
    case DEMANGLE_COMPONENT_BUILTIN_TYPE:
        put_builtin(w, (component *)c);
        break;
    case DEMANGLE_COMPONENT_POINTER:
        put_pointer(w, c, "*");
        break;
    case DEMANGLE_COMPONENT_REFERENCE:
        put_pointer(w, c, "&");
        break;
    case DEMANGLE_COMPONENT_RVALUE_REFERENCE:
        put_pointer(w, c, "&&");
        break;
    case DEMANGLE_COMPONENT_CONST:
    case DEMANGLE_COMPONENT_VOLATILE:
        put_component(w, c->u.s_binary.left);
        put_text(w, c->type == DEMANGLE_COMPONENT_CONST ? " const" : " volatile");
        break;
    case DEMANGLE_COMPONENT_RESTRICT:
        put_component(w, c->u.s_binary.left);
        break;
    default:
        w->failed = true;
    }
    w->depth--;
}

/* Only the names of functions made from templates have the return type. */
static void put_function(struct writer *w, const component *c)
{
    const component *name = c->u.s_binary.left, *type = c->u.s_binary.right;
    if (c->type != DEMANGLE_COMPONENT_TYPED_NAME ||
        type->type != DEMANGLE_COMPONENT_FUNCTION_TYPE) {
        w->failed = true;
        return;
    }
    if (name->type == DEMANGLE_COMPONENT_TEMPLATE)
        w->arguments = name->u.s_binary.right;
    if (type->u.s_binary.left) {
        put_component(w, type->u.s_binary.left);
        put_text(w, " ");
    }
    put_component(w, name);
    put_text(w, "(");
    const component *parameters = type->u.s_binary.right;
    if (parameters && parameters->u.s_binary.left)
        put_list(w, parameters);
    else
        put_text(w, "void");
    put_text(w, ")");
}

bool demangle(const char *symbol, char *to, size_t room)
{
    struct writer w = {.to = to, .room = room};
    void *memory = NULL;
    if (!*symbol)
        return false;
    if (strncmp(symbol, "_Z", 2) != 0) {
        put_text(&w, symbol);
        return !w.failed;
    }
    component *tree = cplus_demangle_v3_components(symbol, DMGL_PARAMS | DMGL_ANSI, &memory);
    if (tree)
        put_function(&w, tree);
    free(memory);
    return tree && !w.failed;
}

bool demangle_by_library(const char *symbol, char *to, size_t room)
{
    struct writer w = {.to = to, .room = room};
    char *name = cplus_demangle_v3(symbol, DMGL_PARAMS | DMGL_ANSI | DMGL_TYPES);
    put_text(&w, name ? name : "");
    free(name);
    return name && !w.failed;
}
