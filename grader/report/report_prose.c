/* The student's words in report.md: found in the earlier page, put into the new one unchanged.
 *
 *     <!-- BEGIN PROSE opportunity -->
 *     (write here)
 *     <!-- END PROSE -->
 *     ...
 *     <!-- convlab page 0123456789abcdef -->      the seal, last line
 *
 * Markers stand alone on their lines. The seal is a checksum of all other lines, so that words
 * written outside of the places are noticed; gr_report_write() then keeps a copy of that page.
 * Line ends and trailing blanks do not count, as editors change them unasked. */
#include "grader/report/report_parts.h"

#include "base/files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN_MARK "<!-- BEGIN PROSE "
#define END_MARK   "<!-- END PROSE -->"
#define SEAL_MARK  "<!-- convlab page "
#define UNWRITTEN  "(write here)"

/* More than any student writes; a larger file is refused, not cut. */
enum { MAX_PAGE_BYTES = 16 << 20 };

const struct gr_place gr_places[GR_PLACES] = {
    {"authors", NULL, "Names and ids of the authors, and the name of the team."},
    {"opportunity", "Opportunity",
     "How did you find what limits the earlier version? Quote the time or the profile that shows "
     "it."},
    {"expectation", "Expectation",
     "Why did this technique look fruitful? Say how much it should gain, and how you estimated "
     "that."},
    {"effect", "Effect and why",
     "What did it gain, by layer and by data-set size? Explain it with evidence from the tables, "
     "the figures or a profile, also where it differs from what you expected."},
    {"references", "References", "Books, papers, pages and people whose ideas you used."},
    {"division", "Division of work", "Who did what?"},
};

/* ---- reading lines -------------------------------------------------------------------------- */

struct line {
    const char *text;
    size_t bytes; /* without line end and trailing blanks */
    const char *next;
};

static bool next_line(const char **at, const char *end, struct line *line)
{
    if (*at == end)
        return false;
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    line->text = *at;
    line->next = newline ? newline + 1 : end;
    line->bytes = (size_t)((newline ? newline : end) - *at);
    while (line->bytes && strchr(" \t\r", line->text[line->bytes - 1]))
        line->bytes--;
    *at = line->next;
    return true;
}

static bool starts_with(const struct line *line, const char *start)
{
    return line->bytes >= strlen(start) && memcmp(line->text, start, strlen(start)) == 0;
}

static bool is_line(const struct line *line, const char *text)
{
    return line->bytes == strlen(text) && starts_with(line, text);
}

/* @return the place that the line opens, or -1. */
static int opened_place(const struct line *line)
{
    for (int i = 0; i < GR_PLACES; i++) {
        char mark[80];
        snprintf(mark, sizeof mark, BEGIN_MARK "%s -->", gr_places[i].name);
        if (is_line(line, mark))
            return i;
    }
    return -1;
}

/* ---- the seal: FNV-1a over the lines outside of the places
 * --------------------------------------- */

static uint64_t hash_line(uint64_t hash, const struct line *line)
{
    for (size_t i = 0; i < line->bytes; i++)
        hash = (hash ^ (unsigned char)line->text[i]) * 0x100000001b3u;
    return (hash ^ '\n') * 0x100000001b3u;
}

static uint64_t checksum(const char *page, size_t bytes)
{
    uint64_t hash = 0xcbf29ce484222325u;
    bool inside = false;
    struct line line;
    for (const char *at = page, *end = page + bytes; next_line(&at, end, &line);) {
        inside = inside && !is_line(&line, END_MARK);
        if (!inside && !starts_with(&line, SEAL_MARK))
            hash = hash_line(hash, &line);
        inside = inside || opened_place(&line) >= 0;
    }
    return hash;
}

static void seal_text(char to[80], const char *page, size_t bytes)
{
    snprintf(to, 80, SEAL_MARK "%016" PRIx64 " -->", checksum(page, bytes));
}

void gr_prose_put_seal(FILE *out, const char *page, size_t bytes)
{
    char seal[80];
    seal_text(seal, page, bytes);
    fprintf(out, "%s\n", seal);
}

/* ---- the places ----------------------------------------------------------------------------- */

/* Finds every place that is there once, opened and closed with no marker between. */
static void find_places(struct gr_prose *prose)
{
    char seal[80];
    seal_text(seal, prose->page, prose->page_bytes);
    int open = -1, times_opened[GR_PLACES] = {0};
    bool sealed = false;
    const char *start = NULL, *end = prose->page + prose->page_bytes;
    struct line line;
    for (const char *at = prose->page; next_line(&at, end, &line);) {
        bool begins = starts_with(&line, BEGIN_MARK), ends = is_line(&line, END_MARK);
        if (ends && open >= 0) {
            prose->place[open].text = start;
            prose->place[open].bytes = (size_t)(line.text - start);
        }
        prose->damaged = prose->damaged || (begins && open >= 0) || (ends && open < 0);
        if (begins || ends)
            open = begins ? opened_place(&line) : -1;
        if (open >= 0 && begins)
            times_opened[open]++, start = line.next;
        prose->damaged = prose->damaged || (begins && open < 0);
        sealed = sealed || is_line(&line, seal);
    }
    prose->damaged = prose->damaged || open >= 0;
    for (int i = 0; i < GR_PLACES; i++) {
        if (times_opened[i] > 1)
            prose->place[i].text = NULL;
        prose->damaged = prose->damaged || !prose->place[i].text;
    }
    prose->edited = !sealed;
}

enum st_code gr_prose_read(const char *path, struct gr_prose *prose, struct st_error *err)
{
    memset(prose, 0, sizeof *prose);
    if (!file_exists(path))
        return ST_OK;
    enum st_code code = file_read(path, MAX_PAGE_BYTES, &prose->page, &prose->page_bytes, err);
    if (code)
        return code;
    find_places(prose);
    return ST_OK;
}

void gr_prose_free(struct gr_prose *prose)
{
    free(prose->page);
    memset(prose, 0, sizeof *prose);
}

void gr_prose_put(FILE *out, const struct gr_prose *prose, int place)
{
    fprintf(out, BEGIN_MARK "%s -->\n", gr_places[place].name);
    if (prose->place[place].text)
        fwrite(prose->place[place].text, 1, prose->place[place].bytes, out);
    else
        fputs(UNWRITTEN "\n", out);
    fputs(END_MARK "\n", out);
}

/* ---- cutting a page ------------------------------------------------------------------------- */

static bool is_written(const char *text, size_t bytes)
{
    const char *at = text, *end = text + bytes;
    struct line line;
    while (next_line(&at, end, &line))
        if (line.bytes && !is_line(&line, UNWRITTEN))
            return true;
    return false;
}

size_t gr_prose_split(const char *page, size_t bytes, struct gr_segment to[GR_MAX_SEGMENTS])
{
    size_t n = 0;
    int place = -1;
    const char *start = page, *end = page + bytes;
    struct line line;
    for (const char *at = page; next_line(&at, end, &line);) {
        int opened = place < 0 ? opened_place(&line) : -1;
        bool closed = place >= 0 && is_line(&line, END_MARK);
        if ((opened < 0 && !closed) || n == GR_MAX_SEGMENTS - 1)
            continue;
        size_t length = (size_t)(line.text - start);
        to[n++] =
            (struct gr_segment){place, start, length, place >= 0 && is_written(start, length)};
        place = opened;
        start = line.next;
    }
    to[n++] = (struct gr_segment){-1, start, (size_t)(end - start), false};
    return n;
}
