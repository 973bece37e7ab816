/* grader manual: stores the instructor's manual points. They have a separate table, so grading
 * again does not change them. */
#include "base/csv.h"
#include "base/numbers.h"
#include "base/option_table.h"
#include "base/utf8.h"
#include "grader/class/class_names.h"
#include "grader/gradebook/gradebook.h"
#include "grader/course/milestone.h"
#include "grader/course/rubric.h"
#include "grader/report/report_parts.h"
#include "grader/standing/people.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int gr_command_manual(int argc, char **argv);

enum { EXIT_DONE = 0, EXIT_FAILED = 2, MOST_LATE_DAYS = 366 };

struct arguments {
    const char *gradebook, *import;
    bool list, remove;
    const char *word[5]; /* NAME MILESTONE ITEM POINTS COMMENT */
    int words;
};

/* Counts of a file's rows by outcome. */
struct imported {
    size_t entered, wrong, open;
};

/* ---- checking ------------------------------------------------------------------------------- */

/* Finds the maximum points of an item. @return whether the item exists; otherwise @p err lists the
 * existing items.
 */
static bool find_item(const char *milestone, const char *item, double *most, struct st_error *err)
{
    struct gr_milestone where;
    struct gr_rubric *rubric;
    char known[200] = "";
    if (gr_milestone_find(&where, milestone, err) || gr_rubric_load(&rubric, where.rubric, err))
        return false;
    bool found = false;
    for (unsigned i = 0; i < rubric->items_count; i++) {
        if (rubric->items[i].kind != GR_MANUAL)
            continue;
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s, ", rubric->items[i].id);
        if (strcmp(rubric->items[i].id, item) == 0) {
            found = true;
            *most = rubric->items[i].points;
        }
    }
    gr_rubric_free(rubric);
    if (!found) {
        st_fail(err, ST_USAGE, "the rubric has no such manual item");
        st_detail(err, ST_WHERE, "%s", milestone);
        st_detail(err, ST_EXPECTED, "%slate_days or comment", known);
        st_detail(err, ST_GOT, "%s", item);
    }
    return found;
}

static enum st_code parse_points(const char *text, double most, double *points,
                                 struct st_error *err)
{
    if (!text[0]) {
        *points = NAN;
        return ST_OK;
    }
    if (number_read(text, points) && *points >= 0 && *points <= most)
        return ST_OK;
    st_fail(err, ST_USAGE, "invalid number of points");
    st_detail(err, ST_EXPECTED, "a number from 0 to %g", most);
    return st_detail(err, ST_GOT, "%s", text);
}

static enum st_code check_submission(struct gradebook *book, const char *name, struct st_error *err)
{
    double there;
    enum st_code code =
        gb_number(book, &there, err, "SELECT count(*) FROM submission WHERE name = %Q", name);
    if (code || there > 0)
        return code;
    struct gb_roster_list roster;
    code = gb_roster_read(book, &roster, err, "WHERE name = %Q AND team <> ''", name);
    if (code)
        return code;
    st_fail(err, ST_USAGE, "the gradebook has no such submission");
    st_detail(err, ST_GOT, "%s", name);
    if (roster.n)
        st_detail(err, ST_HINT, "belongs to team %s of the roster: enter it for the team",
                  roster.row[0].team);
    gb_roster_free(&roster);
    return ST_USAGE;
}

