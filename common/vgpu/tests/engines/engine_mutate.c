/* Changes PTX randomly, by lines and by words. */
#include "vgpu/tests/engines/engine_mutate.h"

#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mutation {
    struct rng rng;
    char **lines; /* each malloc'd */
    int count;
};

static int pick_line(struct mutation *m)
{
    return rng_range(&m->rng, 0, m->count - 1);
}

static void split(struct mutation *m, const char *text)
{
    for (const char *p = text; *p; p++)
        m->count += *p == '\n';
    m->lines = calloc((size_t)m->count + 1, sizeof *m->lines);
    if (!m->lines)
        abort();
    for (int i = 0; i < m->count; i++) {
        const size_t n = strcspn(text, "\n");
        m->lines[i] = strndup(text, n);
        text += n + 1;
    }
}

static void set_line(struct mutation *m, int i, char *line)
{
    free(m->lines[i]);
    m->lines[i] = line;
}

/* Replaces a digit somewhere in a line. */
static void change_number(struct mutation *m, int i)
{
    char *line = m->lines[i];
    const int n = (int)strlen(line);
    for (int tries = 0; n && tries < 20; tries++) {
        char *at = line + rng_range(&m->rng, 0, n - 1);
        if (*at < '0' || *at > '9')
            continue;
        *at = (char)('0' + rng_range(&m->rng, 0, 9));
        return;
    }
}

/* Joins the first words of a line and the rest of another line. */
static void change_opcode(struct mutation *m, int i)
{
    const char *from = m->lines[pick_line(m)], *rest = strpbrk(m->lines[i], " \t");
    char *line = NULL;
    while (rest && (*rest == ' ' || *rest == '\t'))
        rest++;
    const size_t indent = strspn(from, " \t");
    if (rest &&
        asprintf(&line, "%.*s %s", (int)(indent + strcspn(from + indent, " \t")), from, rest) > 0)
        set_line(m, i, line);
}

static void mutate_line(struct mutation *m)
{
    const int i = pick_line(m), other = pick_line(m);
    char *line = m->lines[i];
    switch (rng_range(&m->rng, 0, 5)) {
    case 0:
        set_line(m, i, strdup(""));
        break;
    case 1:
        set_line(m, i, strdup(m->lines[other]));
        break;
    case 2:
        m->lines[i] = m->lines[other];
        m->lines[other] = line;
        break;
    case 3:
        change_opcode(m, i);
        break;
    default:
        change_number(m, i);
    }
}

char *case_mutate(const char *text, uint64_t seed)
{
    struct mutation m = {.rng = rng_make(seed, 17)};
    char *to = NULL;
    size_t bytes;
    split(&m, text);
    for (int n = m.count ? rng_range(&m.rng, 1, 4) : 0; n > 0; n--)
        mutate_line(&m);
    FILE *f = open_memstream(&to, &bytes);
    for (int i = 0; f && i < m.count; i++) {
        fprintf(f, "%s\n", m.lines[i]);
        free(m.lines[i]);
    }
    if (!f || fclose(f))
        abort();
    free(m.lines);
    return to;
}
