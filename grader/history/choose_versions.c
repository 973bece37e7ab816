/* Chooses the two versions to compare. */
#include "grader/history/compare_versions.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_called(const struct hi_version *v, const char *name)
{
    char *end;
    const unsigned long number = strtoul(name, &end, 10);
    const size_t digits = strlen(name) < strlen(v->hash) ? strlen(name) : strlen(v->hash);
    return (isdigit((unsigned char)*name) && !*end && number == v->number) ||
           (digits >= 4 && strncmp(v->hash, name, digits) == 0);
}

/* Finds the newest version with this name. */
static const struct hi_version *find(const struct hi_list *list, const char *name,
                                     struct st_error *err)
{
    const struct hi_version *found = NULL, *other = NULL;
    for (size_t i = list->n; i-- > 0;) {
        const struct hi_version *v = &list->version[i];
        if (!is_called(v, name))
            continue;
        if (found && strcmp(found->hash, v->hash) != 0)
            other = v;
        found = found ? found : v;
    }
    if (found && !other)
        return found;
    if (other)
        st_fail(err, ST_USAGE, "'%s' matches two versions, %s and %s", name, found->hash,
                other->hash);
    else
        st_fail(err, ST_NOT_FOUND, "no graded version is named '%s'", name);
    st_detail(err, ST_EXPECTED, "a number, or at least four digits of the version");
    st_detail(err, ST_HINT, "grader log lists them");
    return NULL;
}

static enum st_code read_version(struct hi_change *c, int side, const struct hi_version *v,
                                 struct st_error *err)
{
    c->version[side] = *v;
    if (!c->result[side])
        c->result[side] = malloc(sizeof *c->result[side]);
    if (!c->result[side])
        return st_fail(err, ST_NO_MEMORY, "out of memory for a result");
    return hi_version_read(v, c->result[side], err);
}

/* Reads the newest version that is not damaged. */
static enum st_code read_newest(const struct hi_list *list, struct hi_change *c,
                                struct st_error *err)
{
    enum st_code code = ST_NOT_FOUND;
    for (size_t i = list->n; i-- > 0 && code;)
        code = read_version(c, HI_AFTER, &list->version[i], err);
    return code;
}

/* Finds the newest version before the second one that is comparable with it and has the same
 * subject. */
static enum st_code find_before(const struct hi_list *list, struct hi_change *c,
                                struct st_error *err)
{
    const struct gr_result *const after = c->result[HI_AFTER];
    for (size_t i = list->n; i-- > 0;) {
        const struct hi_version *v = &list->version[i];
        if (v->number >= c->version[HI_AFTER].number || read_version(c, HI_BEFORE, v, NULL))
            continue;
        if (hi_is_comparable(c->result[HI_BEFORE], after) &&
            strcmp(c->result[HI_BEFORE]->subject, after->subject) == 0)
            return ST_OK;
    }
    st_fail(err, ST_NOT_FOUND, "no version was graded before %s on the same device",
            c->version[HI_AFTER].hash);
    return st_detail(err, ST_HINT, "name two versions; grader log lists them");
}

enum st_code hi_versions_choose(const struct hi_list *list, const char *before, const char *after,
                                struct hi_change *c, struct st_error *err)
{
    const struct hi_version *first = NULL, *second = NULL;
    *c = (struct hi_change){0};
    if ((before && !(first = find(list, before, err))) ||
        (after && !(second = find(list, after, err))))
        return err->code;
    enum st_code code = second ? read_version(c, HI_AFTER, second, err) : read_newest(list, c, err);
    if (!code)
        code = first ? read_version(c, HI_BEFORE, first, err) : find_before(list, c, err);
    return code;
}

void hi_change_free(struct hi_change *c)
{
    for (size_t i = 0; i < c->kernels; i++)
        free(c->kernel[i].line);
    line_match_free(&c->match);
    free(c->result[0]);
    free(c->result[1]);
    *c = (struct hi_change){0};
}
