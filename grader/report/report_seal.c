/* The seal of grading.md, its last line: a checksum of all others.
 *
 *     <!-- convlab page 0123456789abcdef -->
 *
 * A page whose seal is missing or wrong was changed by hand, and is saved before a new page
 * replaces it. Line ends and trailing blanks are not part of the checksum, because editors change
 * them automatically. */
#include "grader/report/report_parts.h"

#include <inttypes.h>
#include <string.h>

#define SEAL_MARK "<!-- convlab page "

bool gr_next_line(const char **at, const char *end, struct gr_line *line)
{
    if (*at == end)
        return false;
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    line->text = *at;
    line->next = newline ? newline + 1 : end;
    line->bytes = (size_t)((newline ? newline : end) - *at);
    while (line->bytes && strchr(" \t\r", line->text[line->bytes - 1]))
        line->bytes--;
    *at = line->next;
    return true;
}

static bool is_seal(const struct gr_line *line)
{
    const size_t mark = strlen(SEAL_MARK);
    return line->bytes >= mark && memcmp(line->text, SEAL_MARK, mark) == 0;
}

/* FNV-1a over the lines of the page. */
static void seal_text(char to[80], const char *page, size_t bytes)
{
    uint64_t hash = 0xcbf29ce484222325u;
    struct gr_line line;
    for (const char *at = page, *end = page + bytes; gr_next_line(&at, end, &line);) {
        for (size_t i = 0; i < line.bytes && !is_seal(&line); i++)
            hash = (hash ^ (unsigned char)line.text[i]) * 0x100000001b3u;
        if (!is_seal(&line))
            hash = (hash ^ '\n') * 0x100000001b3u;
    }
    snprintf(to, 80, SEAL_MARK "%016" PRIx64 " -->", hash);
}

void gr_seal_put(FILE *out, const char *page, size_t bytes)
{
    char seal[80];
    seal_text(seal, page, bytes);
    fprintf(out, "%s\n", seal);
}

bool gr_seal_holds(const char *page, size_t bytes)
{
    char seal[80];
    struct gr_line line = {0}, last = {0};
    seal_text(seal, page, bytes);
    for (const char *at = page, *end = page + bytes; gr_next_line(&at, end, &line);)
        last = is_seal(&line) ? line : last;
    return last.bytes == strlen(seal) && memcmp(last.text, seal, last.bytes) == 0;
}
