#include "grader/paper/template.h"

#include "base/files.h"
#include "grader/paper/fill.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DIRECTIVE "<!-- @"

enum { MAX_TEMPLATE_BYTES = 1 << 20 };

bool pp_is_name(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-", text[i]))
            return false;
    return bytes > 0 && bytes < PP_NAME && text[0] != '-';
}

long pp_section_rank(const char *section)
{
    if (strcmp(section, "front") == 0)
        return -1;
    if (strcmp(section, "final") == 0)
        return LONG_MAX;
    char *end;
    const long number = section[0] == 'm' ? strtol(section + 1, &end, 10) : -1;
    return number >= 0 && section[1] && *end == '\0' ? number : LONG_MAX - 1;
}

const char *pp_attribute(const struct pp_piece *piece, const char *key, const char *otherwise)
{
    for (size_t i = 0; i < piece->attributes; i++)
        if (strcmp(piece->attribute[i].key, key) == 0)
            return piece->attribute[i].value;
    return otherwise;
}

const struct pp_piece *pp_piece_find(const struct pp_template *t, const char *name)
{
    for (size_t i = 0; i < t->pieces; i++)
        if (t->piece[i].kind != PP_TEXT && strcmp(t->piece[i].name, name) == 0)
            return &t->piece[i];
    return NULL;
}

void pp_template_free(struct pp_template *t)
{
    free(t->storage);
    t->storage = NULL;
    t->pieces = 0;
}

/* ---- directives ------------------------------------------------------------------------------ */

static size_t line_of(const char *text, const char *at)
{
    size_t line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

static enum st_code wrong(const struct pp_template *t, size_t line, struct st_error *err,
                          const char *what, const char *got)
{
    st_fail(err, ST_BAD_FORMAT, "template: %s", what);
    st_detail(err, ST_WHERE, "%s:%zu", t->path, line);
    st_detail(err, ST_HINT, "report-templates/README.md says how templates are written");
    return got ? (st_detail(err, ST_GOT, "%.60s", got), ST_BAD_FORMAT) : ST_BAD_FORMAT;
}

/* Cuts the next word off, at white space or one of the characters. @return NULL at the end. */
static char *next_word(char **at, const char *stop)
{
    char *word = *at + strspn(*at, " \t\r\n");
    const size_t length = strcspn(word, stop);
    if (!length)
        return NULL;
    *at = word + length;
    return word;
}

/* key="value" ... Runs of white space within a value count as one blank. */
static const char *parse_attributes(struct pp_piece *piece, char *at)
{
    for (char *key; (key = next_word(&at, "= \t\r\n"));) {
        if (at[0] != '=' || at[1] != '"')
            return key;
        *at = '\0';
        char *value = at + 2, *end = strchr(value, '"');
        if (!end || piece->attributes == PP_ATTRIBUTES)
            return key;
        *end = '\0';
        at = end + 1;
        char *to = value;
        for (const char *from = value; *from; from++) {
            const bool space = strchr(" \t\r\n", *from);
            if (!space || (to > value && to[-1] != ' '))
                *to++ = space ? ' ' : *from;
        }
        *to = '\0';
        piece->attribute[piece->attributes].key = key;
        piece->attribute[piece->attributes++].value = value;
    }
    return NULL;
}

/* @param text  between "<!-- @" and "-->", NUL-terminated */
static enum st_code parse_directive(struct pp_template *t, char *text, size_t line,
                                    struct st_error *err)
{
    struct pp_piece piece = {.line = line};
    char *at = text, *kind = next_word(&at, " \t\r\n");
    if (!kind)
        return wrong(t, line, err, "a directive without a kind", NULL);
    if (*at)
        *at++ = '\0';
    char *name = next_word(&at, " \t\r\n");
    if (!name || !pp_is_name(name, (size_t)(at - name)))
        return wrong(t, line, err, "a directive without a name in lower-case letters", kind);
    snprintf(piece.name, sizeof piece.name, "%.*s", (int)(at - name), name);
    const char *bad = parse_attributes(&piece, at);
    if (bad)
        return wrong(t, line, err, "attributes are written key=\"value\"", bad);
    piece.kind = strcmp(kind, "prose") == 0 ? PP_PLACE : PP_BLOCK;
    if (piece.kind == PP_BLOCK && !(piece.fill = pp_fill_known(kind)))
        return wrong(t, line, err, "unknown kind of directive", kind);
    if (pp_piece_find(t, piece.name))
        return wrong(t, line, err, "two directives of the same name", piece.name);
    if (piece.kind == PP_BLOCK && pp_attribute(&piece, "caption", NULL)) {
        piece.number_kind = strcmp(piece.fill, "figure") == 0 ? "Figure" : "Table";
        piece.number = 1;
        for (size_t i = 0; i < t->pieces; i++)
            piece.number +=
                t->piece[i].number_kind && strcmp(t->piece[i].number_kind, piece.number_kind) == 0;
    }
    t->piece[t->pieces++] = piece;
    return ST_OK;
}

static void add_text(struct pp_template *t, const char *text, size_t bytes)
{
    if (bytes)
        t->piece[t->pieces++] = (struct pp_piece){.kind = PP_TEXT, .text = text, .bytes = bytes};
}

static enum st_code parse(struct pp_template *t, struct st_error *err)
{
    char *at = t->storage, *from = at;
    while ((at = strstr(at, DIRECTIVE))) {
        const size_t line = line_of(t->storage, at);
        char *end = strstr(at, "-->");
        if (at > t->storage && at[-1] != '\n')
            return wrong(t, line, err, "a directive begins in the first column", NULL);
        if (!end)
            return wrong(t, line, err, "a directive without an end", NULL);
        if (t->pieces + 3 > PP_PIECES)
            return wrong(t, line, err, "too many directives", NULL);
        add_text(t, from, (size_t)(at - from));
        from = end + strlen("-->");
        if (*from == '\r' && from[1] == '\n')
            from++;
        if (*from && *from++ != '\n')
            return wrong(t, line, err, "text behind a directive", NULL);
        *end = '\0';
        enum st_code code = parse_directive(t, at + strlen(DIRECTIVE), line, err);
        if (code)
            return code;
        at = from;
    }
    add_text(t, from, strlen(from));
    return ST_OK;
}

enum st_code pp_template_read(const char *folder, const char *section, struct pp_template *t,
                              struct st_error *err)
{
    memset(t, 0, sizeof *t);
    snprintf(t->section, sizeof t->section, "%s", section);
    size_t bytes;
    if (!path_format(t->path, sizeof t->path, "%s/%s.md", folder, section))
        return st_fail(err, ST_TOO_LARGE, "path is too long");
    enum st_code code = file_read(t->path, MAX_TEMPLATE_BYTES, &t->storage, &bytes, err);
    if (!code && strlen(t->storage) != bytes)
        code = wrong(t, line_of(t->storage, t->storage + strlen(t->storage)), err,
                     "a byte of value 0", NULL);
    if (!code)
        code = parse(t, err);
    if (code)
        pp_template_free(t);
    return code;
}
