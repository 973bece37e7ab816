/* Deletes lines of a case while the case still shows its finding. */
#include "vgpu/tests/engines/engine_shrink.h"

#include "base/clock.h"
#include "vgpu/tests/engines/engine_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shrink {
    char **lines; /* pointers into a copy of the text */
    bool *gone;
    size_t count;
    bool (*shows)(const char *text, void *context);
    void *context;
    double until;
};

static char *join(const struct shrink *s)
{
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    for (size_t i = 0; f && i < s->count; i++)
        if (!s->gone[i])
            fprintf(f, "%s\n", s->lines[i]);
    if (!f || fclose(f))
        abort();
    return text;
}

static bool is_over(const struct shrink *s)
{
    return clock_now_s() > s->until;
}

/* Tries the text without these lines. @param also_kept  whether marked lines are also deleted */
static bool try_without(struct shrink *s, size_t from, size_t to, bool also_kept)
{
    bool *before = malloc(s->count);
    if (!before)
        abort();
    memcpy(before, s->gone, s->count);
    bool any = false;
    for (size_t i = from; i < to && i < s->count; i++) {
        const bool goes = also_kept || !strstr(s->lines[i], KEEP_MARK);
        any |= goes && !s->gone[i];
        s->gone[i] |= goes;
    }
    bool good = false;
    if (any) {
        char *text = join(s);
        good = s->shows(text, s->context);
        free(text);
    }
    if (!good)
        memcpy(s->gone, before, s->count);
    free(before);
    return good;
}

/* @return the line that closes the group opened by line i. */
static size_t closing(const struct shrink *s, size_t i)
{
    int depth = 0;
    for (; i < s->count; i++) {
        depth += strcmp(s->lines[i], OPEN_MARK) == 0;
        depth -= strcmp(s->lines[i], CLOSE_MARK) == 0;
        if (!depth)
            break;
    }
    return i;
}

static bool drop_statements(struct shrink *s)
{
    bool any = false;
    for (size_t i = 0; i < s->count && !is_over(s); i++)
        if (!s->gone[i] && strcmp(s->lines[i], OPEN_MARK) == 0) {
            const size_t end = closing(s, i);
            if (end < s->count && try_without(s, i, end + 1, true)) {
                any = true;
                i = end;
            }
        }
    return any;
}

static bool drop_runs(struct shrink *s, size_t run)
{
    bool any = false;
    for (size_t i = s->count; i > 0 && !is_over(s);) {
        const size_t from = i > run ? i - run : 0;
        any |= try_without(s, from, i, false);
        i = from;
    }
    return any;
}

static void split(struct shrink *s, char *text)
{
    for (char *p = text; *p; p++)
        s->count += *p == '\n';
    s->lines = calloc(s->count + 1, sizeof *s->lines);
    s->gone = calloc(s->count + 1, 1);
    if (!s->lines || !s->gone)
        abort();
    size_t n = 0;
    for (char *p = text, *end; n < s->count && (end = strchr(p, '\n')); p = end + 1) {
        *end = '\0';
        s->lines[n++] = p;
    }
}

char *case_shrink(const char *text, bool (*shows)(const char *text, void *context), void *context,
                  int seconds)
{
    struct shrink s = {.shows = shows, .context = context, .until = clock_now_s() + seconds};
    char *copy = NULL;
    if (asprintf(&copy, "%s\n", text) < 0)
        abort();
    split(&s, copy);
    bool any = true;
    while (any && !is_over(&s)) {
        any = drop_statements(&s);
        for (size_t run = s.count / 2; run > 0 && !is_over(&s); run /= 2)
            any |= drop_runs(&s, run);
    }
    char *small = join(&s);
    free(s.lines);
    free(s.gone);
    free(copy);
    return small;
}
