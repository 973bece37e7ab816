#include "grader/standing/standing.h"

#include "grader/course/milestone.h"
#include "grader/course/rubric.h"
#include "grader/standing/people.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- milestones ----------------------------------------------------------------------------- */

static enum st_code add_milestone(struct sd_class *class, const char *id, struct st_error *err)
{
    struct sd_milestone *m = &class->milestone[class->milestones];
    struct gr_milestone where;
    struct gr_rubric *rubric;
    enum st_code code = gr_milestone_find(&where, id, err);
    if (!code)
        code = gr_rubric_load(&rubric, where.rubric, err);
    if (code)
        return code;
    *m = (struct sd_milestone){.items = 0};
    snprintf(m->id, sizeof m->id, "%s", id);
    m->item = calloc(rubric->items_count + 1, sizeof *m->item);
    for (unsigned i = 0; m->item && i < rubric->items_count; i++) {
        const struct gr_item *item = &rubric->items[i];
        *(item->kind == GR_MANUAL ? &m->manual : &m->automatic) += item->points;
        if (item->kind == GR_MANUAL)
            m->item[m->items++] =
                (struct sd_item){strdup(item->id), strdup(item->text), item->points};
    }
    gr_rubric_free(rubric);
    class->milestones++;
    return ST_OK;
}

static enum st_code find_milestones(struct sd_class *class, struct st_error *err)
{
    enum st_code code = ST_OK;
    for (size_t i = 0; !code && i < class->grades.n; i++) { /* ordered by milestone */
        const char *id = class->grades.row[i].milestone;
        if ((!i || strcmp(id, class->grades.row[i - 1].milestone) != 0) &&
            class->milestones < SD_MAX_MILESTONES)
            code = add_milestone(class, id, err);
    }
    return code;
}

/* ---- students ------------------------------------------------------------------------------- */

const struct gb_manual_item *sd_item_of(const struct sd_class *class, const char *submission,
                                        const char *milestone, const char *item)
{
    for (size_t i = 0; i < class->items.n; i++) {
        const struct gb_manual_item *m = &class->items.row[i];
        if (strcmp(m->submission, submission) == 0 && strcmp(m->milestone, milestone) == 0 &&
            strcmp(m->item, item) == 0)
            return m;
    }
    return NULL;
}

static bool has_file(const struct gb_grade *grade)
{
    return strcmp(grade->status, "missing") != 0 && strcmp(grade->status, "rejected") != 0;
}

/* Finds whose submission counts, decided per milestone: the student's own if the student handed in
 * the milestone alone, otherwise the team's. */
static const char *owner_of(const struct sd_class *class, const struct sd_student *student,
                            const char *milestone)
{
    const struct gb_grade *own = gb_grade_of(&class->grades, student->name, milestone);
    const bool alone = own && strcmp(own->status, "missing") != 0;
    const char *const team = sd_team_of(&class->members, student->name, student->team, milestone);
    return !alone && team[0] && gb_grade_of(&class->grades, team, milestone) ? team
                                                                             : student->submission;
}

static void add_manual(const struct sd_class *class, const struct sd_milestone *m,
                       const char *submission, struct sd_points *p)
{
    for (size_t i = 0; i < m->items; i++) {
        const struct gb_manual_item *item = sd_item_of(class, submission, m->id, m->item[i].id);
        if (item && isfinite(item->points))
            p->manual += item->points;
        else
            p->open += p->grade && has_file(p->grade);
    }
}

static void fill_points(const struct sd_class *class, const struct sd_student *student,
                        const struct sd_milestone *m, struct sd_points *p)
{
    *p = (struct sd_points){.total = NAN, .automatic = NAN, .op_time_s = NAN};
    if (!student->submission)
        return;
    p->submission = owner_of(class, student, m->id);
    p->grade = gb_grade_of(&class->grades, p->submission, m->id);
    for (size_t i = 0; p->grade && i < class->attempts.n; i++)
        if (class->attempts.row[i].id == p->grade->attempt)
            p->attempt = &class->attempts.row[i];
    p->handin = gb_handin_of(&class->handins, p->submission, m->id);
    p->late = sd_late_of(&class->lates, student->name, m->id);
    add_manual(class, m, p->submission, p);
    if (p->grade && isfinite(p->grade->score)) {
        p->unchecked = sd_unchecked_points(&class->unchecked, p->grade->attempt);
        p->automatic = p->grade->score;
        p->total = (p->automatic + p->manual) * (p->late ? 1 - p->late->lost : 1);
    }
}

