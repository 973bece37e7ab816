#include "grader/paper/document.h"

#include "base/array_room.h"
#include "base/files.h"
#include "grader/report/report_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define UNWRITTEN "(write here)"

/* More than any student writes; a larger file is rejected, not cut. */
enum { MAX_DOCUMENT_BYTES = 16 << 20 };

/* ---- markers ------------------------------------------------------------------------------- */

enum marker { NONE, SECTION, BEGIN_PROSE, END_PROSE, BEGIN_GENERATED, END_GENERATED, DAMAGED };

static const char *const marker_word[] = {[SECTION] = "SECTION",
                                          [BEGIN_PROSE] = "BEGIN PROSE",
                                          [END_PROSE] = "END PROSE",
                                          [BEGIN_GENERATED] = "BEGIN GENERATED",
                                          [END_GENERATED] = "END GENERATED"};

struct mark {
    enum marker marker;
    char section[GR_NAME], name[GR_NAME], sum[GR_NAME];
};

/* Reads a word that consists of characters allowed in names. */
static bool take_name(const char **at, const char *end, char to[GR_NAME])
{
    const char *from = *at;
    while (from < end && *from == ' ')
        from++;
    const char *stop = from;
    while (stop < end && *stop != ' ')
        stop++;
    to[0] = '\0';
    if (!gr_is_name(from, (size_t)(stop - from)))
        return false;
    memcpy(to, from, (size_t)(stop - from));
    to[stop - from] = '\0';
    *at = stop;
    return true;
}

/* Parses a line that begins like a marker. */
static struct mark read_mark(const struct gr_line *line)
{
    struct mark mark = {.marker = NONE};
    const char *at = line->text, *end = at + line->bytes;
    const size_t comment = strlen("<!-- ");
    for (int m = SECTION; m < DAMAGED; m++) {
        const size_t word = strlen(marker_word[m]);
        if (line->bytes <= comment + word || memcmp(at, "<!-- ", comment) ||
            memcmp(at + comment, marker_word[m], word) || at[comment + word] != ' ')
            continue;
        at += comment + word;
        mark.marker = (enum marker)m;
        break;
    }
    if (!mark.marker)
        return mark;
    bool good = line->bytes >= 4 && memcmp(end - 4, " -->", 4) == 0;
    end -= good ? 4 : 0;
    good = good && take_name(&at, end, mark.section);
    good = good && (mark.marker == SECTION || take_name(&at, end, mark.name));
    if (good && mark.marker == END_GENERATED && at < end)
        good = take_name(&at, end, mark.sum);
    if (!good || at != end) /* a comment that only begins with SECTION may contain anything */
        mark.marker = mark.marker == SECTION ? NONE : DAMAGED;
    return mark;
}

/* Whether a marker has been indented or quoted, and is therefore no longer a marker. */
static bool is_indented_mark(const struct gr_line *line)
{
    struct gr_line moved = *line;
    while (moved.bytes && strchr(" \t>", *moved.text))
        moved.text++, moved.bytes--;
    return moved.text != line->text && read_mark(&moved).marker > SECTION;
}

/* FNV-1a over the lines, without blanks at their ends. */
static uint32_t checksum(const char *text, size_t bytes)
{
    uint32_t hash = 0x811c9dc5u;
    struct gr_line line;
    for (const char *at = text, *end = text + bytes; gr_next_line(&at, end, &line);) {
        for (size_t i = 0; i < line.bytes; i++)
            hash = (hash ^ (unsigned char)line.text[i]) * 0x01000193u;
        hash = (hash ^ '\n') * 0x01000193u;
    }
    return hash;
}

static bool is_blank(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (!strchr(" \t\r\n", text[i]))
            return false;
    return true;
}

/* ---- parsing -------------------------------------------------------------------------------- */

struct cutter {
    struct pp_document *document;
    const char *name;
    struct pp_segment open; /* the place or block that is open */
    bool inside;
    const char *free_from; /* beginning of the text that is not in a segment yet */
    char section[GR_NAME]; /* the section that began there */
    size_t free_line;
    struct st_error *err;
};