/* Checks and stores one item. A milestone "-" or "" means the whole course. */
static enum st_code put_item(struct gradebook *book, const char *const word[5],
                             struct st_error *err)
{
    const char *milestone = strcmp(word[1], "-") == 0 ? "" : word[1], *item = word[2];
    double most = MOST_LATE_DAYS, points;
    enum st_code code = check_submission(book, word[0], err);
    if (code)
        return code;
    if (strcmp(item, "comment") == 0)
        most = 0;
    else if (strcmp(item, "late_days") == 0)
        most = MOST_LATE_DAYS;
    else if (!milestone[0])
        most = 1000; /* items of the whole course, from the weights of the final grade: style,
                        ... */
    else if (!find_item(milestone, item, &most, err))
        return err->code;
    if ((code = parse_points(word[3] ? word[3] : "", most, &points, err)))
        return code;
    if (strcmp(item, "comment") != 0 && isnan(points)) {
        st_fail(err, ST_USAGE, "no points given for %s", item);
        return err->code;
    }
    const char *comment = word[4] ? word[4] : "";
    if (!utf8_valid(comment)) {
        st_fail(err, ST_BAD_FORMAT, "the comment is not UTF-8");
        return st_detail(err, ST_HINT, "if it comes from a table, save the table as CSV (UTF-8)"),
               ST_BAD_FORMAT;
    }
    const struct gb_manual_item put = {.submission = (char *)word[0],
                                       .milestone = (char *)milestone,
                                       .item = (char *)item,
                                       .points = points,
                                       .comment = (char *)comment,
                                       .entered = time(NULL)};
    return gb_manual_item_put(book, &put, err);
}

/* ---- storing -------------------------------------------------------------------------------- */

/* The columns of an import: the student, under any of several names; and the item. */
enum { SUBMISSION, EMAIL, DISPLAY_NAME, MILESTONE, ITEM, POINTS, COMMENT, COLUMNS };

static bool find_columns(const struct csv *csv, const char *path, int column[COLUMNS],
                         struct st_error *err)
{
    static const char *const names[COLUMNS][3] = {{"submission", "name", "student"},
                                                  {"email", "email address"},
                                                  {"display_name", "full name"},
                                                  {"milestone"},
                                                  {"item"},
                                                  {"points"},
                                                  {"comment"}};
    for (int i = 0; i < COLUMNS; i++) {
        column[i] = -1;
        for (int k = 0; column[i] < 0 && k < 3 && names[i][k]; k++)
            column[i] = csv_column(csv, names[i][k]);
    }
    const bool whose = column[SUBMISSION] >= 0 || column[EMAIL] >= 0 || column[DISPLAY_NAME] >= 0;
    int missing = whose ? MILESTONE : SUBMISSION;
    while (whose && missing < COMMENT && column[missing] >= 0)
        missing++;
    if (missing == COMMENT)
        return true;
    st_fail(err, ST_BAD_FORMAT, "the file has no column '%s'", names[missing][0]);
    st_detail(err, ST_WHERE, "%s", path);
    st_detail(err, ST_EXPECTED,
              "submission,milestone,item,points,comment (or name, email or display_name)");
    return false;
}

/* The submission of a person in the roster that counts for a milestone: their own if it was graded,
 * otherwise their team's. */
static enum st_code submission_of(struct gradebook *book, const struct gb_roster *person,
                                  const char *milestone, char name[CL_NAME_BYTES],
                                  struct st_error *err)
{
    double own = 0;
    struct gb_member_list members;
    enum st_code code = gb_number(
        book, &own, err,
        "SELECT count(*) FROM grade WHERE submission = %Q AND milestone = %Q AND status <> 'missing'",
        person->name, milestone);
    if (code || (code = gb_member_read(book, &members, err, "")))
        return code;
    const char *const team = sd_team_of(&members, person->name, person->team, milestone);
    snprintf(name, CL_NAME_BYTES, "%s", own > 0 || !team[0] ? person->name : team);
    gb_member_free(&members);
    return ST_OK;
}

/* Finds the submission that a row names, or the submission of the person whom it names. If there is
 * none, @p name is what the row says: put_item() reports it. */
