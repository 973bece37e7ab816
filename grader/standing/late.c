#include "grader/standing/late.h"

#include "base/array_room.h"
#include "base/files.h"
#include "grader/standing/people.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { DAY_S = 86400, HOUR_S = 3600 };

/* ---- settings in the gradebook -------------------------------------------------------------- */

enum st_code sd_deadlines_keep(struct gradebook *book, const char *path, sd_report *report,
                               void *context, struct st_error *err)
{
    struct sd_deadlines *read = NULL;
    char *text = NULL;
    size_t bytes;
    enum st_code code = file_read(path, 1 << 20, &text, &bytes, err);
    if (!code)
        code = sd_deadlines_parse(&read, text, bytes, path, report, context, err);
    if (!code)
        code = gb_setting_put(book, &(struct gb_setting){(char *)"deadlines", text}, err);
    sd_deadlines_free(read);
    free(text);
    return code;
}

enum st_code sd_due_keep(struct gradebook *book, const char *milestone, double at_s,
                         struct st_error *err)
{
    char name[32], value[32];
    snprintf(name, sizeof name, "due_%s", milestone);
    snprintf(value, sizeof value, "%.0f", at_s);
    return gb_setting_put(book, &(struct gb_setting){name, value}, err);
}

/* ---- computing lateness --------------------------------------------------------------------- */

struct working {
    struct gradebook *book;
    struct sd_lates *lates;
    struct sd_deadlines *deadlines;
    struct gb_setting_list dues; /* from --due */
    struct gb_roster_list roster;
    struct gb_member_list members;
    struct gb_handin_list handins;
    sd_report *report;
    void *context;
};

static double due_of(const struct working *w, const char *milestone)
{
    double due = NAN;
    for (size_t i = 0; i < w->dues.n; i++)
        if (strcmp(w->dues.row[i].name + strlen("due_"), milestone) == 0)
            due = atof(w->dues.row[i].value);
    for (unsigned i = 0; i < w->deadlines->due_count; i++)
        if (strcmp(w->deadlines->due[i].milestone, milestone) == 0 &&
            isfinite(w->deadlines->due[i].at_s))
            due = w->deadlines->due[i].at_s;
    return due;
}

/* Whether the "for" of an extension names this student, by any of the student's names, or the
 * student's team. */
static bool is_for(const struct working *w, const struct sd_extension *e, const char *student,
                   const char *submission)
{
    char odd[512];
    const struct gb_roster *row = sd_roster_named(&w->roster, e->who, odd, sizeof odd);
    const char *team = sd_roster_team(&w->roster, e->who);
    return strcmp(e->who, student) == 0 || strcmp(e->who, submission) == 0 ||
           (row && strcmp(row->name, student) == 0) || (team && strcmp(team, submission) == 0);
}

static const struct sd_extension *extension_of(const struct working *w, const struct sd_late *late)
{
    const struct sd_extension *best = NULL;
    for (unsigned i = 0; i < w->deadlines->extension_count; i++) {
        const struct sd_extension *e = &w->deadlines->extension[i];
        if (strcmp(e->milestone, late->milestone) == 0 && isfinite(e->until_s) &&
            (!best || e->until_s > best->until_s) && is_for(w, e, late->student, late->submission))
            best = e;
    }
    return best;
}

static void report_useless_extensions(const struct working *w)
{
    for (unsigned i = 0; i < w->deadlines->extension_count; i++) {
        const struct sd_extension *e = &w->deadlines->extension[i];
        char odd[512], line[1024];
        bool known = sd_roster_named(&w->roster, e->who, odd, sizeof odd) ||
                     sd_roster_team(&w->roster, e->who);
        for (size_t k = 0; !known && k < w->handins.n; k++)
            known = strcmp(w->handins.row[k].submission, e->who) == 0;
        if (!known) {
            snprintf(
                line, sizeof line,
                "the extension of %s for %s has an unknown student or team%s%s (hint: use a name or e-mail address of the roster)",
                e->milestone, e->who, odd[0] ? ": " : "", odd);
            w->report(w->context, line);
        } else if (isnan(due_of(w, e->milestone))) {
            snprintf(line, sizeof line,
                     "the extension of %s for %s extends nothing: the milestone has no due date",
                     e->milestone, e->who);
            w->report(w->context, line);
        }
    }
}