static bool has_grades(const struct sd_class *class, const char *submission)
{
    for (size_t i = 0; i < class->grades.n; i++)
        if (strcmp(class->grades.row[i].submission, submission) == 0)
            return true;
    return false;
}

static void add_student(struct sd_class *class, const struct sd_student *student)
{
    struct sd_student *s = &class->student[class->students++];
    *s = *student;
    for (size_t m = 0; m < class->milestones; m++)
        fill_points(class, s, &class->milestone[m], &s->milestone[m]);
}

/* Adds a row for each student of the roster, and for each submission that does not belong to a
 * student of the roster. */
static void add_all(struct sd_class *class)
{
    for (size_t i = 0; i < class->roster.n; i++) {
        const struct gb_roster *r = &class->roster.row[i];
        add_student(class, &(struct sd_student){r->name,
                                                r->display_name,
                                                r->email,
                                                r->platform_id,
                                                r->sis_id,
                                                r->section,
                                                has_grades(class, r->name)                 ? r->name
                                                : r->team[0] && has_grades(class, r->team) ? r->team
                                                                                           : NULL,
                                                r->team,
                                                {{0}}});
    }
    const size_t in_roster = class->students;
    for (size_t i = 0; i < class->submissions.n; i++) {
        const char *name = class->submissions.row[i].name;
        bool known = !has_grades(class, name);
        for (size_t k = 0; !known && k < in_roster; k++)
            known =
                (class->student[k].submission && strcmp(class->student[k].submission, name) == 0) ||
                strcmp(class->student[k].team, name) == 0;
        if (!known)
            add_student(class, &(struct sd_student){name, "", "", "", "", "", name, "", {{0}}});
    }
}

/* ---- the whole class ------------------------------------------------------------------------ */

enum st_code sd_class_read(struct sd_class *class, struct gradebook *book, sd_report *report,
                           void *context, struct st_error *err)
{
    memset(class, 0, sizeof *class);
    enum st_code code = gb_grade_read(book, &class->grades, err,
                                      "ORDER BY length(milestone), milestone, submission");
    if (!code)
        code =
            gb_attempt_read(book, &class->attempts, err, "WHERE id IN (SELECT attempt FROM grade)");
    if (!code)
        code = gb_submission_read(book, &class->submissions, err, "ORDER BY name");
    if (!code)
        code = gb_manual_item_read(book, &class->items, err,
                                   "ORDER BY submission, length(milestone), milestone, item");
    if (!code)
        code = sd_unchecked_read(&class->unchecked, book, err);
    if (!code)
        code = gb_handin_read(book, &class->handins, err, "ORDER BY submission");
    if (!code)
        code = gb_roster_read(book, &class->roster, err, "ORDER BY line, name");
    if (!code)
        code = gb_member_read(book, &class->members, err, "");
    if (!code)
        code = sd_lates_make(&class->lates, book, report, context, err);
    if (!code)
        code = find_milestones(class, err);
    class->student = calloc(class->roster.n + class->submissions.n + 1, sizeof *class->student);
    if (!code && !class->student)
        code = st_fail(err, ST_NO_MEMORY, "out of memory for the class");
    if (!code)
        add_all(class);
    return code ? code : sd_times_read(class, book, err);
}

void sd_class_free(struct sd_class *class)
{
    for (size_t m = 0; m < class->milestones; m++) {
        for (size_t i = 0; i < class->milestone[m].items; i++) {
            free(class->milestone[m].item[i].id);
            free(class->milestone[m].item[i].text);
        }
        free(class->milestone[m].item);
        free(class->milestone[m].time_s);
    }
    free(class->student);
    gb_manual_item_free(&class->items);
    gb_check_result_free(&class->unchecked);
    sd_lates_free(&class->lates);
    gb_submission_free(&class->submissions);
    gb_grade_free(&class->grades);
    gb_attempt_free(&class->attempts);
    gb_handin_free(&class->handins);
    gb_roster_free(&class->roster);
    gb_member_free(&class->members);
}
