#include "trace/demangle.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A recursive descent over the grammar of the ABI. Names and types are written to texts of fixed
 * size; what may be referred to later (S_, S0_, ...: substitutions; T_, T0_, ...: arguments of the
 * template) is kept as text, too. */
#define TEXT_MAX  1024
#define PARTS_MAX 64
#define DEPTH_MAX 64

struct text {
    size_t n;
    char s[TEXT_MAX];
};

struct parser {
    const char *at;
    bool failed;
    int depth;
    size_t subs, arguments;
    struct text sub[PARTS_MAX], argument[PARTS_MAX];
};

static void fail(struct parser *p)
{
    p->failed = true;
}

static void put(struct parser *p, struct text *to, const char *text, size_t n)
{
    if (to->n + n >= sizeof to->s) {
        fail(p);
        return;
    }
    memcpy(to->s + to->n, text, n);
    to->n += n;
    to->s[to->n] = '\0';
}

static void puts_to(struct parser *p, struct text *to, const char *text)
{
    put(p, to, text, strlen(text));
}

static bool take(struct parser *p, const char *text)
{
    size_t n = strlen(text);
    if (p->failed || strncmp(p->at, text, n) != 0)
        return false;
    p->at += n;
    return true;
}

static void keep(struct parser *p, const struct text *text)
{
    if (p->subs == PARTS_MAX)
        fail(p);
    else
        p->sub[p->subs++] = *text;
}

/* The number in S_, S0_, T_, T0_: nothing is 0, then 1 is the digit 0. */
static size_t sequence(struct parser *p, int base)
{
    size_t value = 0;
    bool any = false;
    for (; isdigit((unsigned char)*p->at) || (base == 36 && isupper((unsigned char)*p->at));
         any = true)
        value = value * (size_t)base +
                (size_t)(isdigit((unsigned char)*p->at) ? *p->at++ - '0' : *p->at++ - 'A' + 10);
    if (!take(p, "_") || value > PARTS_MAX)
        fail(p);
    return any ? value + 1 : 0;
}

static void type(struct parser *p, struct text *to);

static void source_name(struct parser *p, struct text *to)
{
    char *end;
    unsigned long n = strtoul(p->at, &end, 10);
    if (end == p->at || n == 0 || n > strlen(end)) {
        fail(p);
        return;
    }
    if (n > 10 && strncmp(end, "_GLOBAL__N", 10) == 0)
        puts_to(p, to, "_GLOBAL__N__");
    else
        put(p, to, end, n);
    p->at = end + n;
}

/* X as in I X E: a type, or a literal, as int=32. */
static void template_argument(struct parser *p, struct text *to)
{
    if (!take(p, "L")) {
        type(p, to);
        return;
    }
    type(p, to);
    puts_to(p, to, take(p, "n") ? "=-" : "=");
    size_t n = strspn(p->at, "0123456789");
    put(p, to, p->at, n);
    p->at += n;
    if (n == 0 || !take(p, "E"))
        fail(p);
}

/* After the I. */
static void template_arguments(struct parser *p, struct text *to, bool of_function)
{
    if (of_function)
        p->arguments = 0;
    puts_to(p, to, "<");
    for (bool first = true; !p->failed && !take(p, "E"); first = false) {
        struct text *one = calloc(1, sizeof *one);
        if (!one) {
            fail(p);
            return;
        }
        template_argument(p, one);
        puts_to(p, to, first ? "" : ", ");
        put(p, to, one->s, one->n);
        if (of_function && p->arguments < PARTS_MAX)
            p->argument[p->arguments++] = *one;
        free(one);
    }
    puts_to(p, to, ">");
}

/* After the S. @return false if it is St, which a name follows. */
static bool substitution(struct parser *p, struct text *to)
{
    if (take(p, "t")) {
        puts_to(p, to, "std");
        return false;
    }
    if (islower((unsigned char)*p->at)) { /* std::string and its kin */
        fail(p);
        return true;
    }
    size_t i = sequence(p, 36);
    if (i >= p->subs)
        fail(p);
    else
        put(p, to, p->sub[i].s, p->sub[i].n);
    return true;
}

static void argument(struct parser *p, struct text *to)
{
    size_t i = sequence(p, 10);
    if (i >= p->arguments)
        fail(p);
    else
        put(p, to, p->argument[i].s, p->argument[i].n);
}

/* After the N. Each prefix may be referred to later, but not the whole: of a type, type() keeps it.
 * @return whether the last part has template arguments. */
static bool nested_name(struct parser *p, struct text *to, bool of_function)
{
    bool is_template = false;
    p->at += strspn(p->at, "rVK");
    while (!p->failed && !take(p, "E")) {
        bool fresh = true; /* something that was not kept before */
        if (take(p, "I")) {
            template_arguments(p, to, of_function);
            is_template = true;
        } else {
            is_template = false;
            puts_to(p, to, to->n ? "::" : "");
            if (take(p, "S")) {
                substitution(p, to);
                fresh = false;
            } else if (take(p, "T")) {
                argument(p, to);
            } else {
                take(p, "L"); /* internal linkage */
                source_name(p, to);
            }
        }
        if (fresh && *p->at != 'E')
            keep(p, to);
    }
    return is_template;
}

