/* Finds pages in mistakes.md. */
#include "grader/explain/explain.h"

#include <string.h>

extern const char mistakes_md[];

/* The first heading at or after a position, or the end of the text. */
static const char *heading_from(const char *at)
{
    while (*at && *at != '#') {
        at = strchr(at, '\n');
        at = at ? at + 1 : "";
    }
    return at;
}

static const char *line_after(const char *at)
{
    const char *end = strchr(at, '\n');
    return end ? end + 1 : at + strlen(at);
}

bool ex_page_next(struct ex_page *page)
{
    const char *at = heading_from(page->text ? page->text : mistakes_md);
    while (strncmp(at, "# ", 2) == 0) {
        page->part = at + 2;
        at = heading_from(line_after(at));
    }
    if (!*at)
        return false;
    page->names = at + 3;
    page->text = line_after(at);
    page->text += *page->text == '\n';
    const char *end = heading_from(page->text);
    page->text_chars = *end ? (size_t)(end - page->text) : strlen(page->text);
    while (page->text_chars && page->text[page->text_chars - 1] == '\n')
        page->text_chars--;
    return true;
}

bool ex_page_name(const struct ex_page *page, size_t at, char name[EX_NAME_CHARS])
{
    const char *word = page->names;
    for (; at; at--) {
        word += strcspn(word, ",\n");
        if (*word != ',')
            return false;
        word += 2;
    }
    snprintf(name, EX_NAME_CHARS, "%.*s", (int)strcspn(word, ",\n"), word);
    return true;
}

static bool find_exactly(const char *name, struct ex_page *page)
{
    char own[EX_NAME_CHARS];
    for (*page = (struct ex_page){0}; ex_page_next(page);)
        for (size_t i = 0; ex_page_name(page, i, own); i++)
            if (strcmp(own, name) == 0)
                return true;
    return false;
}

bool ex_page_find(const char *name, struct ex_page *page)
{
    static const char *const ends[] = {"_missing", "_wrong"};
    const size_t length = strlen(name);
    if (find_exactly(name, page))
        return true;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t end = strlen(ends[i]);
        char begin[EX_NAME_CHARS];
        if (length <= end || length - end >= sizeof begin || strcmp(name + length - end, ends[i]))
            continue;
        snprintf(begin, sizeof begin, "%.*s", (int)(length - end), name);
        return find_exactly(begin, page);
    }
    return false;
}

/* The number of letters to insert, remove or replace (the Levenshtein distance). */
static size_t distance(const char *a, const char *b)
{
    size_t row[EX_NAME_CHARS];
    const size_t n = strlen(b);
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            const size_t other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replaced < other ? replaced : other;
        }
    }
    return row[n];
}

void ex_name_nearest(const char *name, char nearest[EX_NAME_CHARS])
{
    char own[EX_NAME_CHARS];
    size_t least = strlen(name) / 2 + 1;
    nearest[0] = '\0';
    for (struct ex_page page = {0}; ex_page_next(&page);)
        for (size_t i = 0; ex_page_name(&page, i, own); i++) {
            const size_t d = strstr(own, name) ? 0 : distance(name, own);
            if (d >= least)
                continue;
            least = d;
            memcpy(nearest, own, sizeof own);
        }
}
