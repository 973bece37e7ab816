/* The roster lists the students who are expected to hand in: a CSV file with a header, handwritten
 * or exported from a platform (docs/downloads.md):
 *
 *     name,team,display_name,email,platform_id,sis_id,section      any order; a name is enough
 *     Student,ID,SIS User ID,SIS Login ID,Section,...              Canvas' gradebook
 *     Identifier,Full name,ID number,Email address,...             Moodle's grading worksheet
 *     First Name,Last Name,SID,Email,Role,...                      Gradescope's roster
 *
 * A row with a mistake is reported and ignored; the others count. */
#include "base/csv.h"
#include "grader/class/class.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* The values of a row. If several columns have a heading of one value, the first column counts. */
enum { NAME, TEAM, DISPLAY, FIRST, LAST, EMAIL, PLATFORM_ID, SIS_ID, SECTION, COLUMNS };
static const char *const headings[COLUMNS][10] = {
    [NAME] = {"name", "submission", "SIS Login ID", "username", "login", "SIS User ID", "student",
              "email address", "email", "id"},
    [TEAM] = {"team", "group"},
    [DISPLAY] = {"display_name", "full_name", "full name", "student"},
    [FIRST] = {"first name"},
    [LAST] = {"last name"},
    [EMAIL] = {"email", "email address", "mail", "e-mail"},
    [PLATFORM_ID] = {"platform_id", "identifier", "id"},
    [SIS_ID] = {"sis_id", "SIS User ID", "id number", "sid"},
    [SECTION] = {"section"},
};

static int first_column(const struct csv *csv, const char *const names[10])
{
    for (int i = 0; i < 10 && names[i]; i++)
        if (csv_column(csv, names[i]) >= 0)
            return csv_column(csv, names[i]);
    return -1;
}

static enum st_code find_columns(const struct csv *csv, const char *path, int column[COLUMNS],
                                 struct st_error *err)
{
    for (int i = 0; i < COLUMNS; i++)
        column[i] = first_column(csv, headings[i]);
    if (column[NAME] >= 0)
        return ST_OK;
    st_fail(err, ST_BAD_FORMAT, "the roster has no column 'name'");
    st_detail(err, ST_WHERE, "%s", path);
    st_detail(err, ST_EXPECTED, "a first row like name,team,display_name,email");
    st_detail(err, ST_GOT, "%.100s", csv->rows ? csv->row[0].field[0] : "an empty file");
    return st_detail(err, ST_HINT, "name is the name of a submission's folder or archive"),
           ST_BAD_FORMAT;
}

/* Whether a row of Canvas is not a student's: points possible, posting policy, the test student. */
static bool is_no_person(const struct csv_row *row, const int column[COLUMNS])
{
    const char *student = csv_field(row, column[DISPLAY]);
    student += strspn(student, " ");
    return column[PLATFORM_ID] >= 0 && column[DISPLAY] >= 0 &&
           (strncasecmp(student, "Points Possible", 15) == 0 ||
            strcasecmp(student, "Student, Test") == 0 ||
            (!student[0] && !csv_field(row, column[PLATFORM_ID])[0]));
}

/* @return the earlier row with the same name, or NULL. */
static const struct csv_row *earlier(const struct csv *csv, size_t row, int name)
{
    for (size_t i = 1; i < row; i++)
        if (strcmp(csv_field(&csv->row[i], name), csv_field(&csv->row[row], name)) == 0)
            return &csv->row[i];
    return NULL;
}

/* Whether a text begins or ends with a blank. Such blanks are hard to see in a spreadsheet, but the
 * name of a folder may have them. */
static bool has_blanks_around(const char *text)
{
    return *text &&
           (isspace((unsigned char)*text) || isspace((unsigned char)text[strlen(text) - 1]));
}

/* The digits of "Participant 123", or the whole text. */
static const char *number_of(const char *identifier)
{
    const char *space = strrchr(identifier, ' ');
    return space && space[1] && !space[1 + strspn(space + 1, "0123456789")] ? space + 1
                                                                            : identifier;
}

/* If two rows have the same address, the first row keeps it; otherwise a search for the address
 * would find neither. */
static const char *own_email(struct cl_class *class, const struct csv *csv, size_t i,
                             const int column[COLUMNS])
{
    const char *email = csv_field(&csv->row[i], column[EMAIL]);
    for (size_t k = 1; email[0] && k < i; k++)
        if (strcasecmp(csv_field(&csv->row[k], column[EMAIL]), email) == 0) {
            cl_notice(
                class, csv_field(&csv->row[i], column[NAME]),
                "roster, line %zu: %.200s is also the e-mail address in line %zu; only line %zu keeps it",
                csv->row[i].line, email, csv->row[k].line, csv->row[k].line);
            return "";
        }
    return email;
}