static enum st_code damaged(struct cutter *c, size_t line, const char *what)
{
    st_fail(c->err, ST_BAD_FORMAT, "the markers of the report are damaged: %s", what);
    st_detail(c->err, ST_WHERE, "%s:%zu", c->name, line);
    st_detail(
        c->err, ST_HINT,
        "repair the marker, or delete the block with both of its markers; nothing was written");
    return ST_BAD_FORMAT;
}

static enum st_code add(struct cutter *c, const struct pp_segment *segment)
{
    struct pp_document *d = c->document;
    if (!ARRAY_ROOM(d->segment, d->segments))
        return st_fail(c->err, ST_NO_MEMORY, "out of memory for the report");
    d->segment[d->segments++] = *segment;
    return ST_OK;
}

/* Ends the free text before @p to. */
static enum st_code end_free(struct cutter *c, const char *to)
{
    const size_t bytes = (size_t)(to - c->free_from);
    struct pp_segment free = {.kind = PP_FREE,
                              .all = c->free_from,
                              .all_bytes = bytes,
                              .text = c->free_from,
                              .bytes = bytes,
                              .line = c->free_line};
    strcpy(free.section, c->section);
    c->section[0] = '\0';
    return bytes ? add(c, &free) : ST_OK;
}

static enum st_code begin(struct cutter *c, const struct mark *mark, const struct gr_line *line,
                          size_t number)
{
    const struct pp_segment *twin = pp_document_find(c->document, mark->section, mark->name);
    char what[160];
    if (twin) {
        snprintf(what, sizeof what, "\"%s %s\" exists twice, first in line %zu", mark->section,
                 mark->name, twin->line);
        return damaged(c, number, what);
    }
    enum st_code code = end_free(c, line->text);
    c->inside = true;
    c->open = (struct pp_segment){.kind = mark->marker == BEGIN_PROSE ? PP_PROSE : PP_GENERATED,
                                  .all = line->text,
                                  .text = line->next,
                                  .line = number};
    strcpy(c->open.section, mark->section);
    strcpy(c->open.name, mark->name);
    return code;
}

static enum st_code end(struct cutter *c, const struct mark *mark, const struct gr_line *line,
                        size_t number)
{
    struct pp_segment *s = &c->open;
    char what[200];
    const bool prose = mark->marker == END_PROSE;
    if (prose != (s->kind == PP_PROSE) || strcmp(mark->section, s->section) != 0 ||
        strcmp(mark->name, s->name) != 0) {
        snprintf(what, sizeof what, "this does not end block \"%s %s\", which begins in line %zu",
                 s->section, s->name, s->line);
        return damaged(c, number, what);
    }
    s->bytes = (size_t)(line->text - s->text);
    s->all_bytes = (size_t)(line->next - s->all);
    char sum[16];
    snprintf(sum, sizeof sum, "%08" PRIx32, checksum(s->text, s->bytes));
    s->edited = !prose && strcmp(sum, mark->sum) != 0 && !is_blank(s->text, s->bytes);
    c->inside = false;
    c->free_from = line->next;
    c->free_line = number + 1;
    return add(c, s);
}

static enum st_code take_line(struct cutter *c, const struct gr_line *line, size_t number)
{
    const struct mark mark = read_mark(line);
    const bool generated = c->inside && c->open.kind == PP_GENERATED;
    char what[200];
    if (mark.marker == DAMAGED || (!mark.marker && !generated && is_indented_mark(line)))
        return damaged(c, number, "a marker must be complete and begin in the first column");
    if (!mark.marker)
        return ST_OK;
    const bool begins = mark.marker == BEGIN_PROSE || mark.marker == BEGIN_GENERATED;
    const bool ends = mark.marker == END_PROSE || mark.marker == END_GENERATED;
    if (c->inside && !ends) {
        snprintf(what, sizeof what,
                 "this is inside \"%s %s\", which begins in line %zu and has no end",
                 c->open.section, c->open.name, c->open.line);
        return damaged(c, number, what);
    }
    if (!c->inside && ends)
        return damaged(c, number, "this ends a block that has no beginning");
    if (begins)
        return begin(c, &mark, line, number);
    if (ends)
        return end(c, &mark, line, number);
    enum st_code code = end_free(c, line->text);
    c->free_from = line->text;
    c->free_line = number;
    strcpy(c->section, mark.section);
    return code;
}