static struct sd_late *add(struct working *w, const char *student, const struct gb_handin *h)
{
    struct sd_lates *l = w->lates;
    const double due = due_of(w, h->milestone);
    if (isnan(due) && !h->marked_late)
        return NULL;
    if (!ARRAY_ROOM(l->row, l->n))
        return NULL;
    struct sd_late *late = &l->row[l->n++];
    *late = (struct sd_late){.student = strdup(student),
                             .submission = strdup(h->submission),
                             .milestone = strdup(h->milestone),
                             .submitted_s = h->submitted,
                             .due_s = due};
    const struct sd_extension *e = extension_of(w, late);
    if (e && !(e->until_s <= due))
        late->due_s = e->until_s;
    /* The platform's mark counts only if times cannot decide, and an extension cancels it. */
    late->unknown = h->marked_late && !e && (isnan(late->submitted_s) || isnan(due));
    const double after = late->submitted_s - late->due_s - 60.0 * w->deadlines->grace_minutes;
    late->late_s = after > 0 ? after : 0;
    return late;
}

/* Adds each member of the roster, with the submission that counts: the member's own, or else the
 * team's. Also adds submissions that do not belong to a member of the roster. */
static void add_all(struct working *w)
{
    for (size_t i = 0; i < w->handins.n; i++) {
        const struct gb_handin *h = &w->handins.row[i];
        bool somebodys = false;
        for (size_t r = 0; r < w->roster.n; r++) {
            const struct gb_roster *row = &w->roster.row[r];
            const bool own = strcmp(row->name, h->submission) == 0;
            const char *const team = sd_team_of(&w->members, row->name, row->team, h->milestone);
            const bool teams = team[0] && strcmp(team, h->submission) == 0;
            somebodys |= own || teams;
            if (own || (teams && !gb_handin_of(&w->handins, row->name, h->milestone)))
                add(w, row->name, h);
        }
        if (!somebodys)
            add(w, h->submission, h);
    }
}

static int by_due(const void *a, const void *b)
{
    const struct sd_late *x = a, *y = b;
    const double dx = isnan(x->due_s) ? INFINITY : x->due_s,
                 dy = isnan(y->due_s) ? INFINITY : y->due_s;
    const int milestone = strverscmp(x->milestone, y->milestone);
    return dx != dy    ? (dx > dy) - (dx < dy)
           : milestone ? milestone
                       : strcmp(x->student, y->student);
}

/* ---- the cost of lateness ------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void append(struct sd_late *late, const char *text,
                                                         ...)
{
    const size_t used = strlen(late->reason);
    va_list args;
    va_start(args, text);
    vsnprintf(late->reason + used, sizeof late->reason - used, text, args);
    va_end(args);
}

/* Counts the slip days that the same student or team has used for milestones with earlier due
 * dates, which are judged first. A team's days count once, not once per member. */
static unsigned used_before(const struct working *w, const struct sd_late *late)
{
    unsigned used = 0;
    const char *counted = "";
    for (const struct sd_late *l = w->lates->row; l < late; l++) {
        const bool team = w->deadlines->slip_of == SD_TEAM;
        if (strcmp(l->milestone, late->milestone) == 0 ||
            (team && strcmp(l->milestone, counted) == 0) ||
            strcmp(team ? l->submission : l->student, team ? late->submission : late->student) != 0)
            continue;
        used += l->slip_days;
        counted = l->milestone;
    }
    return used;
}

/* The share of the points that this lateness costs, after slip days. */
static double lost_share(const struct sd_deadlines *d, double late_s, unsigned days)
{
    if (d->closed_after_days && late_s > (double)d->closed_after_days * DAY_S)
        return 1;
    const double units = d->policy == SD_PER_DAY ? days : ceil(late_s / HOUR_S);
    return d->policy == SD_NONE ? 0
                                : fmin(units * d->percent, d->at_most ? *d->at_most : 100) / 100;
}

