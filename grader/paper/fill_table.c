/* Tables from TSV files. Which columns, rows and sizes is said by the directive; see
 * report-templates/README.md. */
#include "grader/paper/fill.h"

#include "base/files.h"
#include "base/numbers.h"
#include "base/tsv.h"
#include "grader/report/report_parts.h"
#include "trace/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS = 12,
    SIZES = 12,
    KEYS = 200,
    HEADING = 64,
    FORMAT = 16,
    SHORT_NAME = 60,
    LONG_NAME = 110
};

/* ---- cells ---------------------------------------------------------------------------------- */

struct column {
    int at; /* in the table, -1 if it is not there */
    char name[HEADING], heading[HEADING], format[FORMAT];
};

/* "total_ns=Time:time; ..." */
static size_t parse_columns(const char *text, const struct tsv *table, struct column to[COLUMNS])
{
    size_t n = 0;
    while (*text && n < COLUMNS) {
        struct column *c = &to[n];
        memset(c, 0, sizeof *c);
        if (sscanf(text, " %63[^=;:]=%63[^=;:]:%15[a-z]", c->name, c->heading, c->format) < 1)
            break;
        if (!c->heading[0])
            strcpy(c->heading, c->name);
        c->at = tsv_column(table, c->name);
        n++;
        text += strcspn(text, ";");
        text += *text == ';';
    }
    return n;
}

static bool is_text(const struct column *c)
{
    static const char *const formats[] = {"", "code", "kernel", "text"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(c->format, formats[i]) == 0)
            return true;
    return false;
}

/* A library's kernel can have a name of a thousand characters. A long one loses its parameters,
 * then what is beyond a line or two; the profiler's output has all of it. */
static void put_kernel(FILE *out, const char *name)
{
    char text[LONG_NAME + 32];
    const size_t length = strlen(name);
    size_t keep = length;
    if (length <= SHORT_NAME) {
        gr_put_markdown_code(out, name);
        return;
    }
    if (name[length - 1] == ')') {
        int depth = 0;
        while (keep) {
            const char c = name[--keep];
            depth += c == ')' ? 1 : c == '(' ? -1 : 0;
            if (!depth)
                break;
        }
    }
    const bool cut = keep > LONG_NAME;
    keep = cut ? LONG_NAME : keep;
    while (cut && keep && (name[keep] & 0xc0) == 0x80) /* not within a character */
        keep--;
    snprintf(text, sizeof text, "%.*s%s%s", (int)keep, name, cut ? "..." : "",
             name[length - 1] == ')' ? "(...)" : "");
    gr_put_markdown_code(out, text);
}

/* A cell, with its unit; what is not known is a dash. */
static void put_cell(FILE *out, const struct column *c, const char *text)
{
    char figure[NUMBER_CHARS > FIGURE_MAX ? NUMBER_CHARS : FIGURE_MAX], *end;
    if (!*text) {
        fputs("–", out);
        return;
    }
    if (strcmp(c->format, "kernel") == 0) {
        put_kernel(out, text);
        return;
    }
    if (is_text(c)) {
        (strcmp(c->format, "code") == 0 ? gr_put_markdown_code : gr_put_markdown)(out, text);
        return;
    }
    const double value = strtod(text, &end);
    if (*end || !isfinite(value)) {
        gr_put_markdown(out, text);
        return;
    }
    if (strcmp(c->format, "percent") == 0)
        figure_percent(figure, 100 * value);
    else if (strcmp(c->format, "time") == 0 && value >= 0 && value < 1e18)
        figure_time(figure, (uint64_t)value, 8);
    else if (strcmp(c->format, "bytes") == 0)
        figure_bytes(figure, value, 8);
    else if (strcmp(c->format, "ms") == 0)
        number_short(figure, value * 1e3, 4);
    else
        snprintf(figure, sizeof figure, "%.*f", value == floor(value) ? 0 : 2, value);
    fputs(figure, out);
}

