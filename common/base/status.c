#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

static const struct {
    const char *text, *hint;
} table[] = {
#define ST_ROW(name, text, hint) {text, hint},
    ST_MAP(ST_ROW)
#undef ST_ROW
};

const char *st_text(enum st_code code)
{
    return (size_t)code < sizeof table / sizeof *table ? table[code].text : "unknown status";
}

static enum st_code fail(struct st_error *err, enum st_code code, const char *what, va_list args)
{
    if (!err)
        return code;
    memset(err, 0, sizeof *err);
    err->code = code;
    vsnprintf(err->what, sizeof err->what, what, args);
    snprintf(err->hint, sizeof err->hint, "%s", table[code].hint);
    return code;
}

enum st_code st_fail(struct st_error *err, enum st_code code, const char *what, ...)
{
    va_list args;
    va_start(args, what);
    fail(err, code, what, args);
    va_end(args);
    return code;
}

enum st_code st_fail_errno(struct st_error *err, int errnum, const char *what, ...)
{
    enum st_code code = errnum == ENOENT ? ST_NOT_FOUND : errnum == ENOMEM ? ST_NO_MEMORY : ST_IO;
    va_list args;
    va_start(args, what);
    fail(err, code, what, args);
    va_end(args);
    if (!err)
        return code;
    size_t used = strlen(err->what);
    snprintf(err->what + used, sizeof err->what - used, ": %s", strerror(errnum));
    if (errnum == ENOSPC || errnum == EDQUOT)
        st_detail(err, ST_HINT, "the disk is full: free some space, then run the command again");
    return code;
}

enum st_code st_detail(struct st_error *err, enum st_field field, const char *text, ...)
{
    if (!err)
        return ST_OK;
    char *to = NULL;
    size_t room = 0;
    switch (field) {
    case ST_WHERE:
        to = err->where, room = sizeof err->where;
        break;
    case ST_EXPECTED:
        to = err->expected, room = sizeof err->expected;
        break;
    case ST_GOT:
        to = err->got, room = sizeof err->got;
        break;
    case ST_HINT:
        to = err->hint, room = sizeof err->hint;
        break;
    }
    va_list args;
    va_start(args, text);
    vsnprintf(to, room, text, args);
    va_end(args);
    return err->code;
}

/* File names and file contents appear in reports; they must not control a terminal, neither with
 * ASCII's control characters nor with those of ISO 6429, U+0080 to U+009F, in UTF-8. */
static void put_escaped(FILE *out, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p < 0x20 || *p == 0x7f)
            fprintf(out, "\\x%02x", *p);
        else if (*p == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f)
            fprintf(out, "\\x%02x", *++p);
        else
            fputc(*p, out);
    }
}

void st_print(FILE *out, const char *program, const struct st_error *err)
{
    fprintf(out, "%s: ", program);
    put_escaped(out, err->what[0] ? err->what : st_text(err->code));
    if (err->where[0]) {
        fputs(": ", out);
        put_escaped(out, err->where);
    }
    if (err->expected[0]) {
        fputs(": expected ", out);
        put_escaped(out, err->expected);
    }
    if (err->got[0]) {
        fputs(err->expected[0] ? ", got " : ": got ", out);
        put_escaped(out, err->got);
    }
    if (err->hint[0]) {
        fputs(" (hint: ", out);
        put_escaped(out, err->hint);
        fputc(')', out);
    }
    fputc('\n', out);
}
