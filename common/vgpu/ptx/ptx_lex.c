#include "vgpu/ptx/ptx_lex.h"

#include <stdlib.h>
#include <string.h>

void ptx_lex_start(struct ptx_lexer *lexer, const char *text, size_t bytes)
{
    lexer->at = text;
    lexer->end = text + bytes;
    lexer->line = 1;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool starts_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

static bool in_word(char c)
{
    return starts_word(c) || is_digit(c);
}

static void skip_space(struct ptx_lexer *l)
{
    while (l->at < l->end) {
        char c = *l->at;
        if (c == '\n')
            l->line++;
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0') {
            l->at++;
        } else if (c == '/' && l->at + 1 < l->end && l->at[1] == '/') {
            while (l->at < l->end && *l->at != '\n')
                l->at++;
        } else if (c == '/' && l->at + 1 < l->end && l->at[1] == '*') {
            l->at += 2;
            while (l->at < l->end && !(l->at[0] == '*' && l->at + 1 < l->end && l->at[1] == '/'))
                l->line += *l->at++ == '\n';
            l->at = l->end - l->at > 2 ? l->at + 2 : l->end;
        } else {
            return;
        }
    }
}

/* Copies at most 63 characters of a number, so that the C library's functions get a terminated
 * text. */
static void number_text(char to[64], const char *from, size_t n)
{
    n = n < 63 ? n : 63;
    memcpy(to, from, n);
    to[n] = '\0';
}

static void lex_number(struct ptx_lexer *l, struct ptx_token *t)
{
    const char *p = l->at;
    char text[64];
    char kind = p + 1 < l->end ? p[1] : '\0';
    if (*p == '0' && (kind == 'f' || kind == 'F' || kind == 'd' || kind == 'D')) {
        for (p += 2; p < l->end && is_hex(*p);)
            p++;
        number_text(text, l->at + 2, (size_t)(p - l->at - 2));
        t->kind = PTX_FLOAT;
        t->is_single = kind == 'f' || kind == 'F';
        t->bits = strtoull(text, NULL, 16);
    } else if (*p == '0' && (kind == 'x' || kind == 'X')) {
        for (p += 2; p < l->end && is_hex(*p);)
            p++;
        number_text(text, l->at + 2, (size_t)(p - l->at - 2));
        t->kind = PTX_INTEGER;
        t->bits = strtoull(text, NULL, 16);
    } else if (*p == '0' && (kind == 'b' || kind == 'B')) {
        for (p += 2; p < l->end && (*p == '0' || *p == '1'); p++)
            t->bits = t->bits * 2 + (uint64_t)(*p - '0');
        t->kind = PTX_INTEGER;
    } else {
        bool fraction = false;
        while (p < l->end && (is_digit(*p) || *p == '.' || *p == 'e' || *p == 'E' ||
                              ((*p == '+' || *p == '-') && (p[-1] == 'e' || p[-1] == 'E')))) {
            fraction |= !is_digit(*p);
            p++;
        }
        number_text(text, l->at, (size_t)(p - l->at));
        if (fraction) {
            double value = strtod(text, NULL);
            memcpy(&t->bits, &value, sizeof value);
            t->kind = PTX_FLOAT;
        } else {
            t->kind = PTX_INTEGER;
            t->bits = strtoull(text, NULL, text[0] == '0' ? 8 : 10);
        }
    }
    if (t->kind == PTX_INTEGER && p < l->end && *p == 'U')
        p++;
    t->length = (size_t)(p - l->at);
    l->at = p;
}

static void lex_word(struct ptx_lexer *l, struct ptx_token *t, bool dots)
{
    const char *p = l->at + 1;
    while (p < l->end) {
        if (in_word(*p))
            p++;
        else if (dots && *p == '.' && p + 1 < l->end && in_word(p[1]))
            p++;
        else if (*p == ':' && p + 2 < l->end && p[1] == ':' && in_word(p[2]))
            p += 2;
        else
            break;
    }
    t->length = (size_t)(p - l->at);
    l->at = p;
}

struct ptx_token ptx_lex_next(struct ptx_lexer *l)
{
    skip_space(l);
    struct ptx_token t = {.kind = PTX_END, .text = l->at, .line = l->line};
    if (l->at >= l->end)
        return t;
    char c = *l->at;
    if (starts_word(c)) {
        t.kind = PTX_WORD;
        lex_word(l, &t, true);
    } else if (c == '.' && l->at + 1 < l->end && in_word(l->at[1])) {
        t.kind = PTX_DIRECTIVE;
        lex_word(l, &t, false);
    } else if (is_digit(c)) {
        lex_number(l, &t);
    } else if (c == '"') {
        const char *p = ++l->at;
        while (p < l->end && *p != '"' && *p != '\n')
            p += *p == '\\' && p + 1 < l->end ? 2 : 1;
        p = p < l->end ? p : l->end;
        t.kind = PTX_STRING;
        t.text = l->at;
        t.length = (size_t)(p - l->at);
        l->at = p < l->end ? p + 1 : p;
    } else {
        t.kind = strchr("{}()[]<>,;:@!|+-=*&~^?/", c) ? PTX_PUNCTUATION : PTX_BAD;
        t.length = 1;
        l->at++;
    }
    return t;
}

bool ptx_token_is(const struct ptx_token *t, const char *text)
{
    return t->kind != PTX_STRING && t->kind != PTX_END && strlen(text) == t->length &&
           memcmp(t->text, text, t->length) == 0;
}
