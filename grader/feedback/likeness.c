/* What is left of a source without comments, layout and the names that its author chose. */
#include "base/sha256.h"
#include "grader/feedback/overview.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 4096 };

struct reading {
    struct sha256 hash;
    const char *at, *end;
    size_t names;
    struct {
        const char *text;
        size_t length;
    } name[MOST_NAMES];
};

static bool starts(const struct reading *r, const char *text)
{
    const size_t length = strlen(text);
    return (size_t)(r->end - r->at) >= length && memcmp(r->at, text, length) == 0;
}

/* Steps over blanks and comments. */
static void skip_layout(struct reading *r)
{
    while (r->at < r->end) {
        if (isspace((unsigned char)*r->at) || *r->at == '\\') {
            r->at++;
        } else if (starts(r, "//")) {
            while (r->at < r->end && *r->at != '\n')
                r->at++;
        } else if (starts(r, "/*")) {
            const char *close = memmem(r->at + 2, (size_t)(r->end - r->at - 2), "*/", 2);
            r->at = close ? close + 2 : r->end;
        } else {
            return;
        }
    }
}

/* A name is the number of its first appearance; C's own words are names, too: they come in the same
 * order in a copy. */
static void add_name(struct reading *r)
{
    const char *begin = r->at;
    while (r->at < r->end && (isalnum((unsigned char)*r->at) || *r->at == '_'))
        r->at++;
    const size_t length = (size_t)(r->at - begin);
    size_t n = 0;
    while (n < r->names &&
           (r->name[n].length != length || memcmp(r->name[n].text, begin, length) != 0))
        n++;
    if (n == r->names && r->names < MOST_NAMES) {
        r->name[n].text = begin;
        r->name[n].length = length;
        r->names++;
    }
    sha256_add(&r->hash, "n", 1);
    sha256_add(&r->hash, &n, sizeof n);
}

static void add_number(struct reading *r)
{
    const char *begin = r->at;
    while (r->at < r->end && (isalnum((unsigned char)*r->at) || *r->at == '.'))
        r->at++;
    sha256_add(&r->hash, begin, (size_t)(r->at - begin));
}

void ov_fingerprint(const char *source, size_t bytes, char hex[65])
{
    struct reading *r = calloc(1, sizeof *r);
    hex[0] = '\0';
    if (!r)
        return;
    r->at = source;
    r->end = source + bytes;
    sha256_begin(&r->hash);
    for (skip_layout(r); r->at < r->end; skip_layout(r)) {
        if (isalpha((unsigned char)*r->at) || *r->at == '_')
            add_name(r);
        else if (isdigit((unsigned char)*r->at))
            add_number(r);
        else
            sha256_add(&r->hash, r->at++, 1);
        sha256_add(&r->hash, " ", 1);
    }
    sha256_end_hex(&r->hash, hex);
    free(r);
}