/* Keeps a person's data from platforms' downloads, unless the file has a column for them. */
static void keep_what_is_known(const struct gb_roster_list *known, const int column[COLUMNS],
                               char text[COLUMNS][CL_NAME_BYTES])
{
    for (size_t i = 0; i < known->n; i++) {
        const struct gb_roster *old = &known->row[i];
        if (strcmp(old->name, text[NAME]) != 0)
            continue;
        const char *const was[COLUMNS] = {[TEAM] = old->team,
                                          [EMAIL] = old->email,
                                          [PLATFORM_ID] = old->platform_id,
                                          [SIS_ID] = old->sis_id};
        for (int c = 0; c < COLUMNS; c++)
            if (was[c] && column[c] < 0)
                snprintf(text[c], CL_NAME_BYTES, "%s", was[c]);
    }
}

static enum st_code put_row(struct cl_class *class, const struct csv *csv, size_t i,
                            const int column[COLUMNS], const struct gb_roster_list *known,
                            struct st_error *err)
{
    const struct csv_row *row = &csv->row[i];
    const char *name = csv_field(row, column[NAME]);
    if (is_no_person(row, column))
        return ST_OK;
    if (!name[0]) {
        cl_notice(class, NULL, "roster, line %zu: no name", row->line);
        return ST_OK;
    }
    const struct csv_row *first = earlier(csv, i, column[NAME]);
    if (first) {
        cl_notice(class, name,
                  "roster, line %zu: the name is already in line %zu; this line is ignored",
                  row->line, first->line);
        return ST_OK;
    }
    if (row->fields != csv->row[0].fields)
        cl_notice(class, name, "roster, line %zu: has %zu fields; the first row has %zu", row->line,
                  row->fields, csv->row[0].fields);
    if (has_blanks_around(name) || has_blanks_around(csv_field(row, column[TEAM])))
        cl_notice(
            class, name,
            "roster, line %zu: a name begins or ends with a blank, which counts as part of the name",
            row->line);
    char text[COLUMNS][CL_NAME_BYTES], full[CL_NAME_BYTES];
    for (int c = 0; c < COLUMNS; c++)
        cl_name_text(text[c], c == EMAIL         ? own_email(class, csv, i, column)
                              : c == PLATFORM_ID ? number_of(csv_field(row, column[c]))
                                                 : csv_field(row, column[c]));
    keep_what_is_known(known, column, text);
    snprintf(full, sizeof full, "%.400s %.400s", text[FIRST], text[LAST]);
    const struct gb_roster put = {.name = text[NAME],
                                  .team = text[TEAM],
                                  .display_name =
                                      text[DISPLAY][0] || column[LAST] < 0 ? text[DISPLAY] : full,
                                  .email = text[EMAIL],
                                  .line = (int64_t)row->line,
                                  .platform_id = text[PLATFORM_ID],
                                  .sis_id = text[SIS_ID],
                                  .section = text[SECTION]};
    return gb_roster_put(class->book, &put, err);
}

/* Reports rows that are not UTF-8. They are accepted, because a folder's name need not be UTF-8,
 * but they do not match a folder whose name is UTF-8. */
static void tell_encoding(struct cl_class *class, const struct csv *csv)
{
    size_t rows = 0, line = 0;
    for (size_t i = 1; i < csv->rows; i++)
        if (!csv_row_is_utf8(&csv->row[i]) && rows++ == 0)
            line = csv->row[i].line;
    if (rows)
        cl_notice(
            class, NULL,
            "roster, line %zu: is not UTF-8; rows that are not UTF-8: %zu (hint: save the roster as CSV (UTF-8))",
            line, rows);
}

enum st_code cl_roster_read(struct cl_class *class, struct st_error *err)
{
    struct csv csv;
    int column[COLUMNS];
    struct gb_roster_list known = {0};
    const char *path = class->options->roster;
    if (!path)
        return ST_OK;
    enum st_code code = csv_read(path, &csv, err);
    if (!code)
        code = find_columns(&csv, path, column, err);
    if (!code)
        code = gb_roster_read(class->book, &known, err, "");
    if (!code)
        code = gb_begin(class->book, err);
    if (code) {
        gb_roster_free(&known);
        csv_free(&csv);
        return code;
    }
    code = gb_change(class->book, err, "DELETE FROM roster");
    for (size_t i = 1; !code && i < csv.rows; i++)
        code = put_row(class, &csv, i, column, &known, err);
    if (!code)
        tell_encoding(class, &csv);
    if (!code && csv.unclosed_line)
        cl_notice(class, NULL, "roster, line %zu: a quote is not closed; the rest is skipped",
                  csv.unclosed_line);
    if (!code)
        code = gb_commit(class->book, err);
    if (code)
        gb_rollback(class->book);
    gb_roster_free(&known);
    csv_free(&csv);
    return code;
}
