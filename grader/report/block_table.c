/* Tables from TSV files. The directive selects columns, rows and sizes; see
 * report-templates/README.md. */
#include "base/files.h"
#include "base/numbers.h"
#include "grader/report/block.h"
#include "grader/report/report_cells.h"
#include "grader/report/report_parts.h"
#include "trace/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 12, SIZES = 12, KEYS = 200, FORMAT = 16, SHORT_NAME = 60, LONG_NAME = 110 };

/* A table of a block. */
struct source {
    const struct gr_block *b;
    struct tsv table;
    long images[SIZES]; /* sizes of the rows to show, ascending */
    size_t sizes;
};

static const char *cell_of(const struct tsv *table, size_t row, int column)
{
    return column < 0 ? "" : tsv_cell(table, row, column);
}

/* ---- columns and cells ----------------------------------------------------------------------- */

struct column {
    int at; /* index in the table; -1 if missing */
    char name[GR_HEADING], heading[GR_HEADING], format[FORMAT];
};

/* Parses "total_ns=Time:time; ..." */
static size_t parse_columns(const struct source *s, const char *attribute,
                            struct column to[COLUMNS])
{
    size_t n = 0;
    const char *text = gr_attribute(s->b->piece, attribute, "");
    while (*text && n < COLUMNS) {
        struct column *c = &to[n];
        memset(c, 0, sizeof *c);
        if (sscanf(text, " %95[^=;:]=%95[^=;:]:%15[a-z]", c->name, c->heading, c->format) < 1)
            break;
        if (!c->heading[0])
            strcpy(c->heading, c->name);
        c->at = tsv_column(&s->table, c->name);
        n++;
        text += strcspn(text, ";");
        text += *text == ';';
    }
    return n;
}

static bool is_format(const struct column *c, const char *format)
{
    return strcmp(c->format, format) == 0;
}

static bool is_text(const struct column *c)
{
    return is_format(c, "") || is_format(c, "code") || is_format(c, "kernel") ||
           is_format(c, "text") || is_format(c, "place");
}

/* The length of a name without its parameters. */
static size_t without_parameters(const char *name)
{
    size_t keep = strlen(name);
    int depth = 0;
    while (keep && name[strlen(name) - 1] == ')') {
        const char c = name[--keep];
        depth += c == ')' ? 1 : c == '(' ? -1 : 0;
        if (!depth)
            break;
    }
    return keep;
}

/* A library's kernel can have a name of a thousand characters. Shortens a long name: first removes
 * its parameters, then cuts it after a line or two. The profiler's output has the full name. */
static void put_kernel(struct gr_cells *t, const char *name)
{
    char text[LONG_NAME + 32];
    const size_t length = strlen(name);
    if (length <= SHORT_NAME) {
        gr_cell_code(t, name);
        return;
    }
    size_t keep = without_parameters(name);
    const bool cut = keep > LONG_NAME;
    keep = cut ? LONG_NAME : keep;
    while (cut && keep && (name[keep] & 0xc0) == 0x80) /* do not cut inside a character */
        keep--;
    snprintf(text, sizeof text, "%.*s%s%s", (int)keep, name, cut ? "..." : "",
             name[length - 1] == ')' ? "(...)" : "");
    gr_cell_code(t, text);
}

static void put_value(struct gr_cells *t, const struct column *c, double value)
{
    char figure[NUMBER_CHARS > FIGURE_MAX ? NUMBER_CHARS : FIGURE_MAX];
    const bool is_time = value >= 0 && value < 1e9;
    if (is_format(c, "percent"))
        figure_percent(figure, 100 * value);
    else if (is_format(c, "time") && value >= 0 && value < 1e18)
        figure_time(figure, (uint64_t)value, 8);
    else if (is_format(c, "seconds") && is_time)
        figure_time(figure, (uint64_t)(1e9 * value), 8);
    else if (is_format(c, "bytes"))
        figure_bytes(figure, value, 8);
    else if (is_format(c, "ms"))
        number_short(figure, value * 1e3, 4);
    else
        snprintf(figure, sizeof figure, "%.*f", value == floor(value) ? 0 : 2, value);
    gr_cell(t, figure);
}

/* Writes a cell with its unit; an unknown value becomes a dash. @param row  -1: none */
static void put_cell(struct gr_cells *t, const struct tsv *table, const struct column *c, long row)
{
    const char *text = row < 0 ? "" : cell_of(table, (size_t)row, c->at);
    char place[GR_PLACE_CHARS], *end;
    const double value = strtod(text, &end);
    if (!*text)
        gr_cell(t, "–");
    else if (is_format(c, "kernel"))
        put_kernel(t, text);
    else if (is_format(c, "code"))
        gr_cell_code(t, text);
    else if (is_format(c, "place"))
        gr_cell_code(
            t, gr_place_text(place, text, cell_of(table, (size_t)row, tsv_column(table, "line"))));
    else if (is_text(c) || *end || !isfinite(value))
        gr_cell(t, text);
    else
        put_value(t, c, value);
}

