/* Submissions: finds them (class_entries.c), reads them (grader/handin), keeps and stores them. */
#include "grader/class/class.h"
#include "grader/standing/people.h"

#include <stdlib.h>
#include <string.h>

/* ---- the roster ----------------------------------------------------------------------------- */

/* Adds the members of the roster who have no submission, neither under their own name nor under
 * their team's. */
static enum st_code add_absent(struct cl_class *class, const struct gb_roster *r,
                               const struct gb_member_list *members, struct st_error *err)
{
    struct cl_submission *s = cl_submission_find(class, r->name);
    const char *const team = sd_team_of(members, r->name, r->team, class->options->milestone[0].id);
    struct cl_submission *teams = team[0] ? cl_submission_find(class, team) : NULL;
    if (s && teams && s != teams && s->entry && teams->entry)
        cl_notice(class, r->name,
                  "has handed in alone and also in team %s: the submission made alone counts",
                  team);
    if (!s)
        s = teams;
    if (!s && !(s = cl_submission_add(class, team[0] ? team : r->name)))
        return st_fail(err, ST_NO_MEMORY, "out of memory for the class");
    if (team[0]) {
        free(s->team);
        s->team = strdup(team);
    }
    return ST_OK;
}

/* Whether a submission belongs to the instructor's roster; if there is none, to the roster made from
 * downloads (line 0). */
static bool is_in_roster(const struct gb_roster_list *roster, const struct gb_member_list *members,
                         const char *name)
{
    bool is = false, is_own = false;
    for (size_t k = 0; k < roster->n && !is_own; k++)
        is_own = roster->row[k].line > 0;
    for (size_t k = 0; k < roster->n && !is; k++)
        is = (!is_own || roster->row[k].line > 0) &&
             (strcmp(roster->row[k].name, name) == 0 ||
              sd_is_team_of(members, roster->row[k].name, roster->row[k].team, name));
    return is;
}

/* Reports the submissions that are not in the roster: each by name, or only their number if they
 * are more than half. Fails if none is in the roster, because then download and roster belong to
 * different courses. (A few submissions are always reported by name.) */
static enum st_code tell_strangers(struct cl_class *class, const struct gb_member_list *members,
                                   struct st_error *err)
{
    enum { FEW = 5 };
    size_t there = 0, strangers = 0;
    for (size_t i = 0; i < class->submissions; i++) {
        there += class->submission[i].entry != NULL;
        strangers += class->submission[i].entry &&
                     !is_in_roster(&class->roster, members, class->submission[i].name);
    }
    if (strangers > FEW && strangers == there) {
        st_fail(err, ST_USAGE, "none of the %zu submissions belongs to the roster", there);
        st_detail(err, ST_WHERE, "%s", class->options->dir);
        st_detail(err, ST_GOT, "for example %.200s", class->submission[0].name);
        return st_detail(err, ST_HINT, "is this the download of another course?"), ST_USAGE;
    }
    const bool most = strangers > FEW && 2 * strangers > there;
    if (most)
        cl_notice(class, NULL, "%zu of the %zu submissions are not in the roster", strangers,
                  there);
    for (size_t i = 0; !most && strangers && i < class->submissions; i++)
        if (class->submission[i].entry &&
            !is_in_roster(&class->roster, members, class->submission[i].name))
            cl_notice(class, class->submission[i].name, "is not in the roster");
    return ST_OK;
}

static enum st_code read_roster(struct cl_class *class, struct st_error *err)
{
    gb_roster_free(&class->roster);
    return gb_roster_read(class->book, &class->roster, err, "ORDER BY line, name");
}

static enum st_code check_roster(struct cl_class *class, struct st_error *err)
{
    struct gb_member_list members = {0};
    enum st_code code = read_roster(class, err);
    if (!code)
        code = gb_member_read(class->book, &members, err, "");
    if (!code && class->roster.n)
        code = tell_strangers(class, &members, err);
    for (size_t i = 0; !code && i < class->roster.n; i++)
        code = add_absent(class, &class->roster.row[i], &members, err);
    gb_member_free(&members);
    return code;
}

