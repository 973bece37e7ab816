#include "vprof/nsight_table.h"

#include "base/array_room.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void nsight_cell(struct nsight_table *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!ARRAY_ROOM(t->cell, t->cells) || vasprintf(&t->cell[t->cells], format, args) < 0)
        t->no_memory = true;
    else
        t->cells++;
    va_end(args);
}

void nsight_number(char *to, size_t room, int decimals, double value)
{
    char digits[40];
    size_t n = 0;
    snprintf(digits, sizeof digits, "%.*f", decimals, value);
    const size_t whole = strcspn(digits, ".");
    for (size_t i = 0; digits[i] && n + 2 < room; i++) {
        if (i > 0 && i < whole && (whole - i) % 3 == 0 && digits[i - 1] != '-')
            to[n++] = ',';
        to[n++] = digits[i];
    }
    to[n] = '\0';
}

void nsight_widths(const struct nsight_table *t, size_t width[NSIGHT_COLUMNS_MAX])
{
    memset(width, 0, NSIGHT_COLUMNS_MAX * sizeof *width);
    for (size_t i = 0; i < t->cells; i++) {
        const size_t n = strlen(t->cell[i]);
        size_t *const most = &width[i % t->columns];
        *most = n > *most ? n : *most;
    }
}

static void csv_field(FILE *out, const char *text, bool quoted)
{
    const bool quotes = quoted || strpbrk(text, ",\"\n");
    if (quotes)
        fputc('"', out);
    for (; *text; text++)
        fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
    if (quotes)
        fputc('"', out);
}

void nsight_csv_row(FILE *out, const struct nsight_table *t, size_t row, bool quoted,
                    const char *end)
{
    for (size_t i = 0; i < t->columns; i++) {
        csv_field(out, t->cell[row * t->columns + i], quoted);
        fputs(i + 1 < t->columns ? "," : end, out);
    }
}

void nsight_table_free(struct nsight_table *t)
{
    for (size_t i = 0; i < t->cells; i++)
        free(t->cell[i]);
    free(t->cell);
    *t = (struct nsight_table){.columns = t->columns};
}

/* ---- names ---------------------------------------------------------------------------------- */

struct text {
    char *to;
    size_t room, n;
};

static void append(struct text *t, const char *from, size_t n)
{
    for (; n-- && t->n + 1 < t->room; from++)
        t->to[t->n++] = *from;
    t->to[t->n] = '\0';
}

/* The start of a name's parameters: the last opening parenthesis that is not inside another. */
static const char *parameters_of(const char *name)
{
    const char *found = NULL;
    int depth = 0;
    for (const char *at = name; *at; at++) {
        if (*at == '(' && depth == 0)
            found = at;
        depth += (*at == '(' || *at == '<') - (*at == ')' || *at == '>');
    }
    return found;
}

/* Appends a parameter: "float const *" becomes "const float *". */
static void append_parameter(struct text *to, const char *from, size_t n)
{
    static const char is_const[] = " const";
    const char *pointer = memchr(from, '*', n), *reference = memchr(from, '&', n);
    const char *mark = !pointer || (reference && reference < pointer) ? reference : pointer;
    size_t type = mark ? (size_t)(mark - from) : n;
    while (type > 0 && from[type - 1] == ' ')
        type--;
    const size_t word = sizeof is_const - 1;
    if (mark && type > word && strncmp(from + type - word, is_const, word) == 0) {
        append(to, "const ", 6);
        type -= word;
    }
    append(to, from, type);
    if (mark) {
        append(to, " ", 1);
        append(to, mark, n - (size_t)(mark - from));
    }
}

void nsight_name(char *to, size_t room, const char *name)
{
    struct text t = {.to = to, .room = room};
    const char *at = parameters_of(name), *start;
    *to = '\0';
    if (!at) {
        append(&t, name, strlen(name));
        return;
    }
    append(&t, name, (size_t)(++at - name));
    int depth = 0;
    for (start = at; *at; at++) {
        if (depth == 0 && (*at == ',' || *at == ')')) {
            append_parameter(&t, start, (size_t)(at - start));
            append(&t, *at == ',' ? ", " : ")", *at == ',' ? 2 : 1);
            start = at + 1 + strspn(at + 1, " ");
        }
        depth += (*at == '(' || *at == '<') - (*at == ')' || *at == '>');
    }
}

void nsight_short_name(char *to, size_t room, const char *name)
{
    struct text t = {.to = to, .room = room};
    const char *end = parameters_of(name), *start = name, *at;
    int depth = 0;
    end = end ? end : name + strlen(name);
    for (at = name; at < end; at++) { /* finds the end of the type, and of the last scope */
        if (depth == 0 && (*at == ' ' || *at == ':'))
            start = at + 1;
        depth += (*at == '<') - (*at == '>');
    }
    *to = '\0';
    append(&t, start, strcspn(start, "<("));
}