static void put_head(FILE *out, const struct column *columns, size_t n)
{
    for (size_t c = 0; c < n; c++) {
        fputs("| ", out);
        gr_put_markdown(out, columns[c].heading);
        fputc(' ', out);
    }
    fputs("|\n", out);
    for (size_t c = 0; c < n; c++)
        fputs(is_text(&columns[c]) ? "|---" : "|---:", out);
    fputs("|\n", out);
}

/* ---- files and rows ------------------------------------------------------------------------- */

/* Opens the file of a directive. @return false if the place was filled with the reason. */
static bool open_table(const struct pp_fill *f, struct tsv *table)
{
    char path[PATH_MAX], what[200], command[160];
    struct st_error failure;
    const char *file = pp_attribute(f->piece, "file", "");
    memset(table, 0, sizeof *table);
    if (!path_format(path, sizeof path, "%s/%s/%s", f->src->gradings, f->section, file) ||
        !file_exists(path)) {
        pp_put_nothing(f);
        return false;
    }
    if (tsv_read(path, table, &failure)) {
        pp_make_command(f, command, sizeof command);
        snprintf(what, sizeof what, "%.60s of %s cannot be read (%.80s)", file, f->section,
                 failure.what);
        pp_put_missing(f, what, command);
        return false;
    }
    return true;
}

/* "kind=kernel" */
static bool is_wanted(const struct pp_fill *f, const struct tsv *table, size_t row)
{
    char name[HEADING], value[HEADING];
    const char *where = pp_attribute(f->piece, "where", NULL);
    if (!where || sscanf(where, "%63[^=]=%63[^\n]", name, value) != 2)
        return true;
    const int at = tsv_column(table, name);
    return at >= 0 && strcmp(tsv_cell(table, row, at), value) == 0;
}

static long images_of(const struct tsv *table, size_t row)
{
    const int at = tsv_column(table, "images");
    return at < 0 ? 0 : atol(tsv_cell(table, row, at));
}

/* The sizes that the wanted rows have, ascending. */
static size_t find_sizes(const struct pp_fill *f, const struct tsv *table, long to[SIZES])
{
    size_t n = 0;
    for (size_t row = 0; row < table->rows; row++) {
        const long images = images_of(table, row);
        size_t i = 0;
        while (i < n && to[i] < images)
            i++;
        if (!is_wanted(f, table, row) || (i < n && to[i] == images) || n == SIZES)
            continue;
        memmove(to + i + 1, to + i, (n - i) * sizeof *to);
        to[i] = images;
        n++;
    }
    return n;
}

/* ---- @table --------------------------------------------------------------------------------- */

/* "cumulative 0.9": rows up to the first that is beyond it. */
struct until {
    int at;
    double limit;
};

static struct until parse_until(const struct pp_fill *f, const struct tsv *table)
{
    struct until until = {.at = -1};
    char name[HEADING];
    const char *text = pp_attribute(f->piece, "until", NULL);
    if (text && sscanf(text, "%63s %lf", name, &until.limit) == 2)
        until.at = tsv_column(table, name);
    return until;
}

static void put_rows(const struct pp_fill *f, const struct tsv *table, long images,
                     const struct column *columns, size_t n)
{
    const struct until until = parse_until(f, table);
    long room = atol(pp_attribute(f->piece, "rows", "60"));
    for (size_t row = 0; row < table->rows && room > 0; row++) {
        if (images_of(table, row) != images || !is_wanted(f, table, row))
            continue;
        for (size_t c = 0; c < n; c++) {
            fputs("| ", f->out);
            put_cell(f->out, &columns[c],
                     columns[c].at < 0 ? "" : tsv_cell(table, row, columns[c].at));
            fputc(' ', f->out);
        }
        fputs("|\n", f->out);
        room--;
        if (until.at >= 0 && strtod(tsv_cell(table, row, until.at), NULL) > until.limit)
            break;
    }
}

