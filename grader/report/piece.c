#include "grader/report/piece.h"

#include <string.h>

const char *gr_attribute(const struct gr_piece *piece, const char *key, const char *otherwise)
{
    for (size_t i = 0; i < piece->attributes; i++)
        if (strcmp(piece->attribute[i].key, key) == 0)
            return piece->attribute[i].value;
    return otherwise;
}

bool gr_attribute_is(const struct gr_piece *piece, const char *key, const char *value)
{
    return strcmp(gr_attribute(piece, key, ""), value) == 0;
}

bool gr_is_name(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-", text[i]))
            return false;
    return bytes > 0 && bytes < GR_NAME && text[0] != '-';
}
