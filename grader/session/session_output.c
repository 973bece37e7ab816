#include "grader/session/session_output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OUTPUT_LINES = 20 };

static void output_put(struct gr_output *out, const char *text, size_t n)
{
    if (out->length + n < sizeof out->text) {
        memcpy(out->text + out->length, text, n);
        out->length += n;
        out->text[out->length] = '\0';
    } else {
        out->dropping = true;
    }
}

/* Keeps the first lines; terminal controls and bytes that are not printable become \xNN. */
static void output_add(struct gr_output *out, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!out->midline) {
            out->lines++;
            if (out->lines > OUTPUT_LINES)
                out->dropping = true;
            else if (!out->dropping)
                out->lines_kept++;
        }
        out->midline = bytes[i] != '\n';
        if (out->dropping)
            continue;
        if ((bytes[i] >= 0x20 && bytes[i] < 0x7f) || bytes[i] == '\n' || bytes[i] == '\t') {
            output_put(out, (const char *)&bytes[i], 1);
        } else {
            char escaped[8];
            output_put(out, escaped,
                       (size_t)snprintf(escaped, sizeof escaped, "\\x%02x", bytes[i]));
        }
    }
}

void gr_output_drain(struct gr_output *out, int *pipe)
{
    unsigned char buffer[65536];
    ssize_t n;
    while (*pipe >= 0 && (n = read(*pipe, buffer, sizeof buffer)) != 0) {
        if (n < 0) {
            if (errno == EINTR)
                continue;
            return;
        }
        output_add(out, buffer, (size_t)n);
    }
    if (*pipe >= 0)
        close(*pipe);
    *pipe = -1;
}
