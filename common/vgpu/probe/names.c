#include "vgpu/probe/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void name_demangle(const char *mangled, char *to, size_t room)
{
    const char *p = mangled;
    size_t used = 0;
    snprintf(to, room, "%s", mangled);
    if (strncmp(p, "_Z", 2) != 0)
        return;
    p += 2;
    int nested = *p == 'N';
    p += nested;
    while (*p == 'K' || *p == 'L')
        p++;
    while (*p >= '0' && *p <= '9') {
        char *name;
        unsigned long n = strtoul(p, &name, 10);
        if (n > strlen(name))
            break;
        const char *text = name;
        int length = (int)n;
        if (strncmp(text, "_GLOBAL__N_", 11) == 0 || strncmp(text, "_INTERNAL_", 10) == 0) {
            text = "(anonymous)";
            length = 11;
        }
        int wrote = snprintf(to + used, room - used, "%s%.*s", used ? "::" : "", length, text);
        used = used + (size_t)wrote < room ? used + (size_t)wrote : room - 1;
        p = name + n;
        if (!nested)
            break;
        while (*p == 'L')
            p++;
    }
}
