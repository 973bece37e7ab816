/* Turns the tokens of a source into hashes that comments, layout and names do not change. */
#include "base/array_room.h"
#include "base/sha256.h"
#include "grader/similar/marks.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A mark consists of GRAM tokens; of any WINDOW consecutive marks, the smallest is kept (Schleimer,
 * Wilkerson and Aiken, "Winnowing", SIGMOD 2003). */
enum { GRAM = 12, WINDOW = 4 };

/** A token, which points into the source. */
struct token {
    const char *text;
    size_t length;
    int line;
    bool is_name;
};

struct tokens {
    const char *at, *end;
    int line;
    size_t n;
    struct token *token;
};

/* ---- tokens --------------------------------------------------------------------------------- */

static bool starts(const struct tokens *t, const char *text)
{
    const size_t length = strlen(text);
    return (size_t)(t->end - t->at) >= length && memcmp(t->at, text, length) == 0;
}

static void advance(struct tokens *t, const char *to)
{
    for (; t->at < to; t->at++)
        t->line += *t->at == '\n';
}

/* Skips blanks and comments. */
static void skip_layout(struct tokens *t)
{
    while (t->at < t->end) {
        if (isspace((unsigned char)*t->at) || *t->at == '\\') {
            advance(t, t->at + 1);
        } else if (starts(t, "//")) {
            const char *stop = memchr(t->at, '\n', (size_t)(t->end - t->at));
            advance(t, stop ? stop : t->end);
        } else if (starts(t, "/*")) {
            const char *close = memmem(t->at + 2, (size_t)(t->end - t->at - 2), "*/", 2);
            advance(t, close ? close + 2 : t->end);
        } else {
            return;
        }
    }
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static const char *token_end(const struct tokens *t, bool is_name)
{
    const char *end = t->at;
    if (is_name || isdigit((unsigned char)*end))
        while (end < t->end && (is_name_char(*end) || (!is_name && *end == '.')))
            end++;
    return end > t->at ? end : end + 1;
}

/* @return false: out of memory */
static bool read_tokens(struct tokens *t)
{
    t->line = 1;
    for (skip_layout(t); t->at < t->end; skip_layout(t)) {
        const bool is_name = isalpha((unsigned char)*t->at) || *t->at == '_';
        const char *end = token_end(t, is_name);
        if (!ARRAY_ROOM(t->token, t->n))
            return false;
        t->token[t->n++] = (struct token){t->at, (size_t)(end - t->at), t->line, is_name};
        advance(t, end);
    }
    return true;
}

static bool is_same(const struct token *a, const struct token *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* ---- the fingerprint ------------------------------------------------------------------------ */

/* Replaces a name by the number of its first appearance; C's keywords are treated as names, because
 * they have the same order in a copy. */
static size_t number_of(const struct token **name, size_t *names, const struct token *of)
{
    size_t k = 0;
    while (k < *names && !is_same(name[k], of))
        k++;
    if (k == *names)
        name[(*names)++] = of;
    return k;
}

void si_fingerprint(const char *source, size_t bytes, char hex[65])
{
    struct tokens t = {.at = source, .end = source + bytes};
    struct sha256 hash;
    size_t names = 0;
    hex[0] = '\0';
    const bool read = read_tokens(&t);
    const struct token **name = calloc(t.n + 1, sizeof *name);
    sha256_begin(&hash);
    for (size_t i = 0; name && i < t.n; i++) {
        const struct token *const of = &t.token[i];
        if (of->is_name) {
            const size_t number = number_of(name, &names, of);
            sha256_add(&hash, "n", 1);
            sha256_add(&hash, &number, sizeof number);
        } else {
            sha256_add(&hash, of->text, of->length);
        }
        sha256_add(&hash, " ", 1);
    }
    if (read && name)
        sha256_end_hex(&hash, hex);
    free(name);
    free(t.token);
}

bool si_number_marks(struct si_marks *to, const char *source, size_t bytes)
{
    struct tokens t = {.at = source, .end = source + bytes};
    bool can = read_tokens(&t);
    for (size_t i = 0; i < t.n && can; i++)
        if (isdigit((unsigned char)t.token[i].text[0])) {
            const double value = strtod(t.token[i].text, NULL);
            if (value > 2)
                can = si_mark_add(to, (struct si_mark){si_hash(SI_HASH_BEGIN, &value, sizeof value),
                                                       t.token[i].line, t.token[i].line});
        }
    free(t.token);
    return can;
}

/* ---- marks ---------------------------------------------------------------------------------- */

/* Whether a word has a fixed meaning. */
static bool is_kept(const struct token *of)
{
    static const char *const words[] = {
        "for",      "while",    "do",         "if",        "else",         "return",  "break",
        "continue", "switch",   "case",       "goto",      "sizeof",       "struct",  "float",
        "int",      "double",   "size_t",     "const",     "void",         "static",  "char",
        "long",     "unsigned", "threadIdx",  "blockIdx",  "blockDim",     "gridDim", "__shared__",
        "dim3",     "malloc",   "__global__", "atomicAdd", "__syncthreads"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == of->length && memcmp(words[i], of->text, of->length) == 0)
            return true;
    return false;
}

static uint64_t gram_hash(const struct token *gram, const bool *kept)
{
    uint64_t hash = SI_HASH_BEGIN;
    for (size_t i = 0; i < GRAM; i++) {
        size_t first = 0;
        while (!is_same(&gram[first], &gram[i]))
            first++;
        if (gram[i].is_name && !kept[i])
            hash = si_hash(hash, &first, sizeof first);
        else
            hash = si_hash(hash, gram[i].text, gram[i].length);
        hash = si_hash(hash, " ", 1);
    }
    return hash;
}

static bool winnow(struct si_marks *to, const struct si_mark *gram, size_t n)
{
    size_t last = SIZE_MAX;
    bool can = true;
    for (size_t i = 0; i + WINDOW <= n && can; i++) {
        size_t least = i;
        for (size_t k = i; k < i + WINDOW; k++)
            if (gram[k].hash <= gram[least].hash)
                least = k;
        if (least != last)
            can = si_mark_add(to, gram[least]);
        last = least;
    }
    return can;
}

enum st_code si_source_marks(struct si_marks *to, const char *source, size_t bytes,
                             struct st_error *err)
{
    struct tokens t = {.at = source, .end = source + bytes};
    bool can = read_tokens(&t);
    bool *kept = calloc(t.n + 1, sizeof *kept);
    struct si_mark *gram = calloc(t.n + 1, sizeof *gram);
    can = can && kept && gram;
    for (size_t i = 0; i < t.n && can; i++)
        kept[i] = is_kept(&t.token[i]);
    size_t n = 0;
    for (; n + GRAM <= t.n && can; n++)
        gram[n] = (struct si_mark){gram_hash(t.token + n, kept + n), t.token[n].line,
                                   t.token[n + GRAM - 1].line};
    can = can && winnow(to, gram, n);
    free(kept);
    free(gram);
    free(t.token);
    return can ? ST_OK : st_fail(err, ST_NO_MEMORY, "cannot compare sources");
}
