/* The roster: who is expected to hand in. A CSV file with a header:
 *
 *     name,team,display_name,email        only name is needed; any order
 *
 * A row with a mistake is reported and left out; the others count. */
#include "grader/class/class.h"
#include "base/csv.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct columns {
    int name, team, display_name, email;
};

static int first_column(const struct csv *csv, const char *const *names)
{
    for (; *names; names++)
        if (csv_column(csv, *names) >= 0)
            return csv_column(csv, *names);
    return -1;
}

static enum st_code find_columns(const struct csv *csv, const char *path, struct columns *c,
                                 struct st_error *err)
{
    static const char *const name[] = {"name", "submission", "student", "login", "id", NULL};
    static const char *const team[] = {"team", "group", NULL};
    static const char *const display[] = {"display_name", "full_name", "full name", NULL};
    static const char *const email[] = {"email", "mail", "e-mail", NULL};
    *c = (struct columns){first_column(csv, name), first_column(csv, team),
                          first_column(csv, display), first_column(csv, email)};
    if (c->name >= 0)
        return ST_OK;
    st_fail(err, ST_BAD_FORMAT, "the roster has no column 'name'");
    st_detail(err, ST_WHERE, "%s", path);
    st_detail(err, ST_EXPECTED, "a first row like name,team,display_name,email");
    st_detail(err, ST_GOT, "%.100s", csv->rows ? csv->row[0].field[0] : "an empty file");
    return st_detail(err, ST_HINT, "name is what folders or archives of submissions are called"),
           ST_BAD_FORMAT;
}

/* The earlier row of the same name, or NULL. */
static const struct csv_row *earlier(const struct csv *csv, size_t row, int name)
{
    for (size_t i = 1; i < row; i++)
        if (strcmp(csv_field(&csv->row[i], name), csv_field(&csv->row[row], name)) == 0)
            return &csv->row[i];
    return NULL;
}

/* Easily left in a spreadsheet, and hard to see; but a folder's name may have them. */
static bool has_blanks_around(const char *text)
{
    return *text &&
           (isspace((unsigned char)*text) || isspace((unsigned char)text[strlen(text) - 1]));
}

static enum st_code put_row(struct cl_class *class, const struct csv *csv, size_t i,
                            const struct columns *c, struct st_error *err)
{
    const struct csv_row *row = &csv->row[i];
    const char *name = csv_field(row, c->name);
    if (!name[0]) {
        cl_notice(class, NULL, "roster, line %zu: no name", row->line);
        return ST_OK;
    }
    const struct csv_row *first = earlier(csv, i, c->name);
    if (first) {
        cl_notice(class, name, "roster, line %zu: is already in line %zu, which counts", row->line,
                  first->line);
        return ST_OK;
    }
    if (row->fields != csv->row[0].fields)
        cl_notice(class, name, "roster, line %zu: has %zu fields, the first row %zu", row->line,
                  row->fields, csv->row[0].fields);
    if (has_blanks_around(name) || has_blanks_around(csv_field(row, c->team)))
        cl_notice(class, name, "roster, line %zu: a blank before or behind a name is part of it",
                  row->line);
    char text[CL_NAME_BYTES], team[CL_NAME_BYTES], display[CL_NAME_BYTES], email[CL_NAME_BYTES];
    cl_name_text(text, name);
    cl_name_text(team, csv_field(row, c->team));
    cl_name_text(display, csv_field(row, c->display_name));
    cl_name_text(email, csv_field(row, c->email));
    const struct gb_roster put = {text, team, display, email, (int64_t)row->line};
    return gb_roster_put(class->book, &put, err);
}

/* A folder's name may be as little UTF-8 as its row; if it is UTF-8, the two do not match. */
static void tell_encoding(struct cl_class *class, const struct csv *csv)
{
    size_t rows = 0, line = 0;
    for (size_t i = 1; i < csv->rows; i++)
        if (!csv_row_is_utf8(&csv->row[i]) && rows++ == 0)
            line = csv->row[i].line;
    if (rows)
        cl_notice(
            class, NULL,
            "roster, line %zu: is not UTF-8, and %zu rows in all are not (hint: save it as CSV (UTF-8))",
            line, rows);
}

enum st_code cl_roster_read(struct cl_class *class, struct st_error *err)
{
    struct csv csv;
    struct columns columns;
    const char *path = class->options->roster;
    if (!path)
        return ST_OK;
    enum st_code code = csv_read(path, &csv, err);
    if (!code)
        code = find_columns(&csv, path, &columns, err);
    if (!code)
        code = gb_begin(class->book, err);
    if (code) {
        csv_free(&csv);
        return code;
    }
    code = gb_change(class->book, err, "DELETE FROM roster");
    for (size_t i = 1; !code && i < csv.rows; i++)
        code = put_row(class, &csv, i, &columns, err);
    if (!code)
        tell_encoding(class, &csv);
    if (!code && csv.unclosed_line)
        cl_notice(class, NULL,
                  "roster, line %zu: a quote that is not closed; what follows is left out",
                  csv.unclosed_line);
    if (!code)
        code = gb_commit(class->book, err);
    if (code)
        gb_rollback(class->book);
    csv_free(&csv);
    return code;
}
