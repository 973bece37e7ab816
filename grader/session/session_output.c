#include "grader/session/session_output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OUTPUT_LINES = 20 };

static void put(struct gr_said *to, const char *text, size_t n)
{
    if (to->length + n < sizeof to->text) {
        memcpy(to->text + to->length, text, n);
        to->length += n;
        to->text[to->length] = '\0';
    } else {
        to->dropping = true;
    }
}

/* Keeps the first lines; control and other unprintable bytes become \xNN. */
static void put_byte(struct gr_said *to, unsigned char byte)
{
    char escaped[8];
    if (to->dropping)
        return;
    if ((byte >= 0x20 && byte < 0x7f) || byte == '\n' || byte == '\t')
        put(to, (const char *)&byte, 1);
    else
        put(to, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\x%02x", byte));
}

/* Decides from a line's start whether the virtual GPU printed it: indented details follow a title. */
static bool is_the_devices(const unsigned char *start, size_t n, bool after_its_line)
{
    static const char *const starts[] = {"virtual GPU: ", "    kernel   ", "    source   ",
                                         "    and      ", "    thread   ", "    access   ",
                                         "    that is  ", "    count    ", "    hint     "};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (n == GR_OUTPUT_START && memcmp(start, starts[i], n) == 0)
            return i == 0 || after_its_line;
    return false;
}

static void begin_line(struct gr_output *out)
{
    const bool device = is_the_devices(out->start, out->started, out->after_device);
    out->after_device = device;
    out->now = device ? &out->device : &out->lab;
    out->now->lines++;
    if (out->now->lines > OUTPUT_LINES)
        out->now->dropping = true;
    else if (!out->now->dropping)
        out->now->lines_kept++;
    for (size_t i = 0; i < out->started; i++)
        put_byte(out->now, out->start[i]);
    out->started = 0;
}

static void output_add(struct gr_output *out, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (out->now) {
            put_byte(out->now, bytes[i]);
        } else {
            out->start[out->started++] = bytes[i];
            if (out->started == GR_OUTPUT_START || bytes[i] == '\n')
                begin_line(out);
        }
        if (bytes[i] == '\n')
            out->now = NULL;
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
    if (out->started) /* a last line without a newline */
        begin_line(out);
    if (*pipe >= 0)
        close(*pipe);
    *pipe = -1;
}
