/* Lines are matched by the longest common subsequence, between the lines that both texts have in
 * common at their beginning and end. */
#include "grader/history/line_match.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Texts that differ in more lines than this are treated as one segment. */
enum { MOST_CELLS = 16 << 20 };

/** A line without the blanks around it. */
struct line {
    const char *text;
    size_t bytes;
};

struct text {
    size_t n;
    struct line *line;
};

static bool split(struct text *t, const char *text)
{
    size_t lines = 1;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    t->n = 0;
    t->line = calloc(lines, sizeof *t->line);
    while (t->line && *text) {
        const size_t all = strcspn(text, "\n"), indent = strspn(text, " \t");
        size_t end = all;
        while (end > indent && strchr(" \t\r", text[end - 1]))
            end--;
        t->line[t->n++] = (struct line){text + indent, end > indent ? end - indent : 0};
        text += all + (text[all] == '\n');
    }
    return t->line;
}

static bool is_equal(const struct text *a, size_t i, const struct text *b, size_t k)
{
    return a->line[i].bytes == b->line[k].bytes &&
           memcmp(a->line[i].text, b->line[k].text, a->line[i].bytes) == 0;
}

/* ---- segments -------------------------------------------------------------------------------- */

/* Adds a segment: lines i .. i_end of the first text correspond to lines k .. k_end of the
 * second. */
static void add_place(struct line_match *m, size_t i, size_t i_end, size_t k, size_t k_end,
                      bool changed)
{
    for (size_t line = i; line < i_end; line++)
        m->of[0][line] = (int)m->n;
    for (size_t line = k; line < k_end; line++)
        m->of[1][line] = (int)m->n;
    m->place[m->n++] = (struct hi_place){(int)i + 1, (int)i_end, (int)k + 1, (int)k_end, changed};
}

/* Adds changed lines. If their number is unchanged, each line is a segment; otherwise, all together
 * are one segment. */
static void add_passage(struct line_match *m, size_t i, size_t i_end, size_t k, size_t k_end)
{
    const bool by_line = i_end - i == k_end - k;
    if (i == i_end && k == k_end)
        return;
    m->removed += i_end - i;
    m->added += k_end - k;
    for (; by_line && i < i_end; i++, k++)
        add_place(m, i, i + 1, k, k + 1, true);
    if (!by_line)
        add_place(m, i, i_end, k, k_end, true);
}

/* ---- the longest common subsequence ------------------------------------------------------------ */

/** The lines between the common lines at both ends. */
struct middle {
    const struct text *a, *b;
    size_t from, a_end, b_end;
    uint16_t *length; /* [lines of a][lines of b] length of the common subsequence of the remaining
                         lines */
};

static uint16_t *cell(const struct middle *d, size_t i, size_t k)
{
    return &d->length[(i - d->from) * (d->b_end - d->from + 1) + k - d->from];
}

static void fill(const struct middle *d)
{
    for (size_t i = d->a_end; i-- > d->from;)
        for (size_t k = d->b_end; k-- > d->from;) {
            const uint16_t down = *cell(d, i + 1, k), right = *cell(d, i, k + 1);
            *cell(d, i, k) = is_equal(d->a, i, d->b, k) ? (uint16_t)(*cell(d, i + 1, k + 1) + 1)
                                                        : (down > right ? down : right);
        }
}

static void walk(struct line_match *m, const struct middle *d)
{
    size_t i = d->from, k = d->from, i_first = i, k_first = k;
    while (i < d->a_end && k < d->b_end) {
        if (is_equal(d->a, i, d->b, k)) {
            add_passage(m, i_first, i, k_first, k);
            add_place(m, i, i + 1, k, k + 1, false);
            i_first = ++i, k_first = ++k;
        } else if (*cell(d, i + 1, k) >= *cell(d, i, k + 1)) {
            i++;
        } else {
            k++;
        }
    }
    add_passage(m, i_first, d->a_end, k_first, d->b_end);
}

static bool match_middle(struct line_match *m, struct middle *d)
{
    const size_t rows = d->a_end - d->from + 1, columns = d->b_end - d->from + 1;
    if (rows > UINT16_MAX || columns > UINT16_MAX || rows * columns > MOST_CELLS) {
        add_passage(m, d->from, d->a_end, d->from, d->b_end);
        return true;
    }
    d->length = calloc(rows * columns, sizeof *d->length);
    if (!d->length)
        return false;
    fill(d);
    walk(m, d);
    free(d->length);
    return true;
}

/* ---- the texts -------------------------------------------------------------------------------- */

static bool match(struct line_match *m, const struct text *a, const struct text *b)
{
    struct middle d = {.a = a, .b = b, .a_end = a->n, .b_end = b->n};
    m->lines[0] = a->n;
    m->lines[1] = b->n;
    m->place = calloc(a->n + b->n + 1, sizeof *m->place);
    m->of[0] = calloc(a->n + 1, sizeof *m->of[0]);
    m->of[1] = calloc(b->n + 1, sizeof *m->of[1]);
    if (!m->place || !m->of[0] || !m->of[1])
        return false;
    for (; d.from < a->n && d.from < b->n && is_equal(a, d.from, b, d.from); d.from++)
        add_place(m, d.from, d.from + 1, d.from, d.from + 1, false);
    while (d.a_end > d.from && d.b_end > d.from && is_equal(a, d.a_end - 1, b, d.b_end - 1))
        d.a_end--, d.b_end--;
    const bool good = match_middle(m, &d);
    for (; good && d.a_end < a->n; d.a_end++, d.b_end++)
        add_place(m, d.a_end, d.a_end + 1, d.b_end, d.b_end + 1, false);
    return good;
}

bool line_match_make(struct line_match *m, const char *before, const char *after)
{
    struct text a, b = {0};
    *m = (struct line_match){0};
    const bool good = split(&a, before) && split(&b, after) && match(m, &a, &b);
    free(a.line);
    free(b.line);
    return good;
}

int line_match_place(const struct line_match *m, int side, int line)
{
    return line >= 1 && (size_t)line <= m->lines[side] ? m->of[side][line - 1] : -1;
}

void line_match_free(struct line_match *m)
{
    free(m->place);
    free(m->of[0]);
    free(m->of[1]);
    *m = (struct line_match){0};
}