bool pp_fill_table(const struct pp_fill *f)
{
    struct tsv table;
    struct column columns[COLUMNS];
    long sizes[SIZES];
    char images[24];
    if (!open_table(f, &table))
        return true;
    const size_t n = parse_columns(pp_attribute(f->piece, "columns", ""), &table, columns);
    const size_t found = find_sizes(f, &table, sizes);
    if (found) {
        snprintf(images, sizeof images, "%ld", sizes[found - 1]);
        pp_put_caption(f, images);
        put_head(f->out, columns, n);
        put_rows(f, &table, sizes[found - 1], columns, n);
    } else {
        pp_put_nothing(f);
    }
    tsv_free(&table);
    return true;
}

/* ---- @sizes --------------------------------------------------------------------------------- */

/* The row of a key at a size, or -1. */
static long row_of(const struct pp_fill *f, const struct tsv *table, int key, const char *value,
                   long images)
{
    for (size_t row = 0; row < table->rows; row++)
        if (images_of(table, row) == images && is_wanted(f, table, row) &&
            strcmp(tsv_cell(table, row, key), value) == 0)
            return (long)row;
    return -1;
}

static void put_sizes_row(const struct pp_fill *f, const struct tsv *table,
                          const struct column *key, const struct column *value, const long *sizes,
                          size_t n, const char *name)
{
    fputs("| ", f->out);
    put_cell(f->out, key, name);
    fputc(' ', f->out);
    for (size_t s = 0; s < n; s++) {
        const long row = row_of(f, table, key->at, name, sizes[s]);
        fputs("| ", f->out);
        put_cell(f->out, value, row < 0 ? "" : tsv_cell(table, (size_t)row, value->at));
        fputc(' ', f->out);
    }
    fputs("|\n", f->out);
}

/* Keys in the order of the largest size, those that only smaller ones have behind them. */
static void put_sizes(const struct pp_fill *f, const struct tsv *table, const struct column *key,
                      const struct column *value, const long *sizes, size_t n)
{
    const char *done[KEYS];
    size_t keys = 0;
    const size_t most = (size_t)atol(pp_attribute(f->piece, "rows", "40"));
    fprintf(f->out, "| %s ", key->heading);
    for (size_t s = 0; s < n; s++)
        fprintf(f->out, "| %ld images ", sizes[s]);
    fputs("|\n|---", f->out);
    for (size_t s = 0; s < n; s++)
        fputs("|---:", f->out);
    fputs("|\n", f->out);
    for (size_t s = n; s-- > 0;)
        for (size_t row = 0; row < table->rows; row++) {
            const char *name = tsv_cell(table, row, key->at);
            size_t i = 0;
            while (i < keys && strcmp(done[i], name) != 0)
                i++;
            if (images_of(table, row) != sizes[s] || !is_wanted(f, table, row) || i < keys ||
                keys == KEYS || keys == most)
                continue;
            done[keys++] = name;
            put_sizes_row(f, table, key, value, sizes, n, name);
        }
}

bool pp_fill_sizes(const struct pp_fill *f)
{
    struct tsv table;
    struct column key, value, columns[COLUMNS];
    long sizes[SIZES];
    if (!open_table(f, &table))
        return true;
    parse_columns(pp_attribute(f->piece, "key", ""), &table, columns);
    key = columns[0];
    parse_columns(pp_attribute(f->piece, "value", ""), &table, columns);
    value = columns[0];
    const size_t n = find_sizes(f, &table, sizes);
    if (n && key.at >= 0 && value.at >= 0) {
        char command[160];
        pp_put_caption(f, NULL);
        put_sizes(f, &table, &key, &value, sizes, n);
        pp_make_command(f, command, sizeof command);
        if (n < 3)
            fprintf(f->out,
                    "\n> *Fewer than three sizes were run.* More: `%s --images "
                    "100,1000,10000`\n",
                    command);
    } else {
        pp_put_nothing(f);
    }
    tsv_free(&table);
    return true;
}
