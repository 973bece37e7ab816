#include "grader/record/result.h"

#include <stdio.h>
#include <string.h>

struct gr_check *gr_result_check(const struct gr_result *r, const char *name)
{
    for (size_t i = 0; i < r->checks; i++)
        if (strcmp(r->check[i].name, name) == 0)
            return (struct gr_check *)&r->check[i];
    return NULL;
}

bool gr_failed(const struct gr_result *r, const char *name)
{
    const size_t length = strlen(name);
    const bool all = length && name[length - 1] == '_';
    for (size_t i = 0; i < r->checks; i++)
        if (r->check[i].status == GR_FAIL &&
            (all ? strncmp(r->check[i].name, name, length) : strcmp(r->check[i].name, name)) == 0)
            return true;
    return false;
}

double gr_unchecked_points(const struct gr_result *r)
{
    double points = 0;
    for (size_t i = 0; i < r->checks; i++)
        points += r->check[i].required ? 0 : r->check[i].max_points;
    return points;
}

const char *gr_short_hash(char *to, const struct gr_result *r)
{
    snprintf(to, GR_SHORT_HASH + 1, "%.*s", GR_SHORT_HASH, r->source_hash);
    return to;
}