enum st_code pp_document_parse(char *text, size_t bytes, const char *name,
                               struct pp_document *document, struct st_error *err)
{
    *document = (struct pp_document){.text = text, .bytes = bytes};
    struct cutter c = {
        .document = document, .name = name, .free_from = text, .free_line = 1, .err = err};
    enum st_code code = ST_OK;
    size_t number = 0;
    struct gr_line line;
    const char *end_of_text = text + bytes;
    for (const char *at = text; !code && gr_next_line(&at, end_of_text, &line);)
        code = take_line(&c, &line, ++number);
    if (!code && c.inside) {
        char what[160];
        snprintf(what, sizeof what, "\"%s %s\" has no end", c.open.section, c.open.name);
        code = damaged(&c, c.open.line, what);
    }
    if (!code)
        code = end_free(&c, end_of_text);
    if (code)
        pp_document_free(document);
    return code;
}

enum st_code pp_document_read(const char *path, struct pp_document *document, struct st_error *err)
{
    memset(document, 0, sizeof *document);
    if (!file_exists(path))
        return ST_OK;
    char *text;
    size_t bytes;
    enum st_code code = file_read(path, MAX_DOCUMENT_BYTES, &text, &bytes, err);
    return code ? code : pp_document_parse(text, bytes, path, document, err);
}

void pp_document_free(struct pp_document *document)
{
    free(document->text);
    free(document->segment);
    memset(document, 0, sizeof *document);
}

const struct pp_segment *pp_document_find(const struct pp_document *document, const char *section,
                                          const char *name)
{
    for (size_t i = 0; i < document->segments; i++) {
        const struct pp_segment *s = &document->segment[i];
        if (s->kind != PP_FREE && strcmp(s->section, section) == 0 && strcmp(s->name, name) == 0)
            return s;
    }
    return NULL;
}

/* ---- writing -------------------------------------------------------------------------------- */

void pp_put_generated(FILE *out, const char *section, const char *name, const char *text,
                      size_t bytes)
{
    fprintf(out, "<!-- BEGIN GENERATED %s %s -->\n", section, name);
    fwrite(text, 1, bytes, out);
    fprintf(out, "<!-- END GENERATED %s %s %08" PRIx32 " -->\n", section, name,
            checksum(text, bytes));
}

void pp_put_place(FILE *out, const char *section, const char *name, const char *question)
{
    fprintf(out, "<!-- BEGIN PROSE %s %s -->\n<!-- %s -->\n\n" UNWRITTEN "\n\n", section, name,
            question);
    fprintf(out, "<!-- END PROSE %s %s -->\n", section, name);
}

void pp_put_section(FILE *out, const char *section)
{
    fprintf(out, "<!-- SECTION %s -->\n", section);
}

struct pp_prose pp_prose_look(const char *text, size_t bytes)
{
    struct pp_prose prose = {0};
    for (const char *at = text, *end = text + bytes; at < end;) {
        const size_t rest = (size_t)(end - at);
        if (rest >= 4 && memcmp(at, "<!--", 4) == 0) {
            const char *close = memmem(at, rest, "-->", 3);
            if (!prose.question) {
                prose.question = at + 4;
                prose.question_bytes = (size_t)((close ? close : end) - prose.question);
            }
            at = close ? close + 3 : end;
        } else if (rest >= strlen(UNWRITTEN) && memcmp(at, UNWRITTEN, strlen(UNWRITTEN)) == 0) {
            at += strlen(UNWRITTEN);
        } else {
            prose.written = prose.written || !strchr(" \t\r\n", *at);
            at++;
        }
    }
    return prose;
}