/* ---- storing -------------------------------------------------------------------------------- */

/* Hashes all files of a submission. */
static void hash_submission(const struct cl_class *class, struct cl_submission *s,
                            char hex[SHA256_HEX])
{
    struct sha256 hash;
    sha256_begin(&hash);
    for (size_t i = 0; i < class->options->milestones; i++)
        sha256_add(&hash, s->file[i].hash, strlen(s->file[i].hash));
    sha256_end_hex(&hash, hex);
}

static enum st_code put_submission(struct cl_class *class, struct cl_submission *s,
                                   struct st_error *err)
{
    char path[CL_NAME_BYTES], hash[SHA256_HEX], message[CL_NAME_BYTES];
    cl_name_text(path, s->entry ? s->entry : "");
    cl_name_text(message, s->rejected);
    hash_submission(class, s, hash);
    const struct gb_submission put = {.name = s->name,
                                      .raw_name = s->raw_name,
                                      .team = s->team,
                                      .path = s->entry ? path : NULL,
                                      .kind = (char *)s->kind,
                                      .hash = s->entry ? hash : NULL,
                                      .modified = s->modified,
                                      .status = s->rejected[0] ? "rejected"
                                                : s->entry     ? "ok"
                                                               : "none",
                                      .message = message};
    return gb_submission_put(class->book, &put, err);
}

/* Stores the platform's data for each milestone with a file. */
static enum st_code put_handin(struct cl_class *class, const struct cl_submission *s, size_t m,
                               struct st_error *err)
{
    const struct cl_file *file = &s->file[m];
    const struct gb_handin put = {.submission = s->name,
                                  .milestone = (char *)class->options->milestone[m].id,
                                  .submitted = s->submitted,
                                  .marked_late = s->marked_late,
                                  .source = (char *)s->source,
                                  .report = file->report,
                                  .report_name = file->report ? file->report_name : (char *)"",
                                  .report_bytes = file->report_bytes};
    return file->there || file->report ? gb_handin_put(class->book, &put, err) : ST_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

static enum st_code keep_milestone(struct cl_class *class, struct cl_submission *s, size_t m,
                                   const struct hi_taken *taken, struct st_error *err)
{
    const struct hi_file *source = &taken->source[m], *report = &taken->report[m];
    struct cl_file *file = &s->file[m];
    enum st_code code = ST_OK;
    char text[CL_NAME_BYTES];
    hi_describe_missing(source, &class->options->milestone[m], file->missing, sizeof file->missing);
    if (hi_is_chosen(source, class->options->accept_near)) {
        cl_name_text(text, source->path);
        file->there = true;
        file->path = strdup(text);
        file->unreadable = source->unreadable;
        file->modified = source->modified ? source->modified : s->modified;
        snprintf(file->refused, sizeof file->refused, "%s", source->refused);
        if (source->modified > s->modified)
            s->modified = source->modified;
        if (!source->refused[0])
            code = cl_file_keep(class, s, m, source->contents, source->bytes, err);
    } else if (source->match) {
        cl_notice(class, s->name, "%s: %s", class->options->milestone[m].id, file->missing);
    }
    if (!code && report->refused[0]) {
        cl_name_text(text, report->path);
        cl_notice(class, s->name, "%s: its report %s %s", class->options->milestone[m].id, text,
                  report->refused);
    } else if (!code && report->contents) {
        code = cl_report_keep(class, s, m, report, err);
    }
    return code;
}

static enum st_code take(struct cl_class *class, struct cl_submission *s, struct st_error *err)
{
    static struct hi_taken taken;
    if (!s->entry || s->rejected[0] || !cl_is_selected(class->options, s->name))
        return ST_OK;
    const struct hi_handin handin = {class->options->milestone, class->options->milestones,
                                     &class->sandbox, s->part, s->parts};
    enum st_code code = hi_take(&taken, &handin, err);
    snprintf(s->rejected, sizeof s->rejected, "%s", taken.rejected);
    s->unreadable = taken.unreadable;
    if (!code && taken.note[0])
        cl_notice(class, s->name, "not read: %s", taken.note);
    for (size_t m = 0; !code && !s->rejected[0] && m < handin.milestones; m++)
        code = keep_milestone(class, s, m, &taken, err);
    hi_taken_free(&taken);
    return code;
}

/* Reports submissions that were graded earlier and no longer exist: renamed, withdrawn, or from
 * another folder. (A student of the roster is reported as missing instead.) */
static enum st_code tell_gone(struct cl_class *class, struct st_error *err)
{
    enum { NAMED = 5 };
    struct gb_submission_list known;
    char names[NAMED * (CL_SHOWN_BYTES + 2)] = "", shown[CL_SHOWN_BYTES];
    size_t gone = 0;
    enum st_code code = gb_submission_read(class->book, &known, err,
                                           "WHERE name IN (SELECT submission FROM grade) ORDER BY "
                                           "name");
    if (code)
        return code;
    for (size_t i = 0; i < known.n; i++) {
        if (cl_submission_find(class, known.row[i].name))
            continue;
        const size_t used = strlen(names);
        if (gone++ < NAMED)
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                     cl_name_shown(shown, known.row[i].name));
    }
    gb_submission_free(&known);
    if (gone)
        cl_notice(
            class, NULL,
            "%zu submissions of the gradebook are not in the class's folder; their grades stay (hint: grader gradebook --forget NAME): %s%s",
            gone, names, gone > NAMED ? ", ..." : "");
    return ST_OK;
}

