/* Imports submission times from a table: Moodle's grading worksheet, unchanged, or a table made by
 * hand. */
#include "base/csv.h"
#include "grader/standing/late.h"
#include "grader/standing/people.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

struct importing {
    struct gradebook *book;
    const char *path, *milestone;
    struct gb_roster_list roster;
    sd_report *report;
    void *context;
    struct gb_member_list members;
};

__attribute__((format(printf, 3, 4))) static void say(const struct importing *w, size_t line,
                                                      const char *text, ...)
{
    char notice[1024];
    va_list args;
    const int used = snprintf(notice, sizeof notice, "%.400s, line %zu, skipped: ", w->path, line);
    va_start(args, text);
    vsnprintf(notice + used, sizeof notice - (size_t)used, text, args);
    va_end(args);
    w->report(w->context, notice);
}

static const char *field_of(const struct csv *csv, const struct csv_row *row,
                            const char *const headings[4])
{
    const char *text = "";
    for (int i = 0; !text[0] && i < 4 && headings[i]; i++)
        text = csv_field(row, csv_column(csv, headings[i]));
    return text;
}

/* Reads the person of a row from all columns that identify a person. */
static void take_person(const struct csv *csv, const struct csv_row *row, struct sd_person *person)
{
    static const char *const names[4] = {"name", "submission", "full name", "student"};
    static const char *const emails[4] = {"email", "email address"};
    static const char *const ids[4] = {"identifier", "id"};
    static const char *const numbers[4] = {"id number", "sis user id", "sid"};
    const char *id = field_of(csv, row, ids), *space = strrchr(id, ' ');
    snprintf(person->name, sizeof person->name, "%s", field_of(csv, row, names));
    snprintf(person->email, sizeof person->email, "%s", field_of(csv, row, emails));
    snprintf(person->id, sizeof person->id, "%s", space ? space + 1 : id); /* "Participant 123" */
    snprintf(person->sis_id, sizeof person->sis_id, "%s", field_of(csv, row, numbers));
}

/* Stores the time of a submission, which is found by its own name, or by a person's or a team's
 * name in the roster. */
static enum st_code put_time(const struct importing *w, const struct sd_person *person, double at,
                             int *changed, struct st_error *err)
{
    char odd[512];
    const char *who = person->name;
    const struct gb_roster *row = sd_roster_find(&w->roster, person, odd, sizeof odd);
    const char *const team = row ? sd_team_of(&w->members, row->name, row->team, w->milestone) : "";
    enum st_code code = gb_change(
        w->book, err,
        "UPDATE handin SET submitted = %.3f, source = 'times' WHERE milestone = %Q AND submission = "
        "(SELECT submission FROM handin WHERE milestone = %Q AND submission IN (%Q, %Q, %Q) "
        "ORDER BY submission = %Q LIMIT 1)",
        at, w->milestone, w->milestone, who, row ? row->name : who, team[0] ? team : who, team);
    *changed = code ? 0 : gb_changed(w->book);
    return code;
}

static enum st_code import_row(const struct importing *w, const struct csv *csv, size_t i,
                               int column, double zone_s, size_t *taken, struct st_error *err)
{
    const struct csv_row *row = &csv->row[i];
    const char *text = csv_field(row, column);
    struct sd_person person;
    double at;
    int changed = 0;
    if (!text[0] || strcmp(text, "-") == 0)
        return ST_OK; /* nothing was handed in */
    if (!sd_time_read(text, zone_s, &at)) {
        say(w, row->line, "not a time%s: %.60s",
            isnan(zone_s) ? " with a zone (hint: --zone +01:00)" : "", text);
        return ST_OK;
    }
    take_person(csv, row, &person);
    enum st_code code = put_time(w, &person, at, &changed, err);
    if (!code && !changed)
        say(w, row->line, "%.100s has not handed in %s",
            person.name[0] ? person.name : person.email, w->milestone);
    *taken += changed > 0;
    return code;
}

enum st_code sd_times_import(struct gradebook *book, const char *path, const char *milestone,
                             double zone_s, size_t *taken, sd_report *report, void *context,
                             struct st_error *err)
{
    static const char *const headings[] = {"submitted", "submitted_at",
                                           "last modified (submission)"};
    struct importing w = {book, path, milestone, {0}, report, context, {0}};
    struct csv csv;
    int column = -1;
    *taken = 0;
    enum st_code code = csv_read(path, &csv, err);
    if (code)
        return code;
    for (size_t i = 0; column < 0 && i < sizeof headings / sizeof *headings; i++)
        column = csv_column(&csv, headings[i]);
    if (column < 0) {
        st_fail(err, ST_BAD_FORMAT, "the table has no column 'submitted'");
        code = st_detail(err, ST_WHERE, "%s", path);
    }
    if (!code)
        code = gb_roster_read(book, &w.roster, err, "ORDER BY line, name");
    if (!code)
        code = gb_member_read(book, &w.members, err, "");
    if (!code)
        code = gb_begin(book, err);
    for (size_t i = 1; !code && i < csv.rows; i++)
        code = import_row(&w, &csv, i, column, zone_s, taken, err);
    if (!code)
        code = gb_commit(book, err);
    gb_rollback(book);
    gb_roster_free(&w.roster);
    gb_member_free(&w.members);
    csv_free(&csv);
    return code;
}
