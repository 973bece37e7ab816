/* Tests of matching the lines of two texts: each line is in exactly one segment, in order, whatever
 * the texts are. */
#include "base/rng.h"
#include "grader/history/line_match.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* Writes "1=1 2~2 4-5~4": segments that differ have '~'; a side without lines is empty. */
static const char *places(const char *before, const char *after)
{
    static char text[4096];
    struct line_match m;
    text[0] = '\0';
    cr_assert(line_match_make(&m, before, after));
    for (size_t i = 0; i < m.n; i++) {
        const struct hi_place *p = &m.place[i];
        char side[2][40] = {"", ""};
        const int lines[2][2] = {{p->before, p->before_last}, {p->after, p->after_last}};
        for (int s = 0; s < 2; s++)
            if (lines[s][0] == lines[s][1])
                snprintf(side[s], 40, "%d", lines[s][0]);
            else if (lines[s][0] < lines[s][1])
                snprintf(side[s], 40, "%d-%d", lines[s][0], lines[s][1]);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s%c%s", i ? " " : "", side[0],
                 p->changed ? '~' : '=', side[1]);
    }
    line_match_free(&m);
    return text;
}

Test(line_match, finds_kept_changed_and_added_lines)
{
    cr_expect_str_eq(places("", ""), "");
    cr_expect_str_eq(places("a\nb\n", "a\nb\n"), "1=1 2=2");
    cr_expect_str_eq(places("a\nb\nc\n", "a\nB\nc\n"), "1=1 2~2 3=3");
    cr_expect_str_eq(places("a\nc\n", "a\nb\nc\n"), "1=1 ~2 2=3");
    cr_expect_str_eq(places("a\nb\nc\n", "a\nc\n"), "1=1 2~ 3=2");
    cr_expect_str_eq(places("a\nb\nc\nd\ne\nf\n", "a\nB\nc\nx\nf\n"), "1=1 2~2 3=3 4-5~4 6=5");
    cr_expect_str_eq(places("", "a\nb"), "~1-2");
}

Test(line_match, blanks_around_a_line_are_not_a_change)
{
    cr_expect_str_eq(places("if (x)\n\ty();\r\n", "if (x)\n        y();  "), "1=1 2=2");
    cr_expect_str_eq(places("a b\n", "ab\n"), "1~1");
}

/* Every line must be in exactly one segment, which names the line; segments marked equal must
 * contain equal lines. */
static void expect_whole(const struct line_match *m, const char *const text[2])
{
    size_t line[2] = {0};
    for (size_t i = 0; i < m->n; i++) {
        const struct hi_place *p = &m->place[i];
        cr_expect_eq((size_t)p->before, line[0] + 1);
        cr_expect_eq((size_t)p->after, line[1] + 1);
        if (!p->changed)
            cr_expect_eq(text[0][2 * line[0]], text[1][2 * line[1]]);
        line[0] = (size_t)p->before_last, line[1] = (size_t)p->after_last;
        for (int n = p->before; n <= p->before_last; n++)
            cr_expect_eq(line_match_place(m, 0, n), (int)i);
        for (int n = p->after; n <= p->after_last; n++)
            cr_expect_eq(line_match_place(m, 1, n), (int)i);
    }
    cr_expect_eq(line[0], m->lines[0]);
    cr_expect_eq(line[1], m->lines[1]);
}

Test(line_match, random_texts_are_whole)
{
    const uint64_t seed = rng_fresh_seed();
    struct rng rng = rng_make(seed, 0);
    printf("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < 500; i++) {
        char a[64] = "", b[64] = "";
        const char *const text[2] = {a, b};
        for (int n = (int)rng_range(&rng, 0, 30); n > 0; n--)
            strcat(a, (const char *const[]){"a\n", "b\n", "c\n"}[rng_range(&rng, 0, 2)]);
        for (int n = (int)rng_range(&rng, 0, 30); n > 0; n--)
            strcat(b, (const char *const[]){"a\n", "b\n", "c\n"}[rng_range(&rng, 0, 2)]);
        struct line_match m;
        cr_assert(line_match_make(&m, a, b));
        expect_whole(&m, text);
        cr_expect_eq(line_match_place(&m, 0, 0), -1);
        cr_expect_eq(line_match_place(&m, 1, 99), -1);
        line_match_free(&m);
    }
}