/* Reports a name in --only without a submission, since it is a typing mistake. */
static void check_only(struct cl_class *class)
{
    const char *only = class->options->only, *at = only;
    char name[CL_NAME_BYTES];
    if (only && cl_submission_find(class, only))
        return;
    while (at && cl_list_next(&at, name, sizeof name))
        if (!cl_submission_find(class, name))
            cl_notice(class, name, "--only: no submission has this name");
}

enum st_code cl_intake(struct cl_class *class, struct st_error *err)
{
    enum st_code code = read_roster(class, err);
    if (!code)
        code = gb_begin(class->book, err);
    if (!code)
        code = cl_entries_find(class, err); /* may add to the roster */
    if (!code)
        code = check_roster(class, err);
    if (!code)
        code = gb_commit(class->book, err);
    gb_rollback(class->book);
    if (!code)
        check_only(class);
    if (!code)
        code = tell_gone(class, err);
    for (size_t i = 0; !code && i < class->submissions; i++)
        code = take(class, &class->submission[i], err);
    if (!code)
        code = gb_begin(class->book, err);
    for (size_t i = 0; !code && i < class->submissions; i++) {
        struct cl_submission *s = &class->submission[i];
        if (!cl_is_selected(class->options, s->name))
            continue;
        if (s->rejected[0])
            cl_notice(class, s->name, "%s: %s", s->unreadable ? "not graded" : "rejected",
                      s->rejected);
        for (size_t m = 0; m < class->options->milestones; m++)
            if (s->file[m].refused[0])
                cl_notice(class, s->name, "%s: %s %s", class->options->milestone[m].id,
                          s->file[m].path, s->file[m].refused);
        code = put_submission(class, s, err);
        for (size_t m = 0; !code && m < class->options->milestones; m++)
            code = put_handin(class, s, m, err);
    }
    if (!code)
        code = gb_commit(class->book, err);
    gb_rollback(class->book);
    return code;
}

void cl_submissions_free(struct cl_class *class)
{
    for (size_t i = 0; i < class->submissions; i++) {
        struct cl_submission *s = &class->submission[i];
        for (size_t m = 0; m < HI_MAX_MILESTONES; m++) {
            free(s->file[m].path);
            free(s->file[m].copy);
            free(s->file[m].report);
            free(s->file[m].report_name);
        }
        for (size_t p = 0; p < s->parts; p++) {
            free((char *)s->part[p].path);
            free((char *)s->part[p].name);
        }
        free(s->part);
        free(s->key);
        free(s->entry);
        free(s->name);
        free(s->raw_name);
        free(s->team);
    }
    free(class->submission);
    class->submission = NULL;
    class->submissions = 0;
    gb_roster_free(&class->roster);
}
