/* Text that is safe in plots, and the rows of their tables. */
#include "grader/plots/plot_parts.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

const char *plot_text(char *to, size_t room, const char *text, size_t chars)
{
    size_t length = strlen(text), n = 0;
    chars = chars < room - 1 ? chars : room - 1;
    size_t head = (chars - 2) * 3 / 5, tail = chars - 2 - head;
    for (size_t i = 0; i < length; i++) {
        if (length > chars && i == head) {
            to[n++] = '.', to[n++] = '.';
            i = length - tail;
        }
        unsigned char c = (unsigned char)text[i];
        static const char apostrophe[] = "\u2019"; /* cannot end a string of gnuplot */
        if (c == '\'' && room - n > sizeof apostrophe + length - i) {
            memcpy(to + n, apostrophe, sizeof apostrophe - 1);
            n += sizeof apostrophe - 1;
            continue;
        }
        to[n++] = c < ' ' || c == 127                 ? ' '
                  : c > 127                           ? '?'
                  : c == '"' || c == '`' || c == '\'' ? '|'
                  : c == '\\'                         ? '/'
                                                      : (char)c;
    }
    to[n] = '\0';
    return to;
}

const char *plot_kernel(char *to, size_t room, const char *name, size_t chars)
{
    char plain[512];
    static const char unnamed[] = "(anonymous namespace)::";
    size_t n = 0;
    int depth = 0; /* nesting of template brackets */
    if (strncmp(name, "void ", 5) == 0)
        name += 5;
    for (const char *p = name; *p && n + 1 < sizeof plain; p++) {
        depth += (*p == '<') - (*p == '>');
        if (strncmp(p, unnamed, sizeof unnamed - 1) == 0)
            p += sizeof unnamed - 2;
        else if (*p == '(' && depth > 0 && strchr(p, ')')) /* the type of a number: (int)5 */
            p = strchr(p, ')');
        else if (*p == '(' && n) /* the parameters */
            break;
        else
            plain[n++] = *p;
    }
    plain[n] = '\0';
    char *arguments = strchr(plain, '<');
    if (n > chars && arguments && arguments > plain)
        *arguments = '\0';
    return plot_text(to, room, plain, chars);
}

void plot_put_number(FILE *out, double value)
{
    if (isfinite(value))
        fprintf(out, "%.9g", value);
    else
        fputs("NaN", out);
}

void plot_row(FILE *out, const char *types, ...)
{
    va_list args;
    va_start(args, types);
    for (const char *type = types; *type; type++) {
        if (type > types)
            fputc('\t', out);
        if (*type == 's') {
            const char *text = va_arg(args, const char *);
            fputs(text, out); /* a result of plot_text(), which needs no escapes */
        } else if (*type == 'd') {
            fprintf(out, "%d", va_arg(args, int));
        } else if (*type == 'z') {
            fprintf(out, "%zu", va_arg(args, size_t));
        } else {
            plot_put_number(out, va_arg(args, double));
        }
    }
    va_end(args);
    fputc('\n', out);
}
