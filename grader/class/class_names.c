#include "grader/class/class_names.h"

#include "base/file_name.h"
#include "grader/sandbox/printable.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The length of the UTF-8 character here, 0 if there is none (RFC 3629, section 4). */
static size_t utf8_length(const unsigned char *p)
{
    if (p[0] < 0x80)
        return 1;
    size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

bool cl_is_utf8(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    for (size_t length; *p && (length = utf8_length(p)) > 0; p += length)
        continue;
    return !*p;
}

bool cl_name_text(char to[CL_NAME_BYTES], const char *bytes)
{
    const unsigned char *p = (const unsigned char *)bytes;
    bool valid = true;
    size_t used = 0;
    while (*p && used + 5 < CL_NAME_BYTES) {
        size_t length = utf8_length(p);
        if (length == 0) {
            used += (size_t)snprintf(to + used, CL_NAME_BYTES - used, "\\x%02x", *p++);
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
    gr_printable(printable, sizeof printable, name);
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
