#include "base/utf8.h"

#include <stdlib.h>

size_t utf8_decode(const char *text, unsigned *point)
{
    static const unsigned smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)text;
    const size_t bytes = *p < 0x80             ? 1
                         : (*p & 0xe0) == 0xc0 ? 2
                         : (*p & 0xf0) == 0xe0 ? 3
                         : (*p & 0xf8) == 0xf0 ? 4
                                               : 0;
    if (!bytes)
        return 0;
    unsigned read = bytes == 1 ? *p : *p & (0xffu >> (bytes + 1));
    for (size_t i = 1; i < bytes; i++) { /* stops at the zero byte */
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        read = read << 6 | (p[i] & 0x3f);
    }
    if (read < smallest[bytes] || read > 0x10ffff || read >> 11 == 0x1b)
        return 0;
    *point = read;
    return bytes;
}

bool utf8_valid(const char *text)
{
    unsigned point;
    for (size_t bytes; *text && (bytes = utf8_decode(text, &point)) > 0; text += bytes)
        continue;
    return !*text;
}

unsigned utf8_next(const char **text)
{
    unsigned point = UTF8_REPLACEMENT;
    if (!**text)
        return 0;
    const size_t bytes = utf8_decode(*text, &point);
    *text += bytes ? bytes : 1;
    return point;
}

void utf8_put(FILE *out, unsigned point)
{
    if (point < 0x80) {
        fputc((int)point, out);
        return;
    }
    int more = point >= 0x10000 ? 3 : point >= 0x800 ? 2 : 1;
    static const unsigned lead[] = {0, 0xc0, 0xe0, 0xf0};
    fputc((int)(lead[more] | point >> (6 * more)), out);
    while (more--)
        fputc((int)(0x80 | (point >> (6 * more) & 0x3f)), out);
}

void utf8_put_json(FILE *out, const char *text)
{
    fputc('"', out);
    for (unsigned point; (point = utf8_next(&text));) {
        if (point < ' ' || point == 0x7f) {
            fprintf(out, "\\u%04x", point);
            continue;
        }
        if (point == '"' || point == '\\')
            fputc('\\', out);
        utf8_put(out, point);
    }
    fputc('"', out);
}

char *utf8_repair(const char *text)
{
    char *copy;
    size_t bytes;
    FILE *out = open_memstream(&copy, &bytes);
    if (!out)
        return NULL;
    for (unsigned point; (point = utf8_next(&text));)
        utf8_put(out, point);
    if (fclose(out))
        return free(copy), NULL;
    return copy;
}