static enum st_code find_submission(struct gradebook *book, const struct gb_roster_list *roster,
                                    const struct csv_row *row, const int column[COLUMNS],
                                    char name[CL_NAME_BYTES], struct st_error *err)
{
    const char *whose = csv_field(row, column[SUBMISSION]), *email = csv_field(row, column[EMAIL]),
               *full_name = csv_field(row, column[DISPLAY_NAME]);
    if (whose[0] == '\'' && gr_is_formula(whose + 1)) /* the worksheet quotes such a name */
        whose++;
    snprintf(name, CL_NAME_BYTES, "%s", whose);
    double there = 0;
    enum st_code code =
        gb_number(book, &there, err, "SELECT count(*) FROM submission WHERE name = %Q", name);
    if (code || there > 0)
        return code;
    char odd[512] = "";
    struct sd_person person = {{0}, {0}, {0}, {0}};
    snprintf(person.name, sizeof person.name, "%s", *full_name ? full_name : name);
    snprintf(person.email, sizeof person.email, "%s", *email ? email : name);
    const struct gb_roster *found = sd_roster_find(roster, &person, odd, sizeof odd);
    if (found)
        return submission_of(book, found, csv_field(row, column[MILESTONE]), name, err);
    if (!name[0])
        snprintf(name, CL_NAME_BYTES, "%s", *email ? email : full_name);
    return ST_OK;
}

/* Whether a row of a worksheet is still to be filled in, which is not a mistake. */
static bool is_open(const struct csv_row *row, const int column[COLUMNS])
{
    return !csv_field(row, column[POINTS])[0] && !csv_field(row, column[COMMENT])[0];
}

/* Imports one row. A row with a mistake is reported and skipped. */
static enum st_code import_row(struct gradebook *book, const struct gb_roster_list *roster,
                               const struct csv_row *row, const int column[COLUMNS],
                               const char *path, struct imported *n, struct st_error *err)
{
    char name[CL_NAME_BYTES];
    struct st_error mistake;
    if (is_open(row, column)) {
        n->open++;
        return ST_OK;
    }
    enum st_code code = find_submission(book, roster, row, column, name, err);
    if (code)
        return code;
    const char *const word[5] = {name, csv_field(row, column[MILESTONE]),
                                 csv_field(row, column[ITEM]), csv_field(row, column[POINTS]),
                                 csv_field(row, column[COMMENT])};
    const enum st_code put = put_item(book, word, &mistake);
    if (put == ST_USAGE || put == ST_BAD_FORMAT) {
        char who[PATH_MAX + 64];
        snprintf(who, sizeof who, "grader manual: %s, line %zu, skipped", path, row->line);
        st_print(stderr, who, &mistake);
        n->wrong++;
    } else if (put) {
        *err = mistake;
        return put;
    } else {
        n->entered++;
    }
    return ST_OK;
}

static enum st_code import_rows(struct gradebook *book, const struct csv *csv, const char *path,
                                struct imported *n, struct st_error *err)
{
    int column[COLUMNS];
    struct gb_roster_list roster = {0};
    if (!find_columns(csv, path, column, err))
        return err->code;
    enum st_code code = gb_roster_read(book, &roster, err, "ORDER BY line, name");
    for (size_t i = 1; !code && i < csv->rows; i++)
        code = import_row(book, &roster, &csv->row[i], column, path, n, err);
    gb_roster_free(&roster);
    if (!code && csv->unclosed_line) {
        fprintf(stderr, "grader manual: %s, line %zu: a quote is not closed; the rest is skipped\n",
                path, csv->unclosed_line);
        n->wrong++;
    }
    return code;
}

/* Imports all valid rows in one transaction. */
static enum st_code import(struct gradebook *book, const char *path, struct imported *n,
                           struct st_error *err)
{
    struct csv csv;
    enum st_code code = csv_read(path, &csv, err);
    if (code)
        return code;
    code = gb_begin(book, err);
    if (!code)
        code = import_rows(book, &csv, path, n, err);
    if (!code)
        code = gb_commit(book, err);
    gb_rollback(book);
    if (!code)
        printf("%zu entered, %zu skipped%s", n->entered, n->wrong, n->open ? "" : "\n");
    if (!code && n->open)
        printf(", %zu still open\n", n->open);
    csv_free(&csv);
    return code;
}

