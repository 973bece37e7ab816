#include "base/printable.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_printable(unsigned point)
{
    const bool control = (point < 0x20 && point != '\n' && point != '\t') ||
                         (point >= 0x7f && point < 0xa0) || point == 0x2028 || point == 0x2029;
    const bool turns = (point >= 0x200e && point <= 0x200f) ||
                       (point >= 0x202a && point <= 0x202e) ||
                       (point >= 0x2066 && point <= 0x2069) || point == 0x061c;
    return !control && !turns;
}

char *text_printable(char *to, size_t room, const char *text)
{
    size_t used = 0;
    for (const char *at = text; *at;) {
        unsigned point = 0;
        size_t bytes = utf8_decode(at, &point);
        const bool as_is = bytes && is_printable(point);
        bytes = as_is ? bytes : 1;
        if (used + (as_is ? bytes : 4) >= room)
            break;
        if (as_is)
            memcpy(to + used, at, bytes);
        else
            snprintf(to + used, 5, "\\x%02x", (unsigned char)*at);
        used += as_is ? bytes : 4;
        at += bytes;
    }
    to[used] = '\0';
    return to;
}
