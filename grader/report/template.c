#include "grader/report/template.h"

#include "base/files.h"
#include "grader/report/block.h"

#include <stdlib.h>
#include <string.h>

#define DIRECTIVE "<!-- @"

enum { MAX_TEMPLATE_BYTES = 1 << 20 };

const struct gr_piece *gr_piece_find(const struct gr_template *t, const char *name)
{
    for (size_t i = 0; i < t->pieces; i++)
        if (t->piece[i].kind != GR_TEXT && strcmp(t->piece[i].name, name) == 0)
            return &t->piece[i];
    return NULL;
}

void gr_template_free(struct gr_template *t)
{
    while (t->files)
        free(t->storage[--t->files]);
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

static enum st_code wrong(const struct gr_template *t, size_t line, struct st_error *err,
                          const char *what, const char *got)
{
    st_fail(err, ST_BAD_FORMAT, "template: %s", what);
    st_detail(err, ST_WHERE, "%s:%zu", t->path, line);
    st_detail(err, ST_HINT, "report-templates/README.md describes templates");
    return got ? (st_detail(err, ST_GOT, "%.60s", got), ST_BAD_FORMAT) : ST_BAD_FORMAT;
}

/* Finds the next word, which ends at one of the characters in @p stop, and moves @p at to that end.
 * @return NULL if there is none. */
static char *next_word(char **at, const char *stop)
{
    char *word = *at + strspn(*at, " \t\r\n");
    const size_t length = strcspn(word, stop);
    if (!length)
        return NULL;
    *at = word + length;
    return word;
}

/* Parses key="value" ... A run of white space in a value becomes one blank. */
static const char *parse_attributes(struct gr_piece *piece, char *at)
{
    for (char *key; (key = next_word(&at, "= \t\r\n"));) {
        if (at[0] != '=' || at[1] != '"')
            return key;
        *at = '\0';
        char *value = at + 2, *end = strchr(value, '"');
        if (!end || piece->attributes == GR_ATTRIBUTES)
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

/* Numbers a block that has a caption. */
static void number(const struct gr_template *t, struct gr_piece *piece)
{
    piece->figure = strcmp(piece->fill, "figure") == 0;
    piece->number = 1;
    for (size_t i = 0; i < t->pieces; i++)
        piece->number += t->piece[i].number && t->piece[i].figure == piece->figure;
}

/* @param text  the text between "<!-- @" and "-->", NUL-terminated */
static enum st_code parse_directive(struct gr_template *t, char *text, size_t line,
                                    struct st_error *err)
{
    struct gr_piece piece = {0};
    char *at = text, *kind = next_word(&at, " \t\r\n");
    if (!kind)
        return wrong(t, line, err, "a directive without a kind", NULL);
    if (*at)
        *at++ = '\0';
    char *name = next_word(&at, " \t\r\n");
    if (!name || !gr_is_name(name, (size_t)(at - name)))
        return wrong(t, line, err, "a directive without a name in lower-case letters", kind);
    snprintf(piece.name, sizeof piece.name, "%.*s", (int)(at - name), name);
    const char *bad = parse_attributes(&piece, at);
    if (bad)
        return wrong(t, line, err, "attributes are written key=\"value\"", bad);
    piece.kind = strcmp(kind, "prose") == 0 ? GR_PLACE : GR_BLOCK;
    if (piece.kind == GR_BLOCK && !(piece.fill = gr_block_known(kind)))
        return wrong(t, line, err, "unknown kind of directive", kind);
    if (gr_piece_find(t, piece.name))
        return wrong(t, line, err, "two directives have the same name", piece.name);
    if (piece.kind == GR_BLOCK && gr_attribute(&piece, "caption", NULL))
        number(t, &piece);
    t->piece[t->pieces++] = piece;
    return ST_OK;
}

static void add_text(struct gr_template *t, const char *text, size_t bytes)
{
    if (bytes)
        t->piece[t->pieces++] = (struct gr_piece){.kind = GR_TEXT, .text = text, .bytes = bytes};
}

static enum st_code parse(struct gr_template *t, char *text, const char *folder,
                          struct st_error *err);

/* Parses FOLDER/NAME.md. */
static enum st_code parse_file(struct gr_template *t, const char *folder, const char *name,
                               struct st_error *err)
{
    char *text;
    size_t bytes;
    if (path_make(t->path, sizeof t->path, err, "%s/%s.md", folder, name))
        return err->code;
    enum st_code code = file_read(t->path, MAX_TEMPLATE_BYTES, &text, &bytes, err);
    if (code)
        return code;
    if (strlen(text) == bytes)
        return parse(t, text, folder, err);
    code = wrong(t, line_of(text, text + strlen(text)), err, "a byte of value 0", NULL);
    free(text);
    return code;
}

/* @param directive  the text between "<!-- @" and "-->", NUL-terminated
 * @return whether it is an include; @p part is then the file's name in the folder */
static bool is_include(const char *directive, char part[GR_NAME + sizeof "parts/"])
{
    char name[GR_NAME];
    if (sscanf(directive, "include %47s", name) != 1 || !gr_is_name(name, strlen(name)))
        return false;
    sprintf(part, "parts/%s", name);
    return true;
}

/* Parses a text, which the template then owns. @param folder  of included files, or NULL */
static enum st_code parse(struct gr_template *t, char *text, const char *folder,
                          struct st_error *err)
{
    char *at = text, *from = at, part[GR_NAME + sizeof "parts/"];
    if (t->files == GR_TEMPLATE_FILES) {
        free(text);
        return wrong(t, 1, err, "too many includes", NULL);
    }
    t->storage[t->files++] = text;
    while ((at = strstr(at, DIRECTIVE))) {
        const size_t line = line_of(text, at);
        char *end = strstr(at, "-->");
        if (at > text && at[-1] != '\n')
            return wrong(t, line, err, "a directive begins in the first column", NULL);
        if (!end)
            return wrong(t, line, err, "a directive without an end", NULL);
        if (t->pieces + 3 > GR_PIECES)
            return wrong(t, line, err, "too many directives", NULL);
        add_text(t, from, (size_t)(at - from));
        from = end + strlen("-->");
        if (*from == '\r' && from[1] == '\n')
            from++;
        if (*from && *from++ != '\n')
            return wrong(t, line, err, "text after a directive", NULL);
        *end = '\0';
        at += strlen(DIRECTIVE);
        enum st_code code;
        if (folder && is_include(at, part)) {
            char path[sizeof t->path];
            snprintf(path, sizeof path, "%s", t->path);
            code = parse_file(t, folder, part, err);
            snprintf(t->path, sizeof t->path, "%s", path);
        } else {
            code = parse_directive(t, at, line, err);
        }
        if (code)
            return code;
        at = from;
    }
    add_text(t, from, strlen(from));
    return ST_OK;
}

enum st_code gr_template_parse(char *text, const char *path, struct gr_template *t,
                               struct st_error *err)
{
    memset(t, 0, sizeof *t);
    snprintf(t->path, sizeof t->path, "%s", path);
    enum st_code code = parse(t, text, NULL, err);
    if (code)
        gr_template_free(t);
    return code;
}

enum st_code gr_template_read(const char *folder, const char *section, struct gr_template *t,
                              struct st_error *err)
{
    memset(t, 0, sizeof *t);
    snprintf(t->section, sizeof t->section, "%s", section);
    enum st_code code = parse_file(t, folder, section, err);
    if (code)
        gr_template_free(t);
    return code;
}