static enum st_code list(struct gradebook *book, const char *name, struct st_error *err)
{
    struct gb_manual_item_list items = {0};
    enum st_code code = name ? check_submission(book, name, err) : ST_OK;
    if (!code)
        code = gb_manual_item_read(
            book, &items, err,
            "WHERE %Q IS NULL OR submission = %Q ORDER BY submission, length(milestone), milestone, item",
            name, name);
    for (size_t i = 0; !code && i < items.n; i++) {
        const struct gb_manual_item *m = &items.row[i];
        char shown[CL_SHOWN_BYTES], comment[CL_SHOWN_BYTES];
        printf("%s %s %s", cl_name_shown(shown, m->submission),
               m->milestone[0] ? m->milestone : "-", m->item);
        if (isfinite(m->points))
            printf(" %g", m->points);
        printf("%s%s\n", m->comment[0] ? "  " : "", cl_name_shown(comment, m->comment));
    }
    gb_manual_item_free(&items);
    return code;
}

static enum st_code remove_item(struct gradebook *book, const char *const word[5],
                                struct st_error *err)
{
    enum st_code code = check_submission(book, word[0], err);
    if (!code)
        code = gb_change(
            book, err,
            "DELETE FROM manual_item WHERE submission = %Q AND milestone = %Q AND item = %Q",
            word[0], strcmp(word[1], "-") == 0 ? "" : word[1], word[2]);
    if (code || gb_changed(book))
        return code;
    st_fail(err, ST_USAGE, "no such item was entered");
    st_detail(err, ST_GOT, "%s %s %s", word[0], word[1], word[2]);
    return st_detail(err, ST_HINT, "grader manual --list"), ST_USAGE;
}

/* ---- the command ---------------------------------------------------------------------------- */

static void take_word(void *arguments, char *word, const struct option_row *row,
                      struct argp_state *state)
{
    struct arguments *a = arguments;
    (void)row;
    if (a->words == 5)
        argp_error(state, "expected at most NAME MILESTONE ITEM POINTS COMMENT, also got '%s'",
                   word);
    a->word[a->words++] = word;
}

static void check(void *arguments, struct argp_state *state)
{
    const struct arguments *a = arguments;
    const int least = a->remove || (a->words == 3 && strcmp(a->word[2], "comment") == 0) ? 3 : 4;
    if (!a->import && !a->list && a->words < least)
        argp_error(state,
                   "expected NAME MILESTONE ITEM POINTS [COMMENT], --import, --list or --remove");
}

int gr_command_manual(int argc, char **argv)
{
    static const struct option_row rows[] = {
        {"import", 0, "FILE",
         "enter all rows of a CSV file with submission (or name, email, display_name),milestone,item,points,comment; rows without points and comment stay open",
         OPTION_TEXT(struct arguments, import)},
        {"list", 0, NULL, "list the entries (of NAME)", OPTION_FLAG(struct arguments, list)},
        {"remove", 0, NULL, "remove NAME MILESTONE ITEM", OPTION_FLAG(struct arguments, remove)},
        GB_OPTION_ROW(struct arguments, gradebook),
        {OPTION_OPERANDS(take_word)},
        {0}};
    static const struct option_table table = {
        .rows = rows,
        .check = check,
        .operands = "NAME MILESTONE ITEM POINTS [COMMENT]",
        .about =
            "Enter manual grades: a manual item of a rubric, late_days, or a comment (with POINTS ''). MILESTONE - is the whole course. A new entry replaces an existing one; grading again keeps entries. Put a name that begins with - after --."};
    struct arguments a = {.gradebook = GB_DEFAULT_PATH};
    options_parse(&table, argc, argv, &a);
    struct gradebook *book;
    struct st_error err;
    struct imported n = {0};
    enum st_code code = gb_open(&book, a.gradebook, a.list ? GB_READ : GB_WRITE, &err);
    if (!code)
        code = a.import   ? import(book, a.import, &n, &err)
               : a.list   ? list(book, a.word[0], &err)
               : a.remove ? remove_item(book, a.word, &err)
                          : put_item(book, a.word, &err);
    gb_close(book);
    if (code)
        st_print(stderr, "grader manual", &err);
    return code || n.wrong ? EXIT_FAILED : EXIT_DONE;
}
