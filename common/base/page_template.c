#include "base/page_template.h"

#include <string.h>

static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

const char *page_template_next(FILE *out, const char **at, char name[PAGE_NAME_CHARS])
{
    const char *text = *at, *mark = text;
    size_t length = 0;
    while ((mark = strchr(mark, '@'))) {
        length = strspn(mark + 1, letters);
        if (length && length < PAGE_NAME_CHARS && mark[1 + length] == '@')
            break;
        mark++;
    }
    const size_t before = mark ? (size_t)(mark - text) : strlen(text);
    fwrite(text, 1, before, out);
    *at = text + before;
    if (!mark)
        return NULL;
    *at += length + 2;
    snprintf(name, PAGE_NAME_CHARS, "%.*s", (int)length, mark + 1);
    return name;
}
