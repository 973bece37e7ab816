#include "grader/sandbox/printable.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* How many bytes the well-formed UTF-8 character at @p text has and which it is; 0: it is none. */
static size_t decode(const unsigned char *text, unsigned *point)
{
    static const unsigned smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t bytes = *text < 0x80             ? 1
                         : (*text & 0xe0) == 0xc0 ? 2
                         : (*text & 0xf0) == 0xe0 ? 3
                         : (*text & 0xf8) == 0xf0 ? 4
                                                  : 0;
    if (!bytes)
        return 0;
    *point = bytes == 1 ? *text : *text & (0xffu >> (bytes + 1));
    for (size_t i = 1; i < bytes; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *point = *point << 6 | (text[i] & 0x3f);
    }
    const bool valid = *point >= smallest[bytes] && *point <= 0x10ffff && *point >> 11 != 0x1b;
    return valid ? bytes : 0;
}

static bool is_printable(unsigned point)
{
    const bool control = (point < 0x20 && point != '\n' && point != '\t') ||
                         (point >= 0x7f && point < 0xa0) || point == 0x2028 || point == 0x2029;
    const bool turns = (point >= 0x200e && point <= 0x200f) ||
                       (point >= 0x202a && point <= 0x202e) ||
                       (point >= 0x2066 && point <= 0x2069) || point == 0x061c;
    return !control && !turns;
}

char *gr_printable(char *to, size_t room, const char *text)
{
    size_t used = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        unsigned point = 0;
        size_t bytes = decode(at, &point);
        const bool as_is = bytes && is_printable(point);
        bytes = as_is ? bytes : 1;
        if (used + (as_is ? bytes : 4) >= room)
            break;
        if (as_is)
            memcpy(to + used, at, bytes);
        else
            snprintf(to + used, 5, "\\x%02x", *at);
        used += as_is ? bytes : 4;
        at += bytes;
    }
    to[used] = '\0';
    return to;
}
