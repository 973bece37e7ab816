/* One pass that unquotes in place: a field never becomes longer. */
#include "base/csv.h"

#include "base/files.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_BYTES = 16 << 20 };

struct reader {
    char *from, *end, *to;
    char separator;
    size_t line;
};

/* Reads one field; the NUL after it replaces the character that ended it.
 * @return the character that ended it: separator, newline or 0 at the end; -1: unclosed quote. */
static int take_field(struct reader *r, char **field)
{
    *field = r->to;
    int quoted = r->from < r->end && *r->from == '"';
    if (quoted)
        r->from++;
    while (r->from < r->end) {
        char c = *r->from++;
        if (c == '\n')
            r->line++;
        if (quoted && c == '"') {
            if (r->from < r->end && *r->from == '"')
                r->from++; /* "" is a quote */
            else {
                quoted = 0;
                continue;
            }
        } else if (!quoted && (c == r->separator || c == '\n')) {
            if (c == '\n' && r->to > *field && r->to[-1] == '\r')
                r->to--;
            *r->to++ = '\0';
            return c;
        }
        *r->to++ = c ? c : ' '; /* (a NUL would end the text) */
    }
    if (!quoted && r->to > *field && r->to[-1] == '\r')
        r->to--;
    *r->to++ = '\0';
    return quoted ? -1 : 0;
}

static char separator_of(const char *text)
{
    size_t first = strcspn(text, "\n");
    static const char separators[] = ",;\t";
    for (const char *s = separators; *s; s++)
        if (memchr(text, *s, first))
            return *s;
    return ',';
}

/* The text has at most one more field (row) than separators (newlines). */
static size_t count(const char *text, size_t bytes, char separator)
{
    size_t n = 2;
    for (size_t i = 0; i < bytes; i++)
        n += text[i] == separator || text[i] == '\n';
    return n;
}

static void take_rows(struct csv *csv, struct reader *r)
{
    char **cell = csv->cells;
    while (r->from < r->end) {
        struct csv_row *row = &csv->row[csv->rows];
        *row = (struct csv_row){.line = r->line, .field = cell};
        int ended;
        do
            ended = take_field(r, cell++);
        while (ended == r->separator);
        row->fields = (size_t)(cell - row->field);
        if (ended < 0) {
            csv->unclosed_line = row->line;
            return;
        }
        if (row->fields > 1 || row->field[0][0])
            csv->rows++;
    }
}

/* UTF-16, which spreadsheets call "Unicode text". */
static enum st_code refuse_utf16(const char *path, const char *text, size_t bytes,
                                 struct st_error *err)
{
    if (bytes < 2 || (memcmp(text, "\xff\xfe", 2) != 0 && memcmp(text, "\xfe\xff", 2) != 0))
        return ST_OK;
    st_fail(err, ST_BAD_FORMAT, "the table is UTF-16");
    st_detail(err, ST_WHERE, "%s", path);
    st_detail(err, ST_EXPECTED, "UTF-8");
    return st_detail(err, ST_HINT, "save it as CSV (UTF-8)"), ST_BAD_FORMAT;
}

enum st_code csv_parse(struct csv *csv, char *text, size_t bytes, struct st_error *err)
{
    static const char mark[] = "\xef\xbb\xbf";
    *csv = (struct csv){.storage = text};
    struct reader r = {text, text + bytes, NULL, ',', 1};
    if (bytes >= 3 && memcmp(r.from, mark, 3) == 0)
        r.from += 3;
    r.separator = separator_of(r.from);
    /* A field's NUL replaces the separator after the field; the last field's NUL is the text's
     * own. */
    r.to = r.from;
    size_t most = count(text, bytes, r.separator);
    csv->row = calloc(most, sizeof *csv->row);
    csv->cells = calloc(most, sizeof *csv->cells);
    if (!csv->row || !csv->cells) {
        csv_free(csv);
        return st_fail(err, ST_NO_MEMORY, "not enough memory for a table of %zu bytes", bytes);
    }
    take_rows(csv, &r);
    return ST_OK;
}

enum st_code csv_read(const char *path, struct csv *csv, struct st_error *err)
{
    char *text;
    size_t bytes;
    memset(csv, 0, sizeof *csv);
    enum st_code code = file_read(path, MAX_BYTES, &text, &bytes, err);
    if (code)
        return code;
    if ((code = refuse_utf16(path, text, bytes, err))) {
        free(text);
        return code;
    }
    code = csv_parse(csv, text, bytes, err);
    if (code)
        st_detail(err, ST_WHERE, "%s", path);
    return code;
}

bool csv_row_is_utf8(const struct csv_row *row)
{
    for (size_t i = 0; i < row->fields; i++)
        if (!utf8_valid(row->field[i]))
            return false;
    return true;
}

int csv_column(const struct csv *csv, const char *name)
{
    for (size_t i = 0; csv->rows && i < csv->row[0].fields; i++)
        if (strcasecmp(csv->row[0].field[i], name) == 0)
            return (int)i;
    return -1;
}

const char *csv_field(const struct csv_row *row, int column)
{
    return column >= 0 && (size_t)column < row->fields ? row->field[column] : "";
}

void csv_free(struct csv *csv)
{
    free(csv->storage);
    free(csv->row);
    free(csv->cells);
    memset(csv, 0, sizeof *csv);
}

void csv_quote(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}