static void judge(const struct working *w, struct sd_late *late)
{
    const struct sd_deadlines *d = w->deadlines;
    char at[32], due[32];
    if (late->unknown)
        append(late, "the platform marks it late%s",
               isnan(late->submitted_s) ? " without a time"
                                        : ", but its milestone has no due date");
    if (late->late_s <= 0)
        return;
    const unsigned days = (unsigned)fmin(ceil(late->late_s / DAY_S), 100000);
    const unsigned used = used_before(w, late),
                   left = d->slip_days > used ? d->slip_days - used : 0;
    late->slip_days = days < left ? days : left;
    late->days_late = days - late->slip_days;
    const double uncovered_s = fmax(0, late->late_s - (double)late->slip_days * DAY_S);
    late->lost = late->days_late ? lost_share(d, uncovered_s, late->days_late) : 0;
    append(late, "handed in %s, due %s: %u day%s late", sd_time_text(at, late->submitted_s),
           sd_time_text(due, late->due_s), days, days == 1 ? "" : "s");
    if (late->slip_days)
        append(late, ", %u of them %s (%u left)", late->slip_days,
               late->slip_days == 1 ? "a slip day" : "slip days", left - late->slip_days);
    if (late->lost >= 1)
        append(late, ": too late to count");
    else if (late->lost > 0)
        append(late, ": %g%% less", 100 * late->lost);
}

/* ---- all lateness --------------------------------------------------------------------------- */

static enum st_code read_deadlines(struct working *w, struct st_error *err)
{
    char *text;
    enum st_code code = gb_setting_get(w->book, "deadlines", &text, err);
    if (!code) {
        const char *none = "slip_days: 0\n";
        code = sd_deadlines_parse(&w->deadlines, text ? text : none, strlen(text ? text : none),
                                  "deadlines", w->report, w->context, err);
    }
    free(text);
    return code;
}

enum st_code sd_lates_make(struct sd_lates *lates, struct gradebook *book, sd_report *report,
                           void *context, struct st_error *err)
{
    struct working w = {.book = book, .lates = lates, .report = report, .context = context};
    *lates = (struct sd_lates){0};
    enum st_code code = read_deadlines(&w, err);
    if (!code)
        code = gb_setting_read(book, &w.dues, err, "WHERE name GLOB 'due_*'");
    if (!code)
        code = gb_roster_read(book, &w.roster, err, "ORDER BY line, name");
    if (!code)
        code = gb_member_read(book, &w.members, err, "");
    if (!code)
        code = gb_handin_read(book, &w.handins, err,
                              "ORDER BY submission, length(milestone), milestone");
    if (!code) {
        lates->counts_days = w.deadlines->policy == SD_NONE;
        if (report)
            report_useless_extensions(&w);
        add_all(&w);
        if (lates->n)
            qsort(lates->row, lates->n, sizeof *lates->row, by_due);
        for (size_t i = 0; i < lates->n; i++)
            judge(&w, &lates->row[i]);
    }
    gb_setting_free(&w.dues);
    gb_roster_free(&w.roster);
    gb_member_free(&w.members);
    gb_handin_free(&w.handins);
    sd_deadlines_free(w.deadlines);
    return code;
}

const struct sd_late *sd_late_of(const struct sd_lates *lates, const char *student,
                                 const char *milestone)
{
    for (size_t i = 0; i < lates->n; i++)
        if (strcmp(lates->row[i].student, student) == 0 &&
            strcmp(lates->row[i].milestone, milestone) == 0)
            return &lates->row[i];
    return NULL;
}

void sd_lates_free(struct sd_lates *lates)
{
    for (size_t i = 0; i < lates->n; i++) {
        free(lates->row[i].student);
        free(lates->row[i].submission);
        free(lates->row[i].milestone);
    }
    free(lates->row);
    *lates = (struct sd_lates){0};
}