static void put_head(struct gr_cells *t, const struct column *columns, size_t n)
{
    for (size_t c = 0; c < n; c++)
        gr_column(t, is_text(&columns[c]) ? 'l' : 'r', "%s", columns[c].heading);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Whether a row matches an attribute: "kind=kernel" or "device!=virtual". Without the attribute,
 * every row matches. */
static bool matches(const struct source *s, const char *attribute, size_t row)
{
    char name[GR_HEADING], value[GR_HEADING];
    const char *where = gr_attribute(s->b->piece, attribute, NULL);
    const bool not = where && strstr(where, "!=");
    if (!where || sscanf(where, not ? "%95[^!]!=%95[^\n]" : "%95[^=]=%95[^\n]", name, value) != 2)
        return true;
    const int at = tsv_column(&s->table, name);
    return at >= 0 && (strcmp(tsv_cell(&s->table, row, at), value) == 0) != not ;
}

static long images_of(const struct source *s, size_t row)
{
    return atol(cell_of(&s->table, row, tsv_column(&s->table, "images")));
}

static bool is_wanted(const struct source *s, size_t row, long images)
{
    return images_of(s, row) == images && matches(s, "where", row);
}

static void find_sizes(struct source *s)
{
    for (size_t row = 0; row < s->table.rows; row++) {
        const long images = images_of(s, row);
        size_t i = 0;
        while (i < s->sizes && s->images[i] < images)
            i++;
        if (!matches(s, "where", row) || (i < s->sizes && s->images[i] == images) ||
            s->sizes == SIZES)
            continue;
        memmove(s->images + i + 1, s->images + i, (s->sizes - i) * sizeof *s->images);
        s->images[i] = images;
        s->sizes++;
    }
}

/* Opens the file of a block. @return false after writing the reason into the block. */
static bool open_source(const struct gr_block *b, struct source *s)
{
    char path[PATH_MAX], what[200], command[GR_COMMAND];
    struct st_error failure;
    const char *file = gr_attribute(b->piece, "file", "");
    memset(s, 0, sizeof *s);
    s->b = b;
    if (!gr_block_path(b, path, file) || !file_exists(path))
        return gr_put_no_file(b);
    if (tsv_read(path, &s->table, &failure)) {
        gr_make_command(b, command);
        snprintf(what, sizeof what, "%.60s of %s cannot be read (%.80s)", file, b->section,
                 failure.what);
        return gr_put_missing(b, what, command);
    }
    find_sizes(s);
    return true;
}

/* Parses an attribute "COLUMN NUMBER". @return the column; -1 if it does not exist */
static int parse_limit(const struct source *s, const char *attribute, double *limit)
{
    char name[GR_HEADING];
    const char *text = gr_attribute(s->b->piece, attribute, NULL);
    return text && sscanf(text, "%95s %lf", name, limit) == 2 ? tsv_column(&s->table, name) : -1;
}

/* until="cumulative 0.9": the rows up to the first one above this value. also="kind=kernel": in
 * addition the rows of this kind, up to the same fraction of their own sum. */
static bool is_before_limit(const struct source *s, size_t row, long images)
{
    double limit, sum = 0, before = 0, also_sum = 0, also_before = 0;
    const int at = parse_limit(s, "until", &limit);
    if (at < 0)
        return true;
    for (size_t i = 0; i < s->table.rows; i++) {
        if (!is_wanted(s, i, images))
            continue;
        const double here = strtod(tsv_cell(&s->table, i, at), NULL), part = here - sum;
        const bool also = matches(s, "also", i);
        before = i < row ? here : before;
        also_sum += also ? part : 0;
        also_before += also && i < row ? part : 0;
        sum = here;
    }
    return before <= limit || (gr_attribute(s->b->piece, "also", NULL) && matches(s, "also", row) &&
                               also_before <= limit * also_sum);
}

static bool is_shown(const struct source *s, size_t row, long images)
{
    double least;
    const int at = parse_limit(s, "least", &least);
    return is_wanted(s, row, images) && is_before_limit(s, row, images) &&
           (at < 0 || strtod(tsv_cell(&s->table, row, at), NULL) >= least);
}

/* ---- @table --------------------------------------------------------------------------------- */

/* Writes the rows of the largest size. @param group  only rows with the same cell in column each;
 -1: all
 */
static void put_rows(const struct source *s, const struct column *columns, size_t n, int each,
                     size_t group)
{
    const long images = s->images[s->sizes - 1];
    long room = atol(gr_attribute(s->b->piece, "rows", "60"));
    struct gr_cells t = {.out = s->b->out};
    put_head(&t, columns, n);
    gr_columns_end(&t);
    for (size_t row = 0; row < s->table.rows && room > 0; row++) {
        if (!is_shown(s, row, images) ||
            (each >= 0 &&
             strcmp(tsv_cell(&s->table, row, each), tsv_cell(&s->table, group, each)) != 0))
            continue;
        for (size_t c = 0; c < n; c++)
            put_cell(&t, &s->table, &columns[c], (long)row);
        gr_row_end(&t);
        room--;
    }
}

/* Whether an earlier row to show has the same cell in a column. */
static bool is_repeated(const struct source *s, size_t row, int column, long images)
{
    for (size_t i = 0; i < row; i++)
        if (is_wanted(s, i, images) &&
            strcmp(tsv_cell(&s->table, i, column), tsv_cell(&s->table, row, column)) == 0)
            return true;
    return false;
}

/* each="kernel": writes a table per value of this column, with the value above the table. */
static void put_groups(const struct source *s, const struct column *columns, size_t n, int each)
{
    const long images = s->images[s->sizes - 1];
    bool any = false;
    for (size_t row = 0; row < s->table.rows; row++) {
        if (!is_wanted(s, row, images) || is_repeated(s, row, each, images))
            continue;
        fputs(any ? "\n" : "", s->b->out);
        gr_put_markdown_code(s->b->out, tsv_cell(&s->table, row, each));
        fputs(":\n\n", s->b->out);
        put_rows(s, columns, n, each, row);
        any = true;
    }
}

bool gr_block_table(const struct gr_block *b)
{
    struct source s;
    struct column columns[COLUMNS];
    char images[24];
    if (!open_source(b, &s))
        return false;
    const bool any = s.sizes;
    if (any) {
        const size_t n = parse_columns(&s, "columns", columns);
        const int each = tsv_column(&s.table, gr_attribute(b->piece, "each", ""));
        snprintf(images, sizeof images, "%ld", s.images[s.sizes - 1]);
        gr_put_caption(b, images);
        if (each >= 0)
            put_groups(&s, columns, n, each);
        else
            put_rows(&s, columns, n, -1, 0);
    }
    tsv_free(&s.table);
    return any || gr_put_no_file(b);
}

/* ---- @sizes --------------------------------------------------------------------------------- */

static bool same_key(const struct tsv *table, const struct column *key, size_t n, size_t a,
                     size_t b)
{
    for (size_t k = 0; k < n; k++)
        if (strcmp(cell_of(table, a, key[k].at), cell_of(table, b, key[k].at)) != 0)
            return false;
    return true;
}

/* The row with this key at a size, or -1. */
static long row_of(const struct source *s, const struct column *key, size_t keys, size_t like,
                   long images)
{
    for (size_t row = 0; row < s->table.rows; row++)
        if (is_wanted(s, row, images) && same_key(&s->table, key, keys, row, like))
            return (long)row;
    return -1;
}

/* Finds the keys: in the order of the largest size, followed by keys that only smaller sizes
 * have. */
static size_t find_keys(const struct source *s, const struct column *key, size_t keys,
                        size_t to[KEYS])
{
    size_t n = 0;
    const size_t most = (size_t)atol(gr_attribute(s->b->piece, "rows", "40"));
    for (size_t size = s->sizes; size-- > 0;)
        for (size_t row = 0; row < s->table.rows; row++) {
            size_t i = 0;
            while (i < n && !same_key(&s->table, key, keys, to[i], row))
                i++;
            if (is_wanted(s, row, s->images[size]) && i == n && n < KEYS && n < most)
                to[n++] = row;
        }
    return n;
}

static void put_by_size(const struct source *s, const struct column *key, size_t keys,
                        const struct column *value)
{
    size_t row[KEYS];
    const size_t n = find_keys(s, key, keys, row);
    struct gr_cells t = {.out = s->b->out};
    put_head(&t, key, keys);
    for (size_t i = 0; i < s->sizes; i++)
        gr_column(&t, 'r', "%ld images", s->images[i]);
    gr_columns_end(&t);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < keys; k++)
            put_cell(&t, &s->table, &key[k], (long)row[i]);
        for (size_t k = 0; k < s->sizes; k++)
            put_cell(&t, &s->table, value, row_of(s, key, keys, row[i], s->images[k]));
        gr_row_end(&t);
    }
}

bool gr_block_sizes(const struct gr_block *b)
{
    struct source s;
    struct column key[COLUMNS], value[COLUMNS];
    char command[GR_COMMAND];
    if (!open_source(b, &s))
        return false;
    const size_t keys = parse_columns(&s, "key", key);
    const bool any =
        s.sizes && keys && parse_columns(&s, "value", value) && key[0].at >= 0 && value[0].at >= 0;
    if (any) {
        gr_put_caption(b, NULL);
        put_by_size(&s, key, keys, &value[0]);
        gr_make_command(b, command);
        gr_put_few_sizes(b, s.sizes, command);
    }
    tsv_free(&s.table);
    return any || gr_put_no_file(b);
}
