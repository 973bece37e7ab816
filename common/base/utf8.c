#include "base/utf8.h"

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
    for (size_t i = 1; i < bytes; i++) { /* stops at the zero byte, which is no continuation */
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
