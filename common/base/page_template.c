#include "base/page_template.h"

#include "base/utf8.h"

#include <string.h>

extern const char page_head_html[];

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

/* Writes JSON as the data of a script element: ASCII without '<', '>' and '&', so that it cannot end
 * the element. The JSON keeps its meaning; bytes that are not UTF-8 become U+FFFD. */
static void put_script_data(FILE *out, const char *json)
{
    for (unsigned point; (point = utf8_next(&json));)
        if (point >= 0x10000)
            fprintf(out, "\\u%04x\\u%04x", 0xd800 + ((point - 0x10000) >> 10),
                    0xdc00 + ((point - 0x10000) & 0x3ff));
        else if (point >= 0x7f || point == '<' || point == '>' || point == '&')
            fprintf(out, "\\u%04x", point);
        else
            fputc((int)point, out);
}

static void put_part(FILE *out, const struct page_part *part, const void *of)
{
    if (part->text)
        fputs(part->text, out);
    if (part->json)
        put_script_data(out, part->json);
    if (part->put)
        part->put(out, of);
}

void page_write(FILE *out, const char *template, const struct page_part *parts, const void *of)
{
    char room[PAGE_NAME_CHARS];
    for (const char *name; (name = page_template_next(out, &template, room));) {
        const struct page_part *part = parts;
        while (part->name && strcmp(part->name, name) != 0)
            part++;
        put_part(out, part, of);
        if (strcmp(name, "head") == 0)
            fputs(page_head_html, out);
    }
}
