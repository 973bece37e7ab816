#include "grader/class/class_names.h"

#include "base/file_name.h"
#include "base/utf8.h"
#include "base/printable.h"

#include <stdio.h>
#include <string.h>

bool cl_name_text(char to[CL_NAME_BYTES], const char *bytes)
{
    const char *p = bytes;
    bool valid = true;
    size_t used = 0;
    while (*p && used + 5 < CL_NAME_BYTES) {
        unsigned point;
        size_t length = utf8_decode(p, &point);
        if (length == 0) {
            used +=
                (size_t)snprintf(to + used, CL_NAME_BYTES - used, "\\x%02x", (unsigned char)*p++);
            valid = false;
        } else {
            memcpy(to + used, p, length);
            used += length;
            p += length;
        }
    }
    to[used] = '\0';
    return valid;
}

bool cl_list_next(const char **at, char *to, size_t room)
{
    if (!**at)
        return false;
    const size_t length = strcspn(*at, ",");
    snprintf(to, room, "%.*s", (int)length, *at);
    *at += length + ((*at)[length] == ',');
    return true;
}

void cl_name_hex(char to[2 * CL_NAME_BYTES], const char *bytes)
{
    size_t used = 0;
    for (; *bytes && used + 3 < 2 * CL_NAME_BYTES; bytes++)
        used += (size_t)snprintf(to + used, 3, "%02x", (unsigned char)*bytes);
    to[used] = '\0';
}

const char *cl_name_shown(char to[CL_SHOWN_BYTES], const char *name)
{
    char printable[CL_SHOWN_BYTES];
    text_printable(printable, sizeof printable, name);
    size_t used = 0;
    for (const char *p = printable; *p && used + 5 < CL_SHOWN_BYTES; p++)
        used += (size_t)snprintf(to + used, CL_SHOWN_BYTES - used,
                                 *p == '\n' || *p == '\t' ? "\\x%02x" : "%c", *p);
    to[used] = '\0';
    return to;
}

const char *cl_name_folder(char to[FILE_NAME_BYTES], const char *name)
{
    return file_name_of(to, name, "-");
}