/* A name. @param kept  set if it stands in the list of substitutions already. */
static bool name(struct parser *p, struct text *to, bool of_function, bool *kept)
{
    *kept = false;
    if (take(p, "N"))
        return nested_name(p, to, of_function);
    if (take(p, "S")) {
        *kept = substitution(p, to);
        if (!*kept) {
            puts_to(p, to, "::");
            source_name(p, to);
        }
    } else {
        take(p, "L");
        source_name(p, to);
    }
    if (!take(p, "I"))
        return false;
    if (!*kept)
        keep(p, to);
    *kept = false;
    template_arguments(p, to, of_function);
    return true;
}

static const char *builtin(char c)
{
    static const struct {
        char c;
        const char *name;
    } types[] = {
        {'v', "void"},        {'w', "wchar_t"},          {'b', "bool"},  {'c', "char"},
        {'a', "signed char"}, {'h', "unsigned char"},    {'s', "short"}, {'t', "unsigned short"},
        {'i', "int"},         {'j', "unsigned int"},     {'l', "long"},  {'m', "unsigned long"},
        {'x', "__int64"},     {'y', "unsigned __int64"}, {'f', "float"}, {'d', "double"},
        {'n', "__int128"},    {'o', "unsigned __int128"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].c == c)
            return types[i].name;
    return NULL;
}

/* "float" and "*" make "float*", but "float const" and "*" make "float const *". */
static void put_pointer(struct parser *p, struct text *to, const char *mark)
{
    const bool spaced = to->n > 6 && strcmp(to->s + to->n - 6, " const") == 0;
    puts_to(p, to, spaced ? " " : "");
    puts_to(p, to, mark);
}

static void type(struct parser *p, struct text *to)
{
    if (p->failed || ++p->depth > DEPTH_MAX) {
        fail(p);
        return;
    }
    struct text *t = calloc(1, sizeof *t);
    bool kept = false;
    const char *plain = t ? builtin(*p->at) : NULL;
    if (!t) {
        fail(p);
    } else if (plain) {
        p->at++;
        kept = true;
        puts_to(p, t, plain);
    } else if (take(p, "P") || take(p, "R") || take(p, "O")) {
        const char mark = p->at[-1];
        type(p, t);
        put_pointer(p, t, mark == 'P' ? "*" : mark == 'R' ? "&" : "&&");
    } else if (take(p, "K")) {
        type(p, t);
        puts_to(p, t, " const");
    } else if (take(p, "V")) {
        type(p, t);
        puts_to(p, t, " volatile");
    } else if (take(p, "r")) {
        type(p, t);
    } else if (take(p, "T")) {
        argument(p, t);
    } else {
        name(p, t, false, &kept);
    }
    if (t && !p->failed && !kept)
        keep(p, t);
    if (t)
        put(p, to, t->s, t->n);
    free(t);
    p->depth--;
}

static void function(struct parser *p, struct text *to)
{
    struct text *called = calloc(1, sizeof *called);
    bool kept;
    if (!called) {
        fail(p);
        return;
    }
    if (name(p, called, true, &kept)) { /* functions made from templates say what they return */
        type(p, to);
        puts_to(p, to, " ");
    }
    put(p, to, called->s, called->n);
    free(called);
    puts_to(p, to, "(");
    if (take(p, "v"))
        puts_to(p, to, "void");
    else
        for (bool first = true; *p->at && !p->failed; first = false) {
            puts_to(p, to, first ? "" : ", ");
            type(p, to);
        }
    puts_to(p, to, ")");
    if (*p->at)
        fail(p);
}

bool demangle(const char *symbol, char *to, size_t room)
{
    if (!*symbol)
        return false;
    if (strncmp(symbol, "_Z", 2) != 0) {
        int n = snprintf(to, room, "%s", symbol);
        return n >= 0 && (size_t)n < room;
    }
    struct parser *p = calloc(1, sizeof *p);
    struct text *result = calloc(1, sizeof *result);
    bool good = false;
    if (p && result) {
        p->at = symbol + 2;
        function(p, result);
        good = !p->failed && result->n < room;
    }
    if (good)
        memcpy(to, result->s, result->n + 1);
    free(result);
    free(p);
    return good;
}

bool demangle_by_library(const char *symbol, char *to, size_t room)
{
    typedef char *(*function_of_the_abi)(const char *, char *, size_t *, int *);
    static function_of_the_abi cxa_demangle;
    static bool looked;
    if (!looked) {
        void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
        cxa_demangle =
            library ? (function_of_the_abi)(intptr_t)dlsym(library, "__cxa_demangle") : NULL;
        looked = true;
    }
    int status = -1;
    char *name = cxa_demangle ? cxa_demangle(symbol, NULL, NULL, &status) : NULL;
    const bool good = name && status == 0 && strlen(name) < room;
    if (good)
        strcpy(to, name);
    free(name);
    return good;
}
