#include "base/file_name.h"

#include "base/sha256.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

char *file_name_of(char to[FILE_NAME_BYTES], const char *text, const char *inside)
{
    enum { CUT = 180, HASH = 16 };
    size_t used = 0;
    to[0] = '\0';
    for (const char *c = text; *c && used < CUT; c++) {
        bool plain = isalnum((unsigned char)*c) || *c == '_' || (c > text && strchr(inside, *c));
        used += (size_t)snprintf(to + used, 4, plain ? "%c" : "%%%02X", (unsigned char)*c);
    }
    if (used >= CUT) {
        char hex[SHA256_HEX];
        sha256_hex(text, strlen(text), hex);
        snprintf(to + CUT, FILE_NAME_BYTES - CUT, "%%-%.*s", HASH, hex);
    }
    return to;
}
